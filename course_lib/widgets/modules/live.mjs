// Translators at work in the page: type a sentence, step through what they write, take hold of it.

const LIVE_PACE = 450; // milliseconds a word while a translation appears
const WIDEST = 12; // hypotheses of the widest beam
const EXAMPLES = [
  "Two children are playing in the snow.",
  "A woman in a red dress is dancing on the street while three men watch her.",
  "The small brown dog that the boy in the yellow shirt is holding wants to jump into the cold water.",
  "The parliament postponed the vote.",
];
const CUT = 3; // pieces from which on a word is one that the models can hardly know

/** One model's column: what it writes now, what it wrote before, and what it might write next. */
function column(about, choose, go) {
  const title = make("h3", { class: "moving-title" }, about.model);
  const score = make("span", { class: "live-score" });
  const written = make("p", { class: "stepper-words live-target" });
  const status = make("p", { class: "live-status", role: "status" });
  const before = make("p", { class: "live-before" });
  const next = make("tbody");
  const table = make("table", { class: "stepper-next" },
    make("caption", {}, "most probable next words: choose another"), next);
  const note = make("p", { class: "stepper-note" });
  title.append(score);
  const element = make("section", { class: "live-side", "aria-label": about.model }, title, status, written, before, note, table);
  const side = { about, element, status, written, found: null, plain: null };

  /** A finished translation, and the untouched one beside it. */
  side.take = (found, plain) => {
    Object.assign(side, { found, plain });
    status.textContent = "";
    status.classList.remove("writes");
    score.textContent = ` log p ${shown(found.logProb)}`;
    note.textContent = found.alpha ? "" : "One vector for the whole sentence: this model has no weights, so there is nowhere to see it look.";
    written.replaceChildren(...labels(found.target).map((word, k) => make("button", {
      type: "button", class: `chip role-word to-come${word.joined ? " joined" : ""}${found.numbers[k] === plain.numbers[k] ? "" : " other"}`,
      "aria-label": `word ${k + 1}, ${word.text}`, onclick: () => go(k + 1),
    }, make("b", {}, word.text))));
    before.replaceChildren(...(found === plain ? [] : [make("b", {}, found.text === plain.text ? "the same as before: " : "before: "), plain.text]));
  };
  side.show = (step) => {
    const i = Math.min(step, side.found.target.length) - 1;
    [...written.children].forEach((chip, k) => {
      chip.classList.toggle("to-come", k > i);
      chip.disabled = k > i;
      chip.classList.toggle("now", k === i);
    });
    const cut = side.found.target.some((word) => word.startsWith(START));
    table.hidden = i < 0;
    next.replaceChildren(...(i < 0 ? [] : side.found.next[i].map(([text, p, number]) => {
      const chosen = number === side.found.numbers[i];
      const word = cut ? labels([START, text]).at(-1).text : text;
      const button = make("button", { type: "button", class: "role-word", "aria-pressed": String(chosen), onclick: () => choose(side, i, number, word) }, word);
      const bar = make("span", { class: "bar", style: `width:${p * 100}%` });
      return make("tr", { class: chosen ? "chosen" : "" }, make("th", { scope: "row" }, button), make("td", {}, shown(p, 3)), make("td", { class: "bars", "aria-hidden": "true" }, bar));
    })));
  };
  side.said = (step) => `${about.model} writes ${labels(side.found.target)[Math.min(step, side.found.target.length) - 1]?.text ?? "nothing yet"}`;
  return side;
}

/** The controls above: sentence, languages, beam. */
function questionForm(model, put, ask) {
  const id = fresh("text");
  const text = make("textarea", { id, rows: 2, maxlength: 2000, spellcheck: "false", oninput: () => put("text", text.value) });
  const start = make("button", { type: "submit", class: "live-start" }, "translate");
  const pairs = [...new Set(model.get("packs").map((one) => one.pair))];
  const pair = choice("languages", () => { put("pair", pair.select.value); ask(); });
  pair.select.append(...pairs.map((one) => make("option", { value: one }, one.replace("-", " → "))));
  pair.line.hidden = pairs.length < 2;
  const example = choice("or take", () => { put("text", example.select.value); ask(); });
  example.select.append(make("option", { value: "", disabled: true, selected: true }, "an example"), ...EXAMPLES.map((one) => make("option", { value: one }, one)));
  const slider = (label, key, max, step, digits) => {
    const place = fresh(key);
    const input = make("input", { type: "range", id: place, min: step === 1 ? 1 : 0, max, step, oninput: () => { put(key, Number(input.value)); }, onchange: ask });
    const value = make("output", { for: place });
    const show = () => { input.value = model.get(key); value.textContent = shown(model.get(key), digits); };
    return { line: make("div", { class: "moving-slider" }, make("label", { for: place }, label), input, value), show };
  };
  const sliders = [slider("beam width k", "k", WIDEST, 1, 0), slider("length penalty λ", "length_penalty", 2, 0.1, 1)];
  const element = make("form", { class: "live-ask", onsubmit: (event) => { event.preventDefault(); ask(); } },
    make("label", { for: id }, "Your sentence"), make("div", { class: "live-line" }, text, start),
    make("div", { class: "moving-controls" }, example.line, pair.line, ...sliders.map((one) => one.line)));
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    ask();
  });
  const show = () => {
    if (text.value !== model.get("text")) text.value = model.get("text");
    pair.select.value = model.get("pair");
    sliders.forEach((one) => one.show());
  };
  return { element, show, start };
}

/** The figure: what is shown is `sides`, what the reader has changed lies in the model. */
class Live {
  constructor(model, el) {
    Object.assign(this, { model, el, put: setter(model), sides: [], columnsOf: [], translators: new Map(), round: 0, shares: !model.get("data") });
    const said = this.shares && fromAddress();
    if (said) this.restore(said);
    this.form = questionForm(model, this.put, () => this.ask());
    this.progress = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "loading the models" });
    this.arcs = draw("svg", { class: "stepper-arcs", "aria-hidden": "true" });
    this.source = make("p", { class: "stepper-words live-source", role: "group", "aria-label": "the words read; choose one to leave it out" });
    this.columns = make("div", { class: "live-sides" });
    this.steps = this.stepButtons();
    this.stage = make("div", { class: "live-stage", hidden: true }, this.arcs, this.steps, this.source, this.columns);
    this.changes = make("p", { class: "live-changes" });
    this.map = make("div", { class: "moving-scroll live-map", tabindex: 0, role: "region", "aria-label": "where RNNsearch looked" });
    this.reading = make("p", { class: "stepper-reading" });
    this.hold = holder((weights, all) => this.holdWeights(weights, all));
    this.below = make("div", { class: "live-below", hidden: true }, make("section", {}, this.map, this.reading), this.hold.element);
    this.tree = make("details", { class: "live-tree", ontoggle: () => this.showTree() }, make("summary", {}, "The beam's tree"));
    this.table = make("details", { class: "live-table" }, make("summary", {}, "The same as a table"));
    this.more = make("div", { class: "live-more", hidden: true }, this.tree, this.table);
    this.files = fileButtons(() => this.current(), this.shares);
    el.classList.add("moving", "live");
    el.append(this.form.element, this.progress, this.stage, this.changes, this.below, this.more);
    this.say = announcer(el);
    this.map.addEventListener("pointermove", (event) => this.point(event.target));
    el.addEventListener("keydown", (event) => this.key(event));
    this.form.show();
    if (said) this.ask(said.changes);
  }

  restore({ text = "", pair, k, length_penalty: penalty }) {
    this.put("text", String(text));
    if (this.model.get("packs").some((one) => one.pair === pair)) this.put("pair", pair);
    if (Number(k) >= 1 && Number(k) <= WIDEST) this.put("k", Math.round(k));
    if (Number(penalty) >= 0 && Number(penalty) <= 2) this.put("length_penalty", Number(penalty));
  }

  // --- asking the models ---------------------------------------------------------------------

  /** Translate what is written in the form, with nothing changed unless `changes` says so. */
  async ask(changes = {}) {
    this.stop();
    this.form.show();
    this.changed = { without: [], prefix: {}, weights: {}, ...changes };
    const packs = this.model.get("packs").filter((one) => one.pair === this.model.get("pair"));
    this.sides = packs.map((about) => column(about, (...chosen) => this.choose(...chosen), (step) => this.go(step)));
    this.columns.replaceChildren(...this.sides.map((side) => side.element));
    this.source.replaceChildren();
    this.columnsOf = [];
    this.arcs.replaceChildren();
    this.challenges?.element.remove();
    this.challenges = challengeList(this.model.get("pair").split("-")[1]);
    this.more.after(this.challenges.element, this.files.element);
    for (const part of [this.below, this.more, this.challenges.element, this.files.element]) part.hidden = true;
    this.stage.hidden = false;
    await this.run(false);
  }

  translator(about) {
    if (!this.translators.has(about.name)) {
      const [worker, folder, data] = ["worker", "folder", "data"].map((key) => this.model.get(key));
      this.translators.set(about.name, new Translator(about, { worker, folder, data }));
    }
    return this.translators.get(about.name);
  }

  /** Have every model translate, untouched and (if anything is) changed; then show it. */
  async run(stay) {
    const round = (this.round += 1);
    const request = { line: this.model.get("text"), k: this.model.get("k"), lengthPenalty: this.model.get("length_penalty") };
    const touched = this.list().length > 0;
    if (this.shares) toAddress({ text: request.line, pair: this.model.get("pair"), k: request.k, length_penalty: request.lengthPenalty, ...(touched ? { changes: this.changed } : {}) });
    const answers = await Promise.all(this.sides.map((side) => this.translated(side, request, touched, round)));
    if (round !== this.round) return;
    this.progress.hidden = true;
    if (!answers.some(Boolean)) {
      this.stage.hidden = answers.every((one) => one === null);
      if (this.stage.hidden) this.say("Type a sentence first.");
      return;
    }
    this.loaded(stay);
  }

  /** One side's translation: true; null where there is nothing to read, false where the model fails. */
  async translated(side, request, touched, round) {
    const { about } = side;
    const shares = (this.shared ??= new Map());
    try {
      const translator = this.translator(about);
      await translator.load((share) => {
        shares.set(about.name, share);
        this.progress.hidden = share >= 1;
        this.progress.value = [...shares.values()].reduce((a, b) => a + b, 0) / this.sides.length;
        side.status.textContent = share < 1 ? `loading, ${Math.round(share * 100)}%` : "";
      });
      const soFar = (text) => {
        if (round !== this.round) return;
        side.status.textContent = text;
        side.status.classList.add("writes");
      };
      side.plain ??= await translator.ask(request, soFar);
      const { without, prefix: { [about.model]: prefix }, weights } = this.changed;
      const other = touched && side.plain && (without.length || prefix || (side.plain.alpha && Object.keys(weights).length));
      const found = other ? await translator.ask({ ...request, without, prefix, weights }, soFar) : side.plain;
      if (round === this.round && found) side.take(found, side.plain);
      return found ? true : null;
    } catch (error) {
      side.status.textContent = error.message;
      side.failed = true;
      return false;
    }
  }

  // --- taking hold ---------------------------------------------------------------------------

  /** The search's side: the model that has weights. */
  get search() { return this.sides.find((side) => side.found?.alpha); }

  choose(side, i, number, word) {
    const written = side.found.numbers.slice(0, i);
    this.changed.prefix = { ...this.changed.prefix, [side.about.model]: [...written, number] };
    this.word = word;
    this.change(i + 1);
  }

  leaveOut(k) {
    const { without } = this.changed;
    this.changed = { without: without.includes(k) ? without.filter((one) => one !== k) : [...without, k], prefix: {}, weights: {} };
    this.change(this.model.get("step"));
  }

  holdWeights(weights, all) {
    const i = Math.min(this.model.get("step"), this.search.found.target.length) - 1;
    const { every, ...steps } = this.changed.weights;
    if (all) this.changed.weights = weights ? { every: weights } : {};
    else {
      delete steps[i + 1];
      this.changed.weights = { ...steps, ...(every && { every }), ...(weights && { [i + 1]: weights }) };
      const name = this.search.about.model;
      // What stands before this word stays, so that a wide beam changes nothing there.
      if (weights) this.changed.prefix = { ...this.changed.prefix, [name]: this.search.found.numbers.slice(0, i) };
    }
    this.change(i + 1);
  }

  async change(step) {
    this.stop();
    this.put("step", step);
    await this.run(true);
  }

  /** What has been changed, in words. */
  list() {
    const { without, prefix, weights } = this.changed;
    const words = this.sides.find((side) => side.plain)?.plain.words ?? [];
    const steps = Object.keys(weights);
    return [
      ...(without.length ? [`left out: ${without.map((k) => words[k]?.text ?? "a word").join(", ")}`] : []),
      ...Object.entries(prefix).filter(([, list]) => list.length).map(([name, list]) => `${name} begins with ${list.length} words that stay`),
      ...(steps.length ? [`weights held: ${steps.map((key) => (key === "every" ? "every word" : `word ${key}`)).join(", ")}`] : []),
    ];
  }

  // --- showing -------------------------------------------------------------------------------

  /** New translations: from the first word on, or at the step where the reader stands. */
  loaded(stay) {
    const { found } = this.sides.find((side) => side.found);
    const search = this.search;
    this.source.replaceChildren(...this.wordButtons(found));
    this.columnsOf = [...this.source.querySelectorAll(".live-piece")];
    for (const part of [this.more, this.challenges.element, this.files.element]) part.hidden = false;
    this.below.hidden = !search;
    if (search) this.map.replaceChildren(mapOf(search.found, `Weights of ${search.found.target.length} target words on ${search.found.source.length} source words`));
    this.table.replaceChildren(this.table.firstChild, ...this.sides.filter((side) => side.found).map((side) => make("div", { class: "moving-scroll", tabindex: 0, role: "region", "aria-label": `numbers of ${side.about.model}` },
      make("p", { class: "moving-title" }, `${side.about.model}: ${side.found.text}`), tableOf(side.found))));
    const changes = this.list();
    this.changes.replaceChildren(...(changes.length ? [`You changed: ${changes.join("; ")}. `, make("button", { type: "button", onclick: () => this.ask() }, "undo all")] : []));
    this.showTree();
    this.files.show();
    this.put("found", Object.fromEntries(this.sides.filter((side) => side.found).map(({ about, found: { text, source, target, alpha, logProb } }) => [about.model, { text, source, target, alpha, log_prob: logProb }])));
    const still = stay || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (stay) this.go(Math.min(this.model.get("step"), this.last()));
    else this.go(still ? this.last() : 1);
    if (!still) this.play();
  }

  /** The sentence's words as buttons that leave them out, and its end mark. */
  wordButtons({ words, source }) {
    const numbers = () => make("i", { class: "role-weight" });
    const buttons = words.map(({ text, out, pieces, known }, k) => {
      const shown = labels(pieces.length ? pieces : [text]).map((piece) => make("span", { class: `live-piece${piece.joined ? " joined" : ""}` }, make("b", {}, piece.text), numbers()));
      const why = known ? pieces.length >= CUT && `Rare: spelled from ${pieces.length} pieces.` : "A character that the models cannot read.";
      return make("button", {
        type: "button", class: `chip role-annotation${out ? " out" : ""}${why ? " strange" : ""}`, "aria-pressed": String(out),
        "aria-label": `${text}${out ? ", left out" : ""}${why ? `. ${why}` : ""}`, title: why || (out ? "put back" : "leave out"), onclick: () => this.leaveOut(k),
      }, ...(out ? [make("span", {}, make("b", {}, text))] : shown));
    });
    const end = make("span", { class: "chip role-annotation" }, make("span", { class: "live-piece" }, make("b", {}, source.at(-1)), numbers()));
    return [...buttons, end];
  }

  last() { return Math.max(...this.sides.filter((side) => side.found).map((side) => side.found.target.length)); }

  go(step) {
    this.put("step", Math.max(0, Math.min(this.last(), step)));
    const now = this.model.get("step");
    const sides = this.sides.filter((side) => side.found);
    sides.forEach((side) => side.show(now));
    Object.assign(this.slider, { max: this.last(), value: now });
    this.count.textContent = `${now} of ${this.last()}`;
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
    this.look(now);
    this.challenges.show({ search: this.search, encdec: this.sides.find((side) => side.found && !side.found.alpha), changed: this.list().length > 0, held: Object.keys(this.changed.weights).length > 0 });
    this.say(sides.map((side) => side.said(now)).join(". "));
  }

  /** The arcs, numbers and the row of the search's step. */
  look(step) {
    const { search } = this;
    this.arcs.replaceChildren();
    if (!search || !this.columnsOf.length) return;
    const i = Math.min(step, search.found.target.length) - 1;
    const weights = i < 0 ? [] : search.found.alpha[i];
    this.columnsOf.forEach((piece, j) => {
      piece.style.setProperty("--weight", weights[j] ?? 0);
      piece.lastChild.textContent = i < 0 ? "" : shown(weights[j]);
    });
    [...this.map.querySelectorAll(".live-row")].forEach((row, k) => row.classList.toggle("later", k > i));
    this.hold.element.hidden = i < 0;
    if (i < 0) return;
    this.hold.show(search.found, i);
    this.arcs.replaceChildren(...arcsOf(this.stage, weights, search.written.children[i], this.columnsOf));
    this.point(null);
  }

  point(cell) {
    const { search } = this;
    const [i, j] = [Number(cell?.parentNode?.dataset?.row), Number(cell?.dataset?.column)];
    const words = (list) => labels(list).map((word) => word.text);
    this.reading.textContent = cell && i >= 0 && j >= 0
      ? `${words(search.found.target)[i]} looks at ${words(search.found.source)[j]}: α = ${shown(search.found.alpha[i][j], 3)}, e = ${shown(search.found.energies[i][j], 2)}`
      : "Point at a cell for its value.";
  }

  showTree() {
    if (!this.tree.open || !this.sides.some((side) => side.found)) return;
    const sides = this.sides.filter((side) => side.found);
    const searches = sides.map((side) => ({ source: side.about.model, k: this.model.get("k"), length_penalty: this.model.get("length_penalty"), nodes: side.found.tree.nodes.map(([parent, step, word, p, fate]) => [parent, step, word.replace(START, ""), p, fate]), best: side.found.tree.best }));
    const { source, k, length_penalty: penalty } = searches[0];
    const el = make("div");
    this.tree.replaceChildren(this.tree.firstChild, el);
    beam_tree.render({ model: pageModel({ searches, source, k, length_penalty: penalty, step: this.last() }), el });
  }

  current() {
    const numbers = { text: this.model.get("text"), pair: this.model.get("pair"), k: this.model.get("k"), length_penalty: this.model.get("length_penalty"), changes: this.changed, models: Object.fromEntries(this.sides.filter((side) => side.found).map((side) => [side.about.model, side.found])) };
    return { map: this.search && mapOf(this.search.found, this.search.found.text), numbers };
  }

  // --- stepping ------------------------------------------------------------------------------

  stepButtons() {
    const button = (name, sign, act) => make("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
    const move = (by) => () => { this.stop(); this.go(by()); };
    this.slider = make("input", { type: "range", min: 0, "aria-label": "words written", oninput: move(() => Number(this.slider.value)) });
    this.count = make("output", { class: "stepper-count" });
    this.player = button("play", "play", () => (this.playing ? this.stop() : this.play()));
    return make("div", { class: "moving-controls", role: "group", "aria-label": "Steps" },
      make("div", { class: "moving-buttons" }, button("to the beginning", "|◀", move(() => 0)), button("one word back", "◀", move(() => this.model.get("step") - 1)),
        this.player, button("next word", "▶", move(() => this.model.get("step") + 1)), button("to the end", "▶|", move(() => this.last()))),
      this.slider, this.count);
  }

  play() {
    this.stop();
    if (this.model.get("step") >= this.last()) this.go(0);
    this.player.textContent = "pause";
    this.player.setAttribute("aria-label", "pause");
    this.playing = setInterval(() => {
      this.go(this.model.get("step") + 1);
      if (this.model.get("step") >= this.last()) this.stop();
    }, LIVE_PACE);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = "play";
    this.player.setAttribute("aria-label", "play");
  }

  key(event) {
    if (event.target.closest("select, input, textarea, .beam, details")) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || !this.sides.some((side) => side.found)) return;
    event.preventDefault();
    event.stopPropagation();
    this.stop();
    this.go(this.model.get("step") + by);
  }
}

function render({ model, el }) {
  const live = new Live(model, el);
  const shown = ["text", "pair", "k", "length_penalty"];
  const show = () => live.form.show();
  shown.forEach((key) => model.on(`change:${key}`, show));
  const resized = new ResizeObserver(() => live.look(model.get("step")));
  resized.observe(el);
  return () => {
    live.stop();
    resized.disconnect();
    shown.forEach((key) => model.off(`change:${key}`, show));
    live.translators.forEach((one) => one.worker?.terminate());
  };
}

export default { render };
