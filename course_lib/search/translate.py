"""Sentences in, translations out, in the order they came."""

from collections.abc import Sequence

from course_lib.corpora.batches import batches_in_order, make_source
from course_lib.models import EncoderDecoder
from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis


def translate(
    model: EncoderDecoder,
    sentences: Sequence[Sequence[int]],
    k: int = 12,
    length_penalty: float = 1.0,
    batch_size: int = 64,
) -> list[Hypothesis]:
    """Translate encoded sentences with beam width k (1: greedy), in evaluation mode."""
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    hypotheses: list[Hypothesis | None] = [None] * len(sentences)
    for index in batches_in_order([len(sentence) for sentence in sentences], batch_size):
        source, lengths, mask = make_source([sentences[i] for i in index])
        source, mask = source.to(device), mask.to(device)
        if k == 1:
            found = greedy_search(model, source, lengths, mask)
        else:
            found = beam_search(model, source, lengths, mask, k, length_penalty)
        for i, hypothesis in zip(index, found, strict=True):
            hypotheses[i] = hypothesis
    model.train(training)
    return [hypothesis for hypothesis in hypotheses if hypothesis is not None]
