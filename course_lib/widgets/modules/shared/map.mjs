// Where a model looked: the map as a drawing, the arcs of one step, and a table that says the same.

const END_MARK = "</s>";
const texts = (pieces) => labels(pieces).map((word) => word.text);
const MAP = { cell: 24, letters: 12, paper: "#ffffff", ink: "#23262b", line: "#d9d9d2" };
const SMALLEST = 0.6; // of the map's size: its letters can still be read, and what is wider scrolls

/** How wide a text is drawn, in pixels. */
function widthOf(text, size = MAP.letters) {
  widthOf.context ??= make("canvas").getContext("2d");
  widthOf.context.font = `${size}px sans-serif`;
  return widthOf.context.measureText(text).width;
}

/** The whole map, a drawing that can leave the page: it has its colours in itself. `gold` links are outlined. */
function mapOf({ source, target, alpha, gold }, title) {
  const { cell, letters, paper, ink, line } = MAP;
  const [columns, rows] = [texts(source), texts(target)];
  const left = Math.max(...rows.map((word) => widthOf(word))) + 10;
  const top = Math.max(...columns.map((word) => widthOf(word))) + 10;
  const [width, height] = [left + cell * columns.length + 2, top + cell * rows.length + 2];
  const text = (word, attributes) => draw("text", { "font-size": letters, "font-family": "sans-serif", fill: ink, ...attributes }, word);
  const style = `min-width: max(15rem, ${SMALLEST * width}px)`;
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, style, class: "weights-map", role: "img", "aria-label": title },
    draw("title", {}, title),
    draw("rect", { width, height, fill: paper }),
    ...columns.map((word, j) => text(word, { transform: `translate(${left + (j + 0.65) * cell} ${top - 5}) rotate(-90)` })),
    ...rows.map((word, i) => draw("g", { class: "map-row", "data-row": i },
      text(word, { x: left - 5, y: top + (i + 0.65) * cell, "text-anchor": "end" }),
      ...alpha[i].map((weight, j) => draw("rect", {
        x: left + j * cell, y: top + i * cell, width: cell, height: cell, fill: colour(weight), "data-column": j,
      })),
      ...(gold ?? []).filter((link) => link[1] === i).map(([j]) => draw("rect", {
        x: left + j * cell + 2, y: top + i * cell + 2, width: cell - 4, height: cell - 4, fill: "none", stroke: ink, "pointer-events": "none",
      })))),
    draw("rect", { x: left, y: top, width: cell * columns.length, height: cell * rows.length, fill: "none", stroke: line }));
}

/** Show the rows up to row i, the word written last. */
function showRows(map, i) {
  map.querySelectorAll(".map-row").forEach((row, k) => row.classList.toggle("later", k > i));
}

/** Row and column of a cell that is pointed at; null for what is none. */
function cellOf(element) {
  const [i, j] = [element?.parentNode?.dataset?.row, element?.dataset?.column].map(Number);
  return i >= 0 && j >= 0 ? [i, j] : null;
}

/**
 * Arcs between the word written last and the words looked at, above or below it, within the element `stage`.
 * Where these stand in several rows, an arc from a farther one would pass behind other words and seem to be
 * theirs: all are `shaded` by their weight then, and there is no arc.
 */
function arcsOf(stage, weights, written, source) {
  const boxes = source.map((word) => word.getBoundingClientRect());
  const shaded = boxes.some((box) => Math.abs(box.top - boxes[0].top) > box.height / 2);
  source.forEach((word) => word.classList.toggle("shaded", shaded));
  if (shaded) return [];
  const origin = stage.getBoundingClientRect();
  const from = written.getBoundingClientRect();
  const above = from.top < boxes[0].top;
  const middleOf = (box) => box.left - origin.left + box.width / 2;
  const [x, y] = [middleOf(from), from[above ? "bottom" : "top"] - origin.top];
  return weights.flatMap((weight, j) => {
    if (weight < 0.02 || !source[j]) return [];
    const [across, down] = [middleOf(boxes[j]), boxes[j][above ? "top" : "bottom"] - origin.top];
    const middle = (y + down) / 2;
    return [draw("path", {
      d: `M${across} ${down}C${across} ${middle} ${x} ${middle} ${x} ${y}`,
      "stroke-width": (1 + 6 * weight).toFixed(2), "stroke-opacity": (0.25 + 0.75 * weight).toFixed(2),
    })];
  });
}

/** The numbers of a translation for whoever reads with their ears. */
function tableOf({ source, target, alpha, logProbs, next }) {
  const [columns, rows] = [texts(source), texts(target)];
  const head = ["word", "p", "most probable", ...(alpha ? columns : [])];
  return make("table", { class: "live-numbers" },
    make("thead", {}, make("tr", {}, ...head.map((word) => make("th", { scope: "col" }, word)))),
    make("tbody", {}, ...rows.map((word, i) => make("tr", {},
      make("th", { scope: "row" }, word),
      make("td", {}, shown(Math.exp(logProbs[i]), 3)),
      make("td", { class: "live-likely" }, next[i].map(([one, p]) => `${alone(one, target)} ${shown(p, 3)}`).join(", ")),
      ...(alpha ? alpha[i].map((weight) => make("td", {}, shown(weight))) : [])))));
}
