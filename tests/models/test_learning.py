"""The named models, and what has no equations here, learn sentences, translate and align them.

Forty updates on 48 sentences are enough to see that everything is connected: no model gets there by
knowing which words are frequent. How well each learns is measured in the book, not here. The
derivatives of every other choice are held to its equations in `test_against_reference`.
"""

import math
from collections import Counter
from functools import cache
from typing import Any

import pytest
import torch

from course_lib.corpora.batches import EncodedPair, bucketed_batches, make_batch
from course_lib.corpora.corpus import Link
from course_lib.corpora.toy import toy_corpus
from course_lib.corpora.vocabulary import EOS, Vocabulary
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.evaluation.forced import forced_alpha
from course_lib.models import MODELS, ModelConfig, RNNsearch, build_model
from course_lib.search import translate

SIZES = {"embedding": 32, "hidden": 32, "alignment": 32, "readout": 32}
SENTENCES, BATCH, EPOCHS = 48, 24, 20


LEARNING: dict[str, dict[str, Any]] = {
    **MODELS,
    "self-attention": {"encoder": "self-attention"},
    "without positions": {"encoder": "self-attention-without-positions", "layers": 2},
    "drawn as in the paper": {"initialisation": "paper"},
    "one table of the target": {"tying": "output"},
    "one table": {"tying": "all"},
}


@cache
def corpus() -> tuple[list[EncodedPair], list[frozenset[Link]], int, int, float]:
    """Sentence pairs with their gold links, both vocabularies' sizes, and the loss a word of a
    model that knows how frequent every target word is and nothing else."""
    split = toy_corpus(clauses=(1, 1), max_words=7, train=SENTENCES, val=0, test=0).splits["train"]
    source, target = map(Vocabulary.from_sentences, (split.source, split.target))
    pairs = [
        (source.encode(x), target.encode(y))
        for x, y in zip(split.source, split.target, strict=True)
    ]
    counts = Counter(word for _, words in pairs for word in [*words, EOS])
    unigram = -sum(n * math.log(n / counts.total()) for n in counts.values()) / counts.total()
    assert split.links is not None
    return pairs, split.links, len(source), len(target), unigram


def loss_a_word(model: RNNsearch, pairs: list[EncodedPair]) -> float:
    with torch.no_grad():
        loss, words = model.loss(make_batch(pairs, range(len(pairs))))
    return loss.item() / words


def train(model: RNNsearch, pairs: list[EncodedPair]) -> None:
    """Forty updates, each of which reaches every part of the model."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for epoch in range(EPOCHS):
        for index in bucketed_batches(pairs, BATCH, seed=0, epoch=epoch):
            loss, words = model.loss(make_batch(pairs, index))
            optimiser.zero_grad()
            (loss / words).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
    unused = [part for part, parameter in model.named_parameters() if parameter.grad is None]
    assert not unused
    model.eval()


@pytest.mark.parametrize("name", LEARNING)
def test_it_learns_translates_and_aligns(name: str) -> None:
    pairs, gold, source_words, target_words, unigram = corpus()
    settings = {**SIZES, **LEARNING[name]}
    if settings.get("tying") == "all":  # one table needs one size
        source_words = target_words = max(source_words, target_words)
    model = build_model(ModelConfig(source_words, target_words, **settings))
    assert loss_a_word(model, pairs) == pytest.approx(math.log(target_words), rel=0.1)
    train(model, pairs)
    assert loss_a_word(model, pairs) < 0.5 * unigram

    sources = [source for source, _ in pairs]
    greedy = translate(model, sources, k=1)
    right = sum(
        tokens_right(hypothesis.tokens, reference)
        for hypothesis, (_, reference) in zip(greedy, pairs, strict=True)
    )
    assert right > 0.1 * sum(len(reference) for _, reference in pairs)

    weights = forced_alpha(model, make_batch(pairs, range(len(pairs))))
    if weights is not None:
        links = [
            argmax_links(rows[: len(target) + 1, : len(source) + 1])
            for rows, (source, target) in zip(weights.numpy(), pairs, strict=True)
        ]
        # How well is measured in the book; after so few updates a look next door is common.
        assert alignment_error_rate(links, gold).aer < 0.97
