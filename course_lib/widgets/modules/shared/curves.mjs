// How the two models' curves are told apart: RNNsearch is square and RNNencdec round, as in the printed figures.

const kind = (name) => (name.toLowerCase() === "rnnsearch" ? "search" : "encdec");

/** A model's mark; `at(y, x)` moves it. */
function mark(name, x, radius = 3.2) {
  const shape = kind(name) === "search"
    ? draw("rect", { x: -radius, y: -radius, width: 2 * radius, height: 2 * radius })
    : draw("circle", { r: radius * 1.1 });
  const group = draw("g", { class: "mark" }, shape);
  group.at = (y, left = x) => group.setAttribute("transform", `translate(${left.toFixed(1)} ${y.toFixed(1)})`);
  return group;
}

/** A piece of a model's line, for a legend. */
function sample(name) {
  const place = mark(name, 22);
  place.at(8);
  return draw("svg", { class: `explorer-key ${kind(name)}`, viewBox: "0 0 44 16", "aria-hidden": "true" }, draw("path", { class: "line", d: "M2 8H42" }), place);
}
