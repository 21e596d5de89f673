"""A minibatch computed in parts: the same training, in less memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from course_lib.corpora.corpus import Corpus
from course_lib.models import build_model
from course_lib.training import RunConfig
from course_lib.training.minibatches import Minibatch, make_minibatches
from course_lib.training.processes import make_accelerator
from course_lib.training.recipe import make_optimiser
from course_lib.training.update import Updater
from course_lib.training.vocabularies import make_vocabularies


@pytest.fixture
def update(small: RunConfig, small_corpus: Corpus) -> Updater:
    words = make_vocabularies(small, small_corpus)
    accelerator = make_accelerator()
    model = build_model(small.model_config(*map(len, words))).to(accelerator.device).train()
    optimiser = make_optimiser(model.parameters(), small.recipe)
    return Updater(accelerator, model, optimiser, small.recipe, 10)


@pytest.fixture
def minibatch(small: RunConfig, small_corpus: Corpus) -> Minibatch:
    words = make_vocabularies(small, small_corpus)
    return max(make_minibatches(small, small_corpus, words).epoch(0), key=len)


def in_parts(update: Updater, parts: int) -> Updater:
    return replace(update, recipe=replace(update.recipe, accumulation=parts))


@contextmanager
def kept_for_backward(model: torch.nn.Module) -> Iterator[list[int]]:
    """The bytes that each pass through the model keeps for the way back, pass by pass."""
    passes: list[int] = []
    parameters = {p.data_ptr() for p in model.parameters()}

    def pack(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() not in parameters:
            passes[-1] += tensor.nbytes
        return tensor

    hook = model.register_forward_pre_hook(lambda *_: passes.append(0))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield passes
    hook.remove()


def test_parts_keep_less_for_the_way_back(update: Updater, minibatch: Minibatch) -> None:
    held = {}
    for parts in (1, 4):
        with kept_for_backward(update.trainer) as passes:
            in_parts(update, parts).gradient(minibatch, step=0)
        assert len(passes) == parts
        held[parts] = max(passes)
    assert held[4] < 0.4 * held[1]


def test_any_number_of_parts_gives_the_same_gradient(update: Updater, minibatch: Minibatch) -> None:
    """More parts than pairs are as many as pairs; the gradient is that of the mean over words."""
    gradients, losses = [], []
    for parts in (1, 2, 15, 99):
        losses.append(in_parts(update, parts).gradient(minibatch, step=0).item())
        gradients.append([p.grad.clone() for p in update.trainer.parameters()])
        update.trainer.zero_grad()
    assert losses == pytest.approx([losses[0]] * 4, rel=1e-5)
    for others in gradients[1:]:
        for one, other in zip(gradients[0], others, strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)
