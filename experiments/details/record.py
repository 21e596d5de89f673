"""Record what each detail that re-implementations of RNNsearch change costs.

The paper's model on the embedded corpus, and the same model with one detail changed. Each variant
looks for its own learning rate with one seed, by the loss on the validation split: RATES, and on
past the end where the best one is the last, until it has a worse one on either side. With this rate
it is trained with every seed; where one of them breaks down, the next best rate takes its place.
details: every variant, for as long as most of them need.
longer: the paper's model and a variant that was not done by then, both for three times as long.
"""

from collections.abc import Iterable
from typing import Any

import torch

from course_lib.models import assemble, count_parameters
from course_lib.training import RunConfig, read_result
from course_lib.training.vocabularies import make_vocabularies
from experiments.decoders import register
from experiments.recording import TOY, Part, Read, Records, corpus_of, kept_run

register()
SEEDS = (0, 1, 2)
RATES = (2.5e-3, 5e-3, 1e-2)
BROKEN = 3.0
"""Times the loss of the best seed."""
SETTINGS: dict[str, Any] = {**TOY, "epochs": 6, "unit": "paper"}
LONGER: dict[str, Any] = {**SETTINGS, "epochs": 18}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "reset-after": {"unit": "torch"},
    "query-after": {"decoder": "paper-asks-after"},
    "reads-current": {"decoder": "paper-reads-new-state"},
    "tanh-readout": {"decoder": "paper-tanh-readout"},
    "linear-readout": {"decoder": "paper-linear-readout"},
    "start-zero": {"decoder": "paper-starts-at-zero"},
    "forward-encoder": {"encoder": "forward"},
}
NOT_DONE = ("paper", "tanh-readout")
RECORD = "toy-en-de-rnnsearch-cpu-details"
Settings = dict[str, Any]


def config_of(
    changes: dict[str, Any], settings: Settings = SETTINGS, rate: float = RATES[0], seed: int = 0
) -> RunConfig:
    """One training."""
    changes = {**settings, "learning_rate": rate, **changes}
    return RunConfig("rnnsearch", "toy", seed=seed, changes=changes)


def result_of(name: str, settings: Settings, rate: float, seed: int) -> dict[str, Any]:
    """The result of one training, which is kept."""
    torch.set_num_threads(1)
    path = f"details/{settings['epochs']}-epochs/{name}-{rate:g}-{seed}"
    return read_result(kept_run(config_of(VARIANTS[name], settings, rate, seed), path, beam=1))


def tried_rates(name: str, settings: Settings) -> dict[float, float]:
    """The loss on the validation split by learning rate, until the best is not at an end."""

    def loss_at(rate: float) -> float:
        return float(result_of(name, settings, rate, SEEDS[0])["best_val_loss"])

    losses = {rate: loss_at(rate) for rate in RATES}
    while (best := min(losses, key=losses.__getitem__)) in (ends := (min(losses), max(losses))):
        further = best / 2 if best == ends[0] else best * 2
        losses[further] = loss_at(further)
    return dict(sorted(losses.items()))


def breaks_down(losses: list[float]) -> bool:
    """Whether a seed has hardly learnt what another one has."""
    return max(losses) > BROKEN * min(losses)


def record_of(names: Iterable[str], settings: Settings) -> dict[str, Any]:
    """Of every variant its changes, its parameters, each rate that was tried with its loss, seed by
    seed BLEU of the test split and the validation loss at the best rate that no seed breaks down
    with, and the same for those that one does."""
    variants: dict[str, Any] = {}
    for name in names:
        tried = tried_rates(name, settings)
        left: list[dict[str, Any]] = []
        for rate in sorted(tried, key=tried.__getitem__):
            results = [result_of(name, settings, rate, seed) for seed in SEEDS]
            row: dict[str, Any] = {
                "learning_rate": rate,
                "bleu_tok": [result["scores"]["test"]["bleu_tok"] for result in results],
                "val_loss": [result["best_val_loss"] for result in results],
            }
            if not breaks_down(row["val_loss"]):
                break
            left.append(row)
        variants[name] = {
            "changes": VARIANTS[name],
            "parameters": results[0]["parameters"],
            "tried": [{"learning_rate": rate, "val_loss": loss} for rate, loss in tried.items()],
            **row,
            "left": left,
        }
        print(name, variants[name], flush=True)
    kept = ("corpus", "pair", "preset", "device", "versions", "git_commit", "corpus_sha256")
    record = {key: results[0][key] for key in kept}
    return record | {"settings": settings, "seeds": list(SEEDS), "variants": variants}


def details() -> Records:
    """Every variant."""
    yield RECORD, record_of(VARIANTS, SETTINGS)


def longer() -> Records:
    """The paper's model and what was not done."""
    yield f"{RECORD}-longer", record_of(NOT_DONE, LONGER)


def check(read: Read) -> None:
    """Every variant has every seed, the best of its rates that no seed breaks down with, worse ones
    on either side, and the parameters of the settings with its change."""
    check_record(read(RECORD), VARIANTS, SETTINGS)
    check_record(read(f"{RECORD}-longer"), NOT_DONE, LONGER)


def check_record(record: dict[str, Any], names: Iterable[str], settings: Settings) -> None:
    """One of both."""
    assert record["settings"] == settings
    assert record["seeds"] == list(SEEDS)
    found = {name: kept["changes"] for name, kept in record["variants"].items()}
    assert found == {name: VARIANTS[name] for name in names}
    corpus = corpus_of(config_of({}))
    assert record["corpus_sha256"] == corpus.sha256
    sizes = [len(words) for words in make_vocabularies(config_of({}), corpus)]
    for kept in record["variants"].values():
        assert len(kept["bleu_tok"]) == len(kept["val_loss"]) == len(SEEDS) >= 3
        assert all(0 < score < 100 for score in kept["bleu_tok"])
        assert all(loss > 0 for loss in kept["val_loss"])
        tried = {row["learning_rate"]: row["val_loss"] for row in kept["tried"]}
        best = sorted(tried, key=tried.__getitem__)
        assert set(RATES) <= set(tried)
        assert min(tried) < best[0] < max(tried)
        rows = [*kept["left"], kept]
        assert [row["learning_rate"] for row in rows] == best[: len(rows)]
        assert [row["val_loss"][0] for row in rows] == [tried[rate] for rate in best[: len(rows)]]
        assert all(breaks_down(row["val_loss"]) for row in kept["left"])
        assert not breaks_down(kept["val_loss"])
        model = assemble(config_of(kept["changes"]).model_config(*sizes))
        assert count_parameters(model) == kept["parameters"]


PARTS = {
    "details": Part(details, "more than an hour"),
    "longer": Part(longer, "an hour"),
}
