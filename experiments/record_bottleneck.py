"""Record the runs that chapter 1 has no time for: the fixed context on the verb-final strings.

    python experiments/record_bottleneck.py

Longer than on the page with three sizes of the one vector, and once with an encoder that reads both
ways. About seven minutes of training on a quiet core. Writes
verbs-tokens-rnnencdec-cpu-TAG-seed0.json: each run's result.json and, under
`accuracy`, its tokens right by source length.
"""

from typing import Any

from recording import SMALL, Runs, trained, write

from course_lib.training import RunConfig, recorded_name

PAGE = {
    **SMALL,
    "corpus.max_length": 20,
    "corpus.train": 20_000,
    "corpus.val": 200,
    "corpus.test": 2_000,
    "encoder": "forward",
    "epochs": 2,
    "learning_rate": 1e-2,
}
"""What the page trains with; a cell there holds the two together."""
LONGER = {"corpus.train": 40_000, "epochs": 10}
CHANGES: dict[str, dict[str, Any]] = {
    "longer-n32": {**LONGER, "hidden": 32},
    "longer-n64": LONGER,
    "longer-n128": {**LONGER, "hidden": 128},
    "both-ways": {"encoder": "bidirectional"},
}
"""By tag, what a run changes."""


def runs() -> Runs:
    for tag, changes in CHANGES.items():
        yield tag, RunConfig("rnnencdec", "verbs", "tokens", changes={**PAGE, **changes})


def record(tag: str, config: RunConfig) -> None:
    """Train, score and write one run."""
    done = trained(config)
    write(recorded_name(done.result, tag), {**done.result, "accuracy": done.accuracy()})


if __name__ == "__main__":
    for tag, config in runs():
        record(tag, config)
