// The relatives of RNNsearch that the course trains: other units, layers, scores, windows and decoders.
//
// Chapters 2, 7, 10 and 11 have them; each function here names what it does otherwise than
// rnnsearch.mjs. A state holds all layers side by side, the top one last, each with its cell in
// front, and behind them what Luong's decoder feeds to its next step.

// --- Units ----------------------------------------------------------------------------------

/** h' = tanh(W x + U h). */
function tanhUnit({ U }, projected, states) {
  return tanh(sum(projected, product(U, states)));
}

/** Long short-term memory, its state [cell; h]. */
function lstmUnit({ U }, projected, states) {
  const n = states[0].length / 2;
  const all = sum(projected, product(U, states.map((state) => state.subarray(n))));
  return all.map((x, k) => {
    const next = new Float32Array(2 * n);
    for (let i = 0; i < n; i += 1) {
      // cell' = f o cell + i o g;  h' = o o tanh(cell')
      next[i] = sigma(x[n + i]) * states[k][i] + sigma(x[i]) * Math.tanh(x[2 * n + i]);
      next[n + i] = sigma(x[3 * n + i]) * Math.tanh(next[i]);
    }
    return next;
  });
}

const UNITS = { torch: torchUnit, paper: paperUnit, tanh: tanhUnit, lstm: lstmUnit };
const joinedVectors = (...lists) => lists[0].map((_, k) => Float32Array.of(...lists.flatMap((list) => [...list[k]])));

// --- Self-attention -------------------------------------------------------------------------

/** (x - mean) / deviation, times a weight, plus a bias. */
function layerNorm({ weight, bias }, vectors) {
  return vectors.map((x) => {
    const middle = x.reduce((a, b) => a + b, 0) / x.length;
    const deviation = Math.sqrt(x.reduce((so, value) => so + (value - middle) ** 2, 0) / x.length + 1e-5);
    return x.map((value, i) => ((value - middle) / deviation) * weight[i] + bias[i]);
  });
}

/** Every word looks at every word, in each head: softmax(Q K' / sqrt(d)) V. */
function selfAttention(Q, K, V, heads) {
  const size = Q[0].length / heads;
  const part = (vectors, head) => vectors.map((one) => one.subarray(head * size, (head + 1) * size));
  const each = Array.from({ length: heads }, (_, head) => {
    const [queries, keys, values] = [Q, K, V].map((vectors) => part(vectors, head));
    return queries.map((q) => mean(softmaxOf(keys.map((k) => dot(q, k) / Math.sqrt(size))), values));
  });
  return joinedVectors(...each);
}

const dot = (a, b) => a.reduce((so, value, i) => so + value * b[i], 0);

/** sin(j / 10000^(2k/d)) and cos of the same. */
const wave = (j, size) => (_, column) => {
  const angle = j / 10000 ** ((column - (column % 2)) / size);
  return column % 2 ? Math.cos(angle) : Math.sin(angle);
};

// --- The model ------------------------------------------------------------------------------

const MAXOUT_OLD = ["paper", "paper-starts-at-zero"];
/** What each decoder does: when it looks, which state its readout reads, and how t_i is made. */
const DECODERS = {
  ...Object.fromEntries(MAXOUT_OLD.map((name) => [name, { looks: "before", reads: "old", t: maxout }])),
  "paper-reads-new-state": { looks: "before", reads: "new", t: maxout },
  "paper-tanh-readout": { looks: "before", reads: "old", t: tanh },
  "paper-linear-readout": { looks: "before", reads: "old", t: (deep) => deep },
  "paper-asks-after": { looks: "after", reads: "new", t: maxout },
  sutskever: { looks: "before", reads: "new", t: (deep) => deep }, // and sees nothing: it has no context
  luong: { looks: "after", reads: "new", t: tanh },
  "luong-unfed": { looks: "after", reads: "new", t: tanh },
  conditional: { looks: "between", reads: "new", t: maxout },
  "conditional-reads-old-state": { looks: "between", reads: "old", t: maxout },
};

class Relative extends EncoderDecoder {
  constructor(tensors, config) {
    super(tensors, config);
    this.F = this.linear("decoder.F");
    this.upper = Array.from({ length: config.layers - 1 }, (_, k) => this.unitOf(`decoder.upper.${k}`));
    const { W_a, config: { hidden } } = this;
    const score = config.decoder === "sutskever" ? null : config.context.split("-").at(-1);
    // concat: W_a [s; h_j] = W_a,left s + W_a,right h_j
    if (score === "concat") [this.W_a, this.U_a] = [columnsOf(W_a, 0, hidden), columnsOf(W_a, hidden, W_a.columns)];
    this.score = score && config.context.endsWith("scaled-dot") ? "scaled-dot" : score;
    const window = score && config.context.match(/^local-[mp]/)?.[0];
    if (window) this.window = { kind: window, W: this.linear("decoder.context.window.W_p"), v: this.linear("decoder.context.window.v_p") };
  }

  unitOf(name) {
    const unit = super.unitOf(name);
    return unit && { ...unit, step: UNITS[this.config.unit] };
  }

  direction(place, way) { return { place, way }; } // of several layers: see `layer`

  layer(number, { place, way }) {
    if (this.config.unit === "paper") return this.unitOf(`encoder.rnn.units.${number}.${place}`);
    const part = (kind) => this.matrix(`encoder.rnn.units.weight_${kind}_l${number}${way}`, `encoder.rnn.units.bias_${kind}_l${number}${way}`);
    return { step: UNITS[this.config.unit], W: part("ih"), U: part("hh") };
  }

  /** Numbers in the state of one layer. */
  get size() { return this.config.hidden * (this.config.unit === "lstm" ? 2 : 1); }

  /** What is seen of a layer's state, or of the top layer's. */
  top(states) { return states.map((s) => s.subarray(s.length - this.config.hidden)); }

  // --- reading -------------------------------------------------------------------------------

  read(words) {
    const { hidden, reverse_source: reversed, encoder } = this.config;
    const order = [...words.keys()];
    if (reversed) order.reverse();
    order.push(words.length);
    const embedded = order.map((j) => row(this.E_x, [...words, EOS][j]));
    const [found, first] = encoder.startsWith("self-attention") ? this.attend(embedded) : this.along(embedded);
    const annotations = order.map((_, j) => found[order.indexOf(j)]);
    const start = this.W_s ? tanh(product(this.W_s, [first]))[0] : new Float32Array(this.config.layers * this.size);
    return {
      annotations, keys: this.keysOf(annotations),
      start: this.F ? Float32Array.of(...start, ...new Float32Array(this.F.columns)) : start,
      summary: annotations.at(-1).subarray(0, encoder.startsWith("self-attention") ? 2 * hidden : hidden),
    };
  }

  /** Layers of units, in one direction or both: annotations, and the vector that s_0 is made of. */
  along(embedded) {
    const both = this.config.encoder === "bidirectional";
    const run = (unit, inputs) => {
      let h = [new Float32Array(this.size)];
      return this.top(inputs.map((x) => { h = advance(unit, [x], h); return h[0]; }));
    };
    let states = embedded;
    let back;
    for (let number = 0; number < this.config.layers; number += 1) {
      const onward = run(this.layer(number, this.forward), states);
      back = both && run(this.layer(number, this.backward), states.toReversed()).toReversed();
      states = both ? joinedVectors(onward, back) : onward;
    }
    return [states, both ? back[0] : states.at(-1)];
  }

  /** Blocks of self-attention: x + attention(norm(x)), x + W_2 max(0, W_1 norm(x)). */
  attend(embedded) {
    const { encoder, heads, layers } = this.config;
    const norm = (name) => ({ weight: this.tensors[`${name}.weight`].values, bias: this.tensors[`${name}.bias`].values });
    let x = product(this.linear("encoder.rnn.W_x"), embedded);
    x = x.map((one, j) => {
      const place = encoder === "self-attention" ? one.map(wave(j, one.length)) : new Float32Array(one.length);
      return one.map((value, i) => value * Math.sqrt(one.length) + place[i]);
    });
    for (let number = 0; number < layers; number += 1) {
      const name = `encoder.rnn.blocks.${number}`;
      const normed = layerNorm(norm(`${name}.norm_attention`), x);
      const parts = ["W_Q", "W_K", "W_V"].map((one) => product(this.linear(`${name}.attention.${one}`), normed));
      x = sum(x, product(this.linear(`${name}.attention.W_O`), selfAttention(...parts, heads)));
      const inner = product(this.linear(`${name}.W_1`), layerNorm(norm(`${name}.norm_network`), x));
      x = sum(x, product(this.linear(`${name}.W_2`), inner.map((one) => one.map((value) => Math.max(0, value)))));
    }
    x = layerNorm(norm("encoder.rnn.norm"), x);
    return [x, mean(x.map(() => 1 / x.length), x)];
  }

  // --- looking back --------------------------------------------------------------------------

  /** What a query is scored against; null for a context without weights. */
  keysOf(annotations) {
    if (this.score === "general") return product(this.W_a, annotations);
    if (this.score === "dot") return annotations;
    if (this.score === "scaled-dot") return annotations.map((h) => h.map((value) => value / Math.sqrt(h.length)));
    return this.U_a && product(this.U_a, annotations);
  }

  look(s, memory, given, i) {
    const { annotations, keys } = memory;
    if (!keys || this.v_a) {
      const seen = super.look(s, memory, given);
      return keys && this.window ? this.within(seen, s, annotations, given, i) : seen;
    }
    // e_ij = s' W_a h_j, or s' h_j
    const energies = keys.map((key) => dot(s, key));
    const alpha = given ?? softmaxOf(energies);
    const seen = { c: mean(alpha, annotations), alpha, energies };
    return this.window ? this.within(seen, s, annotations, given, i) : seen;
  }

  /** Only words within D of a place are seen: of the target word's, or of one that the state predicts. */
  within({ energies }, s, annotations, given, i) {
    const { window: { kind, W, v }, config: { window: D } } = this;
    let [centre, focus] = [i - 1, () => 1];
    if (kind === "local-p") {
      // p_i = T_x sigma(v_p' tanh(W_p s));  alpha_ij exp(-(j - p_i)^2 / 2 (D/2)^2)
      centre = annotations.length * sigma(product(v, tanh(product(W, [s])))[0][0]);
      focus = (j) => Math.exp(-((j - centre) ** 2) / (2 * (D / 2) ** 2));
    }
    const visible = energies.map((e, j) => (Math.abs(j - centre) <= D ? e : -Infinity));
    const none = visible.every((e) => e === -Infinity);
    const alpha = given ?? (none ? visible.map(() => 0) : softmaxOf(visible).map((weight, j) => weight * focus(j)));
    return { c: mean(alpha, annotations), alpha, energies };
  }

  // --- writing -------------------------------------------------------------------------------

  step(words, states, memory, given, i) {
    const { looks, reads, t: make } = DECODERS[this.config.decoder];
    const embedded = words.map((y) => row(this.E_y, y));
    const layers = states.map((s) => s.subarray(0, this.config.layers * this.size));
    const lowest = layers.map((s) => s.subarray(0, this.size));
    let inputs = product(this.unit.W, embedded);
    // W E y_{i-1} + F t_{i-1}
    if (this.F) inputs = sum(inputs, product(this.F, states.map((s) => s.subarray(this.config.layers * this.size))));
    let [seen, after] = [];
    const look = (queries) => { seen = this.top(queries).map((s) => this.look(s, memory, given, i)); return seen.map(({ c }) => c); };
    if (looks === "after") {
      after = this.climb(this.unit.step(this.unit, inputs, lowest), layers);
      look(after);
    } else if (looks === "between") {
      const between = this.unit.step(this.unit, inputs, lowest);
      after = this.climb(advance(this.second, look(between), between), layers);
    } else {
      const contexts = look(layers);
      if (this.C) inputs = sum(inputs, product(this.C, contexts));
      after = this.climb(this.unit.step(this.unit, inputs, lowest), layers);
    }
    const terms = [product(this.U_o, this.top(reads === "new" ? after : layers))];
    if (this.C_o) terms.push(product(this.C_o, seen.map(({ c }) => c)));
    if (this.V_o) terms.push(product(this.V_o, embedded));
    const t = make(sum(...terms));
    const logits = product(this.W_o, t);
    const next = this.F ? joinedVectors(after, t) : after;
    return next.map((s, k) => ({ ...seen[k], s, logits: logits[k] }));
  }

  /** All layers' next states from the lowest one's: each reads the one below. */
  climb(lowest, layers) {
    const states = [lowest];
    this.upper.forEach((unit, k) => {
      const before = layers.map((s) => s.subarray((k + 1) * this.size, (k + 2) * this.size));
      states.push(advance(unit, this.top(states.at(-1)), before));
    });
    return this.upper.length ? joinedVectors(...states) : lowest;
  }
}

/** Columns `from` to `to` of a matrix. */
function columnsOf({ weight, rows, columns }, from, to) {
  const part = new Float32Array(rows * (to - from));
  for (let line = 0; line < rows; line += 1) part.set(weight.subarray(line * columns + from, line * columns + to), line * (to - from));
  return { weight: part, rows, columns: to - from };
}

const STUDIED = { context: ["additive", "fixed"], decoder: ["paper", "conditional"], encoder: ["bidirectional"], unit: ["torch", "paper"], layers: [1], reverse_source: [false] };

/** The model of a configuration: the studied one where it is that. */
function modelOf(tensors, config) {
  const studied = Object.entries(STUDIED).every(([key, values]) => values.includes(config[key]));
  return new (studied ? EncoderDecoder : Relative)(tensors, config);
}

export { Relative, modelOf };
