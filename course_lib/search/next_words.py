"""What may come next: the decoder's step as a search needs it, for many hypotheses at once.

`Decoder.step` defines the numbers. Here they are computed for rows of hypotheses that share their
sentences' memories, with what can be made once made once: products with the annotations once a
sentence (`fold`), products with a target word once a word.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import EOS, UNK
from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder
from course_lib.models.contexts import Memory
from course_lib.models.decoder import DecoderState
from course_lib.search.fold import fold
from course_lib.search.hypothesis import length_limit

BLOCK = 64
"""Words whose largest log-probability is looked at before any of them is."""

ROWS = 256
"""Rows that meet the vocabulary together: 8 MB of logits at 8,000 words, which a cache holds."""

FEW = 16
"""Rows below which copying memories together costs less than another round of small products."""


class NextWords:
    """The steps of one search over one batch of sentences.

    start: the state before the first word, its memory folded; only for this object's `advance`.
    limits: (S,) the step at which each sentence must end.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        source: Tensor,
        lengths: Tensor,
        mask: Tensor,
        min_length: int = 0,
        forbid_unk: bool = False,
    ) -> None:
        if min_length < 0:
            raise CourseError(
                f"A minimum of {min_length} words is none. Use --min-length 0 or more."
            )
        self.original = model.decoder
        state = model.start(source, lengths, mask)
        self.decoder, memory = fold(model.decoder, state.memory)
        self.start = state._replace(memory=memory)
        self.min_length, self.forbid_unk = min_length, forbid_unk
        self.limits = length_limit(lengths).clamp(min=min_length + 1).to(source.device)
        vocabulary = model.config.target_vocabulary
        # Rows of whole blocks: they begin where vector instructions like them to, and what is
        # beyond the vocabulary is never written to and never likely.
        self._logits = state.s.new_empty(0, -(-vocabulary // BLOCK) * BLOCK)
        self._log_probs = self._logits
        width = self.decoder.unit.W.out_features
        if self.decoder.config.output != "attentional":
            width += self.original.V_o.out_features
        self._products = state.s.new_empty(vocabulary, width)
        self._known = torch.zeros(vocabulary, dtype=torch.bool, device=source.device)

    def advance(
        self, y: Tensor, state: DecoderState, slots: list[int]
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """One step of the decoder up to t_i.

        Args:
            y: (R,) previous words of the hypotheses, a row each.
            state: their states, and the memory of the S sentences, one line a sentence.
            slots: how many sentences have a first hypothesis, a second one, and so on, never
                rising: rows come slot by slot, each slot over the first lines of the memory. So no
                memory is copied for a hypothesis.

        Returns:
            t_i (R, l), alpha_i (R, T_x) or None, the next states with the same memory.
        """
        product, embedded = self._products_of(y)
        outputs, weights, states = [], [], []
        for rows, memory in shared(state.memory, slots):
            fed = None if state.fed is None else state.fed[rows]
            inputs, alpha, after = self.decoder.advance(
                embedded[rows],
                product[rows],
                DecoderState(state.s[rows], memory, state.step, fed),
            )
            outputs.append(self.decoder.deep_output(inputs) if after.fed is None else after.fed)
            states.append(after.s)
            if alpha is not None:
                weights.append(alpha)
        t = torch.cat(outputs)
        fed = None if state.fed is None else t
        after = DecoderState(torch.cat(states), state.memory, state.step + 1, fed)
        return t, torch.cat(weights) if weights else None, after

    def log_probs(self, t: Tensor, number: int, sentence: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """log p of every next word, a few rows at a time.

        Args:
            t: (R, l), what `advance` gave.
            number: of this step, the first being 1.
            sentence: (R,) whose hypotheses the rows are, as places in the batch.

        Yields:
            rows, and their (rows, K_y or a little more) log-probabilities, overwritten by the next
            ones: -inf at what the rules forbid and beyond the vocabulary. They are the model's own:
            what is forbidden is not shared out among the rest.
        """
        only_end = self.limits[sentence] == number
        rounds = max(1, -(-len(t) // ROWS))
        at = 0
        for some in t.tensor_split(rounds):
            rows = slice(at, at + len(some))
            at = rows.stop
            if len(some) > len(self._logits):
                self._logits = some.new_full((len(some), self._logits.shape[1]), -torch.inf)
                self._log_probs = torch.empty_like(self._logits)
            logits = self._logits[: len(some)]
            W_o = self.decoder.W_o
            torch.addmm(W_o.bias, some, W_o.weight.t(), out=logits[:, : W_o.out_features])
            values = torch.log_softmax(logits, dim=-1, out=self._log_probs[: len(some)])
            if self.forbid_unk:
                values[:, UNK] = -torch.inf
            if number <= self.min_length:
                values[:, EOS] = -torch.inf
            last = only_end[rows]
            if last.any():
                end = values[last, EOS]
                values[last] = -torch.inf
                values[last, EOS] = end
            yield rows, values

    def best(self, t: Tensor, number: int, sentence: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The `count` most probable next words: (R, count) log-probabilities and words."""
        found = [top_words(values, count) for _, values in self.log_probs(t, number, sentence)]
        values, words = (torch.cat(parts) for parts in zip(*found, strict=True))
        return values, words

    def _products_of(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """W E y for the unit and V_o E y for the readout, each word multiplied once a search."""
        new = y[~self._known[y]].unique()
        if len(new):
            embedded = self.original.E(new)
            products = [self.original.unit.project(embedded)]
            if self.original.config.output != "attentional":
                products.append(self.original.V_o(embedded))
            self._products[new] = torch.cat(products, dim=-1)
            self._known[new] = True
        unit = self.original.unit.W.out_features
        rows = self._products[y]
        return rows[:, :unit], rows[:, unit:]


def shared(memory: Memory, slots: list[int]) -> Iterator[tuple[slice, Memory]]:
    """Rows slot by slot, each with the memory they read: the first lines of `memory`, uncopied.

    Slots of few rows go together, over copies.
    """
    start = first = 0
    while first < len(slots):
        last, rows = first + 1, slots[first]
        while last < len(slots) and rows < FEW:
            rows += slots[last]
            last += 1
        if last == first + 1:
            lines: slice | Tensor = slice(rows)
        else:
            places = torch.arange(slots[first], device=memory.mask.device)
            lines = torch.cat([places[:n] for n in slots[first:last]])
        keys = None if memory.keys is None else memory.keys[lines]
        yield slice(start, start + rows), Memory(keys, memory.values[lines], memory.mask[lines])
        start, first = start + rows, last


def top_words(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest entries of each row, best first, and where they stand.

    Exactly what `topk` gives, sooner: the largest entries lie in the blocks with the largest
    maxima, and a maximum is found without any order among the rest.

    Args:
        values: (R, a multiple of BLOCK).

    Returns:
        (R, count) values and columns.
    """
    rows, width = values.shape
    blocks = values.view(rows * (width // BLOCK), BLOCK)
    maxima = blocks.amax(dim=-1).view(rows, -1)
    chosen = maxima.topk(min(count, maxima.shape[1]), dim=-1).indices
    lines = chosen + torch.arange(rows, device=values.device)[:, None] * maxima.shape[1]
    candidates = blocks.index_select(0, lines.flatten()).view(rows, -1)
    best, place = candidates.topk(count, dim=-1)
    return best, chosen.gather(1, place // BLOCK) * BLOCK + place % BLOCK
