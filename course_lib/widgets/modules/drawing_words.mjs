// What temperature, top-k and nucleus leave of the probabilities of five words, and twenty words drawn from it.

const PREFIX = "a man is riding a …";

function normalised(shares) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** As course_lib.search.narrowed, for words of which the most probable comes first. */
function narrowed(probabilities, temperature, topK, topP) {
  const heated = normalised(probabilities.map((p) => p ** (1 / temperature)));
  const best = normalised(heated.map((share, place) => (place < topK ? share : 0)));
  let before = 0;
  return normalised(best.map((share) => {
    const kept = before < topP ? share : 0;
    before += share;
    return kept;
  }));
}

/** How often each word is drawn: every number from 0 to 1 falls into the piece of one word. */
function counted(shares, uniform) {
  const counts = shares.map(() => 0);
  for (const number of uniform) {
    let end = 0;
    counts[shares.findIndex((share) => (end += share) > number)] += 1;
  }
  return counts;
}

function render({ model, el }) {
  el.classList.add("moving", "drawing-words");
  const put = setter(model);
  const [words, probabilities, uniform] = ["words", "probabilities", "uniform"].map((name) => model.get(name));
  const heat = slider("temperature τ", { min: 0.25, max: 2, step: 0.05 }, (value) => put("temperature", value));
  const most = slider("top-k", { min: 1, max: words.length, step: 1 }, (value) => put("top_k", value));
  const nucleus = slider("nucleus p", { min: 0.05, max: 1, step: 0.05 }, (value) => put("top_p", value));
  const size = uniform[0].length;
  const again = make("button", { type: "button", onclick: () => put("draw", (model.get("draw") + 1) % uniform.length) }, `Draw ${size} again`);

  const rows = words.map((word, k) => {
    const [share, count] = ["share", "count"].map((name) => make("span", { class: name, "data-measure": name }));
    const [fill, dots] = [make("span", { class: "fill" }), make("span", { class: "dots" })];
    const own = make("span", { class: "own", style: `width: ${100 * probabilities[k]}%` });
    const row = make("li", {}, make("span", { class: "word" }, word), make("span", { class: "track" }, own, fill), share,
      make("span", { class: "quiet" }, `model ${shown(probabilities[k])}`), dots, count);
    return { row, share, count, fill, dots };
  });
  const key = (name, text) => make("span", {}, make("span", { class: name }), text);
  el.append(make("div", { class: "moving-controls" }, heat.line, most.line, nucleus.line),
    make("div", { class: "drawing-words-head" }, make("b", {}, PREFIX), key("own", "model"), key("fill", "drawn from"), key("dot", "one draw")),
    make("ul", {}, ...rows.map(({ row }) => row)), make("div", { class: "moving-buttons" }, again));
  const say = announcer(el);

  function update() {
    const [temperature, topK, topP, draw] = ["temperature", "top_k", "top_p", "draw"].map((name) => model.get(name));
    const shares = narrowed(probabilities, temperature, topK, topP);
    const counts = counted(shares, uniform[draw]);
    heat.show(temperature, shown(temperature));
    most.show(topK, topK === words.length ? `all ${topK}` : `${topK}`);
    nucleus.show(topP, shown(topP));
    rows.forEach(({ row, share, count, fill, dots }, k) => {
      row.classList.toggle("cut", shares[k] === 0);
      share.textContent = shares[k] === 0 ? "cut" : shown(shares[k]);
      fill.style.width = `${100 * shares[k]}%`;
      count.textContent = `${counts[k]} of ${size}`;
      dots.replaceChildren(...Array.from({ length: counts[k] }, () => make("span", { class: "dot" })));
    });
    say(words.map((word, k) => (shares[k] === 0 ? `${word} is cut` : `${word} ${shown(shares[k])}, drawn ${counts[k]} of ${size}`)).join("; "));
  }
  update();
  return watch(model, ["temperature", "top_k", "top_p", "draw"], update);
}

export default { render };
