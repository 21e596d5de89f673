"""Scheduled sampling: its curves, and what the training loop makes of them."""

import itertools
import math

import pytest

from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.training import RunConfig, load_run, train
from course_lib.training.recipe import Recipe, given_at
from course_lib.training.teacher_forcing import given_share

FALLING = ("linear", "exponential", "inverse-sigmoid")


@pytest.mark.parametrize("schedule", FALLING)
@pytest.mark.parametrize("end", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("total", [200, 5000])
def test_every_curve_falls_from_one_to_its_end(schedule, end, total) -> None:
    shares = [given_share(schedule, i, total, end) for i in range(total + 1)]
    assert all(later < earlier for earlier, later in itertools.pairwise(shares))
    assert shares[0] == pytest.approx(1, abs=0.05)
    assert shares[-1] == pytest.approx(end, abs=1e-9)


@pytest.mark.parametrize("schedule", FALLING)
@pytest.mark.parametrize("total", [1, 2, 20])
def test_a_short_training_ends_where_a_long_one_does(schedule, total) -> None:
    recipe = Recipe(teacher_forcing=schedule, teacher_forcing_end=0.1)
    shares = [given_at(step, total, recipe) for step in range(total)]
    assert all(0 < share <= 1 for share in shares)
    if total > 1:
        assert shares[-1] == pytest.approx(0.1)


def test_the_curves_are_those_of_the_paper() -> None:
    """Section 2.4: linear in i, k^i, and k / (k + exp(i / k)), with one k for all i."""
    total, end = 1000, 0.3
    linear, exponential, sigmoid = (
        [given_share(schedule, i, total, end) for i in range(total + 1)] for schedule in FALLING
    )
    assert linear[500] == pytest.approx((linear[0] + linear[1000]) / 2)
    ratios = [b / a for a, b in itertools.pairwise(exponential)]
    assert max(ratios) == pytest.approx(min(ratios))
    k = sigmoid[0] / (1 - sigmoid[0])
    for i in (1, 250, 999):
        assert sigmoid[i] == pytest.approx(k / (k + math.exp(i / k)))
    # The inverse sigmoid stays up longest.
    assert sigmoid[500] > linear[500] > exponential[500]


def test_always_and_never_do_not_move() -> None:
    assert {given_share("always", i, 10, 0.5) for i in range(11)} == {1.0}
    assert {given_share("never", i, 10, 0.5) for i in range(11)} == {0.0}
    assert given_at(3, 10, Recipe()) is None  # the fast path
    assert given_at(3, 10, Recipe(teacher_forcing="never")) == 0.0


@pytest.mark.parametrize(
    "change",
    [{"teacher_forcing": "cosine"}, {"teacher_forcing_end": 0.0}, {"teacher_forcing_end": 1.0}],
)
def test_what_cannot_be_is_refused(change) -> None:
    with pytest.raises(CourseError, match="teacher_forcing"):
        Recipe(**change)


def test_training_uses_the_schedule(tmp_path) -> None:
    """Same seed, same order of batches: only what the decoder is given can make the difference."""
    corpus = load_corpus("copy", train=64, val=8, test=8)
    losses = {}
    for schedule in ("always", "linear", "never"):
        config = RunConfig(
            "rnnsearch",
            "copy",
            preset="smoke",
            changes={"teacher_forcing": schedule, "teacher_forcing_end": 0.01, "epochs": 2},
        )
        progress = train(config, corpus, tmp_path / schedule, quiet=True)
        losses[schedule] = progress.metrics[-1]["train_loss"]
        assert load_run(tmp_path / schedule).config.recipe.teacher_forcing == schedule
    assert len(set(losses.values())) == 3
