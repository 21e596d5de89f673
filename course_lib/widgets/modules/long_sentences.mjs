// BLEU by source length of both models on long sentences, and one sentence of each length with its translations.

const TALL = 230;
const EDGE = { left: 34, right: 12, top: 24, bottom: 44 };

function render({ model, el }) {
  el.classList.add("moving", "explorer");
  const put = setter(model);
  const [ranges, curves, examples] = ["ranges", "curves", "examples"].map((key) => model.get(key));
  const names = Object.keys(curves);

  // --- the chart -------------------------------------------------------------------------------
  const WIDE = Math.max(320, Math.min(680, (el.clientWidth || 680) - 26));
  const most = 10 * Math.ceil(Math.max(...names.flatMap((name) => curves[name].map(({ high }) => high))) / 10);
  const longest = ranges.at(-1).upper;
  const across = (words) => EDGE.left + (words / longest) * (WIDE - EDGE.left - EDGE.right);
  const down = (bleu) => TALL - EDGE.bottom - (bleu / most) * (TALL - EDGE.top - EDGE.bottom);
  const floor = down(0);
  const word = (text, x, y, anchor) => draw("text", { x, y, "text-anchor": anchor }, text);
  const chart = draw("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, class: "explorer-chart still", role: "img" });
  for (let bleu = 0; bleu <= most; bleu += 10) {
    chart.append(draw("line", { class: "grid", x1: EDGE.left, x2: WIDE - EDGE.right, y1: down(bleu), y2: down(bleu) }), word(bleu, EDGE.left - 7, down(bleu) + 4, "end"));
  }
  for (const { upper } of ranges) chart.append(word(upper, across(upper), floor + 18, "middle"));
  const cursor = draw("line", { class: "cursor", y1: EDGE.top, y2: floor });
  chart.append(word("BLEU", 2, 13, "start"), word("source length (words)", (EDGE.left + WIDE - EDGE.right) / 2, TALL - 5, "middle"), cursor);
  for (const name of names) {
    const points = curves[name].map(({ mean, low, high }, k) => ({ x: across((ranges[k].lower + ranges[k].upper) / 2), mean, low, high }));
    const marks = points.map(({ x, mean }) => {
      const one = mark(name, x);
      one.at(down(mean));
      return one;
    });
    chart.append(draw("g", { class: kind(name) },
      draw("path", { class: "spread", d: `M${[...points.map(({ x, high }) => `${x} ${down(high)}`), ...points.map(({ x, low }) => `${x} ${down(low)}`).reverse()].join("L")}Z` }),
      draw("path", { class: "line", d: `M${points.map(({ x, mean }) => `${x} ${down(mean)}`).join("L")}` }), ...marks));
  }
  chart.setAttribute("aria-label", `BLEU against source length, ${ranges[0].lower} to ${longest} words. `
    + names.map((name) => `${name}: ${curves[name].map(({ mean }) => shown(mean, 0)).join(", ")}`).join(". ") + ".");

  // --- the sentences ---------------------------------------------------------------------------
  const control = slider("sentence", { min: 0, max: examples.length - 1, step: 1 }, (k) => put("chosen", k));
  const languages = model.get("languages");
  const rows = ["source", "reference", ...names].map((name) => {
    const words = make("dd", { lang: languages[name === "source" ? 0 : 1] });
    return { name, words, parts: [make("dt", {}, ...(name in curves ? [sample(name), " "] : []), name), words] };
  });
  /** A translation whose words are marked where the reference has none of them (left). */
  function marked(text, reference) {
    const left = new Map();
    for (const one of reference.split(" ")) left.set(one, (left.get(one) ?? 0) + 1);
    return text.split(" ").flatMap((one) => {
      const there = left.get(one) > 0;
      if (there) left.set(one, left.get(one) - 1);
      return [there ? one : make("span", { class: "token wrong" }, one), " "];
    });
  }
  const where = make("p", { class: "explorer-where" });
  el.append(chart, make("div", { class: "moving-controls" }, control.line), where,
    make("dl", { class: "explorer-example prose" }, ...rows.flatMap((row) => row.parts)),
    make("p", { class: "explorer-legend" }, "Underlined with waves: a word that the reference does not have."));
  const say = announcer(el);

  function update() {
    const { words, source, reference, written } = examples[model.get("chosen")];
    const at = ranges.findIndex(({ lower, upper }) => lower <= words && words <= upper);
    control.show(model.get("chosen"), `${words} words`);
    cursor.setAttribute("x1", across(words));
    cursor.setAttribute("x2", across(words));
    where.textContent = `${ranges[at].sentences} test sentences have ${ranges[at].lower} to ${ranges[at].upper} words: `
      + `${names.map((name) => `${name} ${shown(curves[name][at].mean, 1)} BLEU`).join(", ")}.`;
    for (const { name, words: place } of rows) {
      if (name in written) place.replaceChildren(...marked(written[name], reference));
      else place.replaceChildren(name === "source" ? source : reference);
    }
    say(`A sentence of ${words} words. ${where.textContent}`);
  }
  update();
  return watch(model, ["chosen"], update);
}

export default { render };
