// RNNsearch and RNNencdec on a page: reading, looking back, writing and searching, on plain arrays.
//
// Read it beside chapter 5. Names are the paper's: x_j and y_i are words, h_j annotations, s_i states,
// e_ij energies, alpha_ij weights, c_i contexts; W, U, V and C are matrices, and E is the table of
// embeddings. Above each line that computes stands its equation. A vector is a Float32Array. What
// the hypotheses of a search do side by side is done on lists of vectors, one for each of them.

const [BOS, EOS] = [1, 2];

// --- Arithmetic -----------------------------------------------------------------------------

/** W x + b for each of the vectors x. Four partial sums, since one would wait for itself. */
function product({ weight, bias, rows, columns }, vectors) {
  const products = vectors.map(() => new Float32Array(rows));
  for (let row = 0; row < rows; row += 1) {
    const start = row * columns;
    for (let k = 0; k < vectors.length; k += 1) {
      const x = vectors[k];
      let a = 0, b = 0, c = 0, d = 0, j = 0;
      for (; j + 3 < columns; j += 4) {
        a += weight[start + j] * x[j];
        b += weight[start + j + 1] * x[j + 1];
        c += weight[start + j + 2] * x[j + 2];
        d += weight[start + j + 3] * x[j + 3];
      }
      for (; j < columns; j += 1) a += weight[start + j] * x[j];
      products[k][row] = a + b + c + d + (bias ? bias[row] : 0);
    }
  }
  return products;
}

/** The vectors of several lists added up, one by one. */
function sum(first, ...others) {
  return first.map((vector, k) => vector.map((value, i) => others.reduce((so, list) => so + list[k][i], value)));
}

const row = ({ weight, columns }, number) => weight.subarray(number * columns, (number + 1) * columns);
const tanh = (vectors) => vectors.map((vector) => vector.map(Math.tanh));

/** 1 / (1 + exp(-x)). */
const sigma = (x) => 1 / (1 + Math.exp(-x));

/** max(x_2k-1, x_2k). */
const maxout = (vectors) => vectors.map((one) => (
  Float32Array.from({ length: one.length / 2 }, (_, k) => Math.max(one[2 * k], one[2 * k + 1]))));

/** sum_j alpha_j h_j. */
const mean = (alpha, vectors) => vectors[0].map((_, i) => vectors.reduce((so, h, j) => so + alpha[j] * h[i], 0));

/** exp(x_j) / sum_k exp(x_k). */
function softmaxOf(values) {
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = values.map((value) => Math.exp(value - most));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
}

/** The places of the `count` largest values, the largest first. */
function largest(values, count) {
  const found = [];
  for (let place = 0; place < values.length; place += 1) {
    if (found.length === count && !(values[place] > values[found[count - 1]])) continue;
    let at = Math.min(found.length, count - 1);
    for (; at > 0 && values[place] > values[found[at - 1]]; at -= 1) found[at] = found[at - 1];
    found[at] = place;
  }
  return found;
}

// --- The gated units ------------------------------------------------------------------------

/** One step of the unit of torch.nn.GRU: the reset gate acts after the product with the state. */
function torchUnit({ U }, projected, states) {
  // U h + b_U
  const recurrent = product(U, states);
  return states.map((h, k) => {
    const [Wx, Uh, n] = [projected[k], recurrent[k], h.length];
    return h.map((old, i) => {
      // r = sigma(W_r x + U_r h)
      const r = sigma(Wx[i] + Uh[i]);
      // z = sigma(W_z x + U_z h)
      const z = sigma(Wx[n + i] + Uh[n + i]);
      // h~ = tanh(W x + r o (U h + b_U))
      const candidate = Math.tanh(Wx[2 * n + i] + r * Uh[2 * n + i]);
      // h' = (1 - z) o h~ + z o h
      return (1 - z) * candidate + z * old;
    });
  });
}

/** One step of the paper's unit (Appendix A.1.1): the reset gate acts before the product. */
function paperUnit({ U, gates }, projected, states) {
  const n = states[0].length;
  // U_z h and U_r h
  const Ugates = product(gates, states);
  // r o h, where r = sigma(W_r x + U_r h)
  const reset = states.map((h, k) => h.map((old, i) => sigma(projected[k][n + i] + Ugates[k][n + i]) * old));
  // U [r o h]
  const Urh = product(U, reset);
  return states.map((h, k) => h.map((old, i) => {
    // z = sigma(W_z x + U_z h)
    const z = sigma(projected[k][i] + Ugates[k][i]);
    // h~ = tanh(W x + U [r o h])
    const candidate = Math.tanh(projected[k][2 * n + i] + Urh[k][i]);
    // h' = (1 - z) o h + z o h~
    return (1 - z) * old + z * candidate;
  }));
}

/** The unit's next states, from its inputs x and its states h. */
const advance = (unit, inputs, states) => unit.step(unit, product(unit.W, inputs), states);

// --- The model ------------------------------------------------------------------------------

/** RNNsearch or RNNencdec, from the tensors of a file of weights and the model's configuration. */
class EncoderDecoder {
  constructor(tensors, config) {
    Object.assign(this, { tensors, config });
    this.forward = this.direction(0, "");
    this.backward = this.direction(1, "_reverse");
    this.E_x = this.linear("encoder.E");
    this.E_y = this.linear("decoder.E") ?? this.E_x;
    for (const name of ["W_s", "C", "U_o", "V_o", "C_o"]) this[name] = this.linear(`decoder.${name}`);
    for (const name of ["W_a", "U_a", "v_a"]) this[name] = this.linear(`decoder.attention.${name}`);
    this.W_o = { ...(this.linear("decoder.W_o") ?? this.E_y), bias: tensors["decoder.W_o.bias"].values };
    this.unit = this.unitOf("decoder.unit");
    this.second = this.unitOf("decoder.second");
  }

  matrix(weight, bias) {
    const { values, shape: [rows, columns] } = this.tensors[weight];
    return { weight: values, rows, columns, bias: this.tensors[bias]?.values };
  }

  linear(name) { return this.tensors[`${name}.weight`] ? this.matrix(`${name}.weight`, `${name}.bias`) : null; }

  unitOf(name) {
    const [W, U, gates] = ["W", "U", "U_gates"].map((one) => this.linear(`${name}.${one}`));
    return W && { step: this.config.unit === "paper" ? paperUnit : torchUnit, W, U, gates };
  }

  /** A direction of the encoder: torch has names of its own for its matrices. */
  direction(place, way) {
    if (this.config.unit === "paper") return this.unitOf(["encoder.ahead", "encoder.back"][place]);
    const part = (kind) => this.matrix(`encoder.rnn.weight_${kind}_l0${way}`, `encoder.rnn.bias_${kind}_l0${way}`);
    return { step: torchUnit, W: part("ih"), U: part("hh") };
  }

  /** Read a sentence once: its words' numbers, without the end mark, to what the decoder looks at. */
  read(words) {
    const embedded = [...words, EOS].map((x) => row(this.E_x, x));
    const along = (unit, inputs) => {
      let h = [new Float32Array(this.config.hidden)];
      // h_j = f(E x_j, h_{j-1})
      return inputs.map((x) => { [h] = [advance(unit, [x], h)]; return h[0]; });
    };
    const onward = along(this.forward, embedded);
    const back = along(this.backward, embedded.toReversed()).toReversed();
    // h_j = [->h_j; <-h_j]
    const annotations = onward.map((h, j) => Float32Array.of(...h, ...back[j]));
    return {
      annotations,
      // U_a h_j, which no step changes
      keys: this.U_a && product(this.U_a, annotations),
      // s_0 = tanh(W_s <-h_1)
      start: tanh(product(this.W_s, [back[0]]))[0],
      // RNNencdec: c is the last forward state
      summary: onward.at(-1),
    };
  }

  /** Where a state s looks: energies, weights and context. `given` weights stand in for its own. */
  look(s, { annotations, keys, summary }, given) {
    if (!keys) return { c: summary, alpha: null, energies: null };
    // W_a s
    const [Ws] = product(this.W_a, [s]);
    // e_ij = v_a' tanh(W_a s + U_a h_j)
    const energies = product(this.v_a, keys.map((key) => key.map((value, i) => Math.tanh(Ws[i] + value)))).map(([e]) => e);
    // alpha_ij = exp(e_ij) / sum_k exp(e_ik)
    const alpha = given ?? softmaxOf(energies);
    // c_i = sum_j alpha_ij h_j
    return { c: mean(alpha, annotations), alpha, energies };
  }

  /** Step i for each hypothesis: its last word y_{i-1} and state s_{i-1} to the next of both. */
  step(words, states, memory, given, i) {
    const embedded = words.map((y) => row(this.E_y, y));
    const looks = (queries) => queries.map((s) => this.look(s, memory, given, i));
    let [seen, after] = [];
    if (this.second) {
      // s'_i = f(E y_{i-1}, s_{i-1})
      const between = advance(this.unit, embedded, states);
      // c_i from s'_i
      seen = looks(between);
      // s_i = f(c_i, s'_i)
      after = advance(this.second, seen.map(({ c }) => c), between);
    } else {
      // c_i from s_{i-1}
      seen = looks(states);
      // s_i = f(W E y_{i-1} + C c_i, s_{i-1})
      const projected = sum(product(this.unit.W, embedded), product(this.C, seen.map(({ c }) => c)));
      after = this.unit.step(this.unit, projected, states);
    }
    // the paper's readout reads s_{i-1}, the conditional decoder's s_i
    const logits = this.readout(this.second ? after : states, embedded, seen.map(({ c }) => c));
    return after.map((s, k) => ({ ...seen[k], s, logits: logits[k] }));
  }

  /** Logits of the next word. */
  readout(states, embedded, contexts) {
    // t~_i = U_o s + V_o E y_{i-1} + C_o c_i;  t_ik = max(t~_i,2k-1, t~_i,2k)
    const deep = sum(product(this.U_o, states), product(this.V_o, embedded), product(this.C_o, contexts));
    // W_o t_i + b
    return product(this.W_o, maxout(deep));
  }
}

// --- The search -----------------------------------------------------------------------------

const SHOWN = 5; // how many of the most probable next words a step keeps for the reader

/** log p of every word: logit_k - log sum_l exp(logit_l). */
function logProbs(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const log = most + Math.log(logits.reduce((so, logit) => so + Math.exp(logit - most), 0));
  return logits.map((logit) => logit - log);
}

/**
 * Beam search, a step at a time: each step yields its continuations, the last value is the best.
 *
 * A hypothesis that chooses the end mark is finished and takes its place along; finished
 * ones are ranked by log p / length ^ lengthPenalty, the end mark counted. With k = 1 the search is
 * greedy. At twice the source's length and ten more only the end mark is left to choose.
 *
 * prefix: words that the translation must begin with.
 * weights: alpha_i by the number of the step, from 1, in the place of the model's own; `every` for
 * all steps that have none.
 */
function* search(model, words, { k = 1, lengthPenalty = 1, prefix = [], weights = {} } = {}) {
  const memory = model.read(words);
  const limit = 2 * memory.annotations.length + 10;
  let [places, best] = [k, null];
  let live = [{ parent: null, word: BOS, logProb: 0, state: memory.start }];
  for (let i = 1; live.length; i += 1) {
    const steps = model.step(live.map((one) => one.word), live.map((one) => one.state), memory, weights[i] ?? weights.every, i);
    const continuations = live.flatMap((parent, place) => {
      const { s, logits, ...seen } = steps[place];
      const log = logProbs(logits);
      const next = largest(log, Math.max(k, SHOWN) + BOS + 1);
      const written = next.filter((word) => word > BOS); // neither padding nor the begin mark
      const step = { ...seen, next: next.slice(0, SHOWN).map((word) => [word, Math.exp(log[word])]) };
      const forced = i === limit ? EOS : prefix[i - 1];
      // log p(y_1 .. y_i) = log p(y_1 .. y_{i-1}) + log p(y_i | y_1 .. y_{i-1}, x)
      return (forced === undefined ? written.slice(0, k) : [forced]).map((word) => (
        { parent, word, logProb: parent.logProb + log[word], step, state: s, length: i }));
    });
    const chosen = continuations.toSorted((a, b) => b.logProb - a.logProb).slice(0, places);
    const ended = chosen.filter(({ word }) => word === EOS);
    for (const one of ended) {
      // log p(y | x) / T_y^lambda
      one.score = one.logProb / i ** lengthPenalty;
      if (!best || one.score > best.score) best = one;
    }
    live = chosen.filter(({ word }) => word !== EOS);
    places -= ended.length;
    yield { continuations, live, ended };
  }
  return best;
}

/** The hypotheses from the first word to this one. */
const path = (last) => (last.parent ? [...path(last.parent), last] : []);

export { BOS, EOS, EncoderDecoder, logProbs, path, search };
