"""Beam search: the k most probable beginnings, extended side by side, for a whole batch at once.

The hypotheses lie in a table with a column for each sentence and a row for each rank: every
sentence's best one, then the second best, and so on. The decoder's own step takes such a table, in
which the hypotheses of a sentence share its memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from course_lib.allocator import keep_freed_memory
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.errors import CourseError
from course_lib.models import RNNsearch, State
from course_lib.models.precision import at_least_single
from course_lib.search.hypothesis import Hypothesis, check_numbers, cut, length_limit, look_back_of
from course_lib.search.rules import end_at_limit, no_marks, top_words

CELLS_AT_ONCE = 384
"""Hypotheses that make a step together on a CPU: 12 MB of logits, which its cache holds."""


class Beams(NamedTuple):
    """The live hypotheses of S sentences, at most G each.

    sentence: (S,) the sentences, as places in the batch; those with more hypotheses come first.
    counts: how many hypotheses each has.
    places: (S,) how many places are left in each one's beam.
    y: (G, S) the words written last.
    log_prob: (G, S) log-probabilities of the beginnings in nats; -inf where there is none.
    state: their states, (G, S, n), and what the S sentences give to look back at.

    The first three stay on the CPU: they say how large the next step's tensors are, and asking a
    card for that would make it wait.
    """

    sentence: Tensor
    counts: list[int]
    places: Tensor
    y: Tensor
    log_prob: Tensor
    state: State


class Continuations(NamedTuple):
    """The c most probable words after each hypothesis, best first.

    log_prob: (G, S, c), of the beginning with the word; -inf: not possible.
    word: (G, S, c).
    alpha: (G, S, T_x), where each hypothesis looked; None without attention.
    state: after the step.
    """

    log_prob: Tensor
    word: Tensor
    alpha: Tensor | None
    state: State


class Chosen(NamedTuple):
    """The best continuations of each sentence, (S, p), best first.

    log_prob, word: as in `Continuations`.
    rank: of the hypothesis that is continued.
    column: which of its continuations.
    allowed: False beyond the places in the sentence's beam.
    """

    log_prob: Tensor
    word: Tensor
    rank: Tensor
    column: Tensor
    allowed: Tensor


class BeamStep(NamedTuple):
    """One step of a search, for whoever watches it; its R rows are the live hypotheses.

    number: of the step, the first being 1.
    sentence: (R,) which sentence of the batch each hypothesis belongs to.
    totals, words: (R, c) log-probabilities in nats of each one's most probable continuations, the
        beginning's included, and the words that continue it; -inf: not possible.
    ended: (E, 2) row and column of the continuations that are finished translations.
    kept: (R', 2) row and column of those that are the next step's live hypotheses, in their order.
    """

    number: int
    sentence: Tensor
    totals: Tensor
    words: Tensor
    ended: Tensor
    kept: Tensor


class Past(NamedTuple):
    """What is needed of a step to read a translation from its end; cells are rank * S + column.

    parent: (G' S') the cell of the step before that each hypothesis extends.
    y: (G' S') the word it was extended with.
    alpha: (G S, T_x) weights of the cells *before* this step.
    """

    parent: Tensor
    y: Tensor
    alpha: Tensor | None


class Finished:
    """The best finished translation of each sentence so far: (S,) tensors."""

    def __init__(self, sentences: int, like: Tensor) -> None:
        self.score = like.new_full((sentences,), -torch.inf)
        self.log_prob = self.score.clone()
        # The step that chose the end mark, and the cell that it ends.
        self.step = torch.zeros(sentences, dtype=torch.long, device=like.device)
        self.cell = self.step.clone()

    def update(
        self, sentence: Tensor, chosen: Chosen, ended: Tensor, step: int, penalty: float
    ) -> None:
        """Take in the continuations that have `ended`, (S', p), of some sentences."""
        scores = (chosen.log_prob / step**penalty).masked_fill(~ended, -torch.inf)
        score, place = scores.max(dim=1, keepdim=True)
        column = torch.arange(len(sentence), device=sentence.device)
        cell = chosen.rank.gather(1, place).squeeze(1) * len(sentence) + column
        score, log_prob = score.squeeze(1), chosen.log_prob.gather(1, place).squeeze(1)
        better = score > self.score[sentence]
        for mine, new in (
            (self.log_prob, log_prob),
            (self.cell, cell),
            (self.step, torch.full_like(cell, step)),
            (self.score, score),
        ):
            mine[sentence] = torch.where(better, new, mine[sentence])


@torch.no_grad()
def beam_search(
    model: RNNsearch,
    source: Tensor,
    lengths: Tensor,
    mask: Tensor,
    k: int = 12,
    length_penalty: float = 1.0,
    watch: Callable[[BeamStep], None] | None = None,
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers, keeping k hypotheses a sentence.

    A hypothesis that chooses the end mark is finished and takes its place in the beam along, as in
    the authors' released search; where no place is left, a sentence is done. Finished ones are
    ranked by log_prob / length ** length_penalty, the end mark counted: 0 ranks by probability, 1
    by its mean per word. With k = 1 this is greedy search; with k as large as the number of
    possible translations it is exhaustive.

    `watch` is called with every step (see `record_beam_search`).

    A sentence that is done leaves the batch, and no sentence's result depends on its company.
    """
    if k < 1:
        raise CourseError(f"A beam of {k} holds nothing. Use --beam 1 or more.")
    keep_freed_memory()
    limits = length_limit(lengths)
    state = model.start(source, lengths, mask)
    state = state._replace(s=state.s[None])  # one hypothesis a sentence: (1, S, n)
    sentence = torch.arange(len(source))
    beams = Beams(
        sentence,
        [1] * len(source),
        torch.full_like(sentence, k),
        source.new_full((1, len(source)), BOS),
        at_least_single(state.s.new_zeros(1, len(source))),
        state,
    )
    finished = Finished(len(source), beams.log_prob)
    past: list[Past] = []
    while beams.counts:
        number = len(past) + 1
        continuations = extend(model, beams, limits, number, k)
        chosen = choose(continuations, beams.places)
        ended = chosen.allowed & (chosen.word == EOS)
        finished.update(beams.sentence.to(source.device), chosen, ended, number, length_penalty)
        after, parent = keep(beams, continuations.state, chosen, ended)
        if watch is not None:
            watch(watched(number, beams, continuations, chosen, ended))
        alpha = None if continuations.alpha is None else continuations.alpha.flatten(0, 1)
        past.append(Past(parent.flatten(), after.y.flatten(), alpha))
        beams = after
    tokens, alphas = read_back(finished, past)
    return cut(tokens, finished.step, finished.log_prob, finished.score, alphas, lengths)


def extend(model: RNNsearch, beams: Beams, limits: Tensor, number: int, k: int) -> Continuations:
    """One step of the decoder for all hypotheses, and of each one the best continuations.

    The k best of a sentence are among the k best of each of its hypotheses. On a CPU some sentences
    make their step at a time: as many as `CELLS_AT_ONCE` allows, and of those no more ranks than
    they have.
    """
    sentences, ranks = len(beams.counts), beams.counts[0]
    cells_at_once = CELLS_AT_ONCE if beams.y.device.type == "cpu" else sentences * ranks
    parts = []
    first = 0
    while first < sentences:
        height = beams.counts[first]
        some = slice(first, min(sentences, first + max(1, cells_at_once // height)))
        cells = (slice(height), some)
        state = look_back_of(beams.state, some)._replace(s=beams.state.s[cells])
        log_probs, alpha, after = model.step(beams.y[cells], state)
        no_marks(log_probs)
        end_at_limit(log_probs, limits[beams.sentence[some]] == number)
        best, words = top_words(log_probs, min(k, log_probs.shape[-1]))
        parts.append((best + beams.log_prob[cells][..., None], words, alpha, after.s))
        first = some.stop

    def table(values: list[Tensor], empty: float = 0.0) -> Tensor:
        """The parts side by side, (G, S, ...), empty where a sentence has fewer hypotheses."""
        pads = [(0, 0) * (one.dim() - 1) + (0, ranks - len(one)) for one in values]
        return torch.cat(
            [functional.pad(one, pad, value=empty) for one, pad in zip(values, pads, strict=True)],
            dim=1,
        )

    log_prob, word, weights, states = zip(*parts, strict=True)
    alphas = [alpha for alpha in weights if alpha is not None]
    return Continuations(
        table(list(log_prob), -torch.inf),
        table(list(word)),
        table(alphas) if alphas else None,
        beams.state._replace(s=table(list(states))),
    )


def choose(continuations: Continuations, places: Tensor) -> Chosen:
    """Of each sentence as many continuations as its beam has places, (S,)."""
    columns = continuations.log_prob.shape[-1]
    of_sentence = continuations.log_prob.transpose(0, 1).flatten(1)
    count = min(int(places.max()), of_sentence.shape[1])
    log_prob, place = of_sentence.topk(count, dim=1)
    word = continuations.word.transpose(0, 1).flatten(1).gather(1, place)
    within = (torch.arange(count) < places[:, None]).to(place.device)
    return Chosen(
        log_prob, word, place // columns, place % columns, within & (log_prob > -torch.inf)
    )


def keep(beams: Beams, state: State, chosen: Chosen, ended: Tensor) -> tuple[Beams, Tensor]:
    """The hypotheses that the next step extends, and the cell that each of them comes from."""
    device = ended.device
    # The one place in a step where the CPU waits for a card.
    allowed, done, nan = torch.stack([chosen.allowed, ended, chosen.log_prob.isnan()]).cpu()
    check_numbers(nan)
    column, rank, count = arranged(allowed & ~done)
    exists = (torch.arange(len(rank))[:, None] < count).to(device)
    places = (beams.places - done.sum(dim=1))[column]
    sentence = beams.sentence[column]
    if not torch.equal(column, torch.arange(len(beams.counts))):
        state = look_back_of(state, column.to(device))
    column, rank = column.to(device), rank.to(device)
    cells = (column, rank)
    parent = chosen.rank[cells]
    after = Beams(
        sentence,
        count.tolist(),
        places,
        chosen.word[cells],
        chosen.log_prob[cells].masked_fill(~exists, -torch.inf),
        state._replace(s=state.s[parent, column]),
    )
    return after, parent * len(beams.counts) + column


def arranged(live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """How the (S, p) chosen continuations that are `live` become a table again.

    Returns:
        the (S',) sentences that go on, most hypotheses first; (G', S') which of its continuations
        is the hypothesis of each rank; (S',) how many there are.
    """
    count, column = live.sum(dim=1).sort(descending=True, stable=True)
    column = column[count > 0]
    count = count[: len(column)]
    height = int(count[0]) if len(count) else 0
    # The live ones first, in their order.
    rank = (~live[column]).to(torch.int8).argsort(dim=1, stable=True)[:, :height]
    return column, rank.t(), count


def watched(
    number: int, beams: Beams, continuations: Continuations, chosen: Chosen, ended: Tensor
) -> BeamStep:
    """A step of the search as a table of its live hypotheses, rank by rank."""
    beams = beams._replace(sentence=beams.sentence.to(ended.device))
    live = beams.log_prob > -torch.inf
    row = (live.flatten().cumsum(0) - 1).view_as(live)  # the number of each cell's hypothesis
    lines = torch.arange(len(beams.counts), device=row.device)
    where = torch.stack([row[chosen.rank, lines[:, None]], chosen.column], dim=-1)
    column, rank, count = arranged(chosen.allowed & ~ended)
    exists = torch.arange(len(rank), device=rank.device)[:, None] < count
    return BeamStep(
        number,
        beams.sentence.expand_as(live)[live],
        continuations.log_prob[live],
        continuations.word[live],
        where[ended],
        where[column, rank][exists],
    )


def read_back(finished: Finished, past: list[Past]) -> tuple[Tensor, Tensor | None]:
    """The best translations from their ends: (S, steps) words and (S, steps, T_x) weights."""
    tokens = torch.zeros(len(finished.step), len(past), dtype=torch.long, device=past[0].y.device)
    alphas = None
    if past[0].alpha is not None:
        alphas = past[0].alpha.new_zeros(*tokens.shape, past[0].alpha.shape[1])
    cell = finished.cell.clone()
    length = finished.step.cpu()
    for step in range(len(past) - 1, -1, -1):
        going = (length > step).nonzero().squeeze(1).to(cell.device)
        alpha = past[step].alpha
        if alphas is not None and alpha is not None:
            alphas[going, step] = alpha[cell[going]]
        if step:
            before = past[step - 1]
            tokens[going, step - 1] = before.y[cell[going]]
            cell[going] = before.parent[cell[going]]
    return tokens, alphas
