// BLEU of one sentence: which runs of one to four words count, and how their shares become the score.

const MOST = 12; // words, on either side
const READY = ["the coffee on the table", "coffee on the table", "the the the", "the table is on coffee there", "there is coffee on the table"];
const KEYS = { counts: "counts", absent: "not in the reference", clipped: "too often (clipped)" };

const fits = (count) => count >= 1 && count <= MOST;
const wordsOf = (text) => text.split(/\s+/).filter((word) => word);
const runsOf = (words, n) => words.slice(n - 1).map((_, at) => words.slice(at, at + n).join(" "));

/** Every run of n words: does it count? A run that the reference has once counts once. */
function judged(ours, theirs, n) {
  const left = new Map();
  for (const run of runsOf(theirs, n)) left.set(run, (left.get(run) ?? 0) + 1);
  return runsOf(ours, n).map((run) => {
    if (!left.has(run)) return { run, verdict: "absent" };
    left.set(run, left.get(run) - 1);
    return { run, verdict: left.get(run) < 0 ? "clipped" : "counts" };
  });
}

/** Which precision is the first of 0, in words; nothing if none is. */
function blamed(columns) {
  const n = 1 + columns.findIndex(({ right }) => right === 0);
  if (n === 0) return "";
  const what = n === 1 ? "word" : `run of ${n} words`;
  const why = columns[n - 1].runs.length ? `No ${what} is in the reference` : `The translation has no ${what}`;
  return `${why}: the precision for n = ${n} is 0, and that makes the whole product 0.`;
}

function render({ model, el }) {
  el.classList.add("moving", "sentence-bleu");
  const put = setter(model);
  const names = ["reference", "translation"];
  const inputs = names.map((name, k) => make("input", { type: "text", id: fresh(name), autocomplete: "off", autocapitalize: "off", spellcheck: "false", oninput: () => typed(k) }));
  const ready = READY.map((text) => make("button", { type: "button", onclick: () => { inputs[1].value = text; typed(1); } }, text));
  const keys = Object.entries(KEYS).map(([verdict, text]) => make("span", {}, make("span", { class: `run ${verdict}` }), text));
  const runs = make("div", { class: "sentence-bleu-runs" });
  const row = (label) => {
    const [number, small] = [make("b"), make("small")];
    const bars = ["kept", "lost"].map((kind) => make("span", { class: kind }));
    return { number, small, bars, row: [make("span", {}, label, small), make("span", { class: "track" }, ...bars), number] };
  };
  const [mean, brevity, score] = ["geometric mean", "× brevity penalty", "× 100 = BLEU"].map(row);
  const [refused, note] = ["refused", "note"].map((name) => make("p", { class: `sentence-bleu-${name}` }));
  el.append(make("div", { class: "sentence-bleu-texts" }, ...names.flatMap((name, k) => [make("label", { for: inputs[k].id }, name), inputs[k]])), refused,
    make("div", { class: "moving-buttons", role: "group", "aria-label": "ready translations" }, ...ready),
    make("div", { class: "sentence-bleu-keys" }, ...keys), runs,
    make("div", { class: "sentence-bleu-score" }, ...mean.row, ...brevity.row, ...score.row), note);
  const say = announcer(el);

  /** What cannot be drawn stays in its field, and the picture as it was. */
  function check() {
    const counts = inputs.map((input) => wordsOf(input.value).length);
    const wrong = counts.findIndex((count) => !fits(count));
    refused.textContent = wrong < 0 ? "" : `The ${names[wrong]} has ${counts[wrong]} words, and 1 to ${MOST} can be drawn. The picture stays as it was.`;
    if (refused.textContent) say(refused.textContent);
  }
  function typed(k) {
    if (fits(wordsOf(inputs[k].value).length)) put(names[k], inputs[k].value);
    check();
  }

  function column({ n, runs: all, right, precision }) {
    const bars = all.map(({ run, verdict }, at) => make("span", { class: `run ${verdict}`, role: "img", "aria-label": `${run}: ${KEYS[verdict]}`, title: `${run}: ${KEYS[verdict]}`, style: `grid-area: ${at + 1} / ${(at % n) + 1} / span ${n}` }));
    return make("div", { class: right ? "" : "zero" }, make("span", { class: "head" }, `n = ${n}`), make("div", { class: "lanes" }, ...bars),
      make("span", { class: "foot" }, make("b", {}, `${right}/${all.length}`), " ", make("span", {}, `${all.length ? "=" : "as"} ${shown(precision)}`)));
  }

  function update() {
    const [theirs, ours] = names.map((name) => wordsOf(model.get(name)));
    const columns = [1, 2, 3, 4].map((n) => {
      const found = judged(ours, theirs, n);
      const right = found.filter(({ verdict }) => verdict === "counts").length;
      return { n, runs: found, right, precision: right / (found.length || 1) };
    });
    const product = columns.reduce((sofar, { precision }) => sofar * precision, 1);
    const root = product ** 0.25;
    const penalty = Math.min(1, Math.exp(1 - theirs.length / ours.length));
    runs.style.setProperty("--rows", ours.length);
    runs.replaceChildren(make("div", {}, make("span", { class: "head" }), make("ul", {}, ...ours.map((word) => make("li", { title: word }, word))), make("span", { class: "foot" }, "precision")), ...columns.map(column));
    const fill = (place, number, small, kept, lost = 0) => {
      place.number.textContent = number;
      place.small.textContent = small;
      [kept, lost].forEach((share, k) => { place.bars[k].style.width = `${100 * share}%`; });
    };
    fill(mean, shown(root, 3), `fourth root of ${shown(product, 3)}`, root);
    fill(brevity, shown(penalty, 3), `${ours.length} ${ours.length === 1 ? "word" : "words"} against ${theirs.length}`, root * penalty, root * (1 - penalty));
    fill(score, shown(100 * root * penalty, 1), "", root * penalty);
    ready.forEach((button, k) => button.setAttribute("aria-pressed", READY[k] === ours.join(" ")));
    note.textContent = blamed(columns);
    say(`${columns.map(({ n, right, runs: all }) => `n = ${n}: ${right} of ${all.length}`).join("; ")}. BLEU ${score.number.textContent}. ${note.textContent}`);
  }
  function take(name, k) {
    if (inputs[k].value !== model.get(name)) inputs[k].value = model.get(name);
    update();
    check();
  }
  names.forEach((name, k) => { inputs[k].value = model.get(name); });
  update();
  const ends = names.map((name, k) => watch(model, [name], () => take(name, k)));
  return () => ends.forEach((end) => end());
}

export default { render };
