// One model's column: what it writes now, what it wrote before, and what it might write next.

const WHAT = {
  true: "looks back at your words before each of its own",
  false: "has one vector for the whole sentence: nowhere to see it look",
};

class Column {
  /**
   * `choose(column, i, number)`: the i-th word shall be another. `go(step)`: stand at a word.
   * `glosses`: what known translations mean, by their text.
   */
  constructor(about, { choose, go, glosses }) {
    Object.assign(this, { about, choose, go, glosses, found: null, plain: null });
    this.now = make("span", { class: "chip now role-word", "aria-hidden": "true", hidden: true });
    this.what = make("p", { class: "live-hint" });
    this.status = make("p", { class: "live-status", role: "status" });
    this.written = make("p", { class: "stepper-words live-target" });
    this.text = make("span", { class: "live-text" });
    this.copy = make("button", { type: "button", class: "live-copy", hidden: true, onclick: () => this.copied() }, "copy");
    this.gloss = make("p", { class: "live-gloss" });
    this.before = make("p", { class: "live-before" });
    this.reading = make("p", { class: "live-reading" });
    this.next = make("tbody");
    const caption = `The five pieces most probable for ${about.model}. Press another: it goes on from there.`;
    this.table = make("table", { class: "stepper-next", hidden: true }, make("caption", {}, caption), this.next);
    this.element = make("section", { class: "live-side", "aria-label": about.model },
      make("h3", { class: "moving-title" }, about.model, this.now),
      this.what, this.status, this.written, make("p", {}, this.text, " ", this.copy), this.gloss, this.before);
    this.beside = make("section", { class: "live-side", "aria-label": `${about.model}, this word` }, this.reading, this.table);
  }

  /** What it says before there is a translation: how far it is, or what has failed. */
  says(text, writes = false) {
    this.status.textContent = text;
    this.status.classList.toggle("writes", writes);
  }

  /** What stands here is of the sentence before, and out of reach, until there is an answer. */
  wait(waits) {
    for (const part of [this.written, this.gloss, this.before, this.beside]) part.inert = waits;
    if (!waits) return;
    this.plain = null;
    this.now.hidden = true;
    this.written.querySelector(".now")?.classList.remove("now");
  }

  /** The translation goes to the clipboard; where a page may not, it is selected to be taken by hand. */
  async copied() {
    try {
      await navigator.clipboard.writeText(this.text.textContent);
      this.copy.textContent = "copied";
      setTimeout(() => { this.copy.textContent = "copy"; }, 1500);
    } catch {
      getSelection().selectAllChildren(this.text);
    }
  }

  /** No translation: the model has failed. */
  clear() {
    Object.assign(this, { found: null, plain: null });
    this.copy.hidden = true;
    [this.text, this.what, this.written, this.gloss, this.before, this.reading].forEach((part) => part.replaceChildren());
    this.table.hidden = true;
  }

  /** A finished translation, and the untouched one beside it. */
  take(found, plain) {
    Object.assign(this, { found, plain });
    this.says("");
    this.what.textContent = WHAT[Boolean(found.alpha)];
    this.gloss.replaceChildren(...(this.glosses[found.text] ? [make("b", {}, "In English: "), this.glosses[found.text]] : []));
    const tag = tagOf(this.about.pair.split("-")[1]);
    inLanguage(tag, this.written, this.text, this.before);
    this.next.lang = tag; // its columns stay where they are
    this.text.textContent = found.text;
    this.copy.hidden = !found.text;
    this.written.replaceChildren(...labels(found.target).map((word, k) => this.chip(word, k)));
    const same = found.text === plain.text ? "the same as before: " : "before: ";
    this.before.replaceChildren(...(found === plain ? [] : [make("b", { lang: "en" }, same), plain.text]));
  }

  chip({ text, joined }, k) {
    const other = this.found.numbers[k] !== this.plain.numbers[k];
    return make("button", {
      type: "button", class: `chip role-word to-come${joined ? " joined" : ""}${other ? " other" : ""}`,
      "aria-label": `word ${k + 1}, ${text}`, title: text === END_MARK ? "the end mark" : null, onclick: () => this.go(k + 1),
    }, make("b", {}, text));
  }

  /** The place of the word written last, from 0; a shorter translation stands at its end. */
  at(step) { return Math.min(step, this.found.target.length) - 1; }

  show(step) {
    const i = this.at(step);
    [...this.written.children].forEach((chip, k) => {
      chip.classList.toggle("to-come", k > i);
      chip.disabled = k > i;
      chip.classList.toggle("now", k === i);
    });
    this.table.hidden = i < 0;
    this.reading.replaceChildren(...(i < 0 ? [] : this.told(i)));
    refill(this.next, i < 0 ? [] : this.found.next[i].map((one) => this.line(i, one)));
  }

  line(i, [text, p, number]) {
    const chosen = number === this.found.numbers[i];
    const choose = () => this.choose(this, i, number);
    const button = make("button", { type: "button", class: "role-word", "aria-pressed": String(chosen), onclick: choose }, alone(text, this.found.target));
    const bar = make("span", { class: "bar", style: `width:${p * 100}%` });
    return make("tr", { class: chosen ? "chosen" : "" }, make("th", { scope: "row" }, button),
      make("td", {}, shown(p, 3)), make("td", { class: "bars", "aria-hidden": "true" }, bar));
  }

  /** A step in a sentence. */
  told(i) {
    const { source, target, alpha, logProbs } = this.found;
    const [read, wrote] = this.about.pair.split("-").map(tagOf);
    const said = [make("b", { class: "role-word", lang: wrote }, texts(target)[i]), ` has probability ${shown(Math.exp(logProbs[i]))}`];
    if (!alpha) return [...said, "."];
    const most = Math.max(...alpha[i]);
    if (most - Math.min(...alpha[i]) < 1e-6) return [...said, "; its weights are all alike."];
    const where = make("b", { class: "role-annotation", lang: read }, texts(source)[alpha[i].indexOf(most)]);
    return [...said, "; it looks most at ", where, `, weight ${shown(most)}.`];
  }

  said(step) {
    const word = texts(this.found.target)[this.at(step)];
    return [`${this.about.model} writes `, word === undefined ? "nothing yet" : foreign(this.written.lang, word)];
  }
}

/** The step that tells most of a model: where it looks back furthest behind where it looked before. */
function tellingStep({ alpha, target }) {
  const places = (alpha ?? []).map((row) => row.indexOf(Math.max(...row)));
  let [step, furthest, most] = [target.length, 0, 0];
  places.forEach((place, i) => {
    const back = (furthest - place) * alpha[i][place];
    if (back > most) [step, most] = [i + 1, back];
    if (place < alpha[i].length - 1) furthest = Math.max(furthest, place); // the end mark is no word
  });
  return step;
}
