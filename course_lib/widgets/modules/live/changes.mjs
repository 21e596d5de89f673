// What the reader has taken in hand: words left out, beginnings that stay, rows of weights.
//
// `without` holds places of source words; `prefix` by model the numbers of the words that its
// translation begins with; `weights` rows by the number of the step, from 1, or `every`.

const UNTOUCHED = { without: [], prefix: {}, weights: {} };

/** Lists of numbers, whatever is there. */
const numbersIn = (value) => (Array.isArray(value) ? value.map(Number).filter((one) => one >= 0) : []);
const listsIn = (value) => Object.fromEntries(Object.entries(value ?? {}).map(([key, list]) => [key, numbersIn(list)]));

/** The changes that an address holds: anybody may have written it. */
function changesOf(said) {
  const { without, prefix, weights } = said ?? {};
  return { without: numbersIn(without), prefix: listsIn(prefix), weights: listsIn(weights) };
}

const someWeights = ({ weights }) => Object.keys(weights).length > 0;

/** Whether anything is changed for a model; one without weights of its own has none to hold. */
function touches(changed, model, attends) {
  return changed.without.length > 0 || Boolean(changed.prefix[model]?.length) || (attends && someWeights(changed));
}

/** The k-th word left out, or put back: with another sentence, steps and rows mean nothing any more. */
function leftOut({ without }, k) {
  const rest = without.filter((one) => one !== k);
  return { ...UNTOUCHED, without: rest.length < without.length ? rest : [...without, k] };
}

/** A translation that begins with these words and goes on from there. */
const begun = (changed, model, numbers) => ({ ...changed, prefix: { ...changed.prefix, [model]: numbers } });

/** A row of weights for one step, or for `every`; null lets the model look for itself again. */
function held(changed, step, row) {
  if (step === "every") return { ...changed, weights: row ? { every: row } : {} };
  const { [step]: _, ...others } = changed.weights;
  return { ...changed, weights: row ? { ...others, [step]: row } : others };
}

/** Everything that is changed, in words; `words` are the sentence's. */
function inWords({ without, prefix, weights }, words) {
  const steps = Object.keys(weights).map((key) => (key === "every" ? "every word" : `word ${key}`));
  const begins = Object.entries(prefix).filter(([, numbers]) => numbers.length);
  return [
    ...(without.length ? [`left out: ${without.map((k) => words[k]?.text ?? "a word").join(", ")}`] : []),
    ...begins.map(([model, { length }]) => `${model} begins with ${length === 1 ? "a word that stays" : `${length} words that stay`}`),
    ...(steps.length ? [`weights held: ${steps.join(", ")}`] : []),
  ];
}
