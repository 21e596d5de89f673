// Text to the numbers a model reads, and its numbers back to text, exactly as the library does it.
//
// The plain rules of any text; Moses' punctuation and tokens as sacremoses has them, for a published
// corpus; byte pairs as `tokenizers` has them. The patterns of the plain rules, what Moses calls a
// letter or a number, and which abbreviations keep their dot come with the model (`rules`).

const UNK = 3;
const MARKS = ["<pad>", "<s>", "</s>", "<unk>"];
const WORD_START = "▁";
const OTHERWISE = "‿"; // at the front of a token: the space before it is not the usual one
// What Python takes for white space; JavaScript's \s has other characters.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const EDGES = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");
const strip = (text) => text.replace(EDGES, "");
const split = (text) => text.split(new RegExp(`[${SPACE}]+`, "u")).filter(Boolean);
const every = (text, pairs) => pairs.reduce((so, [what, by]) => so.replace(what, by), text);

// --- The plain rules ------------------------------------------------------------------------

/** A function from a line to itself composed, without what cannot be seen. */
function cleanOf({ unseen }) {
  const pattern = new RegExp(unseen, "gv");
  return (line) => line.toWellFormed().normalize("NFC").replace(pattern, "");
}

/** Tokens from a line, and a line from tokens: every line comes back. */
function plainRules({ token, opens: opening, closes: closing, alone: single }) {
  const whole = (pattern) => new RegExp(`^(?:${pattern})$`, "v");
  const [every, opens, closes, alone] = [new RegExp(token, "gv"), whole(opening), whole(closing), whole(single)];
  /** For each token whether a space is usual before it. */
  const spaced = (tokens) => {
    let afterOpen = true;
    const quotes = new Set();
    return tokens.map((one) => {
      let [open, close] = [opens.test(one), closes.test(one)];
      if (one === '"' || one === "'") {
        [open, close] = [!quotes.has(one), quotes.has(one)];
        if (!quotes.delete(one)) quotes.add(one);
      }
      const usual = !(close || alone.test(one) || afterOpen);
      afterOpen = open || alone.test(one);
      return usual;
    });
  };
  return {
    words(line) {
      const text = split(line).join(" ");
      const found = [...text.matchAll(every)];
      const usual = spaced(found.map(([one]) => one));
      return found.map(({ 0: one, index }, k) => ((text[index - 1] === " ") === usual[k] ? one : OTHERWISE + one));
    },
    joined(tokens) {
      const turned = tokens.map((one) => one.length > 1 && one.startsWith(OTHERWISE));
      const words = tokens.map((one, k) => (turned[k] ? one.slice(1) : one));
      return spaced(words).map((usual, k) => (usual === turned[k] ? "" : " ") + words[k]).join("");
    },
  };
}

// --- Punctuation: normalize-punctuation.perl ------------------------------------------------

const NORMAL = [
  [/\r/gu, ""], [/\(/gu, " ("], [/\)/gu, ") "], [/ +/gu, " "], [/\) ([.!:?;,])/gu, ")$1"],
  [/\( /gu, "("], [/ \)/gu, ")"], [/(\p{Nd}) %/gu, "$1%"], [/ :/gu, ":"], [/ ;/gu, ";"],
  [/`/gu, "'"], [/''/gu, ' " '],
  [/[„“”]/gu, '"'], [/–/gu, "-"], [/—/gu, " - "], [/ +/gu, " "], [/´/gu, "'"],
  [/([a-zA-Z])‘([a-zA-Z])/gu, "$1'$2"], [/([a-zA-Z])’([a-zA-Z])/gu, "$1'$2"],
  [/[‘‚]/gu, "'"], [/’/gu, '"'], [/''/gu, '"'], [/…/gu, "..."],
  [/\u00a0«\u00a0/gu, ' "'], [/«\u00a0/gu, '"'], [/«/gu, '"'],
  [/\u00a0»\u00a0/gu, '" '], [/\u00a0»/gu, '"'], [/»/gu, '"'],
  [/\u00a0%/gu, "%"], [/nº\u00a0/gu, "nº "], [/\u00a0:/gu, ":"], [/\u00a0ºC/gu, " ºC"],
  [/\u00a0cm/gu, " cm"], [/\u00a0\?/gu, "?"], [/\u00a0!/gu, "!"], [/\u00a0;/gu, ";"],
  [/,\u00a0/gu, ", "], [/ +/gu, " "],
];
const NORMAL_BY_LANGUAGE = {
  en: [[/"([,.]+)/gu, '$1"'], [/(\p{Nd})\u00a0(\p{Nd})/gu, "$1.$2"]],
  other: [
    [/,"/gu, '",'],
    [new RegExp(`(\\.+)"([${SPACE}]*[^<])`, "gu"), '"$1$2'],
    [/(\p{Nd})\u00a0(\p{Nd})/gu, "$1,$2"],
  ],
};

/** Quotes, dashes and spaces of many kinds as one kind each. */
function normalised(text, language) {
  return strip(every(text, [...NORMAL, ...(NORMAL_BY_LANGUAGE[language] ?? NORMAL_BY_LANGUAGE.other)]));
}

// --- Tokens: tokenizer.perl -----------------------------------------------------------------

const ESCAPES = [["&", "&amp;"], ["|", "&#124;"], ["<", "&lt;"], [">", "&gt;"], ["'", "&apos;"], ['"', "&quot;"], ["[", "&#91;"], ["]", "&#93;"]];

/** The apostrophe's rules: it stays with what follows in English, with what precedes in French. */
function apostrophes(language, letter, number) {
  const rule = (before, after, by) => [new RegExp(`(${before})'(${after})`, "gu"), by];
  const [some, none] = [`[${letter}]`, `[^${letter}]`];
  if (language === "en") {
    return [
      rule(none, none, "$1 ' $2"), rule(`[^${letter}${number}]`, some, "$1 ' $2"),
      rule(some, none, "$1 ' $2"), rule(some, some, "$1 '$2"), rule(`[${number}]`, "[s]", "$1 '$2"),
    ];
  }
  if (language === "fr") {
    return [rule(none, none, "$1 ' $2"), rule(none, some, "$1 ' $2"), rule(some, none, "$1 ' $2"), rule(some, some, "$1' $2")];
  }
  return [[/'/gu, " ' "]];
}

/** A function from a line of text, clean and perhaps lower-cased, to its Moses tokens: letters stand for what Moses would tear apart. */
function mosesOf(language, rules) {
  const tokens = tokenizerOf(language, { ...rules.tokens, ...rules[language] });
  const cluster = new RegExp(rules.cluster, "gv");
  const code = (text) => `ǂ${[...text].map((one) => `${one.codePointAt(0).toString(16)}g`).join("")}ǂ`;
  const hold = (text, emoji) => (emoji ? ([...text].length > 1 ? ` ${code(text)} ` : text) : code(text));
  const back = (_, codes) => codes.split("g").slice(0, -1).map((one) => String.fromCodePoint(parseInt(one, 16))).join("");
  return (line) => {
    if (line.includes("ǂ")) return tokens(normalised(line, language));
    return tokens(normalised(line.replace(cluster, hold), language)).map((one) => one.replace(/ǂ((?:[0-9a-f]+g)+)ǂ/gu, back));
  };
}

/** A function from a line of text to its Moses tokens. */
function tokenizerOf(language, { alnum, number, letter, lower, prefixes, numeric }) {
  const [anyLetter, isLower] = [new RegExp(`[${letter}]`, "u"), new RegExp(`^[${lower}]`, "u")];
  const [keeps, keepsBeforeNumber] = [new Set(prefixes), new Set(numeric)];
  const steps = [
    [new RegExp(`([^${alnum}${SPACE}.'\`,\\-])`, "gu"), " $1 "],
    [/\.{2,}/gu, (dots, at, text) => ` ${"DOT".repeat(dots.length)}MULTI${at + dots.length < text.length ? " " : ""}`],
    [new RegExp(`([^${number}]),`, "gu"), "$1 , "],
    [new RegExp(`,([^${number}])`, "gu"), " , $1"],
    [new RegExp(`([${number}]),$`, "gu"), "$1 , "],
    ...apostrophes(language, letter, number),
  ];
  const dots = (text) => split(text).map((token, i, tokens) => {
    if (!/^.+\.$/su.test(token)) return token;
    const [before, next] = [token.slice(0, -1), tokens[i + 1]];
    const stays = (before.includes(".") && anyLetter.test(before))
      || (keeps.has(before) && !keepsBeforeNumber.has(before))
      || (next !== undefined && isLower.test(next))
      || (keepsBeforeNumber.has(before) && next !== undefined && /^[0-9]+/u.test(next));
    return stays ? token : `${before} .`;
  }).join(" ");
  return (line) => {
    const clean = strip(line.replace(new RegExp(`[${SPACE}]+`, "gu"), " ").replace(/[\0-\x1f]/gu, ""));
    const apart = split(dots(every(clean, steps))).join(" ").replace(/\.' ?$/u, " . ' ");
    const whole = apart.replace(/(?:DOT)+MULTI/gu, (marker) => ".".repeat((marker.length - 5) / 3));
    return split(ESCAPES.reduce((so, [what, by]) => so.replaceAll(what, by), whole));
  };
}

const UNESCAPES = [["&bar;", "|"], ["&#124;", "|"], ["&lt;", "<"], ["&gt;", ">"], ["&bra;", "["], ["&ket;", "]"], ["&quot;", '"'], ["&apos;", "'"], ["&#91;", "["], ["&#93;", "]"], ["&amp;", "&"]];
const unescaped = (text) => UNESCAPES.reduce((so, [what, by]) => so.replaceAll(what, by), text);

/** A function from tokens to text for people: escapes undone, punctuation attached. */
function detokenizerOf(language, { currency, letter, cjk }) {
  const money = new RegExp(`^[${currency}(\\[{¿¡]+$`, "u");
  const [shortened, elided, begins] = [`^'[${letter}]`, `[${letter}]'$`, `^[${letter}]`].map((one) => new RegExp(one, "u"));
  const isCjk = (character) => cjk.some(([from, to]) => character.codePointAt(0) >= from && character.codePointAt(0) <= to);
  return (words) => {
    const tokens = split(unescaped(` ${words.join(" ")} `.replaceAll(" @-@ ", "-")));
    const quotes = {};
    let [text, space] = ["", " "];
    const add = (token, left, right) => { text += (left ? space : "") + token; space = right ? " " : ""; };
    tokens.forEach((token, i) => {
      if (isCjk(token)) return add(token, !(i > 0 && isCjk([...tokens[i - 1]].at(-1))), true);
      if (money.test(token)) return add(token, true, false);
      if (/^[,.?!:;\\%}\])]+$/u.test(token)) return add(language === "fr" && /^[?!:;\\%]$/u.test(token) ? ` ${token}` : token, false, true);
      if (language === "en" && i > 0 && shortened.test(token)) return add(token, false, true);
      if (language === "fr" && i <= tokens.length - 2 && elided.test(token) && begins.test(tokens[i + 1])) return add(token, true, false);
      if (!/^['"„“`]+$/u.test(token)) return add(token, true, true);
      const quote = /^[„“”]+$/u.test(token) ? '"' : token;
      const open = (quotes[quote] ?? 0) % 2 === 0;
      if (open && language === "en" && token === "'" && i > 0 && tokens[i - 1].endsWith("s")) return add(token, false, true);
      quotes[quote] = (quotes[quote] ?? 0) + 1;
      return add(token, open, !open);
    });
    return strip(text.replace(/ {2,}/gu, " "));
  };
}

// --- Numbers --------------------------------------------------------------------------------

/** A function from a token to its pieces: the merges are made one by one, the earliest first. */
function cutterOf(merges) {
  const ranks = new Map(merges.map((pair, rank) => [pair.join(" "), rank]));
  const known = new Map();
  const cut = (word) => {
    const parts = [...word];
    for (;;) {
      let [best, at] = [Infinity, -1];
      for (let k = 0; k + 1 < parts.length; k += 1) {
        const rank = ranks.get(`${parts[k]} ${parts[k + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, k];
      }
      if (at < 0) return parts;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
  };
  return (token) => {
    if (!known.has(token)) {
      const marked = token.startsWith(WORD_START) ? token : WORD_START + token;
      known.set(token, marked.match(new RegExp(`${WORD_START}[^${WORD_START}]*`, "gu")).flatMap(cut));
    }
    return known.get(token);
  };
}

/** The last 24 bits of FNV-1a over a word's UTF-8. */
const hashOf = (word) => new TextEncoder().encode(word).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) & 0xffffff;

/** Whether a word occurred in training, from base64 of three bytes a word; all did where none is known. */
function seenOf(base64) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const hashes = new Set();
  for (let k = 0; k < bytes.length; k += 3) hashes.add((bytes[k] << 16) | (bytes[k + 1] << 8) | bytes[k + 2]);
  return (word) => !hashes.size || hashes.has(hashOf(word));
}

/**
 * Everything a model needs to read text and to be read.
 *
 * about: `pair`, `source` and `target`, the words or pieces in the order of their numbers, `merges`
 * where they are pieces, `closed`, the spaces between letters of a script that has none, `rules` (their `kind` is plain, moses, or tokens for words between spaces), and the words `seen` in training.
 */
function textOf({ pair, source, target, merges, closed, rules, seen }) {
  const [from, to] = pair.split("-");
  const numbers = new Map(source.map((token, number) => [token, number]).slice(MARKS.length)); // a mark in a text is text
  const cut = merges ? cutterOf(merges) : (token) => [token];
  const plain = plainRules(rules.plain);
  const between = (line) => strip(line).split(/[ \t]+/u).filter(Boolean);
  const clean = cleanOf(rules.plain);
  const words = { plain: plain.words, moses: rules.kind === "moses" && mosesOf(from, rules), tokens: between }[rules.kind];
  const wasSeen = seenOf(seen);
  const letters = closed && [new RegExp(closed, "gv"), new RegExp(`(${OTHERWISE}?${rules.plain.alone}|${MARKS[UNK]})`, "v")];
  const numberOf = (piece) => numbers.get(piece) ?? UNK;
  /** A token with its pieces. */
  const wordOf = (token) => {
    const found = cut(token).map(numberOf);
    return { text: unescaped(token), seen: wasSeen(token), numbers: found.filter((number, k) => !(merges && number === UNK && found[k - 1] === UNK)) };
  };
  /** Where letters stand without spaces, each piece is a word. */
  const wordsOf = (run, k) => {
    const pieces = cut(k ? WORD_START + run : run); // in front of the first only where it has none
    if (!letters[1].test(run)) return [{ ...wordOf(run), numbers: pieces.map(numberOf) }];
    return pieces.map((piece) => ({ text: piece.replace(WORD_START, ""), seen: true, numbers: [numberOf(piece)] }));
  };
  const lettersOf = (word) => (letters[1].test(word) ? word.split(letters[1]).filter(Boolean) : [word]);
  const joined = { plain: plain.joined, moses: rules.kind === "moses" && detokenizerOf(to, rules.text), tokens: (tokens) => tokens.join(" ") }[rules.kind];
  return {
    /** A line as words, each with its `text` and the `numbers` of its pieces. */
    encode(line) {
      const tokens = words(rules.lowercase ? clean(line).toLowerCase() : clean(line));
      if (!closed) return tokens.map(wordOf);
      return tokens.join(" ").replace(letters[0], "").split(" ").filter(Boolean).flatMap(wordsOf);
    },
    /** The text of a source word or piece, and of a target one. */
    sourceToken: (number) => unescaped(source[number]),
    targetToken: (number) => unescaped(target[number]),
    /** Numbers without the end mark as a text for people. */
    decode(written) {
      const tokens = [];
      written.filter((number) => number > 1).forEach((number, k) => {
        const piece = target[number];
        if (!merges || k === 0 || piece.startsWith(WORD_START)) tokens.push("");
        tokens[tokens.length - 1] += merges ? piece.replace(WORD_START, "") : piece;
      });
      const whole = closed ? tokens.flatMap(lettersOf) : tokens;
      const known = whole.map((token) => (token.includes(MARKS[UNK]) ? MARKS[UNK] : token));
      return joined(known.filter(Boolean));
    },
  };
}

export { UNK, textOf };
