// Taking hold of a row of weights: a slider for each source word, and rows to put in its place.

/** Weights with the j-th set to `value`, the others sharing out the rest as before. */
function withWeight(weights, j, value) {
  const rest = 1 - weights[j];
  return weights.map((weight, k) => {
    if (k === j) return value;
    return rest > 1e-6 ? (weight / rest) * (1 - value) : (1 - value) / (weights.length - 1);
  });
}

/**
 * The controls. `change(weights, everyStep)` is called with what the reader made of the row, and with
 * null where the model shall look for itself again.
 */
function holder(change) {
  const title = make("h3", { class: "moving-title" });
  const sliders = make("div", { class: "live-sliders" });
  const scope = choice("for", () => {});
  scope.select.append(make("option", {}, "this word"), make("option", {}, "every word"));
  const everyStep = () => scope.select.selectedIndex === 1;
  const button = (name, act) => make("button", { type: "button", onclick: act }, name);
  const only = choice("all on", () => only.select.value !== "" && put(now.map((_, j) => Number(j === Number(only.select.value)))));
  const row = choice("the row of", () => row.select.value !== "" && put([...rows[Number(row.select.value)]]));
  const element = make("section", { class: "live-hold" }, title,
    make("div", { class: "moving-controls" }, scope.line, button("all alike", () => put(now.map(() => 1 / now.length))), only.line, row.line,
      button("as the model looks", () => change(null, everyStep()))),
    sliders);
  let [now, rows, inputs] = [[], [], []];

  function put(weights) {
    change(weights.map((weight) => Math.round(weight * 1e4) / 1e4), everyStep());
  }

  /** A slider a source word; those of a sentence stay while its weights change under the hand. */
  function build(words) {
    inputs = words.map((word, j) => {
      const input = make("input", {
        type: "range", min: 0, max: 1, step: 0.01, "aria-label": `weight on ${word}`,
        oninput: () => put(withWeight(now, j, Number(input.value))),
      });
      const value = make("output", { class: "role-weight" });
      return { word, input, value, line: make("div", { class: "live-slider" }, make("span", {}, word), input, value) };
    });
    sliders.replaceChildren(...inputs.map((one) => one.line));
  }

  const options = (select, words) => select.replaceChildren(make("option", { value: "" }, "…"), ...words.map((word, k) => make("option", { value: k }, word)));

  /** The row of step i, counted from 0. */
  function show({ source, target, alpha }, i) {
    const [words, written] = [labels(source), labels(target)].map((list) => list.map((word) => word.text));
    [now, rows] = [alpha[i], alpha];
    title.textContent = `Take hold of the weights of “${written[i]}”`;
    if (inputs.map((one) => one.word).join(" ") !== words.join(" ")) build(words);
    inputs.forEach(({ input, value }, j) => {
      if (document.activeElement !== input) input.value = now[j];
      value.textContent = shown(now[j]);
    });
    options(only.select, words);
    options(row.select, written);
  }
  return { element, show };
}
