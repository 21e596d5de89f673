// One translation, word by word: where the model looks, what it would write, and how sure it is.

const PACE = 900; // milliseconds a word while it plays

/** One model's side of the figure: the words, the map, the most probable next words. */
class Panel {
  /** `choose(step, j)` is called with the cell of the map that is chosen; `inTarget(word)` is the word with its language. */
  constructor(data, tokens, { choose, inTarget }) {
    Object.assign(this, { data, choose, inTarget, step: 0, chosen: null });
    const [from, to] = [labels(data.source ?? tokens), labels(data.target)];
    [this.source, this.target] = [from, to].map((words) => words.map((word) => word.text));
    const chip = (word, role, ...numbers) => make("span", { class: `chip role-${role}${word.joined ? " joined" : ""}` }, make("b", {}, word.text), ...numbers);
    this.arcs = draw("svg", { class: "stepper-arcs", "aria-hidden": "true" });
    this.written = make("p", { class: "stepper-words target" }, ...to.map((word) => chip(word, "word")));
    this.read = make("p", { class: "stepper-words source" }, ...from.map((word) => chip(word, "annotation",
      make("i", { class: "role-weight" }), make("i", { class: "role-energy" }))));
    this.strip = make("div", { class: "stepper-strip" }, this.arcs, this.written, this.read);
    this.reading = make("p", { class: "stepper-reading" });
    this.next = make("tbody");
    this.element = make("section", { class: "stepper-panel" }, make("p", { class: "moving-title" }, data.name), this.strip,
      make("p", { class: "stepper-note" }, data.alpha ? "" : "One vector for the whole sentence: this model has no weights, so there is nowhere to see it look."),
      make("div", { class: "stepper-below" }, ...(data.alpha ? [this.mapped(tokens)] : []),
        make("table", { class: "stepper-next" }, make("caption", {}, "most probable next words"), this.next)));
  }

  /** The map, whose rows appear one by one. */
  mapped(tokens) {
    const { data: { source = tokens, target, alpha, gold } } = this;
    this.map = mapOf({ source, target, alpha, gold }, "");
    this.map.setAttribute("tabindex", 0);
    this.map.addEventListener("pointermove", ({ target: cell }) => this.point(cellOf(cell) ?? this.now));
    this.map.addEventListener("pointerleave", () => this.point(this.now));
    this.map.addEventListener("click", ({ target: cell }) => {
      const [i, j] = cellOf(cell) ?? [];
      if (cellOf(cell)) this.choose(i + 1, j);
    });
    this.map.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || isShortcut(event) || !this.step) return;
      event.preventDefault();
      event.stopPropagation();
      const j = this.chosen === null ? 0 : this.chosen + by;
      this.choose(this.step, Math.max(0, Math.min(this.source.length - 1, j)));
    });
    return make("div", { class: "stepper-map" }, make("div", { class: "moving-scroll" }, this.map), this.reading);
  }

  /** The cell of the word written last that is chosen, if one is. */
  get now() { return this.chosen === null || !this.step ? null : [this.step - 1, this.chosen]; }

  show(step, chosen) {
    const { alpha, energies, next } = this.data;
    const i = Math.min(step, this.target.length) - 1;
    this.step = i + 1;
    this.chosen = alpha && chosen >= 0 && chosen < this.source.length ? chosen : null;
    if (alpha) this.look(i, alpha[i], energies[i]);
    [...this.written.children].forEach((chip, k) => {
      chip.classList.toggle("to-come", k > i);
      chip.classList.toggle("now", k === i);
    });
    this.next.replaceChildren(...(i < 0 ? [] : next[i].map(([text, p]) => this.line(text, p, text === this.data.target[i]))));
  }

  line(text, p, chosen) {
    return make("tr", { class: chosen ? "chosen" : "" }, make("th", { scope: "row", class: "role-word" }, text.replace(START, "")),
      make("td", {}, shown(p, 3)), make("td", { class: "bars", "aria-hidden": "true" }, make("span", { class: "bar", style: `width:${p * 100}%` })));
  }

  /** The weights of step i at the words read, as arcs and as a row of the map; none before the first. */
  look(i, weights, energies) {
    const words = [...this.read.children];
    // First: once something has changed, to ask for places would have the browser lay out the page at once.
    this.arcs.replaceChildren(...(weights ? arcsOf(this.strip, weights, this.written.children[i], words) : []));
    words.forEach((chip, j) => {
      const [, weight, energy] = chip.children;
      chip.style.setProperty("--weight", weights?.[j] ?? 0);
      chip.classList.toggle("asked", j === this.chosen);
      weight.textContent = weights ? shown(weights[j]) : "";
      energy.textContent = weights ? shown(energies[j], 1) : "";
    });
    showRows(this.map, i);
    this.map.setAttribute("aria-label", `Weights of ${this.step} of ${this.target.length} target words on ${words.length} source words`);
    this.point(this.now);
  }

  /** What is under the pointer, or under the arrow keys: a cell's words and its value. */
  point(cell) {
    const [i, j] = cell ?? [];
    this.reading.replaceChildren(...(cell
      ? [this.inTarget(this.target[i]), ` looks at ${this.source[j]}: α = ${shown(this.data.alpha[i][j], 3)}, e = ${shown(this.data.energies[i][j])}`]
      : [`Point at a cell for its value.${this.data.gold ? " Outlined: the gold alignment." : ""}`]));
  }

  said() {
    const [i, { alpha, name }] = [this.step - 1, this.data];
    if (i < 0) return [`${name}: nothing written yet`];
    const most = alpha ? alpha[i].indexOf(Math.max(...alpha[i])) : 0;
    const j = this.chosen ?? most;
    return [`${name} writes `, this.inTarget(this.target[i]), alpha ? `, looks ${j === most ? "most " : ""}at ${this.source[j]}, ${shown(alpha[i][j])}` : ", has no weights"];
  }
}

function render({ model, el }) {
  el.classList.add("moving", "stepper");
  const put = setter(model);
  const sentences = model.get("sentences");
  const option = (value, text) => make("option", { value }, text);
  const sentence = choice("sentence", () => {
    put("looked_at", -1);
    put("sentence", sentence.select.selectedIndex);
  });
  sentence.select.append(...sentences.map((one, k) => option(k, one.label)));
  const first = choice("model", () => put("first", first.select.value));
  const second = choice("beside it", () => put("second", second.select.value));
  const steps = new Steps((step) => put("step", step), PACE);
  const panels = make("div", { class: "stepper-panels" });
  el.append(make("div", { class: "moving-controls" }, sentence.line, first.line, second.line), steps.element, panels);
  const say = announcer(el);
  let sides = [];

  el.addEventListener("keydown", (event) => {
    if (isShortcut(event) || event.target.closest("select, input") || (event.key === " " && event.target.closest("button"))) return;
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    if (by) steps.to(steps.now + by);
    else if (event.key === " ") steps.player.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function load() {
    const { models, source } = sentences[model.get("sentence")];
    const names = models.map((one) => one.name);
    const kept = (key, otherwise) => (names.includes(model.get(key)) || model.get(key) === "" ? model.get(key) : otherwise);
    const chosen = [kept("first", names[0]) || names[0], kept("second", "")];
    first.select.replaceChildren(...names.map((name) => option(name, name)));
    second.select.replaceChildren(option("", "nothing"), ...names.map((name) => option(name, name)));
    [first.select.value, second.select.value] = chosen;
    sentence.select.value = model.get("sentence");
    const choose = (step, j) => {
      put("looked_at", j);
      steps.to(step);
    };
    const language = model.get("language");
    const inTarget = (word) => foreign(language, word);
    sides = chosen.filter(Boolean).map((name) => new Panel(models.find((one) => one.name === name), source, { choose, inTarget }));
    sides.forEach((side) => inLanguage(language, side.written, side.next, ...side.element.querySelectorAll(".map-row > text")));
    panels.replaceChildren(...sides.map((side) => side.element));
    const last = Math.max(...sides.map((side) => side.target.length));
    if (model.get("step") > last) put("step", last);
    show();
  }
  function show() {
    steps.show(model.get("step"), Math.max(...sides.map((side) => side.target.length)));
    sides.forEach((side) => side.show(model.get("step"), model.get("looked_at")));
    say(...sides.flatMap((side) => [...side.said(), ". "]));
  }
  const ends = [watch(model, ["sentence", "first", "second"], load), watch(model, ["step", "looked_at"], show)];
  load();
  const resized = new ResizeObserver(show); // the arcs
  resized.observe(el);
  return () => {
    steps.stop();
    resized.disconnect();
    ends.forEach((end) => end());
  };
}

export default { render };
