"""Record what each detail that re-implementations of RNNsearch change costs.

The paper's model on the embedded corpus, and the same model with one detail changed, three seeds
each: for each variant its changes, parameters and,
seed by seed, BLEU of the test split and the loss on the validation split.
"""

from typing import Any

from course_lib.corpora.vocabulary import Vocabulary
from course_lib.models import EncoderDecoder, count_parameters
from course_lib.models.old_settings import renamed
from course_lib.training import RunConfig
from experiments.recording import TOY, Part, Read, Records, corpus_of, trained

SEEDS = (0, 1, 2)
SETTINGS: dict[str, Any] = {**TOY, "epochs": 6, "unit": "paper"}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "reset-after": {"unit": "torch"},
    "query-after": {"decoder": "paper-asks-after"},
    "reads-current": {"decoder": "paper-reads-new-state"},
    "tanh-readout": {"decoder": "paper-tanh-readout"},
    "start-zero": {"decoder": "paper-starts-at-zero"},
    "forward-encoder": {"encoder": "forward"},
}


def config_of(changes: dict[str, Any], seed: int = 0) -> RunConfig:
    """One training."""
    return RunConfig("rnnsearch", "toy", seed=seed, changes={**SETTINGS, **changes})


def details() -> Records:
    """Every variant with every seed, in one record."""
    variants: dict[str, Any] = {}
    for name, changes in VARIANTS.items():
        results = [trained(config_of(changes, seed)).result for seed in SEEDS]
        variants[name] = {
            "changes": changes,
            "parameters": results[0]["parameters"],
            "bleu_tok": [result["scores"]["test"]["bleu_tok"] for result in results],
            "val_loss": [result["best_val_loss"] for result in results],
        }
        print(name, variants[name], flush=True)
    kept = ("corpus", "pair", "preset", "device", "versions", "git_commit", "corpus_sha256")
    record = {key: results[0][key] for key in kept}
    record |= {"settings": SETTINGS, "seeds": list(SEEDS), "variants": variants}
    yield "toy-en-de-rnnsearch-cpu-details", record


def check(read: Read) -> None:
    """Every variant has every seed, and the parameters of the settings with its change."""
    record = read("toy-en-de-rnnsearch-cpu-details")
    assert record["settings"] == SETTINGS
    assert record["seeds"] == list(SEEDS)
    assert {name: renamed(kept["changes"]) for name, kept in record["variants"].items()} == VARIANTS
    corpus = corpus_of(config_of({}))
    assert record["corpus_sha256"] == corpus.sha256
    train = corpus.splits["train"]
    sizes = [len(Vocabulary.from_sentences(side, 1)) for side in (train.source, train.target)]
    for kept in record["variants"].values():
        assert len(kept["bleu_tok"]) == len(kept["val_loss"]) == len(SEEDS) >= 3
        assert all(0 < score < 100 for score in kept["bleu_tok"])
        assert all(loss > 0 for loss in kept["val_loss"])
        model = EncoderDecoder(config_of(renamed(kept["changes"])).model_config(*sizes))
        assert count_parameters(model) == kept["parameters"]


PARTS = {"details": Part(details, "about half an hour")}
