// The sentence as the models read it: a button a word, which leaves it out, and its end mark.

/** Why a word is marked; an empty text where it is like any other. */
function strangeness({ known, seen, pieces }) {
  if (!known) return "The models cannot read this.";
  if (seen) return "";
  return `Never seen in training: spelled from ${pieces.length === 1 ? "a piece" : `${pieces.length} pieces`} of other words.`;
}

function sourceWord(word, last, leaveOut) {
  const { text, out, pieces } = word;
  const why = strangeness(word) || (last ? "One word has to stay." : "");
  const parts = labels(pieces.length ? pieces : [text]).map((piece) => make("span", { class: `live-piece${piece.joined ? " joined" : ""}` },
    make("b", {}, piece.text), make("i", { class: "role-weight" })));
  return make("button", {
    type: "button", class: `chip role-annotation${out ? " out" : ""}${strangeness(word) ? " strange" : ""}`, "aria-pressed": String(out),
    "aria-label": [`${text}${out ? ", left out" : ""}`, ...(why ? [why] : [])].join(". "),
    title: why || (out ? "put back" : "leave out"), onclick: leaveOut,
  }, ...(out ? [make("span", {}, make("b", {}, text))] : parts));
}

/** `leaveOut(k)` is called with the place of the word that is pressed. */
function sourceWords({ words, source }, leaveOut) {
  const end = make("span", { class: "chip role-annotation", title: "the end mark" },
    make("span", { class: "live-piece" }, make("b", {}, source.at(-1)), make("i", { class: "role-weight" })));
  const read = words.filter((word) => !word.out);
  return [...words.map((word, k) => sourceWord(word, read.length === 1 && word === read[0], () => leaveOut(k))), end];
}
