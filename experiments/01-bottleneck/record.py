"""Record what chapter 1 has no time for, on strings whose verbs move to the end of their clause.

short: both models as chapter 1 trains them: each run's result.json and, under `accuracy`, its
    tokens right by source length, under `positions` by place in the translations of twelve words,
    and under `past` by source length past all that training showed, with the shares of
    translations that are too `short` and too `long`.
frames: what the moving figure steps through, two of the sentences that the page prints, as its
    RNNencdec reads and writes them: see `frames_of`.
variants: RNNencdec with an encoder that reads both ways, and with four times the updates on the
    same sentences: each run's result.json and, under `accuracy`, its tokens right by source length.
explorer: what the moving figure explores, tokens right by length of both models in four sizes; and
    the models of the first seed, whose weights were rounded to half precision before anything was
    measured.
"""

import json
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import BOS, EOS, MARKS, Vocabulary
from course_lib.evaluation.accuracy import accuracy_by_length
from course_lib.files import sha256_of
from course_lib.models import RNNsearch
from course_lib.search import translate
from course_lib.training import Run, RunConfig, load_run, read_result
from course_lib.training.run_directory import BEST, CONFIG, VOCABULARY
from experiments.recording import (
    RUNS,
    SMALL,
    Part,
    Read,
    Records,
    Runs,
    Trained,
    check_runs,
    check_same,
    corpus_of,
    name_of,
    rounded_run,
    small_runs,
    trained,
    written,
)

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
CHANGES: dict[str, dict[str, Any]] = {
    "both-ways": {"encoder": "bidirectional"},
    "four-times": {"epochs": 8},
}
"""By tag, what a run changes."""
MODELS = ("RNNencdec", "RNNsearch")
SIZES = (16, 32, 64, 128)
DRAWN = (1, 16)
"""Places in the test split of the sentences that the figure steps through."""
SEEDS = (0,)
"""Append one to learn how far two trainings differ; the figure draws their spread."""
EXPLORED = {**PAGE, "corpus.train": 40_000, "epochs": 4}
"""Of the page's recipe twice the sentences and twice the passes over them."""
PAST = {"min_length": 21, "max_length": 30, "train": 1, "val": 1, "test": 1_000}
"""Sentences longer than any in training."""
TWICE = {**PAST, "max_length": 40}
"""Up to twice as long as any in training."""
KEPT = ("model", "corpus", "pair", "preset", "seed", "changes", "parameters", "git_commit")
Pairs = list[tuple[list[str], list[str]]]
Key = tuple[str, int, int]
"""Model, size, seed."""


def short() -> Runs:
    """Chapter 1's own runs."""
    for model in MODELS:
        yield "short", RunConfig(model.lower(), "verbs", "tokens", changes=PAGE)


def where(done: Trained) -> dict[str, Any]:
    """Where a model is right: by length, by position, and past the lengths of training."""
    test = done.corpus.splits["test"]
    twelve = [
        [word == wanted for word, wanted in zip_longest(words[:12], target)]
        for words, target in zip(done.hypotheses, test.target, strict=True)
        if len(target) == 12
    ]
    longer = load_corpus("verbs", "tokens", **TWICE).splits["test"]
    found = written(done.run.model, done.run.words, longer.source)
    past = accuracy_by_length(found, longer.target, list(map(len, longer.source)))
    for row in past:
        lengths = [
            len(words)
            for words, target in zip(found, longer.target, strict=True)
            if len(target) == row["lower"]
        ]
        row["short"] = 100 * sum(length < row["lower"] for length in lengths) / len(lengths)
        row["long"] = 100 * sum(length > row["lower"] for length in lengths) / len(lengths)
    positions = (100 * np.mean(twelve, axis=0)).tolist()
    return {"accuracy": done.accuracy(), "positions": positions, "past": past}


def frames() -> Records:
    """The figure's sentences, and where they come from."""
    _, config = next(short())
    done = trained(config)
    test, words = done.corpus.splits["test"], done.run.words
    sentences = [frames_of(done.run.model, words, test.source[i], test.target[i]) for i in DRAWN]
    made = {key: done.result[key] for key in (*KEPT, "corpus_sha256")}
    last = len(DRAWN) - 1
    frame = len(sentences[last]["read"]) + 1 + len(sentences[last]["written"])
    figure = {"sentences": sentences, "chosen": last, "frame": frame}
    # On one line: with a line for every number it would be two thousand lines long.
    yield "read-write", json.dumps({**made, "figure": figure}, ensure_ascii=False) + "\n"


@torch.no_grad()
def frames_of(
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
    source: Sequence[str],
    right: Sequence[str],
) -> dict[str, Any]:
    """A greedy translation: a state for each word read, `read`; s_0 and the state that each step
    leaves, `written`; the words of the `source`, of this translation, `target`, and of the `right`
    one, all with their end marks.
    """

    def rounded(state: Tensor) -> list[float]:
        return [round(number, 2) for number in state.tolist()]

    encoded = words[0].encode(source)
    annotations, _ = model.encoder(*make_source([encoded]))
    (hypothesis,) = translate(model, [encoded], k=1)
    state = model.start(*make_source([encoded]))
    states = [state.s[0]]
    for word in (BOS, *hypothesis.tokens):
        *_, state = model.step(torch.tensor([word]), state)
        states.append(state.s[0])
    end = MARKS[EOS]
    return {
        "source": [*source, end],
        "target": [*(words[1].tokens[word] for word in hypothesis.tokens), end],
        "right": [*right, end],
        "read": [rounded(h) for h in annotations[0]],
        "written": [rounded(s) for s in states],
    }


def runs() -> Runs:
    """RNNencdec, changed."""
    for tag, changes in CHANGES.items():
        yield tag, RunConfig("rnnencdec", "verbs", "tokens", changes={**PAGE, **changes})


def explored(model: str, size: int, seed: int) -> RunConfig:
    """The training of one of the figure's models."""
    changes = {**EXPLORED, "hidden": size}
    return RunConfig(model.lower(), "verbs", "tokens", seed=seed, changes=changes)


def sentences() -> tuple[Pairs, Pairs, dict[str, str]]:
    """What is measured: the test split, the longer sentences, and what both were drawn with."""
    config = explored(MODELS[0], SIZES[0], SEEDS[0])
    corpus, past = corpus_of(config), load_corpus(config.corpus, config.pair, **PAST)
    seen, longer = (
        list(zip(part.source, part.target, strict=True))
        for part in (corpus.splits["test"], past.splits["test"])
    )
    return seen, longer, {"seen": corpus.sha256["generator"], "longer": past.sha256["generator"]}


def origin(run: Run) -> dict[str, Any]:
    """What a run's result says of where it comes from."""
    result = read_result(run.path)
    return {
        **{key: result[key] for key in KEPT},
        "updates": result["metrics"][-1]["step"],
        "corpus_sha256": result["corpus_sha256"],
        "model_sha256": sha256_of(run.path / BEST),
    }


def measured(runs: dict[Key, Run]) -> dict[str, Any]:
    """The figure's numbers, and where they come from."""
    seen, longer, checksums = sentences()
    pairs = seen + longer
    targets, lengths = [target for _, target in pairs], [len(source) for source, _ in pairs]
    sources = [source for source, _ in pairs]
    found = {key: written(run.model, run.words, sources) for key, run in runs.items()}
    rows = {key: accuracy_by_length(words, targets, lengths) for key, words in found.items()}
    some = rows[MODELS[0], SIZES[0], SEEDS[0]]
    origins = {
        f"{name} n{size} seed{seed}": origin(runs[name, size, seed]) for name, size, seed in runs
    }
    (updates,) = {run["updates"] for run in origins.values()}
    examples = []
    for at in (lengths.index(row["lower"]) for row in some):
        source, reference = pairs[at]
        by_size = {name: [found[name, n, SEEDS[0]][at] for n in SIZES] for name in MODELS}
        examples.append({"source": source, "reference": reference, "written": by_size})
    figure = {
        "sizes": list(SIZES),
        "lengths": [row["lower"] for row in some],
        "sentences": [row["sentences"] for row in some],
        "trained": [min(lengths), max(len(source) for source, _ in seen)],
        "updates": updates,
        "accuracy": {
            name: [
                [[round(row["tokens"], 1) for row in rows[name, size, seed]] for seed in SEEDS]
                for size in SIZES
            ]
            for name in MODELS
        },
        "examples": examples,
        "length": 16,
        "size": 64,
    }
    return {"sentences_sha256": checksums, "longer": PAST, "runs": origins, "figure": figure}


def explorer() -> Records:
    """The figure's numbers, and the models of the first seed."""
    home = RUNS / "explorer"
    runs = {
        (name, size, seed): load_run(
            rounded_run(explored(name, size, seed), home / f"{name.lower()}-n{size}-seed{seed}"),
            "cpu",
        )
        for seed in SEEDS
        for size in SIZES
        for name in MODELS
    }
    yield "bottleneck-explorer", measured(runs)
    for (name, size, seed), run in runs.items():
        if seed == SEEDS[0]:
            for file in (CONFIG, VOCABULARY, BEST):
                place = f"explorer/{name.lower()}-n{size}/{file}"
                yield place, (run.path / file).read_bytes()


def check(read: Read) -> None:
    """The runs are those that would be trained today; the page's own cells hold its sentences."""
    check_runs(short(), read)
    one, other = (read(name_of(config, tag)) for tag, config in short())
    check_same(one, other, "corpus_sha256", "changes", "git_commit", "versions")
    for result in (one, other):
        assert len(result["positions"]) == 12
        assert [row["lower"] for row in result["past"]] == list(range(21, 41))
    drawn = read("read-write")
    check_same(drawn, one, "corpus_sha256", "changes", "seed", "parameters")
    for sentence in drawn["figure"]["sentences"]:
        assert len(sentence["read"]) == len(sentence["source"])
        assert len(sentence["written"]) == len(sentence["target"]) + 1
        states = np.array([*sentence["read"], *sentence["written"]])
        assert states.shape[1] == PAGE["hidden"]
        assert abs(states).max() <= 1
    check_runs(runs(), read)
    for tag, config in (*short(), *runs()):
        rows = read(name_of(config, tag))["accuracy"]
        assert sum(row["sentences"] for row in rows) == PAGE["corpus.test"]
    record = read("bottleneck-explorer")
    *_, checksums = sentences()
    assert record["sentences_sha256"] == checksums
    assert record["longer"] == PAST
    for name in MODELS:
        for size in SIZES:
            for seed in SEEDS:
                run = record["runs"][f"{name} n{size} seed{seed}"]
                assert run["changes"] == explored(name, size, seed).changes
                assert run["updates"] == record["figure"]["updates"]


PARTS = {
    "short": Part(partial(small_runs, short, where), "about a minute"),
    "frames": Part(frames, "half a minute"),
    "variants": Part(
        partial(small_runs, runs, lambda done: {"accuracy": done.accuracy()}), "about two minutes"
    ),
    "explorer": Part(explorer, "about ten minutes"),
}
