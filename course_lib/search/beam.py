"""Beam search: the k most probable beginnings, extended side by side, for a whole batch at once."""

from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis, length_limit


class _Step(NamedTuple):
    """One step's record, one entry a live row: enough to walk back from the end of a hypothesis."""

    parent: Tensor  # (R,) the row this one extends, in the step before
    token: Tensor  # (R,) the word it was extended with
    alpha: Tensor | None  # weights of the rows *before* this step, (R_before, T_x)


class _Finished(NamedTuple):
    score: float
    log_prob: float
    step: int  # the step that chose the end mark
    row: int  # the row of the step before that it extends


@torch.no_grad()
def beam_search(
    model: EncoderDecoder,
    source: Tensor,
    lengths: Tensor,
    mask: Tensor,
    k: int = 12,
    length_penalty: float = 1.0,
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers, keeping k hypotheses a sentence.

    A hypothesis that chooses the end mark is finished and gives up its place in the beam, as in the
    authors' released search; a sentence is done when no place is left. Finished hypotheses are
    ranked by log_prob / length ** length_penalty, the end mark counted: 0 ranks by probability, 1
    by its mean per word. With k = 1 this is greedy search; with k as large as the number of
    possible translations it is exhaustive.

    All live hypotheses of all sentences are rows of one tensor: nothing is computed for finished
    hypotheses or sentences, and a sentence's result does not depend on its company.
    """
    if k < 1:
        raise CourseError(f"A beam of {k} holds nothing. Use --beam 1 or more.")
    device, sentences = source.device, len(source)
    state = model.start(source, lengths, mask)
    limits = length_limit(lengths).to(device)
    sentence = torch.arange(sentences, device=device)  # which sentence each live row belongs to
    y = torch.full_like(sentence, BOS)
    log_probs = state.s.new_zeros(sentences)
    places = torch.full_like(sentence, k)  # places left in each sentence's beam
    steps: list[_Step] = []
    finished: list[list[_Finished]] = [[] for _ in range(sentences)]

    while len(sentence):
        number = len(steps) + 1
        scores, alpha, state = model.step(y, state)
        vocabulary = scores.shape[1]
        only_end = limits[sentence] == number
        if only_end.any():
            end = scores[only_end, EOS]
            scores[only_end] = -torch.inf
            scores[only_end, EOS] = end
        # The k best continuations of a sentence are among the k best of each of its hypotheses.
        totals, words = (scores + log_probs[:, None]).topk(min(k, vocabulary), dim=-1)
        parent, chosen = _best_per_sentence(totals, sentence, places)
        token, total = words[parent, chosen], totals[parent, chosen]
        owner = sentence[parent]

        ended = token == EOS
        for row, log_prob in zip(parent[ended].tolist(), total[ended].tolist(), strict=True):
            score = log_prob / number**length_penalty
            finished[int(sentence[row])].append(_Finished(score, log_prob, number, row))
        places -= torch.bincount(owner[ended], minlength=sentences)

        live = ~ended
        parent, y, log_probs = parent[live], token[live], total[live]
        steps.append(_Step(parent, y, alpha))
        same_memory = len(parent) == len(sentence) and bool((owner[live] == sentence).all())
        # Hypotheses of one sentence share its memory: it is copied only when rows come or go.
        memory = state.memory if same_memory else state.memory.select(parent)
        state = state._replace(s=state.s[parent], memory=memory)
        sentence = owner[live]

    best = [max(candidates, key=lambda hypothesis: hypothesis.score) for candidates in finished]
    return [
        _walk_back(hypothesis, steps, int(length))
        for hypothesis, length in zip(best, lengths.tolist(), strict=True)
    ]


def _best_per_sentence(totals: Tensor, sentence: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Choose each sentence's best continuations, as many as its beam has places.

    Args:
        totals: (R, c) log-probabilities of each live row's best continuations.
        sentence: (R,) ascending sentence numbers of the rows.
        places: (S,) places left a sentence.

    Returns:
        row and column of the chosen entries of `totals`, by sentence and then best first.
    """
    rows, columns = totals.shape
    first = torch.searchsorted(sentence, sentence)  # the first row of each row's sentence
    slot = torch.arange(rows, device=totals.device) - first
    present, group = torch.unique_consecutive(sentence, return_inverse=True)
    width = int(slot.max()) + 1
    table = totals.new_full((len(present), width, columns), -torch.inf)
    table[group, slot] = totals
    count = min(int(places[present].max()), width * columns)
    best, flat = table.flatten(1).topk(count, dim=-1)
    allowed = torch.arange(count, device=totals.device) < places[present][:, None]
    allowed &= best > -torch.inf
    starts = torch.searchsorted(sentence, present)
    row = starts[:, None] + flat // columns
    return row[allowed], (flat % columns)[allowed]


def _walk_back(hypothesis: _Finished, steps: list[_Step], length: int) -> Hypothesis:
    """Read a finished hypothesis off the record, last word first."""
    tokens: list[int] = []
    alphas: list[Tensor] = []
    row = hypothesis.row
    for number in range(hypothesis.step - 1, -1, -1):
        alpha = steps[number].alpha
        if alpha is not None:
            alphas.append(alpha[row, :length])
        if number:
            before = steps[number - 1]
            tokens.append(int(before.token[row]))
            row = int(before.parent[row])
    return Hypothesis(
        tokens[::-1],
        hypothesis.log_prob,
        hypothesis.score,
        torch.stack(alphas[::-1]) if alphas else None,
    )
