"""Sentence pairs of similar length side by side, padded, with masks that say what is padding."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS, PAD

POOL_BATCHES = 20
"""Minibatches sorted by length together (the paper, Appendix B.2: 1,600 pairs for 20)."""

EncodedPair = tuple[list[int], list[int]]
"""Word numbers of a source and a target sentence, without begin and end marks."""


class Batch(NamedTuple):
    """B sentence pairs. Masks are True where a real word stands.

    The source ends with the end mark, so T_x counts it. `target_in` is the target shifted right
    behind the begin mark and `target_out` ends with the end mark: at position i the decoder is
    given `target_in[:, i]` and shall predict `target_out[:, i]`.
    """

    source: Tensor  # (B, T_x) long
    source_lengths: Tensor  # (B,) long, on the CPU as packing wants it
    source_mask: Tensor  # (B, T_x) bool
    target_in: Tensor  # (B, T_y) long
    target_out: Tensor  # (B, T_y) long
    target_mask: Tensor  # (B, T_y) bool
    target_words: Tensor  # (N,) long, where real target words stand among the B * T_y positions

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device; the lengths stay on the CPU."""
        moved = Batch(*(field.to(device) for field in self))
        return moved._replace(source_lengths=self.source_lengths)


def pad(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Sequences as one (B, T) tensor filled up with PAD, their (B,) lengths, their (B, T) mask."""
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    width = int(lengths.max())
    padded = torch.tensor([[*sequence, *[PAD] * (width - len(sequence))] for sequence in sequences])
    return padded, lengths, torch.arange(width) < lengths[:, None]


def make_source(sentences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Source sentences alone, each behind its end mark: what translation needs."""
    return pad([[*sentence, EOS] for sentence in sentences])


def make_batch(pairs: Sequence[EncodedPair], index: Sequence[int]) -> Batch:
    """The pairs at the positions `index`, padded to the longest of them."""
    chosen = [pairs[i] for i in index]
    source, source_lengths, source_mask = make_source([source for source, _ in chosen])
    target_in, _, target_mask = pad([[BOS, *target] for _, target in chosen])
    target_out, _, _ = pad([[*target, EOS] for _, target in chosen])
    real = target_mask.flatten().nonzero().squeeze(1)
    return Batch(source, source_lengths, source_mask, target_in, target_out, target_mask, real)


def bucketed_batches(
    pairs: Sequence[EncodedPair], batch_size: int, seed: int, epoch: int
) -> list[list[int]]:
    """One epoch's minibatches, as positions in `pairs`: every pair exactly once, in a seeded order.

    All pairs are shuffled, cut into pools of `POOL_BATCHES` minibatches, sorted by length inside
    each pool and split, so that little of a batch is padding while its company still changes from
    epoch to epoch (the paper, Appendix B.2). The batches are then shuffled, or lengths would come
    in waves.
    """
    draw = random.Random(f"{seed}-{epoch}")
    order = list(range(len(pairs)))
    draw.shuffle(order)
    pool_size = batch_size * POOL_BATCHES
    batches = []
    for start in range(0, len(order), pool_size):
        pool = order[start : start + pool_size]
        pool.sort(key=lambda i: (len(pairs[i][1]), len(pairs[i][0])))
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    draw.shuffle(batches)
    return batches


def batches_in_order(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Minibatches for evaluation: longest first, so that memory is at its peak at the start."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
