// Translators at work in the page: type a sentence, step through what they write, take hold of it.
//
// What is asked lies in the traitlets model, what is taken in hand in `changed` (live/changes.mjs),
// what was found in one column a model (live/column.mjs). Everything else follows from these.

const PACE = 450; // milliseconds a word while it plays
const READ_BY_EAR = "select, input, textarea, .live-tree, .live-table, .live-sliders"; // where arrow keys have a meaning of their own
const region = (name, ...children) => make("div", { class: "moving-scroll", tabindex: 0, role: "region", "aria-label": name }, ...children);

class Live {
  constructor(model, el) {
    Object.assign(this, { model, put: setter(model), changed: UNTOUCHED, round: 0 });
    Object.assign(this, { columns: [], pieces: [], translators: new Map(), changing: false, next: null });
    this.shares = !model.get("data"); // a notebook's address is not this figure's to write
    this.form = new Question(model, this.put, () => this.ask());
    this.steps = new Steps((step) => this.go(step), PACE);
    this.build(el);
    const said = this.shares && fromAddress();
    if (said) this.form.restore(said);
    this.form.show();
    this.request = this.form.take();
    if (said) this.ask(changesOf(said.changes));
    else this.greet();
  }

  /** Another address was put in this one's place. */
  readdressed(address) {
    const said = fromAddress(address);
    if (!said) return;
    this.form.restore(said);
    this.ask(changesOf(said.changes));
  }

  build(el) {
    this.progress = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "loading the models" });
    this.arcs = draw("svg", { class: "stepper-arcs", "aria-hidden": "true" });
    this.source = make("p", { class: "stepper-words live-source", role: "group", "aria-label": "the words read; choose one to leave it out" });
    this.sides = make("div", { class: "live-sides live-texts" });
    this.besides = make("div", { class: "live-sides" });
    this.stage = make("div", { class: "live-stage" }, this.arcs,
      make("p", { class: "live-hint" }, "The words read: press one to leave it out."), this.source, this.sides, this.besides);
    this.changes = make("p", { class: "live-changes" });
    this.mapTitle = make("h3", { class: "moving-title" });
    this.map = region("the map of weights");
    this.map.classList.add("live-map");
    this.reading = make("p", { class: "stepper-reading" });
    this.hold = new Hold((row, every) => this.holdWeights(row, every));
    this.below = make("div", { class: "live-below", hidden: true },
      make("section", {}, this.mapTitle, make("p", { class: "live-hint" }, "A row for each word written, darker for more weight."),
        this.map, this.reading));
    // The step and its row of the map are looked at together, so they stand together, on a phone too.
    this.desk = make("div", { class: "live-desk", hidden: true }, this.steps.element, this.below, this.stage, this.hold.element);
    this.tree = make("details", { class: "live-tree", ontoggle: () => this.showTree() }, make("summary", {}, "The beam's tree"));
    this.table = make("details", { class: "live-table" }, make("summary", {}, "The same as a table"));
    this.files = fileButtons(() => this.current(), this.shares);
    this.more = make("details", { class: "live-more" }, make("summary", {}, "More: the search, its tree, a table, files"),
      make("div", {}, this.form.settings, this.tree, this.table, this.files.element));
    el.classList.add("moving", "live");
    el.append(this.form.element, this.progress, this.changes, this.desk, this.more);
    this.afterwards(true);
    this.say = announcer(el);
    this.map.addEventListener("pointermove", (event) => this.point(event.target));
    el.addEventListener("keydown", (event) => this.key(event));
  }

  // --- asking the models ---------------------------------------------------------------------

  /** What the models write for the first sentence came with the page: it stands there before they are loaded. */
  greet() {
    const first = this.model.get("first");
    if (!Object.keys(first).length) return;
    this.begin(UNTOUCHED);
    for (const one of this.columns) one.take(first[one.about.name], first[one.about.name]);
    this.loaded();
    this.go(tellingStep(this.attending?.found ?? this.answered[0].found));
  }

  /** Translate what is written in the form, with nothing changed unless `changed` says so. */
  async ask(changed = UNTOUCHED) {
    this.steps.stop();
    this.form.show();
    this.request = this.form.take(); // what is typed from now on is not asked yet
    this.begin(changed);
    this.wait(true);
    if (!await this.run()) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.go(tellingStep(this.answered[0].found));
    this.go(1);
    this.steps.play();
  }

  /** Another sentence: empty columns for another pair of languages. */
  begin(changed) {
    this.changed = changed;
    this.desk.hidden = false;
    const pair = this.model.get("pair");
    if (this.challenges?.pair === pair) return;
    const acts = { choose: (...chosen) => this.choose(...chosen), go: (step) => this.steps.to(step), glosses: this.model.get("glosses") };
    this.columns = this.model.get("packs").filter((one) => one.pair === pair).map((about) => new Column(about, acts));
    this.sides.replaceChildren(...this.columns.map((one) => one.element));
    this.besides.replaceChildren(...this.columns.map((one) => one.beside));
    this.challenges?.element.remove();
    this.challenges = challengeList(pair);
    this.more.before(this.challenges.element);
    this.empty();
  }

  /** Nothing is translated. */
  empty() {
    this.source.replaceChildren();
    this.pieces = [];
    this.afterwards(true);
  }

  /** Whether what needs a translation is hidden. */
  afterwards(hidden) {
    const parts = [this.below, this.hold.element, this.tree, this.table, this.files.element, this.challenges?.element];
    for (const part of parts) if (part) part.hidden = hidden;
  }

  /** What was found for the sentence before stays, out of reach, until something is found for this one. */
  wait(waits) {
    this.waits = waits;
    const parts = [this.steps.element, this.source, this.below, this.hold.element, this.tree, this.table, this.files.element, this.challenges.element];
    for (const part of parts) part.inert = waits;
    for (const one of this.columns) one.wait(waits);
    if (!waits) return;
    this.arcs.replaceChildren();
    this.changes.replaceChildren();
    this.say("");
  }

  translator(about) {
    if (!this.translators.has(about.name)) {
      const [worker, folder, data] = ["worker", "folder", "data"].map((key) => this.model.get(key));
      this.translators.set(about.name, new Translator(about, { worker, folder, data }));
    }
    return this.translators.get(about.name);
  }

  /** Have every model translate, untouched and (if anything is) changed: true where there is something to see. */
  async run() {
    const round = (this.round += 1);
    if (this.shares) toAddress({ ...this.asked(), ...(this.list().length ? { changes: this.changed } : {}) });
    const answers = await Promise.all(this.columns.map((one) => this.translated(one, this.request, round)));
    if (round !== this.round) return false;
    this.progress.hidden = true;
    this.wait(false);
    this.columns.forEach((one, k) => { if (!answers[k]) one.clear(); });
    if (answers.some(Boolean)) {
      // All at once: the figure is drawn anew whenever its size changes, also between two answers.
      answers.forEach((found, k) => { if (found) this.columns[k].take(found, this.columns[k].plain); });
      this.loaded();
      return true;
    }
    this.empty();
    this.desk.hidden = answers.every((one) => one === null);
    this.changes.replaceChildren(...(this.desk.hidden ? ["There is nothing to translate: type a sentence."] : []));
    this.say(this.changes.textContent);
    return false;
  }

  /** What is translated, as an address and a file say it. */
  asked() {
    const { line: text, k, lengthPenalty: length_penalty } = this.request;
    return { text, pair: this.model.get("pair"), k, length_penalty };
  }

  /** One column's translation; null where there is nothing to read, false where the model fails. */
  async translated(column, request, round) {
    const { about } = column;
    const soFar = (text) => { if (round === this.round) column.says(text, true); };
    try {
      const translator = this.translator(about);
      await translator.load((share) => this.showProgress(column, share));
      column.plain ??= await translator.ask(request, soFar);
      if (!column.plain) return null;
      const changes = { ...this.changed, prefix: this.changed.prefix[about.model] };
      const other = touches(this.changed, about.model, column.plain.alpha);
      return other ? await translator.ask({ ...request, ...changes }, soFar) : column.plain;
    } catch (error) {
      column.says(error.message);
      return false;
    }
  }

  showProgress(column, share) {
    column.share = share;
    this.progress.hidden = share >= 1;
    this.progress.value = this.columns.reduce((so, one) => so + (one.share ?? 0), 0) / this.columns.length;
    column.says(share < 1 ? `loading, ${Math.round(share * 100)}%` : "");
  }

  // --- taking hold ---------------------------------------------------------------------------

  get answered() { return this.columns.filter((one) => one.found); }

  /** The first model that has weights to look at. */
  get attending() { return this.columns.find((one) => one.found?.alpha); }

  get last() { return Math.max(...this.answered.map((one) => one.found.target.length)); }

  choose(column, i, number) {
    this.change(begun(this.changed, column.about.model, [...column.found.numbers.slice(0, i), number]), i + 1);
  }

  /** One word is always left to read. */
  leaveOut(k) {
    const changed = leftOut(this.changed, k);
    if (changed.without.length < this.source.querySelectorAll("button").length) this.change(changed, this.steps.now);
  }

  holdWeights(row, every) {
    const { about, found } = this.attending;
    const i = this.attending.at(this.steps.now);
    // What stands before this word stays, so that a wide beam changes nothing there.
    const stays = row && !every ? begun(this.changed, about.model, found.numbers.slice(0, i)) : this.changed;
    this.change(held(stays, every ? "every" : i + 1, row), i + 1);
  }

  /** Of changes that come while one is worked on, the last is worked on next, and no other. */
  async change(changed, step) {
    this.steps.stop();
    this.changed = changed;
    this.put("step", step);
    this.next = step;
    if (this.changing) return;
    this.changing = true;
    try {
      while (this.next !== null) {
        const at = this.next;
        this.next = null;
        if (await this.run()) this.go(Math.min(at, this.last));
      }
    } finally {
      this.changing = false;
    }
  }

  /** What has been changed, in words. */
  list() { return inWords(this.changed, this.columns.find((one) => one.plain)?.plain.words ?? []); }

  // --- showing -------------------------------------------------------------------------------

  /** New translations; where the reader stands among their words is for `go`. */
  loaded() {
    const { attending, answered } = this;
    inLanguage(tagOf(this.model.get("pair").split("-")[0]), this.source);
    refill(this.source, sourceWords(answered[0].found, (k) => this.leaveOut(k)));
    this.pieces = [...this.source.querySelectorAll(".live-piece")];
    this.afterwards(false);
    this.below.hidden = this.hold.element.hidden = !attending;
    if (attending) {
      this.mapTitle.textContent = `Where ${attending.about.model} looked`;
      const { found: { source, target } } = attending;
      this.map.replaceChildren(mapOf(attending.found, `Weights of ${target.length} target words on ${source.length} source words`));
    }
    this.table.replaceChildren(this.table.firstChild, ...answered.map(({ about, found }) => region(`numbers of ${about.model}`,
      make("p", { class: "moving-title" }, `${about.model}, log p ${shown(found.logProb)}: ${found.text}`), tableOf(found))));
    const changes = this.list();
    const undo = make("button", { type: "button", onclick: () => this.change(UNTOUCHED, this.steps.now) }, "undo all");
    const leaves = this.changes.contains(document.activeElement);
    this.changes.replaceChildren(...(changes.length ? [`You changed: ${changes.join("; ")}. `, undo] : []));
    if (leaves) this.source.querySelector("button").focus({ preventScroll: true });
    this.showTree();
    this.files.show();
    this.put("found", Object.fromEntries(answered.map(({ about, found: { text, source, target, alpha, logProb } }) => (
      [about.model, { text, source, target, alpha, log_prob: logProb }]))));
  }

  go(step) {
    this.put("step", step);
    this.steps.show(step, this.last);
    this.answered.forEach((one) => one.show(step));
    this.look(step);
    this.challenges.show({
      search: this.attending, encdec: this.answered.find((one) => !one.found.alpha),
      changed: this.list().length > 0, holds: someWeights(this.changed),
      own: !Object.values(this.model.get("sentences")).flat().includes(this.request.line),
    });
    this.say(...this.answered.flatMap((one) => [...one.said(step), ". "]));
  }

  /** The arcs, numbers and the row of the word written last. */
  look(step) {
    const { attending, pieces, waits } = this;
    this.arcs.replaceChildren();
    if (!attending || !pieces.length || waits) return;
    const i = attending.at(step);
    const weights = attending.found.alpha[i] ?? [];
    pieces.forEach((piece, j) => {
      piece.style.setProperty("--weight", weights[j] ?? 0);
      piece.lastChild.textContent = i < 0 ? "" : shown(weights[j]);
    });
    showRows(this.map, i);
    [this.hold.element, attending.now].forEach((part) => { part.hidden = i < 0; });
    this.point(null);
    if (i < 0) return;
    if (this.next === null) this.hold.show(attending.found, i); // else a newer row is under the hand
    attending.now.textContent = texts(attending.found.target)[i];
    const arcs = arcsOf(this.stage, weights, attending.now, pieces);
    this.arcs.replaceChildren(...arcs);
    attending.now.hidden = !arcs.length; // it is there for the arcs
  }

  point(cell) {
    const { source, target, alpha, energies } = this.attending.found;
    const [i, j] = cellOf(cell) ?? [];
    this.reading.textContent = cellOf(cell)
      ? `${texts(target)[i]} looks at ${texts(source)[j]}: α = ${shown(alpha[i][j], 3)}, e = ${shown(energies[i][j])}`
      : "Point at a cell for its value.";
  }

  showTree() {
    if (!this.tree.open || !this.answered.length) return;
    const { k, length_penalty } = this.asked();
    const searches = this.answered.map(({ about, found: { tree, target } }) => ({
      model: about.model, k, length_penalty, best: tree.best,
      nodes: tree.nodes.map(([parent, step, word, ...rest]) => [parent, step, alone(word, target), ...rest]),
    }));
    const el = make("div");
    this.tree.replaceChildren(this.tree.firstChild, el);
    this.leaveTree?.();
    this.leaveTree = beam_tree.render({ model: pageModel({ searches, model: searches[0].model, k, length_penalty, step: Infinity }), el });
  }

  /** What is taken along: the map, and everything in numbers. */
  current() {
    const models = Object.fromEntries(this.answered.map(({ about, found }) => [about.model, found]));
    const map = this.attending && mapOf(this.attending.found, this.attending.found.text);
    return { map, numbers: { ...this.asked(), changes: this.changed, models } };
  }

  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const scrolls = event.target === this.map && this.map.scrollWidth > this.map.clientWidth;
    if (!by || isShortcut(event) || scrolls || event.target.closest(READ_BY_EAR) || !this.answered.length || this.waits) return;
    event.preventDefault();
    event.stopPropagation();
    this.steps.to(this.steps.now + by);
  }
}

function render({ model, el }) {
  const live = new Live(model, el);
  const end = watch(model, ["text", "pair", "k", "length_penalty"], () => live.form.show());
  const resized = new ResizeObserver(() => live.look(model.get("step")));
  resized.observe(el);
  const readdressed = (event) => live.readdressed(event.newURL);
  if (live.shares) addEventListener("hashchange", readdressed);
  return () => {
    live.steps.stop();
    live.leaveTree?.();
    resized.disconnect();
    removeEventListener("hashchange", readdressed);
    end();
    live.translators.forEach((one) => one.worker?.terminate());
  };
}

export default { render };
