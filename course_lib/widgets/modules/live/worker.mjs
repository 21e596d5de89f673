// One model at work beside the page: it is handed its file, then sentences, and answers each.
//
// { load } -> { loaded } or { failed }; { ask, request } -> { ask, soFar } now and then, { ask, found }
// or { ask, failed }.
// A newer request ends the one before it.

const PATIENCE = 40; // milliseconds of work between two looks at what has come in
const LONGEST = 400; // pieces of words: a map of more is more than a browser draws

let model = null;
let text = null;
let latest = null;

/** Words of a line, without those that are left out, as the model reads them. */
function readLine(line, without) {
  const words = text.encode(line).map((word, k) => ({ ...word, out: without.includes(k) }));
  const read = words.filter((word) => !word.out);
  return {
    words: words.map(({ text: written, numbers, out, seen }) => ({
      text: written, out, pieces: numbers.map(text.sourceToken), known: !numbers.includes(UNK), seen,
    })),
    numbers: read.flatMap((word) => word.numbers),
  };
}

/** Every beginning that a search looked at: [parent, step, word, log p, 0 kept, 1 finished, 2 dropped]. */
class Tree {
  constructor() {
    this.nodes = [[null, 0, "<s>", 0, 0]];
    this.numbers = new Map();
  }

  grow({ continuations, live, ended }) {
    const fates = new Map([...live.map((one) => [one, 0]), ...ended.map((one) => [one, 1])]);
    for (const one of continuations) {
      this.numbers.set(one, this.nodes.length);
      this.nodes.push([this.numbers.get(one.parent) ?? 0, one.length, text.targetToken(one.word), one.logProb, fates.get(one) ?? 2]);
    }
  }
}

/** What the page shows of a finished search. */
function report({ words, numbers }, best, tree) {
  const steps = path(best);
  const rows = (key) => (steps[0].step[key] ? steps.map((one) => Array.from(one.step[key])) : null);
  const written = steps.slice(0, -1).map((one) => one.word);
  return {
    words,
    source: [...numbers.map(text.sourceToken), "</s>"],
    numbers: steps.map((one) => one.word),
    target: steps.map((one) => text.targetToken(one.word)),
    text: text.decode(written),
    logProb: best.logProb,
    logProbs: steps.map((one) => one.logProb - one.parent.logProb),
    score: best.score,
    alpha: rows("alpha"),
    energies: rows("energies"),
    next: steps.map((one) => one.step.next.map(([word, p]) => [text.targetToken(word), p, word])),
    tree: { nodes: tree.nodes, best: steps.map((one) => tree.numbers.get(one)) },
  };
}

/** Words and rows that this model and sentence can have: an address may ask for others. */
function fitting({ prefix = [], weights = {}, ...others }, width) {
  const fits = (row) => row.length === width && row.every((weight) => weight <= 1);
  return {
    ...others,
    prefix: prefix.filter((word) => Number.isInteger(word) && word < model.config.target_vocabulary),
    weights: Object.fromEntries(Object.entries(weights).filter(([, row]) => fits(row))),
  };
}

async function answer(ask, { line, without = [], ...options }) {
  latest = ask;
  const sentence = readLine(line, without);
  const { length } = sentence.numbers;
  if (!length) return postMessage({ ask, found: null });
  if (length > LONGEST) throw new Error(`A page reads ${LONGEST} pieces of words at most, and these are ${length}.`);
  const searching = search(model, sentence.numbers, fitting(options, length + 1));
  const tree = new Tree();
  let since = performance.now();
  let step = searching.next();
  while (!step.done) {
    tree.grow(step.value);
    if (performance.now() - since > PATIENCE) {
      const [first] = step.value.live;
      if (first) postMessage({ ask, soFar: text.decode(path(first).map((one) => one.word)) });
      await new Promise((done) => { setTimeout(done); });
      if (latest !== ask) return undefined;
      since = performance.now();
    }
    step = searching.next();
  }
  return postMessage({ ask, found: report(sentence, step.value, tree) });
}

/** A model's file becomes the model and its text. */
async function take({ parts, bytes }) {
  const { tensors, about } = readTensors(await unpacked(bytes ?? bytesOf(parts)));
  model = new EncoderDecoder(tensors, about.config);
  text = textOf(about);
}

async function load(file) {
  try {
    await take(file);
    postMessage({ loaded: true });
  } catch {
    postMessage({ failed: "damaged" });
  }
}

onmessage = ({ data: { load: file, ask, request } }) => {
  if (file) load(file);
  else answer(ask, request).catch(({ message }) => postMessage({ ask, failed: message }));
};
