"""How long the moving figures take in a browser: to be drawn, and for each step."""

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Browser
from tqdm import tqdm

from benchmarks.live import clock_of, measure_live
from benchmarks.machine import about
from course_lib.records import record_path
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import page_script, style
from course_lib.widgets.sentence_bleu import MOST
from experiments.browser import chromium

WORDS = 60
DRAWN, STEPPED = 100.0, 16.0
"""What is promised, in milliseconds."""

Values = dict[str, Any]
Steps = list[tuple[str, Any]]
"""A value changed, one step after the other."""


class Workload(NamedTuple):
    """A figure with its largest data: what it starts with, and the steps."""

    what: str
    values: Values
    steps: Steps


def there_and_back(name: str, choices: list[Any]) -> Steps:
    """Every choice behind the first one, and back to it."""
    return [(name, one) for one in [*choices[1:], *choices[-2::-1]]]


def stepper() -> Workload:
    """60 words on 60 words, weights drawn at random: many arcs, and every number moves."""
    energies = np.random.default_rng(0).normal(0, 2, (WORDS, WORDS))
    powers = np.exp(energies)
    words = [f"word{i}" for i in range(WORDS)]
    model = {
        "name": "RNNsearch",
        "target": words,
        "alpha": (powers / powers.sum(1, keepdims=True)).round(3).tolist(),
        "energies": energies.round(2).tolist(),
        "next": [
            [[words[(i + k) % WORDS], round(0.5 / (k + 1), 4)] for k in range(5)]
            for i in range(WORDS)
        ],
    }
    sentence = {"label": "long", "source": words, "models": [model]}
    start = {"sentence": 0, "step": 0, "first": "RNNsearch", "second": "", "looked_at": -1}
    values = {"sentences": [sentence], **start}
    return Workload(
        f"{WORDS} x {WORDS} words", values, there_and_back("step", list(range(WORDS + 1)))
    )


def recorded(name: str, record: str) -> Values:
    """What the book draws from a recorded file."""
    return FIGURES[name].values(record_path(record))


def beam_tree() -> Workload:
    """The search with the most nodes."""
    values = recorded("beam_tree", "multi30k-en-de-rnnsearch-cpu-seed0-beam-tree")
    largest = max(values["searches"], key=lambda search: len(search["nodes"]))
    nodes = largest["nodes"]
    setting = {key: largest[key] for key in ("source", "k", "length_penalty")}
    last = max(node[1] for node in nodes)
    steps = there_and_back("step", list(range(last + 1)))
    return Workload(f"{len(nodes)} hypotheses", {**values, **setting, "step": 0}, steps)


def bottleneck() -> Workload:
    """Every length of every size."""
    values = recorded("bottleneck", "bottleneck-explorer")
    lengths = there_and_back("length", values["lengths"])
    steps = [step for size in values["sizes"] for step in [("size", size), *lengths]]
    return Workload(f"{len(values['lengths'])} lengths", values, steps)


def by_hand() -> Workload:
    """The state on its way round the plane."""
    turns = np.linspace(0, 2 * np.pi, WORDS)
    steps = [("state", [round(2 * np.cos(t), 2), round(2 * np.sin(t), 2)]) for t in turns]
    return Workload("3 vectors", FIGURES["attention_by_hand"].values(), steps)


def softmax() -> Workload:
    """Every dimension at every temperature."""
    values = FIGURES["softmax_scaling"].values()
    heats = there_and_back("temperature", [2 ** (power / 4) for power in range(-12, 21)])
    steps = [step for d in values["dimensions"] for step in [("dimension", d), *heats]]
    return Workload(f"{len(values['products'][0][0])} keys", values, steps)


def read_write() -> Workload:
    """Each sentence from its last frame to the first and back."""
    values = recorded("read_write", "read-write")
    steps = list[tuple[str, Any]]()
    for k in (0, 1):
        last = len(values["sentences"][k]["read"] + values["sentences"][k]["written"]) + 1
        steps += [("chosen", k), *there_and_back("frame", list(range(last, -1, -1)))]
    return Workload(f"{len(values['sentences'])} sentences", values, steps)


def tiny_translator() -> Workload:
    """Each sentence from its last frame to the first and back."""
    values = recorded("tiny_translator", "tiny-translator")
    frames = there_and_back("frame", list(range(values["frame"], -1, -1)))
    steps = [step for k in (1, 2, 3, 0) for step in [("walk", k), *frames]]
    return Workload(f"{len(values['walks'])} sentences", values, steps)


def transformer() -> Workload:
    """Each sentence from its last word to the first and back."""
    values = recorded("transformer", "transformer-writes")
    steps = there_and_back("frame", list(range(len(values["sentences"][0]["read"]) - 1, -1, -1)))
    every = [("chosen", 0), *steps, ("chosen", 1), *steps]
    return Workload(f"{len(values['sentences'])} sentences", values, every)


def antecedent() -> Workload:
    """Every sentence: each animal with each thing and adjective, in both orders."""
    values = recorded("antecedent", "pronoun-reader")
    orders = [("thing_first", True), ("thing_first", False)]
    adjectives = [step for one in values["adjectives"] for step in [("adjective", one), *orders]]
    things = [step for one in values["things"] for step in [("thing", one), *adjectives]]
    steps = [step for one in values["animals"] for step in [("animal", one), *things]]
    return Workload(f"{len(values['readings'])} sentences", values, steps)


def self_attention() -> Workload:
    """Every word, with the matrices and without, step by step."""
    values = FIGURES["self_attention"].values()
    turns = [("step", 0), ("step", 1), ("step", 2)]
    each = [("asks", 2), *turns, ("asks", 3), *turns, ("asks", 1), *turns]
    return Workload("3 words", values, [("matrices", False), *each, ("matrices", True), *each])


def gated_unit() -> Workload:
    """Both gates, from shut to open."""
    opening = np.linspace(0, 1, WORDS)
    steps = [(gate, float(share)) for gate in "zr" for share in opening]
    return Workload("2 numbers", FIGURES["gated_unit"].values(), steps)


def drawing_words() -> Workload:
    """Every temperature with every cut, twenty words drawn each time."""
    values = FIGURES["drawing_words"].values()
    heats = there_and_back("temperature", [level / 20 for level in range(5, 41)])
    cuts = [("top_k", 2), ("top_p", 0.5), ("top_k", 5), ("top_p", 0.8)]
    return Workload("5 words", values, [step for cut in cuts for step in [cut, *heats]])


def sentence_bleu() -> Workload:
    """A translation that grows to the most words there may be, and shrinks again."""
    words = ["the", "a"] * (MOST // 2)
    texts = [" ".join(words[:end]) for end in range(1, MOST + 1)]
    values = {"reference": texts[-1], "translation": texts[0]}
    return Workload(f"{MOST} words", values, there_and_back("translation", texts))


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "antecedent": antecedent,
    "attention_stepper": stepper,
    "beam_tree": beam_tree,
    "attention_by_hand": by_hand,
    "bottleneck": bottleneck,
    "drawing_words": drawing_words,
    "gated_unit": gated_unit,
    "read_write": read_write,
    "sentence_bleu": sentence_bleu,
    "softmax_scaling": softmax,
    "self_attention": self_attention,
    "tiny_translator": tiny_translator,
    "transformer": transformer,
}

# A message sent within a frame is delivered once the frame is done: what lies between is the
# script, and the styles, layout and painting that follow from it.
MEASURE = """async ({values, steps}) => {
  const frame = (work) => new Promise((done) => requestAnimationFrame(() => {
    const started = performance.now();
    work();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - started);
    channel.port2.postMessage(0);
  }));
  const model = pageModel(values);
  const place = document.querySelector("main");
  const drawn = await frame(() => figure.render({model, el: place}));
  await new Promise((done) => setTimeout(done, 300));
  const taken = [];
  for (const [name, value] of steps) taken.push(await frame(() => model.set(name, value)));
  return {drawn, taken};
}"""


def measure_moving(rounds: int = 5) -> dict[str, Any]:
    """Each figure drawn in a fresh page and stepped through, `rounds` times; medians."""
    with chromium() as browser:
        rows = [
            _row(browser, name, make(), rounds) for name, make in tqdm(WORKLOADS.items(), "figures")
        ]
        live = measure_live(browser, rounds)
        version = browser.version
    return {
        "what": "figures",
        "unit": "milliseconds",
        "rounds": rounds,
        "chromium": version,
        "promised": {"drawn": DRAWN, "step": STEPPED},
        "rows": rows,
        "live": live,
        **about(),
    }


def measure_new(result: dict[str, Any], rounds: int = 5) -> dict[str, Any]:
    """What was measured, and beside it the figures that it lacks: these say where and when."""
    known = {row["figure"] for row in result["rows"]}
    here = about()
    with chromium() as browser:
        rows = [
            {**_row(browser, name, make(), rounds), "on": f"{here['processor']}, {here['date']}"}
            for name, make in WORKLOADS.items()
            if name not in known
        ]
    return {**result, "rows": [*result["rows"], *rows]}


def _row(browser: Browser, name: str, work: Workload, rounds: int) -> dict[str, Any]:
    drawn, taken, busy = [], list[float](), []
    for _ in range(rounds):
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.set_content(
            f"<!doctype html><meta charset=utf-8><style>{style()}</style><main></main>"
            f"<script>{page_script(name)}</script>"
        )
        busy_for = clock_of(page)
        before = busy_for()
        found = page.evaluate(MEASURE, {"values": work.values, "steps": work.steps})
        spent = busy_for() - before
        drawn.append(found["drawn"])
        taken += found["taken"]
        busy.append(1000 * spent / (1 + len(work.steps)))
        page.close()
    return {
        "figure": name,
        "data": work.what,
        "drawn": round(median(drawn), 1),
        "step": round(median(taken), 1),
        "step_90": round(float(np.quantile(taken, 0.9)), 1),
        "processor": round(median(busy), 1),
        "steps": len(taken),
    }
