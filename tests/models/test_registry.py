"""Every name in the registry learns sentences of the embedded corpus, translates and aligns them.

Forty updates on 48 sentences are enough to see that everything is connected: no model gets there by
knowing which words are frequent. How well each learns is measured in the book, not here.
"""

import math
from collections import Counter
from functools import cache
from itertools import cycle
from typing import Any

import pytest
import torch

from course_lib.corpora.batches import EncodedPair, bucketed_batches, make_batch
from course_lib.corpora.corpus import Link
from course_lib.corpora.toy import toy_corpus
from course_lib.corpora.vocabulary import EOS, Vocabulary
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.models import MODELS, EncoderDecoder, ModelConfig, build_model
from course_lib.models.config import ATTENDING, CHOICES
from course_lib.search import translate
from tests.models.tiny import encoder_for

SIZES = {"embedding": 32, "hidden": 32, "alignment": 32, "readout": 32, "window": 4}
SENTENCES, BATCH, EPOCHS = 48, 24, 20


def registry() -> dict[str, dict[str, Any]]:
    """Settings that hold every name at least once, and each score in every scope."""
    decoders = cycle(("paper", "luong", "conditional"))
    settings: list[dict[str, Any]] = [
        {"context": context, "decoder": decoder, "encoder": encoder_for(context)}
        for context, decoder in zip(ATTENDING, decoders, strict=False)
    ]
    named = {one["decoder"] for one in (*settings, *MODELS.values()) if "decoder" in one}
    settings += [{"decoder": decoder} for decoder in CHOICES["decoder"] if decoder not in named]
    settings += [
        {"unit": unit, "encoder": encoder, "layers": 2, "reverse_source": True}
        for unit, encoder in zip(CHOICES["unit"], CHOICES["encoder"], strict=True)
    ]
    settings += [{"initialisation": "paper"}, *MODELS.values()]
    settings += [{"tying": "output"}, {"tying": "all"}]
    return {
        "-".join(value if isinstance(value, str) else name for name, value in one.items()): one
        for one in settings
    }


def test_the_registry_here_holds_every_name() -> None:
    used: dict[str, set[str]] = {name: set() for name in CHOICES}
    for one in registry().values():
        config = ModelConfig(9, 9, **one).to_dict()
        for name in CHOICES:
            used[name].add(config[name])
    assert used == {name: set(choices) for name, choices in CHOICES.items()}


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


def loss_a_word(model: EncoderDecoder, pairs: list[EncodedPair]) -> float:
    with torch.no_grad():
        loss, words = model.loss(make_batch(pairs, range(len(pairs))))
    return loss.item() / int(words)


def train(model: EncoderDecoder, pairs: list[EncodedPair]) -> None:
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


@pytest.mark.parametrize("name", registry())
def test_it_learns_translates_and_aligns(name: str) -> None:
    pairs, gold, source_words, target_words, unigram = corpus()
    settings = {**SIZES, **registry()[name]}
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

    weights = model.alpha(make_batch(pairs, range(len(pairs))))
    if weights is not None:
        links = [
            argmax_links(rows[: len(target) + 1, : len(source) + 1])
            for rows, (source, target) in zip(weights.numpy(), pairs, strict=True)
        ]
        # How well is measured in the book; after so few updates a look next door is common.
        assert alignment_error_rate(links, gold).aer < 0.97
