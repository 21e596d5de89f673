"""The Transformer of torch's layers: its search step, and its training by the course's loop."""

from pathlib import Path

import pytest
import torch

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.errors import CourseError
from course_lib.search import translate
from course_lib.training import read_metrics, train
from experiments.transformer import (
    TorchTransformer,
    TransformerConfig,
    TransformerRun,
    build_transformer,
    load_transformer,
)

PAIRS = [([4, 5, 6, 7, 3], [4, 5]), ([6], [6, 4, 5, 4]), ([3, 3, 8], [])]
SETTINGS = {"subwords": 80, "epochs": 2, "batch_size": 8, "warmup": 2, "learning_rate": 1e-3}


@pytest.fixture
def model() -> TorchTransformer:
    """A small one in double precision."""
    config = TransformerConfig(9, size=8, layers=2, heads=2, feed_forward=6)
    return build_transformer(config).double().eval().requires_grad_(False)


@pytest.fixture
def toy() -> Corpus:
    return load_corpus("toy", "en-de", train=16, val=2, test=2)


def test_a_search_step_is_torchs_decoder_on_the_words_so_far(model: TorchTransformer) -> None:
    batch = make_batch(PAIRS, range(3))
    expected = torch.log_softmax(model.logits(batch), dim=-1)
    state, found = model.start(batch.source, batch.source_lengths, batch.source_mask), []
    for words in batch.target_in.unbind(1):
        log_probs, alpha, state = model.step(words, state)
        assert alpha is None
        found.append(log_probs)
    together = torch.stack(found, 1).flatten(0, 1)[batch.target_words]
    assert together == pytest.approx(expected, abs=1e-5)


def test_several_hypotheses_of_a_sentence_share_its_memory(model: TorchTransformer) -> None:
    batch = make_batch(PAIRS, range(3))
    one = model.start(batch.source, batch.source_lengths, batch.source_mask)
    many = one._replace(s=torch.stack([one.s, one.s]))
    words = torch.tensor([[4, 5, 6], [7, 8, 4]])
    together = model.step(words, many)[0]
    for row, hypotheses in zip(words, together, strict=True):
        assert model.step(row, one)[0] == pytest.approx(hypotheses)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_does_not_depend_on_its_company(model: TorchTransformer, beam: int) -> None:
    sources = [source for source, _ in PAIRS]
    together = translate(model, sources, beam)
    alone = [translate(model, [source], beam)[0] for source in sources]
    assert [one.tokens for one in together] == [one.tokens for one in alone]
    assert [one.log_prob for one in together] == pytest.approx([one.log_prob for one in alone])


def test_padding_is_neither_read_nor_scored(model: TorchTransformer) -> None:
    alone, _ = model.loss(make_batch(PAIRS, [1]))
    rest, _ = model.loss(make_batch(PAIRS, [0, 2]))
    together, count = model.loss(make_batch(PAIRS, range(3)))
    assert together.item() == pytest.approx(alone.item() + rest.item())
    assert count == sum(len(target) + 1 for _, target in PAIRS)


def test_the_courses_loop_trains_it_stops_it_and_goes_on(toy: Corpus, tmp_path: Path) -> None:
    config = TransformerRun("transformer", "toy", "en-de", "laptop", 0, SETTINGS)
    whole = train(config, toy, tmp_path / "whole", quiet=True, build=build_transformer)

    def stop(model: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(config, toy, tmp_path / "part", quiet=True, watch=stop, build=build_transformer)
    again = train(config, toy, tmp_path / "part", resume=True, quiet=True, build=build_transformer)
    for one, other in zip(whole.metrics, again.metrics, strict=True):
        assert one["val_loss"] == other["val_loss"]
    assert whole.metrics[-1]["train_loss"] < whole.metrics[0]["train_loss"]
    network, words = load_transformer(tmp_path / "part")
    assert network.config.vocabulary == len(words[0]) == len(words[1])
    assert translate(network, [words[0].encode(toy.splits["test"].source[0])], 2)
    assert len(read_metrics(tmp_path / "part")) == 2
    other = TransformerRun("transformer", "toy", "en-de", "laptop", 0, {**SETTINGS, "dropout": 0.2})
    with pytest.raises(CourseError, match=r"started with dropout=0\.1\."):
        train(other, toy, tmp_path / "part", resume=True, quiet=True, build=build_transformer)
