// Three words look at each other: one word's query, step by step, and beside it the weights of all.

const NAMES = ["the", "dog", "sleeps"];
const STEPS = ["score", "normalise", "aggregate"];
const MIDDLES = [84, 148, 212]; // a height for each word
const [NARROW, WIDE, HIGH] = [26, 39, 28]; // of a number's box
const THICK = 18; // of a line with weight 1

const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
const column = (rows, k) => rows.map((row) => row[k]);
const MATRICES = ["W_Q", "W_K", "W_V"];
const short = (number, digits = 2) => shown(number, Number.isInteger(number) ? 0 : digits);
const list = (numbers, write) => `(${numbers.map(write).join(", ")})`;

/** Queries, keys and values of all words, and what follows from them. */
function attend(model) {
  const words = model.get("words");
  const product = (W) => words.map((x) => [0, 1].map((k) => dot(x, column(W, k))));
  const [Q, K, V] = MATRICES.map((name) => (model.get("matrices") ? product(model.get(name)) : words));
  const products = Q.map((query) => K.map((key) => dot(query, key)));
  const weights = products.map((row) => softmax(row.map((one) => one / Math.SQRT2)));
  return { words, Q, K, V, products, weights, contexts: weights.map((row) => [0, 1].map((k) => dot(row, column(V, k)))) };
}

const text = (x, y, words, attributes) => draw("text", { x, y, ...attributes }, ...[words].flat());
/** `most` letters fit; more are squeezed into `room`. */
const fitted = (words, most, room) => (words.length > most ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {});
const line = (x1, y1, x2, y2, attributes) => draw("line", { x1, y1, x2, y2, ...attributes });

/** A vector as a row of boxes that begins at x. */
function vector(numbers, x, y, kind, width = NARROW, digits = 0) {
  return draw("g", { class: `vector ${kind}` }, ...numbers.flatMap((number, k) => {
    const said = digits ? shown(number, digits) : short(number, 1);
    return [
      draw("rect", { x: x + k * width, y: y - HIGH / 2, width, height: HIGH, rx: 3 }),
      text(x + (k + 0.5) * width, y + 5, said, fitted(said, width / 8, width - 4))];
  }));
}

/** One word's query among the keys, as far as the step has come. */
function step({ Q, K, V, products, weights, contexts }, asks, done) {
  const above = (x, name, role) => [text(x, 18, name, { class: "head" }), role && text(x, 36, role, { class: "quiet" })];
  const at = MIDDLES[asks];
  return [...above(30, "query", "wants"), ...above(122, "keys", "shows"), ...above(210, done ? "weights" : "energies"),
    ...(done > 1 ? [...above(298, "values", "gives"), ...above(399, "context")] : []),
    ...MIDDLES.flatMap((y, j) => {
      const weighs = { class: "weighs", "stroke-width": THICK * weights[asks][j] };
      const product = products[asks][j];
      const energy = `${short(product)}/√2 = ${short(product / Math.SQRT2)}`;
      return [
        line(63, at, 89, y, done ? weighs : { class: "meets" }),
        done > 1 && line(331, y, 353, at, weighs),
        vector(Q[j], 4, y, `role-state ${j === asks ? "" : "waits"}`),
        vector(K[j], 96, y, "role-annotation"),
        text(210, y - 6, energy, { class: "energy role-energy", ...fitted(energy, 14, 112) }),
        ...(done ? [draw("rect", { class: "bar", x: 160, y: y + 2, width: 54 * weights[asks][j], height: 12 }), text(238, y + 14, shown(weights[asks][j]), { class: "weight role-weight" })] : []),
        done > 1 && vector(V[j], 272, y, "role-word"),
      ];
    }),
    ...MIDDLES.flatMap((y, j) => [text(30, y - 19, NAMES[j], { class: `word ${j === asks ? "small head" : "quiet"}` }), ...[122, ...(done > 1 ? [298] : [])].map((x) => text(x, y - 19, NAMES[j], { class: "word quiet" }))]),
    done > 1 && vector(contexts[asks], 361, at, "context role-context", WIDE, 2)].filter(Boolean);
}

/** The weights of the words that have asked, a row each. */
function grid({ weights }, asks, asked) {
  const [left, side, half] = [8, 54, HIGH / 2 + 2];
  const middle = (j) => left + (j + 0.5) * side;
  return [text(middle(1), 18, "all weights", { class: "head" }),
    ...weights.flatMap((row, i) => [
      text(middle(i), 38, NAMES[i], { class: "quiet" }),
      text(middle(0) - side / 2, MIDDLES[i] - 25, `${NAMES[i]} asks`, { class: `row ${i === asks ? "small head" : "quiet"}` }),
      ...row.flatMap((weight, j) => [
        draw("rect", { x: middle(j) - side / 2 + 1, y: MIDDLES[i] - half, width: side - 2, height: 2 * half, rx: 3, ...(asked(i) ? { fill: colour(weight) } : { class: "empty" }) }),
        asked(i) && text(middle(j), MIDDLES[i] + 5, shown(weight), { class: `cell${weight < 0.72 ? "" : " dark"}` }),
      ])]),
    draw("rect", { class: "asks", x: left - 2, y: MIDDLES[asks] - half - 3, width: 3 * side + 4, height: 2 * half + 6, rx: 5 })].filter(Boolean);
}

function render({ model, el }) {
  el.classList.add("moving", "self-attention");
  const put = setter(model);
  const words = buttons("Who asks?", NAMES, (i) => put("asks", i + 1));
  const steps = buttons("Step", STEPS, (k) => put("step", k));
  const check = make("input", { type: "checkbox", onchange: () => put("matrices", check.checked) });
  const first = MATRICES.map((key) => model.get(key));
  const again = make("button", { type: "button", onclick: () => MATRICES.forEach((key, k) => put(key, first[k])) }, "as at first");
  const fields = numberFields(1);
  const matrices = make("div", { class: "self-attention-matrices" }, ...MATRICES.map((key) => matrixInputs(model, put, key, fields.field)));
  const picture = draw("svg", { viewBox: "0 0 440 246", role: "img" });
  const map = draw("svg", { viewBox: "0 0 178 242", role: "img", "aria-label": "The weights of all words, a row for each word that asks" });
  const reading = make("p", { class: "self-attention-says" });
  el.append(
    make("div", { class: "moving-controls" }, words.line, steps.line),
    make("div", { class: "self-attention-pictures" }, picture, map), reading,
    make("details", {}, make("summary", {}, "Change the matrices"),
      make("div", { class: "moving-buttons" }, make("label", {}, check, "three matrices"), again), matrices));
  const say = announcer(el);
  const seen = new Set();

  function show() {
    const [asks, done, found] = [model.get("asks") - 1, model.get("step"), attend(model)];
    if (done) seen.add(asks);
    words.press(asks);
    steps.press(done);
    check.checked = model.get("matrices");
    matrices.hidden = again.hidden = !check.checked;
    fields.show();
    picture.replaceChildren(...step(found, asks, done));
    map.replaceChildren(...grid(found, asks, (i) => (i === asks ? done : seen.has(i))));
    const numbers = found.weights[asks].map((weight) => shown(weight)).join(", ");
    reading.textContent = [
      `“${NAMES[asks]}” is ${list(model.get("words")[asks], short)}, so its query is ${list(found.Q[asks], short)}. Multiply it with each key, and divide by √2.`,
      `The softmax turns the energies into weights that add up to 1: ${numbers}.`,
      `The values, weighted ${numbers}, add up to the context ${list(found.contexts[asks], (x) => shown(x))}.`,
    ][done];
    picture.setAttribute("aria-label", `“${NAMES[asks]}” asks, ${STEPS[done]}`);
    say(reading.textContent);
  }
  el.addEventListener("keydown", (event) => {
    const to = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!to || isShortcut(event) || event.target.type === "number") return;
    event.preventDefault();
    put("step", Math.max(0, Math.min(2, model.get("step") + to)));
  });
  show();
  return watch(model, ["asks", "step", "matrices", ...MATRICES], show);
}

export default { render };
