// Taking hold of a row of weights: a slider for each source word, and rows to put in its place.

/** Weights with the j-th set to `value`, the others sharing out the rest as before. */
function withWeight(weights, j, value) {
  const rest = 1 - weights[j];
  return weights.map((weight, k) => {
    if (k === j) return value;
    return rest > 1e-6 ? (weight / rest) * (1 - value) : (1 - value) / (weights.length - 1);
  });
}

class Hold {
  /** `change(row, every)`: what the reader made of the row; null where the model shall look for itself. */
  constructor(change) {
    Object.assign(this, { change, now: [], rows: [], inputs: [] });
    const button = (name, act) => make("button", { type: "button", onclick: act }, name);
    this.title = make("h3", { class: "moving-title" });
    this.scope = choice("for", () => {}).line;
    this.scope.lastChild.append(make("option", {}, "this word"), make("option", {}, "every word"));
    this.only = this.chooser("all on one word", (j) => this.now.map((_, k) => Number(k === j)));
    this.row = this.chooser("copy the weights of", (i) => [...this.rows[i]]);
    this.sliders = make("div", { class: "live-sliders" });
    this.element = make("section", { class: "live-hold" }, this.title,
      make("p", { class: "live-hint" }, "Put other weights in their place and see what is written then."),
      make("div", { class: "moving-controls" }, this.scope,
        button("spread evenly", () => this.put(this.now.map(() => 1 / this.now.length))), this.only.line, this.row.line,
        button("undo", () => change(null, this.every))),
      make("details", {}, make("summary", {}, "Drag single weights"), this.sliders));
  }

  get every() { return this.scope.lastChild.selectedIndex === 1; }

  /** A list whose choice, a number, is made a row of. */
  chooser(label, rowOf) {
    const { select, line } = choice(label, () => select.value !== "" && this.put(rowOf(Number(select.value))));
    const offer = (words) => {
      // Whoever goes through the list by its keys stays where they are.
      const chosen = document.activeElement === select ? select.value : "";
      select.replaceChildren(make("option", { value: "" }, "…"), ...words.map((word, k) => make("option", { value: k }, word)));
      select.value = chosen < words.length ? chosen : "";
    };
    return { line, offer };
  }

  put(weights) {
    this.change(weights.map((weight) => Math.round(weight * 1e4) / 1e4), this.every);
  }

  /** A slider a source word; those of a sentence stay while its weights change under the hand. */
  slider(word, j) {
    const input = make("input", {
      type: "range", min: 0, max: 1, step: 0.01, "aria-label": `weight on ${word}`,
      oninput: () => {
        // At once, before any model has answered.
        this.now = withWeight(this.now, j, Number(input.value));
        this.tell();
        this.put(this.now);
      },
    });
    const value = make("output", { class: "role-weight" });
    return { word, input, value, line: make("div", { class: "live-slider" }, make("span", {}, word), input, value) };
  }

  /** The row of step i, counted from 0. */
  show({ source, target, alpha }, i) {
    const [words, written] = [texts(source), texts(target)];
    [this.now, this.rows] = [alpha[i], alpha];
    this.title.textContent = `Take hold of the weights of “${written[i]}”`;
    if (this.inputs.map((one) => one.word).join(" ") !== words.join(" ")) {
      this.inputs = words.map((word, j) => this.slider(word, j));
      this.sliders.replaceChildren(...this.inputs.map((one) => one.line));
    }
    this.tell();
    this.only.offer(words);
    this.row.offer(written);
  }

  /** The row in numbers; the slider under the hand is where it is. */
  tell() {
    this.inputs.forEach(({ input, value }, j) => {
      if (document.activeElement !== input) input.value = this.now[j];
      value.textContent = shown(this.now[j]);
    });
  }
}
