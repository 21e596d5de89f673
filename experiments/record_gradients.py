"""Record how much of a gradient survives the way back, for each recurrent unit.

    python experiments/record_gradients.py

RNNencdec with a forward encoder on the embedded corpus, once with each unit; about ten minutes of
training on a quiet core. Writes toy-en-de-rnnencdec-cpu-gates-UNIT-seed0.json: each
run's result.json and, under `gradients`, what is left of a gradient k steps back at the ends of the
test sentences, with the weights as drawn (`fresh`) and as `trained`, and, under `gates`, how far
the trained gates are open along the first of them.
"""

from typing import Any

from recording import TOY, Runs, trained, write

from course_lib.evaluation.gradients import (
    forward_unit,
    gates_along,
    gradients_through_time,
    sentence_ends,
)
from course_lib.models import build_model
from course_lib.training import RunConfig, recorded_name

UNITS = ("tanh", "lstm", "torch", "paper")
WORDS = 18
"""How many words back, end mark included: one test sentence in five is as long."""
SETTINGS: dict[str, Any] = {
    **TOY,
    "encoder": "forward",
    "epochs": 8,
}


def runs() -> Runs:
    for unit in UNITS:
        yield f"gates-{unit}", RunConfig("rnnencdec", "toy", changes={**SETTINGS, "unit": unit})


def record(tag: str, config: RunConfig) -> None:
    """Train, measure and write one unit."""
    run, corpus, result, *_ = trained(config)
    sources = [run.source_vocabulary.encode(words) for words in corpus.splits["test"].source]
    fresh = build_model(run.model.config, config.seed)
    result["gradients"] = {}
    for name, model in {"fresh": fresh, "trained": run.model}.items():
        words, states = sentence_ends(model, sources, WORDS)
        result["gradients"][name] = gradients_through_time(forward_unit(model), words, states)
    result["sentences"] = len(words)
    gated = run.model.config.unit != "tanh"
    result["gates"] = gates_along(forward_unit(run.model), words[0]) if gated else {}
    write(recorded_name(result, tag), result)


if __name__ == "__main__":
    for tag, config in runs():
        record(tag, config)
