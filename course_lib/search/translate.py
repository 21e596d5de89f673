"""Sentences in, translations out, in the order they came."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from course_lib.corpora.batches import batches_in_order
from course_lib.models import RNNsearch
from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis, evaluating, sources_for
from course_lib.search.sampling import generators, sample_search

Search = Callable[[list[int], Tensor, Tensor, Tensor], list[Hypothesis]]
"""Where a batch's sentences stand in their list; its source, lengths and mask."""


def translate(
    model: RNNsearch,
    sentences: Sequence[Sequence[int]],
    k: int = 12,
    length_penalty: float = 1.0,
    batch_size: int = 64,
) -> list[Hypothesis]:
    """Translate encoded sentences with beam width k (1: greedy), in evaluation mode."""
    search: Callable[..., list[Hypothesis]] = partial(greedy_search, model)
    if k != 1:
        search = partial(beam_search, model, k=k, length_penalty=length_penalty)
    return _in_batches(model, sentences, batch_size, lambda _, *batch: search(*batch))


def sample(
    model: RNNsearch,
    sentences: Sequence[Sequence[int]],
    seed: int,
    batch_size: int = 64,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> list[Hypothesis]:
    """Draw a translation of each encoded sentence, in evaluation mode (see `sample_search`).

    A sentence's sample is decided by the seed and its position in `sentences`, not by the batches.
    """
    search: Callable[..., list[Hypothesis]] = partial(
        sample_search, model, temperature=temperature, top_k=top_k, top_p=top_p
    )
    return _in_batches(
        model, sentences, batch_size, lambda index, *batch: search(*batch, generators(seed, index))
    )


def _in_batches(
    model: RNNsearch, sentences: Sequence[Sequence[int]], batch_size: int, search: Search
) -> list[Hypothesis]:
    """Search batch by batch, sentences of similar length together."""
    hypotheses: list[Hypothesis | None] = [None] * len(sentences)
    with evaluating(model):
        for index in batches_in_order([len(sentence) for sentence in sentences], batch_size):
            written = search(index, *sources_for(model, [sentences[i] for i in index]))
            for i, hypothesis in zip(index, written, strict=True):
                hypotheses[i] = hypothesis
    return [hypothesis for hypothesis in hypotheses if hypothesis is not None]
