// One step of the gated unit at the word "dog"; below it, what is left of a gradient after steps like it.

const W = [[1, 0.5], [0, 1]]; // the first column is W times "dog", the second W times "the"
const U = [[0.5, 0.5], [-0.5, 0.5]];
const OLD = W.map(([, the]) => Math.tanh(the)); // the state after "the"
const STEPS = 18;

// Places in the picture, which is 400 wide. For each number of the state: the middles of the old bar
// and of the proposal's. Two floors that bars stand on, and how tall a bar of 1 is.
const [OLD_AT, PROPOSAL_AT, APART] = [46, 150, 204];
const UNIT = { floor: 200, tall: 100 };
const GRADIENT = { floor: 470, tall: 80 };

/** The proposal, the new state, and the first number's factor, with the same z and r for both numbers. */
function unitStep(z, r) {
  const proposal = U.map(([a, b], k) => Math.tanh(W[k][0] + a * r * OLD[0] + b * r * OLD[1]));
  const state = OLD.map((old, k) => (1 - z) * old + z * proposal[k]);
  const factor = 1 - z + z * (1 - proposal[0] ** 2) * U[0][0] * r;
  return { proposal, state, factor };
}

const text = (x, y, content, attributes = {}) => draw("text", { x, y, ...attributes }, content);
const path = (d, attributes = {}) => draw("path", { d, ...attributes });
const bar = (middle, width, number, { floor, tall }, kind) =>
  draw("rect", { x: middle - width / 2, width, y: floor - tall * number, height: tall * number, class: kind });

/** One number of the state: its bars, and the valve through which the old state flows to the proposal. */
function panel(k, z, r, { proposal, state }, head) {
  const at = OLD_AT + (PROPOSAL_AT - OLD_AT) * z;
  const top = (number) => UNIT.floor - UNIT.tall * number;
  const half = 9 * r; // half the width of the open valve
  return draw("g", { transform: `translate(${APART * k} 0)` },
    text(98, 14, ["first number", "second number"][k], { class: "strong" }),
    path(`M${OLD_AT} 48H${PROPOSAL_AT}M${OLD_AT} 43v10M${PROPOSAL_AT} 43v10`), text(OLD_AT - 16, 53, "0"), text(PROPOSAL_AT + 16, 53, "1"),
    draw("circle", { cx: at, cy: 48, r: 6, class: "full" }), text(at, 36, `z = ${shown(z)}`),
    bar(OLD_AT, 30, OLD[k], UNIT, "pale role-annotation"), bar(PROPOSAL_AT, 30, proposal[k], UNIT),
    path(`M${OLD_AT} ${top(OLD[k])}L${PROPOSAL_AT} ${top(proposal[k])}`, { class: "thin" }),
    path(`M${at} 96V${top(state[k])}`, { class: "thin", "stroke-dasharray": "2 4" }),
    bar(at, 18, state[k], UNIT, "full role-annotation"), path(`M10 ${UNIT.floor}H186`),
    text(at, 74, "new state", { class: "strong role-annotation" }),
    text(at, 90, shown(state[k], 4), { class: "strong role-annotation", "data-measure": "state" }),
    text(OLD_AT, 217, "old state", { class: "role-annotation" }), text(OLD_AT, 233, shown(OLD[k], 4), { class: "role-annotation" }),
    text(PROPOSAL_AT, 217, "proposal"), text(PROPOSAL_AT, 233, shown(proposal[k], 4), { "data-measure": "proposal" }),
    path(`M${OLD_AT - 9} 240h18v25h${half - 9}v23l${-half} 9l${-half} -9v-23h${half - 9}z`, { class: "pale role-annotation" }),
    ...[-1, 1].map((side) => path(`M${OLD_AT + side * half} 260v10H${OLD_AT + side * 22}v-10z`, { class: "full" })),
    text(OLD_AT + 30, 270, `r = ${shown(r)}`, { class: "start" }),
    path(`M${PROPOSAL_AT} 298V240`, { "marker-end": `url(#${head})` }));
}

/** A gradient of 1 on its way back through eighteen steps with this factor. */
function gradient(factor) {
  const at = (back) => 18 + 20.2 * back;
  const left = factor ** STEPS;
  const bars = Array.from({ length: STEPS + 1 }, (_, back) => bar(at(back), 14, factor ** back, GRADIENT, "full role-annotation"));
  return draw("g", {},
    text(11, 362, "gradient left", { class: "start strong role-annotation" }),
    text(389, 362, `factor of a step: ${shown(factor, 3)}`, { class: "end", "data-measure": "factor" }),
    ...bars, path(`M8 ${GRADIENT.floor}H392`),
    text(at(STEPS) + 9, GRADIENT.floor - GRADIENT.tall * left - 6, shown(left, 3), { class: "end strong role-annotation", "data-measure": "left" }),
    text(11, 487, "now", { class: "start" }), text(389, 487, `${STEPS} steps back`, { class: "end" }));
}

function render({ model, el }) {
  el.classList.add("moving", "gated-unit");
  const put = setter(model);
  const range = { min: 0, max: 1, step: 0.01 };
  const update = slider("update gate z", range, (z) => put("z", z));
  const reset = slider("reset gate r", range, (r) => put("r", r));
  const head = fresh("head");
  const arrow = draw("marker", { id: head, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, path("M0 0.5L7.5 4L0 7.5z", { class: "full" }));
  const moving = draw("g");
  const picture = draw("svg", { viewBox: "0 0 400 494", role: "img", "aria-label": "One step of the gated unit, and what is left of a gradient after eighteen" },
    draw("defs", {}, arrow), draw("rect", { x: 10, y: 299, width: 376, height: 34, rx: 5 }), text(198, 321, "tanh(W · dog + U · what r lets through)"), moving);
  el.append(make("div", { class: "moving-controls" }, update.line, reset.line), picture);
  const say = announcer(el);

  function show() {
    const [z, r] = [model.get("z"), model.get("r")];
    const step = unitStep(z, r);
    update.show(z, shown(z));
    reset.show(r, shown(r));
    moving.replaceChildren(panel(0, z, r, step, head), panel(1, z, r, step, head), gradient(step.factor));
    say(`New state ${step.state.map((number) => shown(number, 4)).join(", ")}. The factor is ${shown(step.factor, 3)}: after ${STEPS} steps ${shown(step.factor ** STEPS, 3)} of the gradient is left.`);
  }
  show();
  return watch(model, ["z", "r"], show);
}

export default { render };
