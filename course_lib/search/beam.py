"""Beam search: the k most probable beginnings, extended side by side, for a whole batch at once."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis, cut
from course_lib.search.next_words import ROWS, NextWords


class Rows(NamedTuple):
    """The live hypotheses of S sentences, a row each, as a table of ranks and sentences.

    Rows come rank by rank: every sentence's best hypothesis, then the second best of those that
    have one, and so on. Sentences with more hypotheses stand first, so each rank is a slice of rows
    over the first lines of the memory.

    order: (S,) the sentences, as places in the batch.
    slots: how many sentences have a hypothesis of each rank.
    cell: (R,) rank * S + line of each row.
    """

    order: Tensor
    slots: list[int]
    cell: Tensor

    @property
    def line(self) -> Tensor:
        """(R,) which line of `order` and of the memory each row belongs to."""
        return self.cell % len(self.order)

    def table(self, values: Tensor, ranks: int) -> Tensor:
        """(rows of the first ranks, c) values as (S, ranks * c), -inf where there is no row."""
        lines, columns = len(self.order), values.shape[1]
        if len(values) < ranks * lines:
            spread = values.new_full((ranks * lines, columns), -torch.inf)
            spread[self.cell[: len(values)]] = values
            values = spread
        return values.view(ranks, lines, columns).transpose(0, 1).reshape(lines, -1)


class BeamStep(NamedTuple):
    """One step of a search, for whoever watches it.

    number: of the step, the first being 1.
    sentence: (R,) which sentence of the batch each live hypothesis belongs to.
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


class _Past(NamedTuple):
    """What is needed of a step to read a translation from its end."""

    parent: Tensor  # (R,) the row that each live row extends, in the step before
    y: Tensor  # (R,) the word it was extended with
    alpha: Tensor | None  # (R before, T_x) weights of the rows *before* this step


class _Best:
    """The best finished translation of each sentence so far: (S,) tensors."""

    def __init__(self, sentences: int, like: Tensor) -> None:
        self.score = like.new_full((sentences,), -torch.inf)
        self.log_prob = self.score.clone()
        # The step that chose the end mark, and the row that it ends.
        self.step = torch.zeros(sentences, dtype=torch.long, device=like.device)
        self.row = self.step.clone()

    def update(
        self, order: Tensor, chosen: "_Chosen", ended: Tensor, step: int, penalty: float
    ) -> None:
        """Take in (S', p) continuations of the sentences `order`, where they have `ended`."""
        scores = (chosen.total / step**penalty).masked_fill(~ended, -torch.inf)
        score, column = scores.max(dim=1)
        better = score > self.score[order]
        sentence, place = order[better], column[better, None]
        self.score[sentence] = score[better]
        self.log_prob[sentence] = chosen.total[better].gather(1, place).squeeze(1)
        self.row[sentence] = chosen.row[better].gather(1, place).squeeze(1)
        self.step[sentence] = step


@torch.no_grad()
def beam_search(
    model: EncoderDecoder,
    source: Tensor,
    lengths: Tensor,
    mask: Tensor,
    k: int = 12,
    length_penalty: float = 1.0,
    *,
    min_length: int = 0,
    forbid_unk: bool = False,
    watch: Callable[[BeamStep], None] | None = None,
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers, keeping k hypotheses a sentence.

    A hypothesis that chooses the end mark is finished and gives up its place in the beam, as in the
    authors' released search; a sentence is done when no place is left. Finished hypotheses are
    ranked by log_prob / length ** length_penalty, the end mark counted: 0 ranks by probability, 1
    by its mean per word. With k = 1 this is greedy search; with k as large as the number of
    possible translations it is exhaustive.

    The end mark is not chosen before `min_length` words, and [UNK] not at all with `forbid_unk`.
    `watch` is called with every step (see `record`).

    All live hypotheses of all sentences are rows of one tensor: nothing is computed for finished
    hypotheses or sentences, and a sentence's result does not depend on its company.
    """
    if k < 1:
        raise CourseError(f"A beam of {k} holds nothing. Use --beam 1 or more.")
    next_words = NextWords(model, source, lengths, mask, min_length, forbid_unk)
    state = next_words.start
    every = torch.arange(len(source), device=source.device)
    rows = Rows(every, [len(every)], every)
    y = torch.full_like(every, BOS)
    log_probs = state.s.new_zeros(len(every))
    places = torch.full_like(every, k)  # left in the beam of each sentence in `rows.order`
    best = _Best(len(every), log_probs)
    past: list[_Past] = []

    while len(rows.order):
        number = len(past) + 1
        t, alpha, state = next_words.advance(y, state, rows.slots)
        totals, words = _continuations(
            next_words, t, number, rows, log_probs, places, k, everything=watch is not None
        )
        chosen = _choose(rows, totals, words, places)
        ended = chosen.allowed & (chosen.word == EOS)
        best.update(rows.order, chosen, ended, number, length_penalty)
        after, lines, index = _rearranged(rows, chosen.allowed & ~ended)
        if watch is not None:
            where = torch.stack([chosen.row, chosen.column], dim=-1)
            kept = where.flatten(0, 1)[index]
            watch(BeamStep(number, rows.order[rows.line], totals, words, where[ended], kept))
        parent, y, log_probs = (
            values.flatten()[index] for values in (chosen.row, chosen.word, chosen.total)
        )
        past.append(_Past(parent, y, alpha))
        stays = len(lines) == len(rows.order) and bool((lines == every[: len(lines)]).all())
        state = state.select(parent, state.memory if stays else state.memory.select(lines))
        places = (places - ended.sum(dim=1))[lines]
        rows = after

    tokens, alphas = _read_back(best, past)
    return cut(tokens, best.step, best.log_prob, best.score, alphas, lengths)


def _continuations(
    next_words: NextWords,
    t: Tensor,
    number: int,
    rows: Rows,
    log_probs: Tensor,
    places: Tensor,
    k: int,
    everything: bool,
) -> tuple[Tensor, Tensor]:
    """Each row's most probable continuations: (R, c) log-probabilities from the start, and words.

    The k best of a sentence are among the k best of each of its hypotheses. And among those of its
    best few hypotheses alone, as far as others are already less probable than k of them: a
    continuation is never more probable than what it continues. Of such rows, about a tenth, nothing
    is computed and -inf returned, unless `everything` is asked for.
    """
    sentence = rows.order[rows.line]
    columns = min(k, next_words.decoder.W_o.out_features)
    ranks = len(rows.slots) if everything else max(1, len(rows.slots) // 3)
    first = sum(rows.slots[:ranks])
    if first < ROWS // 2:
        ranks, first = len(rows.slots), len(t)  # too few to be worth a second round
    totals, words = next_words.best(t[:first], number, sentence[:first], columns)
    totals += log_probs[:first, None]
    if ranks == len(rows.slots):
        return totals, words
    table = rows.table(totals, ranks)
    found = table.topk(min(k, table.shape[1]), dim=1).values
    enough = found.new_full((len(found), k), -torch.inf)
    enough[:, : found.shape[1]] = found
    bar = enough.gather(1, places[:, None] - 1).squeeze(1)
    hopeful = (log_probs[first:] >= bar[rows.line[first:]]).nonzero().squeeze(1) + first
    all_totals = totals.new_full((len(t), columns), -torch.inf)
    all_words = words.new_full((len(t), columns), EOS)
    all_totals[:first], all_words[:first] = totals, words
    if len(hopeful):
        more, more_words = next_words.best(t[hopeful], number, sentence[hopeful], columns)
        all_totals[hopeful], all_words[hopeful] = more + log_probs[hopeful, None], more_words
    return all_totals, all_words


class _Chosen(NamedTuple):
    """The best continuations of each sentence, (S, p), best first."""

    total: Tensor  # log-probability from the start
    row: Tensor  # that it continues
    column: Tensor  # among that row's continuations
    word: Tensor  # it continues it with
    allowed: Tensor  # False beyond the sentence's places


def _choose(rows: Rows, totals: Tensor, words: Tensor, places: Tensor) -> _Chosen:
    """As many continuations a sentence as its beam has places, of (R, c) totals and words."""
    lines, columns = len(rows.order), totals.shape[1]
    table = rows.table(totals, len(rows.slots))
    total, flat = table.topk(min(int(places.max()), table.shape[1]), dim=1)
    row_of_cell = torch.zeros(len(rows.slots) * lines, dtype=torch.long, device=totals.device)
    row_of_cell[rows.cell] = torch.arange(len(totals), device=totals.device)
    line = torch.arange(lines, device=totals.device)[:, None]
    row, column = row_of_cell[flat // columns * lines + line], flat % columns
    allowed = torch.arange(total.shape[1], device=totals.device) < places[:, None]
    return _Chosen(total, row, column, words[row, column], allowed & (total > -torch.inf))


def _rearranged(rows: Rows, live: Tensor) -> tuple[Rows, Tensor, Tensor]:
    """The next step's rows, from which of (S, p) chosen continuations `live`.

    Returns:
        the rows, the (S',) lines of the sentences that go on, and the (R',) places of the rows in
        the flattened choice.
    """
    counts, lines = live.sum(dim=1).sort(descending=True, stable=True)
    lines = lines[counts > 0]
    counts = counts[: len(lines)]
    widest = int(counts[0]) if len(lines) else 0
    # The live ones first, in their order.
    columns = (~live[lines]).to(torch.int8).argsort(dim=1, stable=True)[:, :widest]
    there = torch.arange(widest, device=live.device)[:, None] < counts
    index = (lines[:, None] * live.shape[1] + columns).t()[there]
    cell = there.flatten().nonzero().squeeze(1)
    return Rows(rows.order[lines], there.sum(dim=1).tolist(), cell), lines, index


def _read_back(best: _Best, past: list[_Past]) -> tuple[Tensor, Tensor | None]:
    """The best translations from their ends: (S, steps) words and (S, steps, T_x) weights."""
    tokens = torch.zeros(len(best.step), len(past), dtype=torch.long, device=best.step.device)
    alphas = None
    if past[0].alpha is not None:
        alphas = past[0].alpha.new_zeros(*tokens.shape, past[0].alpha.shape[1])
    row = best.row.clone()
    for step in range(len(past) - 1, -1, -1):
        going = (best.step > step).nonzero().squeeze(1)
        alpha = past[step].alpha
        if alphas is not None and alpha is not None:
            alphas[going, step] = alpha[row[going]]
        if step:
            before = past[step - 1]
            tokens[going, step - 1] = before.y[row[going]]
            row[going] = before.parent[row[going]]
    return tokens, alphas
