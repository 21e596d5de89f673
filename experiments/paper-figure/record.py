"""Record BLEU against source length, to 60 words, on Python's documentation, English to Spanish.

RNNencdec and RNNsearch as `course_lib/models/rnnsearch.py` has them, and a Transformer of about as
many numbers from torch's own layers (`experiments/transformer.py`): the preset `laptop`'s recipe,
shortened, for all, the same 3,000 pieces, as many updates. All are small, 128 numbers wherever a
size is free, so that two cores train them all in an evening. Every run goes on where it was
stopped, and a finished one is not trained again; runs lie in the user's cache or below `--runs
FOLDER`. A part records only what is finished, so an hour at a time is

    timeout --signal INT 55m python -m experiments paper-figure seeds-rnnsearch

In this order, the most useful first; two parts of different models may run side by side. The hours
are of one core that multiplies bfloat16, as measured.

    tuning-rnnencdec 0.6, tuning-rnnsearch 0.9, tuning-transformer 1.1
        four learning rates and two dropouts each, a third of the updates, by loss on val; where
        the best rate is the lowest or highest tried, the next is tried, too
    seeds-rnnencdec 0.7, seeds-rnnsearch 0.9, seeds-transformer 1.2
        three seeds at the tuned settings: BLEU by ten words with intervals, and examples
    up-to-30-rnnencdec 0.6, up-to-30-rnnsearch 0.6, up-to-30-transformer 0.8
        three seeds trained on pairs of up to 30 words alone, with about as many updates, as the
        paper's models -30 beside its -50
    halves-rnnencdec 0.1, halves-rnnsearch 0.2, halves-transformer 0.3
        the three seeds on each half of a source, the translations joined: Pouget-Abadie et al.
        (2014) cut sentences to spare RNNencdec the length

Together 8 hours of a core. A record is refused where its runs are not all of one commit, or are of
changed code.
"""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import yaml
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.python_docs import prepare
from course_lib.corpora.restructured_text import restored
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import bleu_tok
from course_lib.files import write_atomically
from course_lib.models import build_model, count_parameters
from course_lib.records import read_record
from course_lib.search import translate
from course_lib.training import RunConfig, load_run, read_metrics, train
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.run_directory import CONFIG
from experiments.recording import RUNS, Part, Read, Records
from experiments.transformer import TransformerRun, build_transformer, load_transformer

CORPUS, PAIR, PRESET = "python-docs", "en-es", "laptop"
RECIPE = {"subwords": 3000, "warmup": 100, "averaging": 0.99}
SIZES = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 128)
PLAIN = {"unit": "paper", "decoder": "paper", "tying": "none", **SIZES}
"""What makes the preset's model the one of `course_lib/models/rnnsearch.py`, and its sizes."""
MODELS = ("rnnencdec", "rnnsearch", "transformer")
SEEDS = (0, 1, 2)
EPOCHS, TUNING_EPOCHS = 3, 1
RATES = {
    "rnnencdec": (2e-3, 4e-3, 8e-3, 16e-3),
    "rnnsearch": (2e-3, 4e-3, 8e-3, 16e-3),
    "transformer": (5e-4, 1e-3, 2e-3, 4e-3),
}
DROPOUTS = (0.1, 0.2)
UP_TO_30 = {"max_length": 30, "epochs": 5}
"""Pairs of up to 30 words a side: so many epochs have an eighth more updates than three of all."""
BEAM = 12
EDGES = (11, 21, 31, 41, 51)
"""The source words at which ranges begin, after the first."""
SAMPLES = 1_000
"""Resampled test sets of the bootstrap (Koehn, 2004)."""
EXAMPLES = (10, 20, 30, 40, 50, 60)
"""Source words of the sentences that are shown: the first of so many in the test set."""
LEAST = 150
"""Test pairs in each range."""


def runs() -> Path:
    """Where the trainings are kept: below --runs, else in the user's cache, for every clone."""
    default = Path(platformdirs.user_cache_dir("looking-back")) / "runs"
    return (RUNS if Path("runs") != RUNS else default) / "paper-figure"


@cache
def corpus() -> Corpus:
    """The text, read once."""
    return load_corpus(CORPUS, PAIR)


def config_of(model: str, seed: int, **changes: Any) -> RunConfig:
    """A run of one of the models."""
    if model == "transformer":
        return TransformerRun(model, CORPUS, PAIR, PRESET, seed, {**RECIPE, **changes})
    return RunConfig(model, CORPUS, PAIR, PRESET, seed, {**RECIPE, **PLAIN, **changes})


def trained(name: str, config: RunConfig) -> Path:
    """The run of this name, trained to its end if it is not.

    Raises:
        CourseError: the code that decides numbers is changed, and no record could be of it.
    """
    commit = git_commit()
    if commit is None or commit.endswith("-dirty"):
        raise CourseError("course_lib differs from its commit. Commit first, or undo the changes.")
    path = runs() / name
    print(f"{path}", flush=True)
    build = build_transformer if config.model == "transformer" else build_model
    train(config, corpus(), path, resume=True, build=build)
    return path


def translations(
    path: Path, model: str, name: str, sources: Sequence[list[str]]
) -> list[list[str]]:
    """A run's translations of these sentences, kept in its folder under this name."""
    file = path / f"hypotheses.{name}.txt"
    if not file.exists():
        if model == "transformer":
            network, words = load_transformer(path)
        else:
            run = load_run(path)
            network, words = run.model, run.words
        encoded = [words[0].encode(source) for source in sources]
        found = translate(network, encoded, BEAM, penalty(path), batch_size=32)
        lines = (" ".join(words[1].decode(one.tokens)) + "\n" for one in found)
        write_atomically(file, "".join(lines))
    return [line.split() for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def config_file(path: Path) -> dict[str, Any]:
    """What a run's config.yaml holds."""
    record: dict[str, Any] = yaml.safe_load((path / CONFIG).read_text(encoding="utf-8"))
    return record


def penalty(path: Path) -> float:
    """The length penalty of a run's search."""
    return float(config_file(path)["recipe"]["length_penalty"])


def origin(paths: Sequence[Path]) -> dict[str, Any]:
    """What runs have in common, for their record.

    Raises:
        CourseError: they are not of one clean commit, or not of the text as it is.
    """
    records = [config_file(path) for path in paths]
    commits = {str(record["git_commit"]) for record in records}
    if len(commits) > 1 or any(commit.endswith("-dirty") for commit in commits):
        raise CourseError(
            f"The runs in {paths[0].parent} are of {len(commits)} commits or of changed code "
            f"({', '.join(sorted(commits))}). Move them away and train them anew."
        )
    if any(record["corpus_sha256"] != corpus().sha256 for record in records):
        raise CourseError(f"The runs in {paths[0].parent} are of another text. Move them away.")
    first = records[0]
    return {
        "git_commit": commits.pop(),
        "corpus_sha256": first["corpus_sha256"],
        "preset": PRESET,
        "changes": first["changes"],
        "model_config": first["model_config"],
        "recipe": first["recipe"],
        "device": device_name(),
        "threads": first["threads"],
    }


def parameters_of(config: dict[str, Any], model: str) -> int:
    """The numbers of a model with this run's configuration."""
    words = config["model_config"].get(
        "vocabulary", config["model_config"].get("source_vocabulary")
    )
    changes = {k: v for k, v in config["changes"].items() if k not in PLAIN}
    sizes = config_of(model, 0, **changes).model_config(words, words)
    return count_parameters(
        (build_transformer if model == "transformer" else build_model)(sizes, 0)
    )


def validations(path: Path) -> dict[str, Any]:
    """The best validation of a run by its loss, all of them, and the time of the training."""
    metrics = read_metrics(path)
    best = min(metrics, key=lambda one: one["val_loss"])
    return {
        **{name: best[name] for name in ("epoch", "val_loss", "val_bleu")},
        "train_seconds": metrics[-1]["seconds"],
        "updates": metrics[-1]["step"],
    }


def counts(hypotheses: list[list[str]], references: list[list[str]]) -> NDArray[np.int64]:
    """What each sentence adds to a corpus's BLEU: (N, 10).

    The n-grams found and those there, of one to four words, then the words of the translation and
    of the reference.
    """
    metric = BLEU(tokenize="none", force=True)
    rows = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score: Any = metric.corpus_score([" ".join(hypothesis)], [[" ".join(reference)]])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows)


def bleu(sums: NDArray[Any]) -> NDArray[np.float64]:
    """BLEU, 0 to 100, of (..., 10) sums of such rows."""
    sums = sums.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(sums[..., :4] / sums[..., 4:8]).mean(axis=-1)
        brevity = np.minimum(0, 1 - sums[..., 9] / sums[..., 8])
    return 100 * np.exp(np.nan_to_num(precision + brevity, nan=-np.inf))


def by_length(rows: Sequence[NDArray[np.int64]], lengths: Sequence[int]) -> list[dict[str, Any]]:
    """BLEU in ranges of source words, and of all: each seed's, their mean, and its 95% interval.

    The interval is a bootstrap's over the sentences of the range: each time the same for all seeds.
    """
    words = np.array(lengths)
    starts, ends = (
        (1, *EDGES, 1),
        (*(edge - 1 for edge in EDGES), int(words.max()), int(words.max())),
    )
    found = []
    for lower, upper in zip(starts, ends, strict=True):
        chosen = (words >= lower) & (words <= upper)
        size = int(chosen.sum())
        if not size:
            continue
        draw = np.random.default_rng(0).multinomial(size, np.full(size, 1 / size), SAMPLES)
        drawn = np.mean([bleu(draw @ seed[chosen]) for seed in rows], axis=0)
        seeds = [float(bleu(seed[chosen].sum(axis=0))) for seed in rows]
        found.append(
            {
                "lower": lower,
                "upper": upper,
                "sentences": size,
                "bleu_tok": seeds,
                "mean": float(np.mean(seeds)),
                "interval": [float(x) for x in np.percentile(drawn, [2.5, 97.5])],
            }
        )
    return found


def scored(
    model: str, paths: Sequence[Path], name: str = "test", halves: bool = False
) -> dict[str, Any]:
    """What runs are worth on the test set, translated whole or in halves."""
    test = corpus().splits["test"]
    if halves:
        parts = [halved(source) for source in test.source]
        sources = [half for pair in parts for half in pair]
    else:
        sources = test.source
    rows = []
    for path in paths:
        written = translations(path, model, name, sources)
        if halves:
            pairs = zip(written[::2], written[1::2], strict=True)
            written = [first + second for first, second in pairs]
        rows.append(counts(written, test.target))
    return {
        "model": model,
        "corpus": CORPUS,
        "pair": PAIR,
        "split": "test",
        **origin(paths),
        "parameters": parameters_of(config_file(paths[0]), model),
        "scored_by": git_commit(),
        "beam": BEAM,
        "length_penalty": penalty(paths[0]),
        "signature": bleu_tok([["a"]], [["a"]]).signature,
        "runs": [validations(path) for path in paths],
        "by_length": by_length(rows, list(map(len, test.source))),
    }


def halved(source: list[str]) -> tuple[list[str], list[str]]:
    """A sentence cut in two: behind the punctuation nearest to its middle, within its middle half.

    Where there is none it is cut in the middle.
    """
    size = len(source)
    marks = [i + 1 for i, word in enumerate(source) if word in {",", ";", ":", ".", "?", "!", ")"}]
    inside = [i for i in marks if size / 4 <= i <= 3 * size / 4]
    at = min(inside, key=lambda i: abs(i - size / 2)) if inside else (size + 1) // 2
    return source[:at], source[at:]


def examples(model: str, path: Path) -> list[dict[str, Any]]:
    """What a run makes of the first test sentence of each number of words, as people read it."""
    test, pairs = corpus().splits["test"], prepare().splits["test"]
    written = translations(path, model, "test", test.source)
    found = []
    for length in EXAMPLES:
        place = next(i for i, source in enumerate(test.source) if len(source) == length)
        one = pairs[place]
        text = corpus().detokenize(written[place])
        found.append(
            {
                "words": length,
                "position": place,
                "catalogue": one.catalogue,
                "source": restored(one.english.text, one.english.code),
                "reference": restored(one.spanish.text, one.spanish.code),
                "translation": restored(text, one.english.code),
                "tokens": written[place],
            }
        )
    return found


def tuning(model: str) -> Records:
    """A third of the updates with each learning rate and dropout; the best loss on val wins."""
    rates = list(RATES[model])
    found: dict[tuple[float, float], dict[str, Any]] = {}
    paths: list[Path] = []
    while True:
        for rate in rates:
            for dropout in DROPOUTS:
                if (rate, dropout) in found:
                    continue
                changes = {"epochs": TUNING_EPOCHS, "learning_rate": rate, "dropout": dropout}
                name = f"tuning/{model}-rate-{rate:g}-dropout-{dropout:g}"
                paths.append(trained(name, config_of(model, 0, **changes)))
                found[rate, dropout] = validations(paths[-1])
        best = min(found, key=lambda setting: found[setting]["val_loss"])
        if best[0] == min(rates):
            rates.insert(0, best[0] / 2)
        elif best[0] == max(rates):
            rates.append(best[0] * 2)
        else:
            break
    rows = [
        {"learning_rate": rate, "dropout": dropout, **found[rate, dropout]}
        for rate, dropout in sorted(found)
    ]
    chosen = {"learning_rate": best[0], "dropout": best[1]}
    yield (
        f"paper-figure-tuning-{model}",
        {
            "model": model,
            "corpus": CORPUS,
            **{name: value for name, value in origin(paths).items() if name != "changes"},
            "rows": rows,
            "chosen": chosen,
        },
    )


def seeds(model: str) -> Records:
    """Three runs at the tuned settings."""
    paths = _seeds(model)
    record = scored(model, paths)
    yield f"paper-figure-{model}", {**record, "examples": examples(model, paths[0])}


def halves(model: str) -> Records:
    """Those runs, given each half of a source by itself, beside what they make of the whole."""
    paths = _seeds(model)
    whole = scored(model, paths)["by_length"]
    record = scored(model, paths, "halves", halves=True)
    yield f"paper-figure-{model}-halves", {**record, "whole": whole}


def up_to_30(model: str) -> Records:
    """Three runs at the tuned settings that saw no pair of over 30 words."""
    paths = _seeds(model, "up-to-30", **UP_TO_30)
    yield f"paper-figure-{model}-up-to-30", scored(model, paths)


def _seeds(model: str, step: str = "seeds", **changes: Any) -> list[Path]:
    """Three runs at the tuned settings, some of them changed."""
    chosen = read_record(f"paper-figure-tuning-{model}")["chosen"]
    settings = {"epochs": EPOCHS, **chosen, **changes}
    return [
        trained(f"{step}/{model}-seed{seed}", config_of(model, seed, **settings)) for seed in SEEDS
    ]


def check(read: Read) -> None:
    """Each record that there is: whole, of one clean commit, at the settings that were tuned."""
    found: dict[str, Any] = {}
    stems = ("", "-halves", "-up-to-30")
    names = [
        *(f"tuning-{model}" for model in MODELS),
        *(model + stem for stem in stems for model in MODELS),
    ]
    for name in names:
        try:
            found[name] = read(f"paper-figure-{name}")
        except CourseError:  # not recorded yet
            continue
    for model in MODELS:
        if tuned := found.get(f"tuning-{model}"):
            check_tuning(model, tuned)
        for stem in stems:
            if record := found.get(model + stem):
                check_scores(record, len(SEEDS))
                if stem == "-halves":
                    check_scores({**record, "by_length": record["whole"]}, len(SEEDS))
                expected = {"epochs": EPOCHS, **tuned["chosen"]} if tuned else {}
                expected |= UP_TO_30 if stem == "-up-to-30" else {}
                assert expected.items() <= record["changes"].items()
    of_models = [found[name] for name in names[-len(stems) * len(MODELS) :] if name in found]
    for record in of_models:
        assert record["git_commit"] == of_models[0]["git_commit"]
        assert record["corpus_sha256"] == of_models[0]["corpus_sha256"]
        assert abs(record["parameters"] / of_models[0]["parameters"] - 1) < 0.25


def check_tuning(model: str, record: dict[str, Any]) -> None:
    """A whole grid, whose best row is chosen and has a worse rate on either side."""
    rows = {(row["learning_rate"], row["dropout"]): row["val_loss"] for row in record["rows"]}
    rates = {rate for rate, _ in rows}
    assert rates >= set(RATES[model])
    assert set(rows) == {(rate, dropout) for rate in rates for dropout in DROPOUTS}
    chosen = record["chosen"]["learning_rate"], record["chosen"]["dropout"]
    assert rows[chosen] == min(rows.values())
    assert min(rates) < chosen[0] < max(rates)
    assert not record["git_commit"].endswith("-dirty")


def check_scores(record: dict[str, Any], count: int) -> None:
    """All runs, every test sentence in its range, and enough in each."""
    assert len(record["runs"]) == count
    assert not record["git_commit"].endswith("-dirty")
    *ranges, whole = record["by_length"]
    assert [row["lower"] for row in ranges] == [1, *EDGES]
    assert sum(row["sentences"] for row in ranges) == whole["sentences"]
    for row in record["by_length"]:
        assert row["sentences"] >= LEAST
        assert len(row["bleu_tok"]) == count
        assert row["interval"][0] <= row["mean"] <= row["interval"][1]


STEPS = {"tuning": tuning, "seeds": seeds, "up-to-30": up_to_30, "halves": halves}
HOURS = {
    "tuning": (0.6, 0.9, 1.1),
    "seeds": (0.7, 0.9, 1.2),
    "up-to-30": (0.6, 0.6, 0.8),
    "halves": (0.1, 0.2, 0.3),
}
"""Of one core, in the order of MODELS."""
PARTS = {
    f"{step}-{model}": Part(
        partial(STEPS[step], model), f"{hours} hours of a core, or what is left"
    )
    for step, of_models in HOURS.items()
    for model, hours in zip(MODELS, of_models, strict=False)
}
