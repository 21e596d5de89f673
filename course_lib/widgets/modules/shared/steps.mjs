// Stepping through a translation, word by word or frame by frame: buttons, a slider, and playing.

class Steps {
  /** `go(step)` is called with the number of words that shall be seen; playing, every `pace` milliseconds. */
  constructor(go, pace, unit = "word", all = "words written") {
    Object.assign(this, { go, pace, unit, now: 0, last: 0, playing: null });
    const button = (name, sign, to) => make("button", { type: "button", "aria-label": name, title: name, onclick: () => this.to(to()) }, sign);
    this.slider = make("input", { type: "range", min: 0, "aria-label": all, oninput: () => this.to(Number(this.slider.value)) });
    this.count = make("output", { class: "stepper-count" });
    this.player = make("button", { type: "button", onclick: () => (this.playing ? this.stop() : this.play()) });
    this.element = make("div", { class: "moving-controls", role: "group", "aria-label": "Steps" },
      make("div", { class: "moving-buttons" },
        button("to the beginning", "|◀", () => 0), button(`one ${unit} back`, "◀", () => this.now - 1), this.player,
        button(`next ${unit}`, "▶", () => this.now + 1), button("to the end", "▶|", () => this.last)),
      this.slider, this.count);
    this.stop();
  }

  /** Where the figure stands. */
  show(now, last) {
    Object.assign(this, { now, last });
    Object.assign(this.slider, { max: last, value: now });
    this.count.textContent = `${this.unit} ${now} of ${last}`;
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
  }

  /** Arrow keys step, wherever in the figure the focus is, unless they move something there. */
  listen(el) {
    el.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || isShortcut(event) || event.target.closest("input")) return;
      event.preventDefault();
      this.to(this.now + by);
    });
  }

  to(step) {
    this.stop();
    this.go(Math.max(0, Math.min(this.last, step)));
  }

  play() {
    if (this.now >= this.last) this.go(0);
    this.playing = setInterval(() => {
      this.go(this.now + 1);
      if (this.now >= this.last) this.stop();
    }, this.pace);
    this.named("pause");
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.named("play");
  }

  named(name) {
    this.player.textContent = name;
    this.player.setAttribute("aria-label", name);
  }
}

/** Draws a figure that is stepped through, and again when one of these values changes; what it returns ends that. */
function stepped(model, keys, steps, show) {
  show();
  const end = watch(model, keys, show);
  return () => {
    steps.stop();
    end();
  };
}

/** Sentences of which one is chosen: `check(k)` marks the k-th. */
function sentenceChoice(names, choose) {
  const group = fresh("sentence");
  const radios = names.map((_, k) => make("input", { type: "radio", name: group, onchange: () => choose(k) }));
  return { line: make("div", { class: "moving-sentences", role: "radiogroup", "aria-label": "Sentence" }, ...names.map((name, k) => make("label", {}, radios[k], name))),
    check: (chosen) => radios.forEach((radio, k) => { radio.checked = k === chosen; }) };
}
