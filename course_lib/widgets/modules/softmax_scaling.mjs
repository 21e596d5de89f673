// What dimension, temperature and the root of d do to the softmax of one query's dot products.

const COLUMNS = [
  { name: "plain", title: "q·k", scale: () => 1 },
  { name: "scaled", title: "q·k / √d", scale: (d) => 1 / Math.sqrt(d) },
];
const MEASURES = [
  ["spread", "spread of the energies", (energies) => deviation(energies), 2],
  ["largest", "largest weight", (_, weights) => Math.max(...weights), 4],
  ["slope", "its slope, α (1 − α)", (_, weights) => slope(Math.max(...weights)), 5],
];

function deviation(numbers) {
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  return Math.sqrt(numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length);
}

/** How much a weight moves with its own energy. */
function slope(weight) {
  return weight * (1 - weight);
}

function render({ model, el }) {
  el.classList.add("moving", "softmax-scaling");
  const put = setter(model);
  const dimensions = model.get("dimensions");

  const size = slider("dimension d", { min: 0, max: dimensions.length - 1, step: 1 }, (at) => put("dimension", dimensions[at]));
  const heat = slider("temperature τ", { min: -3, max: 5, step: 0.25 }, (power) => put("temperature", 2 ** power));
  const draws = model.get("products").length;
  const again = make("button", { type: "button", onclick: () => put("draw", (model.get("draw") + 1) % draws) }, "Another query");
  el.append(make("div", { class: "moving-controls" }, size.line, heat.line, again));

  const keys = model.get("products")[0][0].length;
  const columns = COLUMNS.map((column) => {
    const bars = Array.from({ length: keys }, () => make("span", { class: "bar" }));
    const cells = Object.fromEntries(MEASURES.map(([name]) => [name, make("dd", { "data-measure": name })]));
    el.append(make("section", { class: "softmax-column", "aria-label": column.title },
      make("p", { class: "moving-title" }, column.title),
      make("div", { class: "softmax-bars", role: "img", "aria-label": `The weights of ${keys} keys` }, ...bars),
      make("dl", {}, ...MEASURES.flatMap(([name, label]) => [make("dt", {}, label), cells[name]]))));
    return { ...column, bars, cells };
  });
  const say = announcer(el);

  function update() {
    const d = model.get("dimension");
    const at = dimensions.indexOf(d);
    const temperature = model.get("temperature");
    const products = model.get("products")[model.get("draw")][at];
    size.show(at, d);
    heat.show(Math.log2(temperature), shown(temperature, temperature < 8 ? 2 : 1));
    const said = columns.map(({ title, scale, bars, cells }) => {
      const energies = products.map((product) => product * scale(d) / temperature);
      const weights = softmax(energies);
      weights.forEach((weight, j) => { bars[j].style.height = `${Math.max(weight * 100, 0.6)}%`; });
      for (const [name, , measure, digits] of MEASURES) {
        cells[name].textContent = shown(measure(energies, weights), digits);
      }
      return `${title}: largest weight ${cells.largest.textContent}, slope ${cells.slope.textContent}`;
    });
    say(`d ${d}. ${said.join(". ")}.`);
  }
  update();
  return watch(model, ["dimension", "temperature", "draw"], update);
}

export default { render };
