// Three models write one sentence; a box is a vector, and it fills when all that it needs is there.

const PACE = 1200; // milliseconds a step while it plays
const [STRIDE, ROW, SIDE] = [40, 27, 212]; // from box to box, from row to row, from source to target
const [WIDE, HIGH] = [32, 20];
const [TITLE, TOP] = [16, 28]; // base line of a model's name, and where its boxes begin
const MODES = { training: "in training", use: "in use" };
const ROLES = { source: "role-annotation", target: "role-state" };

const last = (vectors) => Math.max(...vectors.map(({ step }) => step));

/** One model's picture after `frame` steps, from `top` downwards. */
function pictureOf({ name, vectors }, { source, target }, frame, top, given) {
  const rows = 1 + Math.max(...vectors.map(({ row }) => row));
  const place = ({ side, row, word }) => [(side === "source" ? 0 : SIDE) + 20 + STRIDE * word, top + TOP + ROW * (rows - 1 - row) + HIGH / 2];
  const foot = top + TOP + ROW * rows + 9;
  const done = last(vectors);
  const ways = vectors.filter(({ step }) => step === frame).flatMap((one) => one.needs.map((needed) => {
    const [[x, y], [endX, endY]] = [place(vectors[needed]), place(one)];
    return draw("line", { class: ROLES[vectors[needed].side], x1: x, y1: y, x2: endX, y2: endY });
  }));
  const boxes = vectors.map((one) => {
    const [x, y] = place(one);
    const when = one.step > frame ? "later" : one.step === frame ? "now" : "done";
    const box = { x: x - WIDE / 2, y: y - HIGH / 2, width: WIDE, height: HIGH, rx: 4 };
    return draw("g", { class: `${ROLES[one.side]} ${when}` }, draw("rect", { ...box, class: "ground" }), draw("rect", box),
      ...(when === "later" ? [] : [text(x, y + 5, one.step)]));
  });
  const written = (i) => last(vectors.filter(({ side, word }) => side === "target" && word === i)) <= frame;
  const words = [...source.map((word, j) => text(20 + STRIDE * j, foot, word, "read")),
    ...target.map((word, i) => text(SIDE + 20 + STRIDE * i, foot, given || written(i) ? word : "", written(i) ? "role-word" : "given"))];
  return { nodes: [text(0, top + TITLE, name, "name"), text(416, top + TITLE, frame < done ? `step ${frame}` : `done after ${done}`, "count"), ...ways, ...boxes, ...words], foot: foot + 14 };
}

/** What happens in a step, for those who do not see it. */
function sentenceOf(frame, models) {
  if (!frame) return "Nothing is computed yet.";
  const told = models.map(({ name, vectors }) => {
    const now = vectors.filter(({ step }) => step === frame);
    if (!now.length) return `${name} is done`;
    const of = now[0].side === "source" ? "reads" : "writes";
    return `${name} ${of} with ${now.length} new vector${now.length > 1 ? "s" : ""}`;
  });
  return `Step ${frame}: ${told.join("; ")}.`;
}

function render({ model, el }) {
  el.classList.add("moving", "waiting");
  const put = setter(model);
  const modes = Object.keys(MODES);
  const choice = sentenceChoice(Object.values(MODES), (k) => put("mode", modes[k]));
  const steps = new Steps((frame) => put("frame", frame), PACE, "step", "steps");
  const picture = draw("svg", { role: "img" });
  const happened = make("p", { class: "waiting-says" });
  el.append(choice.line, picture, happened, steps.element);
  const say = announcer(el);
  steps.listen(el);

  function show() {
    const mode = model.get("mode");
    const models = model.get("models").map((one) => ({ name: one.name, vectors: one[mode] }));
    const end = Math.max(...models.map(({ vectors }) => last(vectors)));
    const frame = Math.min(model.get("frame"), end);
    const words = { source: model.get("source"), target: model.get("target") };
    let top = 0;
    const nodes = models.flatMap((one) => {
      const drawn = pictureOf(one, words, frame, top, mode === "training");
      top = drawn.foot;
      return drawn.nodes;
    });
    picture.setAttribute("viewBox", `0 0 416 ${top}`);
    picture.replaceChildren(...nodes);
    inLanguage(model.get("language"), ...picture.querySelectorAll(".read"));
    choice.check(modes.indexOf(mode));
    steps.show(frame, end);
    happened.textContent = sentenceOf(frame, models);
    picture.setAttribute("aria-label", `${words.source.join(" ")}, ${MODES[mode]}. ${happened.textContent}`);
    say(happened.textContent);
  }
  return stepped(model, ["mode", "frame"], steps, show);
}

export default { render };
