"""Whether a model was trained, from the seed that its student has, and by nobody else.

Training moves weights away from where the seed drew them, and the draw stays in them: of the four
published models, whose recipes train longest, the median matrix holds between 0.95 and 1.04 times
its draw, and 0.00 times that of another seed. So a copy is seen by the draw that it lacks, and one
with a draw mixed in by two more things that a training of its own would change: how far each number
has moved, and how hard the model finds each sentence.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean, median
from typing import Any

import torch

from course_lib.corpora.batches import EncodedPair, batches_in_order, make_batch
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import EOS, Vocabulary
from course_lib.grading.runs.submitted_run import Fault, Submitted
from course_lib.models import EncoderDecoder, build_model
from course_lib.training import encode_pairs

LEAST_KEPT = 0.5
"""Of its own draw, in the median matrix."""
NUMBERS = 2000
"""Of a model, drawn at fixed places, whose moves are compared."""
ALIKE_MOVES = 0.5
"""Cosine between the moves of two models. Four seeds of one small recipe have 0.05 to 0.11."""
SENTENCES = 200
"""Of the validation set, whose losses are compared."""
ALIKE_LOSSES = 0.03
"""Mean difference of two models' losses a sentence, beside their mean. Four seeds of one small
recipe lie 0.09 to 0.12 apart."""

Evidence = dict[str, Any]
"""Of one model, plain numbers: `shape`, `moves`, `losses`."""


def check_start(run: Submitted, trained: EncoderDecoder) -> None:
    """Whether the weights began where the run's seed begins.

    Raises:
        Fault: too little of that draw is left in them.
    """
    kept = kept_of_draw(trained, build_model(trained.config, run.record.config.seed))
    if kept < LEAST_KEPT:
        raise Fault(
            f"{run.record.name}: the weights did not begin as the seed in config.yaml draws them:"
            f" they hold {kept:.2f} of that draw, where a training leaves about 1."
        )


@torch.no_grad()
def kept_of_draw(trained: EncoderDecoder, fresh: EncoderDecoder) -> float:
    """How much of a draw W_0 is in the trained weights W: <W, W_0> / <W_0, W_0>, the median matrix.

    A draw that has nothing to do with the weights gives about 0, untrained weights give 1.
    """
    drawn = dict(fresh.named_parameters())
    shares = [
        float((value * drawn[name]).sum() / drawn[name].square().sum())
        for name, value in trained.named_parameters()
        if value.dim() > 1 and bool(drawn[name].any())
    ]
    return median(shares)


def check_learned(
    run: Submitted, model: EncoderDecoder, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> None:
    """Whether the model knows more than how often each target word occurs.

    Raises:
        Fault: it does not.
    """
    counts: Counter[int] = Counter()
    for line in corpus.splits["train"].target:
        counts.update([*words[1].encode(line), EOS])
    total = counts.total() + len(words[1])
    pairs = encode_pairs(corpus.splits["val"], words)
    targets = [word for _, target in pairs for word in (*target, EOS)]
    by_frequency = -mean(math.log((counts[word] + 1) / total) for word in targets)
    lengths = [len(target) + 1 for _, target in pairs]
    losses = [-score * n for score, n in zip(rate(model, pairs), lengths, strict=True)]
    loss = sum(losses) / sum(lengths)
    if not loss < by_frequency:
        raise Fault(
            f"{run.record.name} has not been trained: its validation loss is {loss:.2f} nats a"
            f" word, and counting words alone gives {by_frequency:.2f}."
        )


@torch.no_grad()
def evidence_of(
    run: Submitted, model: EncoderDecoder, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> Evidence:
    """What is compared with the models of others."""
    drawn = dict(build_model(model.config, run.record.config.seed).named_parameters())
    moves = torch.cat(
        [(value - drawn[name]).flatten() for name, value in model.named_parameters()]
    ).double()
    places = torch.Generator().manual_seed(0)
    chosen = torch.randint(len(moves), (NUMBERS,), generator=places)
    pairs = encode_pairs(corpus.splits["val"], words)[:SENTENCES]
    return {
        "shape": [model.config.context, len(moves), corpus.name],
        "moves": [float(f"{move:.4g}") for move in moves[chosen].tolist()],
        "losses": [round(-score, 4) for score in rate(model, pairs)],
    }


@torch.no_grad()
def rate(model: EncoderDecoder, pairs: list[EncodedPair]) -> list[float]:
    """log p(target | source) a word of each pair, the end mark included, in nats."""
    rated = [0.0] * len(pairs)
    for index in batches_in_order([len(target) for _, target in pairs], 64):
        sums = model.sentence_log_probs(make_batch(pairs, index)).tolist()
        for i, total in zip(index, sums, strict=True):
            rated[i] = total / (len(pairs[i][1]) + 1)
    return rated


def alike(class_evidence: Mapping[str, Mapping[str, Evidence]]) -> dict[str, list[str]]:
    """Who handed in a model like somebody else's: a remark for each, with the figure that shows it.

    The same model under two names is a matter for a person: no points depend on it.

    Args:
        class_evidence: by student, then by model.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for (one, mine), (other, theirs) in combinations(class_evidence.items(), 2):
        for model in sorted(mine.keys() & theirs.keys()):
            if (figure := _likeness(mine[model], theirs[model])) is not None:
                found.setdefault((one, model), {})[other] = figure
                found.setdefault((other, model), {})[one] = figure
    remarks: dict[str, list[str]] = {}
    for (student, model), others in sorted(found.items()):
        figure = next(iter(others.values()))
        said = f"{model} is like that of {', '.join(others)}: {figure}. Ask who trained it."
        remarks.setdefault(student, []).append(said)
    return remarks


def _likeness(one: Evidence, other: Evidence) -> str | None:
    """What two models have in common that two trainings do not; None if nothing."""
    if one["shape"] != other["shape"]:
        return None
    cosine = _cosine(one["moves"], other["moves"])
    if cosine > ALIKE_MOVES:
        return f"the weights moved from their draws alike (cosine {cosine:.2f}; chance gives 0)"
    gaps = [abs(a - b) for a, b in zip(one["losses"], other["losses"], strict=True)]
    apart = mean(gaps) / max(mean(one["losses"]), 1e-9)
    if apart < ALIKE_LOSSES:
        return f"the losses of single sentences are {100 * apart:.1f} % apart on average"
    return None


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / max(math.hypot(*one) * math.hypot(*other), 1e-12)
