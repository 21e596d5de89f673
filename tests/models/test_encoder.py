"""The encoder: what an annotation and a summary have read, in which order, never the padding."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from course_lib.corpora.batches import make_source
from tests.models.tiny import every_cell, label, tiny_model
from tests.reference.translator import Choices

ENCODERS = [
    *every_cell(),
    *(Choices(encoder="self-attention", layers=layers) for layers in (1, 2)),
]
RECURRENT = every_cell()


def encoded(choices: Choices, *sentences: list[int], extra: int = 0) -> tuple[Tensor, Tensor]:
    """Annotations and summary; `extra` columns of padding more than needed, filled with a word."""
    source, lengths, mask = make_source(sentences)
    source = torch.nn.functional.pad(source, (0, extra))
    mask = torch.nn.functional.pad(mask, (0, extra))
    with torch.no_grad():
        return tiny_model(choices).encoder(source.masked_fill(~mask, 7), lengths, mask)


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("choices", ENCODERS, ids=label)
def test_a_sentence_is_read_alike_alone_in_company_and_before_padding(choices: Choices) -> None:
    sentences = [[4, 5, 6, 7], [], [6, 4]]
    annotations, summary = encoded(choices, *sentences, extra=2)
    for row, sentence in enumerate(sentences):
        alone, alone_summary = encoded(choices, sentence)
        words = len(sentence) + 1
        same(annotations[row, :words], alone[0])
        same(summary[row], alone_summary[0])
        assert not annotations[row, words:].any()


@pytest.mark.parametrize("choices", ENCODERS, ids=label)
def test_the_summary_has_read_every_word(choices: Choices) -> None:
    sentence = [4, 5, 6, 7]
    _, summary = encoded(choices, sentence)
    for j in range(len(sentence)):
        other = [*sentence[:j], 8, *sentence[j + 1 :]]
        assert not torch.isclose(encoded(choices, other)[1], summary, atol=1e-9).all()


@pytest.mark.parametrize("choices", RECURRENT, ids=label)
def test_what_an_annotation_has_read(choices: Choices) -> None:
    """Forwards, the words up to its own in the order of reading; in both directions, every word.

    In one layer the halves of a bidirectional annotation know one side each.
    """
    sentence = [4, 5, 6, 7]
    before, _ = encoded(choices, sentence)
    for changed in range(4):
        after, _ = encoded(choices, [*sentence[:changed], 8, *sentence[changed + 1 :]])
        differs = (before[0] != after[0]).reshape(5, -1, 4).any(dim=-1)  # a column a direction
        for j in range(5):
            place, read = (j, changed)
            if choices.reverse_source:
                place, read = (3 - j if j < 4 else 4), 3 - changed
            forward_knows, backward_knows = read <= place, read >= place
            if choices.encoder == "forward":
                assert differs[j].tolist() == [forward_knows]
            elif choices.layers == 1:
                assert differs[j].tolist() == [forward_knows, backward_knows]
            else:
                assert differs[j].all()


@pytest.mark.parametrize("choices", [c for c in ENCODERS if c.reverse_source], ids=label)
def test_a_turned_source_is_the_sentence_said_backwards(choices: Choices) -> None:
    """The words turn round, the end mark stays last, and each annotation is at its own word."""
    plain = replace(choices, reverse_source=False)
    annotations, summary = encoded(choices, [4, 5, 6], [7, 8])
    backwards, same_summary = encoded(plain, [6, 5, 4], [8, 7])
    same(summary, same_summary)
    same(annotations[0], backwards[0, [2, 1, 0, 3]])
    same(annotations[1, :3], backwards[1, [1, 0, 2]])


@pytest.mark.parametrize("choices", ENCODERS, ids=label)
def test_dropout_is_for_training_alone(choices: Choices) -> None:
    model = tiny_model(choices, dropout=0.5)
    source = make_source([[4, 5, 6], [7]])
    assert torch.equal(model.encoder(*source)[0], tiny_model(choices).encoder(*source)[0])
    model.train()
    torch.manual_seed(0)
    assert not torch.equal(model.encoder(*source)[0], model.encoder(*source)[0])
