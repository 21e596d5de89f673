// A translator whose states are two numbers: its reading and its writing as walks in a plane, frame by frame.

const PACE = 1100; // milliseconds a frame while it plays
const [ZERO, UNIT] = [[160, 132], 100]; // of a plane in its picture: where zero is, and how long 1
// A label stands above its point or below, so that in none of the sentences two lie on each other.
const [ABOVE, BELOW] = [-12, 20];
const besideRead = (j, [, y]) => (j === 2 || (j === 1 && y < 0) ? BELOW : ABOVE);
const besideWritten = (i) => (i === 0 || i === 3 ? BELOW : ABOVE);

const at = ([x, y]) => [ZERO[0] + UNIT * x, ZERO[1] - UNIT * y];
const pair = (numbers) => `(${numbers.map((number) => shown(number)).join(",\u00a0")})`;

const mark = (state, r, kind) => draw("circle", { cx: at(state)[0], cy: at(state)[1], r, class: kind });
const label = (state, words, below, kind) => text(at(state)[0], at(state)[1] + below, words, kind);

/** From one state to the next, bent, so that the ways there and back are two. */
function arrow(from, to, head, kind) {
  const [[x, y], [u, v]] = [at(from), at(to)];
  const bend = [(x + u) / 2 + 0.12 * (v - y), (y + v) / 2 - 0.12 * (u - x)];
  return draw("path", { d: `M${x} ${y}Q${bend.join(" ")} ${u} ${v}`, "marker-end": `url(#${head})`, class: `arrow ${kind}` });
}

/** A plane with its axes; a walk is drawn into `moving`. */
function plane(name, role) {
  const head = arrowhead(role, 12);
  const [moving, note] = [draw("g", { class: `role-${role}` }), make("span", { class: "role-context" })];
  const ticks = [-1, 0, 1].flatMap((k) => [text(at([k, 0])[0], 264, shown(k, 0), "quiet"), text(36, at([0, k])[1] + 5, shown(k, 0), "quiet")]);
  const picture = draw("svg", { viewBox: "0 6 310 282", role: "img" },
    draw("defs", {}, head),
    draw("path", { class: "grid", d: "M60 32H260V232H60ZM60 132H260M160 32V232" }), ...ticks,
    text(160, 283, "first number of the state", "quiet"), draw("text", { class: "quiet", transform: "translate(14 132) rotate(-90)" }, "second number"), moving);
  return { head: head.id, picture, moving, note, element: make("div", {}, make("p", { class: "moving-title" }, name, note), picture) };
}

/** What happens in a frame: how many words are read, whether the note is there, how many states and words the decoder has. */
function reached(frame, { source, target }) {
  const step = frame - source.length - 2;
  return { read: Math.min(frame, source.length), note: step >= -1, states: Math.max(0, Math.min(step + 1, target.length)), step: Math.max(0, step) };
}

function sentenceOf(frame, { source, target, read, written }, factors, german) {
  const { read: j, note, states, step: i } = reached(frame, { source, target });
  if (frame === 0) return ["Nothing is read yet: both numbers of the state are zero."];
  if (!note) return [`“${source[j - 1]}” moves the state to ${numbered("h", j)} = ${pair(read[j - 1])}.`];
  if (!states) return [`The last state is the note, c = ${numbered("h", j)} = ${pair(read[j - 1])}. The decoder gets nothing else of the sentence.`];
  if (!i) return [`From c comes the decoder's first state, s₀ = ${pair(written[0])}.`];
  const then = i < target.length ? `It leaves ${numbered("s", i)} = ${pair(written[i])}.` : "The translation is complete.";
  return [`Step ${i} reads ${numbered("s", i - 1)}, c and `, i > 1 ? german(target[i - 2]) : "<s>", ", and gives ", german(target[i - 1]), ` ${shown(factors[i - 1], 4)}. ${then}`];
}

function render({ model, el }) {
  el.classList.add("moving", "tiny-translator");
  const put = setter(model);
  const [tokens, sentences] = [model.get("tokens"), model.get("sentences")];
  const choice = sentenceChoice(sentences.map(({ source, known }) => `${source.slice(0, -1).join(" ")}${known ? "" : " (new)"}`), (k) => put("chosen", k));
  const steps = new Steps((frame) => put("frame", frame), PACE, "frame", "frames");
  const [reading, writing] = [plane("Reading", "annotation"), plane("Writing", "state")];
  const happened = make("p", { class: "tiny-says" });
  const title = make("p", { class: "moving-title" });
  const bars = tokens.map((word) => {
    const [fill, share] = [make("span", { class: "fill" }), make("span", { class: "share" })];
    return { fill, share, row: make("li", {}, make("span", {}, word), make("span", { class: "track" }, fill), share) };
  });
  const written = make("ol", { class: "tiny-written" });
  el.append(choice.line, make("div", { class: "tiny-pair" }, reading.element, writing.element), steps.element, happened,
    make("div", { class: "tiny-pair" }, make("div", {}, title, make("ul", {}, ...bars.map(({ row }) => row))),
      make("div", {}, make("p", { class: "moving-title" }, "Written so far"), written)));
  inLanguage(model.get("language"), written, ...bars.map(({ row }) => row.firstChild));
  const say = announcer(el);
  steps.listen(el);

  function show() {
    const [chosen, frame] = [model.get("chosen"), model.get("frame")];
    const sentence = sentences[chosen];
    const { source, target, read, probabilities } = sentence;
    const done = reached(frame, sentence);
    const factors = target.map((word, i) => probabilities[i][tokens.indexOf(word)]);
    choice.check(chosen);
    steps.show(frame, source.length + 2 + target.length);
    const now = (is) => (is ? "now" : "");

    const others = sentences.filter((one, k) => one.known && k !== chosen);
    const way = [[0, 0], ...read.slice(0, done.read)];
    const isNote = (j) => done.note && j === done.read;
    reading.moving.replaceChildren(
      ...others.flatMap((one) => [mark(one.read.at(-1), 7, "other"), label(one.read.at(-1), `${one.source[1]} ${one.source[3]}`, ABOVE, "small quiet")]),
      ...way.slice(1).map((state, j) => arrow(way[j], state, reading.head, now(j + 1 === frame))),
      mark([0, 0], 4, "start"), label([0, 0], "start", BELOW, "small quiet"),
      ...way.slice(1).flatMap((state, j) => [
        mark(state, isNote(j + 1) ? 7 : 4.5, isNote(j + 1) ? "role-context" : ""),
        label(state, isNote(j + 1) ? `c = ${numbered("h", j + 1)}` : source[j], besideRead(j, state), `strong ${isNote(j + 1) ? "role-context" : now(j + 1 === frame)}`)]));
    reading.picture.setAttribute("aria-label", `Reading: ${source.slice(0, done.read).map((word, j) => `${word} ${pair(read[j])}`).join(", ")}`);

    const states = sentence.written.slice(0, done.states);
    writing.note.textContent = done.note ? `from c = ${pair(read.at(-1))}` : "";
    writing.moving.replaceChildren(
      ...states.slice(1).map((state, i) => arrow(states[i], state, writing.head, now(i + 1 === done.step))),
      ...states.flatMap((state, i) => [mark(state, i === done.step - 1 ? 7 : 4.5, ""), label(state, numbered("s", i), besideWritten(i), "strong")]));
    writing.picture.setAttribute("aria-label", `Writing: ${states.map((state, i) => `${numbered("s", i)} ${pair(state)}`).join(", ")}`);

    happened.replaceChildren(...sentenceOf(frame, sentence, factors, (words) => foreign(model.get("language"), words)));
    title.textContent = done.step ? `Probabilities of step ${done.step}` : "Probabilities of the next word";
    const row = probabilities[done.step - 1];
    bars.forEach(({ row: line, fill, share }, k) => {
      line.classList.toggle("chosen", tokens[k] === target[done.step - 1]);
      fill.style.width = `${100 * (row?.[k] ?? 0)}%`;
      share.textContent = row ? shown(row[k], 4) : "";
    });
    const product = factors.slice(0, done.step).reduce((one, factor) => one * factor, 1);
    const line = (words, number, kind) => make("li", { class: kind }, make("span", {}, words), make("span", {}, number));
    written.replaceChildren(...target.slice(0, done.step).map((word, i) => line(word, shown(factors[i], 4), "role-word")),
      ...(done.step ? [line("product p", shown(product, 4), "product")] : []));
    say(...copied(happened), done.step ? ` The product is ${shown(product, 4)}.` : "");
  }
  return stepped(model, ["chosen", "frame"], steps, show);
}

export default { render };
