"""Record a translator of two numbers, gradients of three units, and the source read backwards.

gates: RNNencdec with a forward encoder on the toy corpus, once with each of three units: each run's
    result.json and, under `gradients`, what is left of a gradient k steps back at the ends of the
    test sentences, with the weights as drawn (`fresh`) and as `trained`; for the paper's unit
    `update`, its trained update gate along the first of them, and `direct`, what is left on the way
    through 1 - z alone.
reversal: Sutskever's model, which knows the source by s_0 alone, reads strings that are copied
    first word first or last word first (Sutskever et al., 2014, Section 3.3), with three seeds
    each: each run's result.json and, under `nats_by_position`, the mean loss of each target
    position on the test split while the true words before it are given.
tiny: what the moving figure steps through, the page's own model: of each sentence the states and
    the probabilities, and whether the model learned from it (`known`).
"""

from functools import partial
from hashlib import sha256
from math import isclose
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.vocabulary import BOS, EOS, MARKS, Vocabulary
from course_lib.evaluation.forced import logits
from course_lib.evaluation.gradients import gradients_through_time
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.training import RunConfig, encode_pairs
from course_lib.training.provenance import git_commit
from experiments.reading_units import reading_unit, sentence_ends, update_gate
from experiments.recording import (
    TOY,
    Part,
    Read,
    Records,
    Runs,
    Trained,
    check_runs,
    check_same,
    name_of,
    small_runs,
)

SETTINGS: dict[str, Any] = {**TOY, "encoder": "forward", "epochs": 8}
UNITS = ("tanh", "lstm", "paper")
WORDS = 18
"""How many words back, end mark included: one test sentence in five is as long."""
ORDERS = {"forwards": False, "backwards": True}
SEEDS = (0, 1, 2)
FEWEST = 50
"""Positions that fewer test sentences reach are left out."""
PAIRS = {
    "the dog is sleeping": "der Hund schläft",
    "the cat is sleeping": "die Katze schläft",
    "the dog is barking": "der Hund bellt",
}
UNKNOWN = "the cat is barking"
SHOWN = ("der", "die", "Hund", "Katze", "schläft", "bellt", MARKS[EOS])
"""Words whose probabilities the figure draws; the other marks have next to none."""


def gated() -> Runs:
    """A run for each unit."""
    for unit in UNITS:
        yield f"gates-{unit}", RunConfig("rnnencdec", "toy", changes={**SETTINGS, "unit": unit})


def gates(done: Trained) -> dict[str, Any]:
    """Gradients of one unit, and the paper's update gate."""
    run = done.run
    sources = [run.source_vocabulary.encode(words) for words in done.corpus.splits["test"].source]
    gradients = {}
    for name, model in {
        "fresh": build_model(run.model.config, run.config.seed),
        "trained": run.model,
    }.items():
        words, states = sentence_ends(model, sources, WORDS)
        gradients[name] = gradients_through_time(reading_unit(model), words, states)
    found = {"gradients": gradients, "sentences": len(words)}
    if run.model.config.unit == "paper":
        z = update_gate(reading_unit(run.model), words, states)
        kept = (1 - z).flip(1).cumprod(dim=1)
        found["direct"] = kept.square().mean(dim=2).sqrt().median(dim=0).values.tolist()
        found["update"] = [[round(value, 2) for value in word] for word in z[0].tolist()]
    return found


@torch.no_grad()
def nats_by_position(done: Trained) -> dict[str, list[float]]:
    """The mean loss of target position 1, 2, ..., the end mark's included."""
    model, pairs = done.run.model, encode_pairs(done.corpus.splits["test"], done.run.words)
    batch = make_batch(pairs, range(len(pairs)))
    nats = cross_entropy(logits(model, batch).transpose(1, 2), batch.target_out, reduction="none")
    counts = batch.target_mask.sum(dim=0)
    means = (nats * batch.target_mask).sum(dim=0) / counts
    return {"nats_by_position": means[counts >= FEWEST].tolist()}


def turned() -> Runs:
    """Runs in both reading orders; neighbours differ in the order alone."""
    own_unit = {name: value for name, value in SETTINGS.items() if name != "unit"}
    copied = {**own_unit, "corpus.max_length": 12, "learning_rate": 1e-2}
    for seed in SEEDS:
        for order, backwards in ORDERS.items():
            changes = {**copied, "reverse_source": backwards}
            config = RunConfig("sutskever", "copy", "tokens", seed=seed, changes=changes)
            yield f"read-{order}", config


def tiny() -> Records:
    """The page's model, trained as there (a cell there compares them), and all that it does."""
    sources, targets = ([text.split() for text in side] for side in (PAIRS, PAIRS.values()))
    words = Vocabulary.from_sentences(sources, 1), Vocabulary.from_sentences(targets, 1)
    sizes = {"embedding": 2, "hidden": 2, "readout": 4, "decoder": "paper-tanh-readout"}
    kinds = {"unit": "tanh", "encoder": "forward", "context": "fixed"}
    model = build_model(ModelConfig(*map(len, words), **kinds, **sizes), seed=2)
    encoded = [
        (words[0].encode(x), words[1].encode(y)) for x, y in zip(sources, targets, strict=True)
    ]
    batch = make_batch(encoded, range(len(encoded)))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(200):
        total, count = model.loss(batch)
        optimiser.zero_grad()
        (total / count).backward()
        optimiser.step()
    sentences = [walk(model, words, source) for source in (*PAIRS, UNKNOWN)]
    figure = {"tokens": list(SHOWN), "sentences": sentences, "chosen": 0, "frame": 11}
    made = {"git_commit": git_commit(), "sentences_sha256": sentences_sha256()}
    yield "tiny-translator", {**made, "figure": figure}


def sentences_sha256() -> str:
    """Of the pairs that the tiny model learns from."""
    return sha256(repr(PAIRS).encode()).hexdigest()


@torch.no_grad()
def walk(model: RNNsearch, words: tuple[Vocabulary, Vocabulary], source: str) -> dict[str, Any]:
    """A greedy translation: a state for each word read, `read`, and for each step the state it
    reads, `written`, its word, `target`, and the probabilities of the words SHOWN.

    Rounded so finely that what a reader sees is the model's own number rounded once.
    """

    def rounded(numbers: Tensor) -> list[float]:
        return [round(number, 8) for number in numbers.tolist()]

    sentence = make_source([words[0].encode(source.split())])
    annotations, _ = model.encoder(*sentence)
    state, y = model.start(*sentence), torch.tensor([BOS])
    target, written, probabilities = list[str](), [], []
    while MARKS[EOS] not in target:
        written.append(rounded(state.s[0]))
        log_p, _, state = model.step(y, state)
        y = log_p.argmax(dim=-1)
        target.append(words[1].tokens[int(y)])
        places = [words[1].tokens.index(word) for word in SHOWN]
        probabilities.append(rounded(log_p[0, places].exp()))
    return {
        "source": [*source.split(), MARKS[EOS]],
        "known": source in PAIRS,
        "read": [rounded(h) for h in annotations[0]],
        "written": written,
        "target": target,
        "probabilities": probabilities,
    }


def check(read: Read) -> None:
    """The runs are those that would be trained today, and can be compared as the page does."""
    check_runs(gated(), read)
    for unit in UNITS:
        result = read(f"toy-en-de-rnnencdec-cpu-gates-{unit}-seed0")
        assert result["model_config"]["unit"] == unit
        assert result["sentences"] >= 50
        for rows in result["gradients"].values():
            assert [row["distance"] for row in rows] == list(range(len(rows)))
            assert isclose(rows[0]["median"], 1, rel_tol=1e-6)
            assert all(0 < row["low"] <= row["median"] <= row["high"] for row in rows)
    assert len(result["direct"]) == len(result["update"]) == WORDS  # the paper's unit is the last
    check_runs(turned(), read)
    results = [read(name_of(config, tag)) for tag, config in turned()]
    for forwards, backwards in zip(results[::2], results[1::2], strict=True):
        same = ("corpus_sha256", "parameters", "epochs", "git_commit", "versions")
        check_same(forwards, backwards, *same)
        assert forwards["model_config"]["decoder"] == "sutskever"
        assert not forwards["model_config"]["reverse_source"]
        assert backwards["model_config"] == {**forwards["model_config"], "reverse_source": True}
        for result in (forwards, backwards):
            assert len(result["nats_by_position"]) >= 12
            assert all(nats > 0 for nats in result["nats_by_position"])
    drawn = read("tiny-translator")
    assert drawn["sentences_sha256"] == sentences_sha256()
    sentences = drawn["figure"]["sentences"]
    assert [" ".join(one["source"][:-1]) for one in sentences] == [*PAIRS, UNKNOWN]
    assert [" ".join(one["target"][:-1]) for one in sentences[:3]] == [*PAIRS.values()]
    for one in sentences:
        assert len(one["read"]) == len(one["source"]) == 5
        assert len(one["written"]) == len(one["target"]) == len(one["probabilities"]) == 4
        for word, row in zip(one["target"], one["probabilities"], strict=True):
            assert SHOWN[row.index(max(row))] == word
            assert 0.997 < sum(row) <= 1


PARTS = {
    "gates": Part(partial(small_runs, gated, gates), "about eight minutes"),
    "reversal": Part(partial(small_runs, turned, nats_by_position), "about two minutes"),
    "tiny": Part(tiny, "a second"),
}
