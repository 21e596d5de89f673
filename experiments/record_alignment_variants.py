"""Record what moves the alignment error rate of attention, and how it moves beside BLEU.

    python experiments/record_alignment_variants.py [VARIANT ...]

One small RNNsearch on the embedded corpus, and the same with one thing changed, less than a minute
each on a quiet core. Writes toy-en-de-rnnsearch-cpu-alignment-variants.json: for every
variant its changes, seed, parameters and commit, and after each epoch the loss, BLEU of greedy
search and the error rates of the weights, all on the validation split. Variants that are not named
stay as they were recorded.
"""

import argparse
import json
from typing import Any

from recording import TOY, place_of, trained, write

from course_lib.corpora import Corpus, load_corpus
from course_lib.evaluation.align import forced_weights, words_links
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.models import EncoderDecoder
from course_lib.training import RunConfig
from course_lib.training.run_directory import make_vocabularies

NAME = "toy-en-de-rnnsearch-cpu-alignment-variants.json"
SETTINGS: dict[str, Any] = {**TOY, "corpus.val": 500, "batch_size": 128, "epochs": 8}
VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "after": {"order": "after", "reads": "current"},
    "between": {"order": "between", "reads": "current"},
}


def config_of(name: str) -> RunConfig:
    """A variant's run."""
    changes = dict(VARIANTS[name])
    seed = changes.pop("seed", 0)
    return RunConfig("rnnsearch", "toy", seed=seed, changes={**SETTINGS, **changes})


def error_rates(model: EncoderDecoder, config: RunConfig, corpus: Corpus) -> dict[str, float]:
    """On the validation split, by the largest weight and by the largest weight on a word."""
    part = corpus.splits["val"]
    assert part.links is not None
    weights = forced_weights(model, *make_vocabularies(config, corpus), part)
    ways = {"aer": argmax_links, "words_aer": words_links}
    return {
        name: alignment_error_rate([links(alpha) for alpha in weights], part.links).aer
        for name, links in ways.items()
    }


def measured(name: str) -> dict[str, Any]:
    """Train one variant and say after each epoch how it translates and aligns."""
    config = config_of(name)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    rates: list[dict[str, float]] = []
    done = trained(config, lambda model: rates.append(error_rates(model, config, corpus)))
    result = done.result
    shown = ("epoch", "val_loss", "val_bleu")
    rows = [
        {**{key: row[key] for key in shown}, **rate}
        for row, rate in zip(result["metrics"], rates, strict=True)
    ]
    kept = ("seed", "parameters", "device", "threads", "versions", "git_commit", "corpus_sha256")
    return {
        "changes": VARIANTS[name],
        **{key: result[key] for key in kept},
        "cpu_seconds": round(done.cpu_seconds, 1),
        "epochs": rows,
    }


def main(names: list[str]) -> None:
    path = place_of(NAME)
    before = json.loads(path.read_text(encoding="utf-8"))["variants"] if path.exists() else {}
    for name in names:
        before[name] = measured(name)
        print(name, before[name]["epochs"][-1])
        variants = {known: before[known] for known in VARIANTS if known in before}
        write(NAME, {"split": "val", "settings": SETTINGS, "variants": variants})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    main(parser.parse_args().variants or list(VARIANTS))
