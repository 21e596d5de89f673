"""Record what chapter 8 reads of attention maps; how they are read is in `experiments/maps.py`.

alignment: how well weights align the toy corpus, whose gold links are known: RNNsearch in both
    directions, what `course align` says of both combined, and the same for words without
    punctuation.
aligners: other ways to read links off the same weights, and what the word aligner eflomal finds.
maps: a small RNNsearch with three seeds: how flat its weights are before and after training, and
    how often flat ones are wrong; how far its output follows them; and two tests of whole models
    (Wiegreffe and Pinter, 2019): weights held uniform, and other seeds.
captions: the same of chapter 7's RNNsearch of seed 0 on Multi30k, beside IBM Model 1.
stepper: the translations that the figure steps through, and where each of its models comes from.
"""

import html
import json
import platform
from importlib.metadata import version
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from course_lib.corpora import Corpus
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import EOS, MARKS, Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.align import saved_weights, words_links
from course_lib.evaluation.alignment import argmax_links, threshold_links
from course_lib.evaluation.diagnostics import diagnose, summarise
from course_lib.evaluation.forced import forced_weights
from course_lib.evaluation.weights import Weights
from course_lib.files import sha256_of
from course_lib.models import RNNsearch, build_model
from course_lib.training import Run, RunConfig, encode_pairs, load_run, read_result
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.run_directory import BEST
from course_lib.training.vocabularies import make_vocabularies
from course_lib.widgets.stepper import recorded_steps
from experiments import maps
from experiments.recording import (
    EXAMPLES,
    OLD_UNIT,
    TOY,
    Part,
    Read,
    Records,
    aligned_run,
    check_corpus,
    check_runs,
    check_same,
    check_scored,
    corpus_of,
    kept_run,
    large,
    name_of,
    updates,
    written,
)
from experiments.two_directions import agreed_weights, align_both_ways, model1_both_ways, scored

PAIRS = ("en-de", "de-en")
STEM = "toy-en-de-rnnsearch-cpu"
ASKED = 200
"""Sentence pairs whose words are erased."""
SEEDS = (0, 1, 2)
GIVEN = "RNNsearch"
ASSIGNMENT = Path(__file__).parents[2] / "solutions" / "heatmap_analysis"
"""Its model is the toy corpus's RNNsearch of the figure."""
SENTENCES = {
    181: "a separable verb",
    65: "verbs at the end of a clause",
    133: "a compound: two words, one word",
}
"""Positions in the assignment's held-out sentences, chosen by their source and gold links."""
CAPTIONS = "test_2016_flickr"
LENGTHS = (8, 16)
"""Of Multi30k the first sentence of each length, in words."""
FRENCH = ("small", "white")
"""To French goes the first caption with these two adjectives: one of them stays before its noun."""
STEP = 4
"""So many words are written when the page opens: an empty map would not say what it is."""
KEPT = (
    *("model", "corpus", "pair", "preset", "seed", "changes", "parameters", "git_commit"),
    *("model_sha256", "corpus_sha256"),
)


# --- the toy corpus ---


def aligned(pair: str) -> Path:
    """The run that translates the toy corpus in one direction."""
    return kept_run(RunConfig("rnnsearch", "toy", pair, changes=OLD_UNIT), f"alignment/{pair}")


def loaded(path: Path) -> tuple[Run, Corpus]:
    """A run and its corpus."""
    run = load_run(path, "cpu")
    return run, corpus_of(run.config)


def alignment() -> Records:
    """Align the test split with both runs."""
    for pair in PAIRS:
        result = read_result(aligned(pair))
        yield name_of(result), result
    (run, corpus), (back, mirrored) = (loaded(aligned(pair)) for pair in PAIRS)
    weights, reverse = maps.weights_of(run, corpus, "test"), maps.weights_of(back, mirrored, "test")
    kept = saved_weights(weights, corpus, "test")["sentences"]
    content = {
        **aligned_run(read_result(run.path)),
        **align_both_ways(weights, reverse, corpus, "test"),
        "without_punctuation": maps.without_punctuation(weights, reverse, corpus),
        "translation": maps.translated(run.path, corpus),
        "examples": [{"position": i, **kept[i]} for i in EXAMPLES],
    }
    yield f"{STEM}-seed0-alignment", content


def aligners() -> Records:
    """Align both splits with both runs, and with eflomal."""
    runs = [loaded(aligned(pair)) for pair in PAIRS]
    corpus = runs[0][1]
    weights = {split: [maps.weights_of(*run, split) for run in runs] for split in ("val", "test")}
    agreed = {
        split: [agreed_weights(*pair) for pair in zip(*both, strict=True)]
        for split, both in weights.items()
    }
    curve = maps.threshold_curve(agreed["val"], corpus)
    both = min(curve, key=lambda row: row["aer"])["threshold"]
    forward, _ = weights["test"]
    ways = {
        "argmax": [argmax_links(alpha) for alpha in forward],
        "words": [words_links(alpha) for alpha in forward],
        "agreed": [threshold_links(alpha, both, end_mark=False) for alpha in agreed["test"]],
    }
    content = {
        **aligned_run(read_result(aligned(PAIRS[0]))),
        "model_sha256": {pair: sha256_of(aligned(pair) / BEST) for pair in PAIRS},
        "both": both,
        "both_on_val": curve,
        "attention": {name: scored(found, corpus, "test") for name, found in ways.items()},
        "aligner": maps.eflomal_scores(corpus, "test"),
    }
    yield f"{STEM}-seed0-aligners", content


def small(seed: int = 0) -> RunConfig:
    """The run on the toy corpus whose maps are tested."""
    changes = {**TOY, "encoder": "bidirectional", "epochs": 12}
    return RunConfig("rnnsearch", "toy", seed=seed, changes=changes)


def learned(
    config: RunConfig, corpus: Corpus, words: tuple[Vocabulary, Vocabulary], uniform: bool
) -> RNNsearch:
    """The model after the configuration's epochs; `uniform`: every energy stays 0."""
    model = build_model(config.model_config(len(words[0]), len(words[1])), config.seed)
    if uniform:
        attention = model.decoder.attention
        attention.requires_grad_(False)
        attention.v_a.weight.zero_()
    for _ in updates(model, encode_pairs(corpus.splits["train"], words), config):
        pass
    return model.eval()


def share_right(model: RNNsearch, corpus: Corpus, words: tuple[Vocabulary, Vocabulary]) -> float:
    """The share of test sentences right in every word."""
    test = corpus.splits["test"]
    found = written(model, words, test.source)
    return fmean(one == wanted for one, wanted in zip(found, test.target, strict=True))


def small_maps() -> Records:
    """Train with every seed, weights learned and weights uniform, and test the maps."""
    first = small()
    corpus = corpus_of(first)
    words, part = make_vocabularies(first, corpus), corpus.splits["test"]
    untrained = build_model(first.model_config(len(words[0]), len(words[1])), first.seed)
    runs: list[dict[str, Any]] = []
    learned_maps: list[list[Weights]] = []
    for seed in SEEDS:
        for weights in ("learned", "uniform"):
            model = learned(small(seed), corpus, words, weights == "uniform")
            runs.append(
                {"seed": seed, "weights": weights, "right": share_right(model, corpus, words)}
            )
            print(runs[-1], flush=True)
            if weights == "learned":
                learned_maps.append(forced_weights(model, *words, part))
                runs[-1] |= {
                    **maps.flatness(learned_maps[-1], corpus),
                    "bands": maps.bands(learned_maps[-1], part),
                    "ordered_alike": maps.ordered_alike(model, words, part, ASKED),
                }
    content = {
        **{key: getattr(first, key) for key in ("model", "corpus", "pair", "changes")},
        "device": device_name(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "git_commit": git_commit(),
        "corpus_sha256": dict(corpus.sha256),
        "sentences": len(part),
        "asked": ASKED,
        "untrained": maps.flatness(forced_weights(untrained, *words, part), corpus),
        "runs": runs,
        "agreement": [
            {
                "seeds": [SEEDS[a], SEEDS[b]],
                **maps.agreement(learned_maps[a], learned_maps[b], part.target),
            }
            for a, b in combinations(range(len(SEEDS)), 2)
        ],
    }
    yield f"{STEM}-maps", content


# --- captions ---


def captions() -> Records:
    """Look at the weights of chapter 7's RNNsearch."""
    result = read_result(large("rnnsearch"))
    run, corpus = loaded(large("rnnsearch"))
    split = next(iter(result["scores"]))
    part, weights = corpus.splits[split], maps.weights_of(run, corpus, split)
    diagnoses = [diagnose(alpha) for alpha in weights]
    kept = saved_weights(weights, corpus, split)["sentences"]
    forward, backward = model1_both_ways(corpus, split)
    agreed = [one & other for one, other in zip(forward, backward, strict=True)]
    warned = [
        {"position": i, "warnings": one.warnings, **kept[i]}
        for i, one in enumerate(diagnoses)
        if one.warnings
    ]
    content = {
        **aligned_run(result),
        "versions": result["versions"],
        "split": split,
        "sentences": len(part),
        "diagnostics": summarise(diagnoses),
        "against_model1": {"links": sum(map(len, agreed)), **maps.offsets(weights, agreed, part)},
        "warned": warned[:3],
    }
    yield f"{name_of(result)}-alignment", content


# --- the figure ---


class Model(NamedTuple):
    """A run and where it comes from."""

    run: Run
    origin: dict[str, Any]


def model_of(path: Path, tag: str | None = "") -> Model:
    """A run with what its result says of where it comes from, and its score.

    tag: of the record that has the same result; None where there is none.
    """
    result = read_result(path)
    (split, scores), *_ = result["scores"].items()
    score = {key: scores[key] for key in ("beam", "bleu_tok", "bleu_tok_signature")}
    origin = {**{key: result[key] for key in KEPT}, split: score}
    if tag is not None:
        origin["recorded"] = f"{name_of(result, tag)}.json"
    return Model(load_run(path, "cpu"), origin)


def compared() -> dict[str, tuple[str, RunConfig]]:
    """What the given model is compared with: by the figure's name, the record's tag and the run.

    Dot products need annotations as wide as the state, so that encoder reads one way; the last run
    has the same encoder and the additive score.
    """
    same = load_run(ASSIGNMENT / "model", "cpu").config.changes
    one_way = {**same, "encoder": "forward"}
    return {
        "RNNencdec": ("stepper", RunConfig("rnnencdec", "toy", changes=same)),
        "dot product, reads forwards": (
            "stepper-dot",
            RunConfig("rnnsearch", "toy", changes={**one_way, "context": "dot"}),
        ),
        "additive, reads forwards": (
            "stepper-additive",
            RunConfig("rnnsearch", "toy", changes=one_way),
        ),
    }


def sentence(
    label: str, source: list[str], models: dict[str, Model], gold: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One sentence of the figure, translated by every model.

    Gold links are those of the reference: a model that writes something else gets none.
    """
    found = [recorded_steps(model.run, source, name) for name, model in models.items()]
    for one in found:
        if gold is not None and one["target"][:-1] == gold["target"] and one["alpha"]:
            one["gold"] = gold["gold"]
    words = [*map(html.unescape, source), MARKS[EOS]]
    return {"label": f"{label}: {' '.join(words[:-1])}", "source": words, "models": found}


def captions_of(model: Model) -> Split:
    """The captions that a model of Multi30k is tested on."""
    return corpus_of(model.run.config).splits[CAPTIONS]


def stepper() -> Records:
    """Translate the figure's sentences with every model."""
    models = {GIVEN: model_of(ASSIGNMENT / "model", None)}
    for name, (tag, config) in compared().items():
        path = kept_run(config, f"stepper/{tag}", beam=1)
        models[name] = model_of(path, tag)
        yield name_of(config, tag), read_result(path)
    origins = {f"toy {name}": model.origin for name, model in models.items()}
    held_out = json.loads((ASSIGNMENT / "held_out.json").read_text(encoding="utf-8"))["sentences"]
    sentences = [
        sentence(label, held_out[i]["source"], models, held_out[i])
        for i, label in SENTENCES.items()
    ]
    pair = {name: model_of(large(name.lower())) for name in (GIVEN, "RNNencdec")}
    origins |= {f"multi30k en-de {name}": model.origin for name, model in pair.items()}
    sources = captions_of(pair[GIVEN]).source
    chosen = [next(x for x in sources if len(x) == length) for length in LENGTHS]
    sentences += [sentence("Multi30k", source, pair) for source in chosen]
    french = kept_run(RunConfig("rnnsearch", "multi30k", "en-fr", changes=OLD_UNIT), "en-fr")
    one = {GIVEN: model_of(french)}
    origins[f"multi30k en-fr {GIVEN}"] = one[GIVEN].origin
    yield name_of(read_result(french)), read_result(french)
    words = next(x for x in captions_of(one[GIVEN]).source if FRENCH in pairwise(x))
    sentences.append(sentence("Multi30k, to French", words, one))
    if not maps.crosses(sentences[-1]["models"][0]["alpha"]):
        raise CourseError(f"Nothing crosses in {' '.join(words)!r}. Choose another caption.")
    figure = {"sentences": sentences, "sentence": 0, "step": STEP, "first": GIVEN, "second": ""}
    yield "attention-stepper", {"runs": origins, "figure": figure}


# --- what is recorded ---


def check(read: Read) -> None:
    """Every record belongs to its runs and corpora, and adds up."""
    record = read(f"{STEM}-seed0-alignment")
    check_alignment(record, read)
    check_aligners(read(f"{STEM}-seed0-aligners"), record)
    check_maps(read(f"{STEM}-maps"))
    check_captions(read("multi30k-en-de-rnnsearch-cpu-seed0-alignment"), read)
    check_stepper(read("attention-stepper"), read)


def check_alignment(record: dict[str, Any], read: Read) -> None:
    """Of the recorded run and of today's sentences."""
    result = read(f"{STEM}-seed0")
    check_same(record, result, "model", "corpus", "pair", "git_commit", "corpus_sha256")
    check_same(record["translation"], result["scores"]["test"], "beam", "bleu_tok")
    for pair in PAIRS:
        config = RunConfig("rnnsearch", "toy", pair, changes=OLD_UNIT)
        assert read(name_of(config))["changes"] == config.changes
    corpus = corpus_of(RunConfig("rnnsearch", "toy"))
    assert record["corpus_sha256"] == corpus.sha256
    maps.check_counts(record, corpus)
    assert [example["position"] for example in record["examples"]] == list(EXAMPLES)


def check_aligners(aligners: dict[str, Any], record: dict[str, Any]) -> None:
    """Of the same run, and the threshold is the best of all that were tried."""
    check_same(aligners, record, *("model", "corpus", "pair", "split"))
    check_same(aligners, record, "git_commit", "corpus_sha256")
    assert aligners["attention"]["argmax"] == record["alignments"]["attention"]["argmax"]
    rows = aligners["both_on_val"]
    assert [row["threshold"] for row in rows] == list(maps.THRESHOLDS)
    assert aligners["both"] == min(rows, key=lambda row: row["aer"])["threshold"]
    assert aligners["attention"]["words"]["aer"] <= 0.15
    assert aligners["attention"]["agreed"]["aer"] <= 0.10


def check_maps(record: dict[str, Any]) -> None:
    """Of the settings and sentences of today, every seed both ways."""
    assert record["changes"] == small().changes
    check_corpus(record)
    assert [(run["seed"], run["weights"]) for run in record["runs"]] == [
        (seed, weights) for seed in SEEDS for weights in ("learned", "uniform")
    ]
    assert [set(pair["seeds"]) for pair in record["agreement"]] == [{0, 1}, {0, 2}, {1, 2}]
    learned = [run for run in record["runs"] if run["weights"] == "learned"]
    for one in (record["untrained"], *learned):
        for kind, example in one["warned"].items():
            assert kind in diagnose(np.array(example["alpha"])).warnings
    words = [sum(band["words"] for band in run["bands"]) for run in learned]
    assert min(words) == max(words) > 0
    assert all(0 <= band["wrong"] <= band["words"] for run in learned for band in run["bands"])


def check_captions(record: dict[str, Any], read: Read) -> None:
    """Of chapter 7's run."""
    run = read("multi30k-en-de-rnnsearch-cpu-seed0")
    check_same(record, run, "model", "corpus", "pair", "git_commit", "corpus_sha256", "versions")
    maps.check_offsets(record["against_model1"])


def check_stepper(record: dict[str, Any], read: Read) -> None:
    """Each model of the figure is the one that its record names."""
    check_runs(iter(compared().values()), read)
    check_scored(read("multi30k-en-fr-rnnsearch-cpu-seed0"))
    for name, origin in record["runs"].items():
        if name == f"toy {GIVEN}":
            assert origin["model_sha256"] == sha256_of(ASSIGNMENT / "model" / BEST)
            continue
        result = read(origin["recorded"].removesuffix(".json"))
        same = ("model_sha256", "git_commit", "corpus_sha256", "changes", "parameters")
        check_same(result, origin, *same)
    assert sum(origin["corpus"] == "multi30k" for origin in record["runs"].values()) == 3


PARTS = {
    "alignment": Part(alignment, "a minute, and two hours to train both directions"),
    "aligners": Part(aligners, "a minute, once alignment is recorded", "`pip install eflomal`"),
    "maps": Part(small_maps, "half an hour"),
    "captions": Part(captions, "minutes, once chapter 7's pair is trained"),
    "stepper": Part(stepper, "a minute, and an hour to train what is not there"),
}
