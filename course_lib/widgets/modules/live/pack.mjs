// A model as it comes to a page: a file of safetensors, packed by gzip and written in base64.

/** Parts of base64, joined, to bytes. */
function bytesOf(parts) {
  const text = atob(parts.join(""));
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return bytes;
}

/** What gzip packed; its checksum tells of damage. */
async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const KINDS = { I8: Int8Array, F32: Float32Array };

/** 8-bit numbers as weights: each is its whole number times its row's scale. */
function dequantised(whole, scales) {
  const weights = new Float32Array(whole.length);
  const columns = whole.length / scales.length;
  for (let k = 0; k < whole.length; k += 1) weights[k] = whole[k] * scales[Math.floor(k / columns)];
  return weights;
}

/** The tensors of a file of safetensors, 8-bit ones as numbers, and the texts of its header. */
function readTensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const { __metadata__: about, ...entries } = header;
  const stored = (name) => {
    const { dtype, shape, data_offsets: [from, to] } = entries[name];
    return { shape, values: new KINDS[dtype](buffer.slice(8 + length + from, 8 + length + to)) };
  };
  const tensors = {};
  for (const name of Object.keys(entries).filter((one) => !one.endsWith(".scale"))) {
    const tensor = stored(name);
    if (tensor.values instanceof Int8Array) {
      tensor.values = dequantised(tensor.values, stored(`${name}.scale`).values);
    }
    tensors[name] = tensor;
  }
  return { tensors, about: JSON.parse(about.about) };
}

export { bytesOf, readTensors, unpacked };
