// A model beside the page: its file comes in scripts, its work is done by a worker.

/** One part of a model's file: in the page already, or in a script that is asked for now. */
function partOf({ name }, folder, number) {
  const there = () => globalThis.courseParts?.[`${name}/${number}`];
  if (there()) return Promise.resolve(there());
  const file = `${name}-${number}.js`;
  return new Promise((done, failed) => {
    const script = make("script", {
      src: `${folder}/${encodeURIComponent(file)}`,
      onload: () => (there() ? done(there()) : failed(new Error(`${file} is damaged. Put a whole copy in its place.`))),
      onerror: () => failed(new Error(`${file} is missing. Put it back into the folder ${folder}.`)),
    });
    document.head.append(script);
    script.remove();
  });
}

/** Whether this browser has the newest of what the worker uses. */
function able() {
  try {
    return Boolean(new RegExp("", "v") && "".toWellFormed);
  } catch {
    return false;
  }
}

/** One published model or run, ready to be asked. */
class Translator {
  constructor(about, { worker, folder, data }) {
    Object.assign(this, { about, script: worker, folder, bytes: data?.[about.name], asked: 0, asks: new Map() });
  }

  /** Fetch and unpack the model, once; `progress` hears the share that is there. A failure can be tried again. */
  load(progress) {
    this.loading ??= this.bring(progress).catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  async bring(progress) {
    if (!able()) throw new Error("This browser is too old to translate in a page. Use a newer one.");
    const { parts: count, name } = this.about;
    const parts = [];
    for (let number = 0; !this.bytes && number < count; number += 1) {
      parts.push(await partOf(this.about, this.folder, number));
      progress((number + 1) / (count + 1));
    }
    const address = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    await new Promise((done, failed) => {
      const remedy = this.bytes ? "Run the cell again." : `Put a whole copy of the page and of ${name}-….js in their place.`;
      const damaged = () => failed(new Error(`The weights of ${name} are damaged. ${remedy}`));
      this.worker.onerror = damaged;
      this.worker.onmessage = ({ data }) => (data.loaded ? done() : damaged());
      this.worker.postMessage({ load: this.bytes ? { bytes: this.bytes } : { parts } });
    });
    this.worker.onmessage = ({ data }) => this.hear(data);
    progress(1);
  }

  hear({ ask, soFar, found, failed }) {
    const one = this.asks.get(ask);
    if (soFar !== undefined) return one?.soFar(soFar);
    this.asks.delete(ask);
    if (failed) return one?.fail(new Error(failed));
    return one?.done(found);
  }

  /** A translation, or null where there is nothing to translate or something else is asked for meanwhile. */
  ask(request, soFar = () => {}) {
    this.asked += 1;
    this.asks.forEach(({ done }) => done(null)); // whoever waits for an earlier one goes on
    this.asks.clear();
    return new Promise((done, fail) => {
      this.asks.set(this.asked, { done, fail, soFar });
      this.worker.postMessage({ ask: this.asked, request });
    });
  }
}
