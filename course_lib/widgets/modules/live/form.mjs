// What a reader asks: a sentence, a pair of languages, and how to search.

const WIDEST = 12; // hypotheses of the widest beam
const LONGEST = 2; // the largest length penalty

/** A language of a pair as an attribute `lang` has it; none for words of no language. */
const tagOf = (code) => (code && code !== "tokens" ? code.replace("@latin", "-Latn").replaceAll("_", "-").replace(/[.@].*/u, "") : "");

/** The form, and beside it the `settings` of the search; `put(key, value)` keeps what is asked, `ask()` asks it. */
class Question {
  constructor(model, put, ask) {
    Object.assign(this, { model, put, ask });
    const id = fresh("text");
    this.text = make("textarea", { id, rows: 2, spellcheck: "false", oninput: () => put("text", this.text.value) });
    this.text.addEventListener("keydown", (event) => {
      // Enter that ends a composition (also as Safari reports it) chooses letters, and asks nothing.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      ask();
    });
    const asked = { onchange: () => ask() };
    this.k = slider("beam width k", { min: 1, max: WIDEST, step: 1 }, (k) => put("k", k), asked);
    this.penalty = slider("length penalty λ", { min: 0, max: LONGEST, step: 0.1 }, (penalty) => put("length_penalty", penalty), asked);
    this.element = make("form", { class: "live-ask", onsubmit: (event) => { event.preventDefault(); ask(); } },
      make("label", { for: id }, "Your sentence"),
      make("div", { class: "live-line" }, this.text, make("button", { type: "submit", class: "live-start" }, "translate")),
      make("div", { class: "moving-controls" }, this.examples(), this.pairs()));
    this.settings = make("div", { class: "moving-controls" }, this.k.line, this.penalty.line);
  }

  examples() {
    const { select, line } = choice("or take", () => { this.put("text", select.value); this.ask(); });
    this.example = select;
    return line;
  }

  pairs() {
    const all = [...new Map(this.model.get("packs").map((one) => [one.pair, one.text]))];
    const names = new Intl.DisplayNames(["en"], { type: "language" });
    const named = (code) => (code.length === 2 ? names.of(code) : code);
    const { select, line } = choice("languages", () => {
      const given = !this.model.get("text") || this.offered().includes(this.model.get("text"));
      this.put("pair", select.value);
      if (given && !this.offered().includes(this.model.get("text"))) this.put("text", this.offered()[0] ?? "");
      this.ask();
    });
    select.append(...all.map(([pair, text]) => make("option", { value: pair }, `${pair.split("-").map(named).join(" → ")}${text && all.length > 1 ? `, ${text}` : ""}`)));
    line.hidden = all.length < 2;
    this.pair = select;
    return line;
  }

  /** The examples of the chosen pair. */
  offered() { return this.model.get("sentences")[this.model.get("pair")] ?? []; }

  /** What is asked now. */
  take() {
    const [line, k, lengthPenalty] = ["text", "k", "length_penalty"].map((key) => this.model.get(key));
    return { line, k, lengthPenalty };
  }

  /** What an address asks, as far as it makes sense here. */
  restore({ text, pair, k, length_penalty: penalty }) {
    if (typeof text === "string") this.put("text", text);
    if (this.model.get("packs").some((one) => one.pair === pair)) this.put("pair", pair);
    if (Number(k) >= 1 && Number(k) <= WIDEST) this.put("k", Math.round(k));
    if (Number(penalty) >= 0 && Number(penalty) <= LONGEST) this.put("length_penalty", Number(penalty));
  }

  show() {
    const text = this.model.get("text");
    if (this.text.value !== text) this.text.value = text;
    if (this.listed !== this.model.get("pair")) {
      this.listed = this.model.get("pair");
      this.example.replaceChildren(make("option", { value: "", disabled: true, selected: true }, "an example"),
        ...this.offered().map((one) => make("option", { value: one }, one)));
    }
    if (this.example.value !== text) this.example.value = "";
    this.pair.value = this.model.get("pair");
    inLanguage(tagOf(this.model.get("pair").split("-")[0]), this.text);
    const [k, penalty] = ["k", "length_penalty"].map((key) => this.model.get(key));
    this.k.show(k, k);
    this.penalty.show(penalty, shown(penalty, 1));
  }
}
