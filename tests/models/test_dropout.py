"""Dropout: that it disturbs training and nothing else."""

from dataclasses import replace

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.models import ModelConfig, build_model
from tests.models.tiny import PAIRS, batch_of

CONFIG = ModelConfig(9, 9, embedding=6, hidden=8, alignment=5, readout=6)


def test_it_disturbs_training_and_only_training() -> None:
    batch = batch_of(PAIRS)
    model = build_model(replace(CONFIG, dropout=0.5)).train()
    plain = build_model(CONFIG).train()
    torch.manual_seed(0)
    assert model.loss(batch)[0] != plain.loss(batch)[0]
    assert model.eval().loss(batch)[0] == plain.loss(batch)[0]


def test_the_rate_is_a_share() -> None:
    for value in (1.0, -0.1):
        with pytest.raises(CourseError, match="below 1"):
            replace(CONFIG, dropout=value)
