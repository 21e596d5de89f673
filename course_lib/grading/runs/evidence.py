"""Whether a model was trained, from the seed that its student has, and by nobody else.

Training moves weights away from where the seed drew them, and the draw stays in them: of the
published models, whose recipes train longest, the median matrix holds between 0.98 and 1.03 times
its draw, and 0.00 times that of another seed. So a copy is seen by the draw that it lacks. One with
enough of a draw mixed in is seen beside the model that it was taken from: each of its units still
answers to the words as one unit there does, wherever its place is now.
"""

import base64
import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from statistics import mean, median

import torch
from torch import Tensor
from torch.nn.functional import normalize

from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import EOS, MARKS, Vocabulary
from course_lib.grading.runs.submitted_run import Fault, Submitted
from course_lib.models import RNNsearch, build_model
from course_lib.pretrained import FOLDER, published
from course_lib.training import encode_pairs, load_run, mean_loss
from course_lib.training.run_directory import VOCABULARY

LEAST_KEPT = 0.5
"""Of its own draw, in the median matrix."""
WORDS, SENTENCES, STATES = 100, 30, 300
"""The first words of both vocabularies, and the first sentences of the validation set with so many
states of the encoder in them: what units are asked about."""
LEAST_ANSWERS = 30
"""Of a unit. Fewer are like those of any other."""
ALIKE = 0.3
"""Above this agreement two models are one (experiments/threats has that of honest and of forged
pairs)."""

Evidence = dict[str, tuple[int, int, str]]
"""Of one model: by what is compared, a checksum of what its units were asked, how many questions,
and their answers."""
Units = dict[str, tuple[int, Tensor]]
"""The same, unpacked: a checksum, and (units, questions) answers."""


def check_start(run: Submitted, trained: RNNsearch) -> None:
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
def kept_of_draw(trained: RNNsearch, fresh: RNNsearch) -> float:
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
    run: Submitted, model: RNNsearch, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
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
    loss = mean_loss(model, pairs)
    if not loss < by_frequency:
        raise Fault(
            f"{run.record.name} has not been trained: its validation loss is {loss:.2f} nats a"
            f" word, and counting words alone gives {by_frequency:.2f}."
        )


@torch.no_grad()
def evidence_of(model: RNNsearch, words: tuple[Vocabulary, Vocabulary], corpus: Corpus) -> Evidence:
    """What is compared with the models of others."""
    pairs = encode_pairs(corpus.splits["val"], words)[:SENTENCES]
    batch = make_batch(pairs, list(range(len(pairs))))
    states, _ = model.encoder(batch.source, batch.source_lengths, batch.source_mask)
    return _of_words(model, words) | {"states": packed(pairs, states[batch.source_mask][:STATES])}


def _of_words(model: RNNsearch, words: tuple[Vocabulary, Vocabulary]) -> Evidence:
    first = slice(len(MARKS), len(MARKS) + WORDS)
    return {
        "embeddings": packed(words[0].tokens[first], model.encoder.E.weight[first]),
        "outputs": packed(words[1].tokens[first], model.decoder.W_o.weight[first]),
    }


@torch.no_grad()
def published_like(
    model: RNNsearch, words: tuple[Vocabulary, Vocabulary]
) -> tuple[str, str] | None:
    """The published model that a submitted one is made of, and the figure that shows it.

    Each has words of its own, and a setting that the task does not offer.
    """
    for name in published():
        sides = json.loads((FOLDER / name / VOCABULARY).read_text(encoding="utf-8"))
        if [sides["source"], sides["target"]] == [list(side.tokens) for side in words]:
            there = load_run(FOLDER / name, "cpu").model
            figure = _likeness(*(unpacked(_of_words(one, words)) for one in (model, there)))
            if figure is not None:
                return name, figure
    return None


def packed(asked: object, answers: Tensor) -> tuple[int, int, str]:
    """(questions, units) answers, each unit's centred and of length 1, as text."""
    units = normalize(answers - answers.mean(dim=0), dim=0).T.half().contiguous()
    text = base64.b64encode(units.numpy().tobytes()).decode()
    return zlib.crc32(repr(asked).encode()), len(answers), text


def unpacked(evidence: Evidence) -> Units:
    """Evidence as numbers."""
    return {
        view: (
            asked,
            torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.half)
            .view(-1, questions)
            .float(),
        )
        for view, (asked, questions, text) in evidence.items()
    }


def alike(class_evidence: Mapping[str, Mapping[str, Evidence]]) -> dict[str, list[str]]:
    """Who handed in a model like somebody else's: a remark for each, with the figure that shows it.

    The same model under two names is a matter for a person: no points depend on it.

    Args:
        class_evidence: by student, then by model.
    """
    units = {
        student: {model: unpacked(evidence) for model, evidence in models.items()}
        for student, models in class_evidence.items()
    }
    others_like: dict[tuple[str, str], dict[str, str]] = {}
    for (one, mine), (other, theirs) in combinations(units.items(), 2):
        for model in sorted(mine.keys() & theirs.keys()):
            if (figure := _likeness(mine[model], theirs[model])) is not None:
                others_like.setdefault((one, model), {})[other] = figure
                others_like.setdefault((other, model), {})[one] = figure
    remarks: dict[str, list[str]] = {}
    for (student, model), others in sorted(others_like.items()):
        figure = next(iter(others.values()))
        remark = f"{model} is like that of {', '.join(others)}: {figure}. Ask who trained it."
        remarks.setdefault(student, []).append(remark)
    return remarks


def _likeness(one: Units, other: Units) -> str | None:
    """What two models have most in common, where it is more than `ALIKE`; None if nothing is."""
    found = {
        view: agreement(mine, other[view][1])
        for view, (asked, mine) in one.items()
        if asked == other[view][0] and mine.shape[1] >= LEAST_ANSWERS
    }
    view = max(found, key=found.__getitem__, default="")
    if not view or found[view] <= ALIKE:
        return None
    return (
        f"unit for unit, in whatever order, the {view} agree by {found[view]:.2f} (0 is chance, 1"
        f" the same model; above {ALIKE} it is remarked)"
    )


def agreement(one: Tensor, other: Tensor) -> float:
    """How far units of two models agree, from 0, as by chance, to 1, where they are the same.

    By chance some units fit, too: every model of a text knows its commonest words and where a
    sentence ends. Turned, the other's units know the same together, and none is left as it was.
    """
    turned = normalize(_rotation(len(other)) @ other, dim=1)
    fit, by_chance = _fit(one, other), _fit(one, turned)
    return (fit - by_chance) / max(1 - by_chance, 0.01)


def _fit(one: Tensor, other: Tensor) -> float:
    """Correlation of a model's units with those of another that are most like them, the median."""
    return float((one @ other.T).abs().amax(dim=1).median())


@cache
def _rotation(size: int) -> Tensor:
    draw = torch.randn(size, size, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(draw).Q
