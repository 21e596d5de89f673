// A Transformer writes word by word: what it computes now, what it has kept, and where it looks.

const PACE = 1400; // milliseconds a step while it plays
// Heights, downwards: base lines of words and tops of boxes.
const [SOURCE, READ, WRITTEN, WORDS] = [64, 72, 172, 211];
const [WIDE, HIGH] = [43, 23];
const LEAST = 0.05; // a smaller weight's number is left out
const HEARD = 0.2; // so much weight has a source word whose own look is shown
const SURE = 0.5; // with so much a source word's own look is told in numbers
const across = (column) => 25 + 53 * column;

const word = (column, y, name, kind = "") => text(across(column), y, name, name.length > 6 ? `${kind} long` : kind);
const thick = (weight) => ({ "stroke-width": 0.8 + 5 * weight, opacity: 0.25 + 0.75 * weight });

/** What is kept of a word, with the weight that it gets. */
function box(column, y, weight, kind) {
  const x = across(column);
  return draw("g", { class: kind }, draw("rect", { x: x - WIDE / 2, y, width: WIDE, height: HIGH, rx: 4, "fill-opacity": 0.45 * weight }),
    ...(weight < LEAST ? [] : [text(x, y + 16, shown(weight), "weight")]));
}

const largest = (weights) => weights.indexOf(Math.max(...weights));

/** Where a source word looked in the encoder; at itself in a loop. */
function looks(weights, from, head) {
  return weights.flatMap((weight, to) => {
    if (weight < LEAST) return [];
    const [x, end, foot] = [across(from), across(to), SOURCE - 14];
    const [aside, high] = to === from ? [12, foot - 24] : [0, foot - 12 - 10 * Math.sqrt(Math.abs(to - from))];
    return [draw("path", { class: "role-annotation looks", "marker-end": `url(#${head})`, d: `M${x - aside / 3} ${foot}C${x - aside} ${high} ${end + aside} ${high} ${end + aside / 3} ${foot - 8}`, ...thick(weight) }),
      ...(weight < SURE || to === from ? [] : [text((x + end) / 2, foot - 0.75 * (foot - high) - 6, shown(weight), "weight")])];
  });
}

/** The picture after `step` words are written. */
function pictureOf({ source, read, in_source: inSource, on_source: onSource, on_read: onRead }, step, [head, looked]) {
  const now = step - 1; // the column that is computed
  const blue = source.map((_, j) => box(j, READ, onSource[now]?.[j] ?? 0, "role-annotation"));
  const asked = [...source.keys()].filter((j) => !step || onSource[now][j] >= HEARD);
  const words = source.map((name, j) => word(j, SOURCE, name, step && asked.includes(j) ? "strong" : ""));
  const names = [text(4, 13, "Encoder", "name role-annotation"), text(4, 258, "Decoder", "name role-state")];
  const above = asked.flatMap((i) => looks(inSource[i], i, looked));
  if (!step) return [...above, ...names, ...blue, ...words];
  const lines = source.map((_, j) => draw("line", { class: "role-annotation", x1: across(now), y1: WRITTEN, x2: across(j), y2: READ + HIGH, ...thick(onSource[now][j]) }));
  const arcs = onRead[now].slice(0, now).map((weight, j) => {
    const [from, to, deep] = [across(now), across(j), WORDS + 12 + 9 * Math.sqrt(now - j)];
    return draw("path", { class: "role-state", d: `M${from} ${WORDS + 7}C${from} ${deep + 9} ${to} ${deep + 9} ${to} ${WORDS + 7}`, ...thick(weight) });
  });
  return [...above, ...lines, ...arcs, ...names, ...blue, ...words,
    ...read.slice(0, step).map((_, i) => box(i, WRITTEN, onRead[now][i], i < now ? "role-state kept" : "role-state")),
    ...read.slice(0, step).map((name, i) => word(i, WORDS, name, i === now ? "written strong" : "written")),
    draw("path", { class: "role-word way", "marker-end": `url(#${head})`, d: `M${across(now) + WIDE / 2} ${WRITTEN + HIGH / 2}H${across(step)}V${WORDS - 14}` }),
    word(step, WORDS, read[step], "written role-word")];
}

const named = (weights, words, as = String) => {
  const at = largest(weights);
  return ["“", as(words[at]), `” (${shown(weights[at])})`];
};

/** What happens in a step. */
function sentenceOf(step, { source, read, in_source: inSource, on_source: onSource, on_read: onRead }, german) {
  if (!step) return [`All ${source.length} source words look at each other at once. Their annotations are kept to the end.`];
  const [now, written] = [step - 1, read[step]];
  const own = step > 1 ? [...named(onRead[now].slice(0, step), read, german), " of what is written, then at "] : [];
  const at = largest(onSource[now]);
  const heard = largest(inSource[at]) === at || Math.max(...inSource[at]) < SURE ? [] : [", which had looked most at ", ...named(inSource[at], source)];
  return ["“", german(read[now]), "” looks most at ", ...own, ...named(onSource[now], source), " in the source", ...heard, ". It writes “",
    german(written), written === "</s>" ? "”, and the translation ends." : "”."];
}

function render({ model, el }) {
  el.classList.add("moving", "transformer");
  const put = setter(model);
  const sentences = model.get("sentences");
  const last = ({ read }) => read.length - 1;
  const choice = sentenceChoice(sentences.map(({ source }) => source.slice(0, -1).join(" ")), (k) => put("chosen", k));
  const steps = new Steps((frame) => put("frame", frame), PACE, "word", "words written");
  const heads = [arrowhead("word"), arrowhead("annotation", 0)];
  const drawing = draw("g");
  const picture = draw("svg", { viewBox: "0 0 416 262", role: "img" }, draw("defs", {}, ...heads), drawing);
  const happened = make("p", { class: "transformer-says" });
  el.append(choice.line, picture, happened, steps.element);
  const say = announcer(el);
  steps.listen(el);

  function show() {
    const chosen = model.get("chosen");
    const sentence = sentences[chosen];
    const step = Math.min(model.get("frame"), last(sentence));
    choice.check(chosen);
    drawing.replaceChildren(...pictureOf(sentence, step, heads.map(({ id }) => id)));
    inLanguage(model.get("language"), ...drawing.querySelectorAll(".written"));
    picture.setAttribute("aria-label", `Source: ${sentence.source.join(" ")}. Read by the decoder: ${sentence.read.slice(0, step).join(" ") || "nothing"}.`);
    steps.show(step, last(sentence));
    happened.replaceChildren(...sentenceOf(step, sentence, (words) => foreign(model.get("language"), words)));
    say(...copied(happened));
  }
  return stepped(model, ["chosen", "frame"], steps, show);
}

export default { render };
