"""What runs on the card: `test_card.py` gives this file to a pytest of its own, as the card stays.

The CPU computes the card's numbers, so they agree with the CPU's but for the order of sums.
"""

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate.state import AcceleratorState, PartialState
from torch import Tensor

from course_lib.assignments import probing
from course_lib.corpora import load_corpus
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.evaluation.decoding_steps import decoding_steps
from course_lib.evaluation.diagnostics import diagnose
from course_lib.evaluation.faithfulness import erased_words, left_out_words
from course_lib.evaluation.forced import forced_alpha, forced_weights, sentence_log_probs
from course_lib.models import RNNsearch, build_model
from course_lib.models.config import model_config
from course_lib.search import n_best, sample, translate
from course_lib.search.hypothesis import Hypothesis
from course_lib.training import finish_run, load_run, train
from course_lib.training.processes import make_accelerator
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, make_optimiser
from course_lib.training.update import Updater
from course_lib.widgets import AttentionStepper
from course_lib.widgets.beam_tree import BeamTree
from tests.assignments.cells import source
from tests.card.card import count
from tests.conftest import ROOT
from tests.models.tiny import EVERYTHING, SELF_ATTENTIVE, label, tiny_model
from tests.training.conftest import outcome, train_until
from tests.training.test_training import CONFIG

GIVEN = ROOT / "exercises" / "heatmap_analysis" / "model"
PAIRS = [([4, 5, 6], [4, 5]), ([6], [6])]
SENTENCES = [x for x, _ in PAIRS]
CHOICES = [*EVERYTHING, *SELF_ATTENTIVE]


def near(card: Tensor | None, cpu: Tensor | None) -> None:
    """The same numbers, in single precision; those of the card have to come from there."""
    if card is None or cpu is None:
        assert card is cpu
    else:
        assert card.device.type == "card"
        torch.testing.assert_close(card.cpu(), cpu, rtol=1e-3, atol=1e-4, equal_nan=True)


def same(card: list[Hypothesis], cpu: list[Hypothesis]) -> None:
    for one, other in zip(card, cpu, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=1e-4)
        near(one.alpha, other.alpha)


@pytest.mark.parametrize("choices", CHOICES, ids=label)
def test_every_model_does_on_the_card_what_it_does_on_the_cpu(choices: Any) -> None:
    cpu = tiny_model(choices).float()
    card = copy.deepcopy(cpu).to("card")
    batch = make_batch(PAIRS, range(len(PAIRS)))
    there = batch.to("card")
    losses = [model.loss(each, 0.1)[0] for model, each in ((card, there), (cpu, batch))]
    near(*losses)
    for loss in losses:
        loss.backward()
    for one, other in zip(card.parameters(), cpu.parameters(), strict=True):
        near(one.grad, other.grad)
    for k in (1, 12):
        same(translate(card, SENTENCES, k), translate(cpu, SENTENCES, k))
    options = {"seed": 3, "temperature": 0.8, "top_k": 5, "top_p": 0.9}
    same(sample(card, SENTENCES, **options), sample(cpu, SENTENCES, **options))
    near(sentence_log_probs(card, there), sentence_log_probs(cpu, batch))
    for one, other in zip(*(decoding_steps(m, [4, 5], [6]) for m in (card, cpu)), strict=True):
        near(one, other)
    alpha = forced_alpha(card, there)
    near(alpha, forced_alpha(cpu, batch))
    if alpha is not None:
        lengths = [slice(len(one) + 1) for one in PAIRS[0]]
        assert len(diagnose(alpha[0, lengths[1], lengths[0]]).entropy) == len(PAIRS[0][1])


def test_what_is_measured_of_a_model_is_the_same_on_the_card() -> None:
    cpu = tiny_model(EVERYTHING[0]).float()
    card = copy.deepcopy(cpu).to("card")
    batch = make_batch(PAIRS, range(len(PAIRS)))
    for experiment in (left_out_words, erased_words):
        near(experiment(card, batch.to("card")), experiment(cpu, batch))
    assert n_best(card, [4, 5], 3, 4)[0][0] == n_best(cpu, [4, 5], 3, 4)[0][0]


@contextmanager
def waits_of_steps() -> Iterator[list[int]]:
    """How often the CPU has waited for the card whenever a model begins a step."""
    seen: list[int] = []
    step = RNNsearch.step

    def counted(self: RNNsearch, *given: Any) -> Any:
        seen.append(count["waits"])
        return step(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RNNsearch, "step", counted)
        yield seen


def pairs(words: int = 14, size: int = 16) -> list[EncodedPair]:
    """Sentence pairs of many lengths up to `words`."""
    return [([4 + (i + j) % 40 for j in range(1 + i % words)], [4 + i] * (1 + i % words))
            for i in range(size)]  # fmt: skip


@pytest.mark.parametrize("preset", ["gpu", "best"])
def test_a_search_waits_for_the_card_once_a_step(preset: str) -> None:
    sizes = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}
    model = build_model(model_config("rnnsearch", preset, 50, 50, **sizes)).to("card")
    for k in (1, 12):
        with waits_of_steps() as seen:
            translate(model, [x for x, _ in pairs()], k)
        steps = [after - before for before, after in pairwise(seen)]
        assert len(steps) > 10
        assert set(steps) == {1}


@pytest.mark.parametrize("preset", ["gpu", "best"])
def test_an_update_waits_for_the_card_once(preset: str) -> None:
    sizes = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}
    model = build_model(model_config("rnnsearch", preset, 50, 50, **sizes)).to("card")
    recipe = Recipe(precision="fp32", accumulation=2, teacher_forcing="linear")
    update = updater(model, recipe)
    progress = Progress()
    for _ in range(2):
        before = count["waits"]
        update(pairs(), progress)
        assert count["waits"] - before == 1
    assert progress.loss > 0


def updater(model: RNNsearch, recipe: Recipe) -> Updater:
    accelerator = make_accelerator()
    assert accelerator.device.type == "card"
    trainer, optimiser = accelerator.prepare(model, make_optimiser(model.parameters(), recipe))
    return Updater(accelerator, trainer, optimiser, recipe, total_steps=10)


@pytest.fixture
def no_card(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From then on the card is not there."""

    def take_out() -> None:
        AcceleratorState._reset_state(reset_partial_state=True)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
        monkeypatch.setattr(PartialState, "default_device", torch.device("cpu"))

    return take_out


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with dropout, trained on the card."""
    out = tmp_path_factory.mktemp("card") / "run"
    train(CONFIG, corpus(), out, quiet=False)
    return out


def corpus() -> Any:
    return load_corpus("copy", "tokens", **CONFIG.corpus_options)


def test_a_run_resumed_on_the_card_is_the_undisturbed_one(trained: Path, tmp_path: Path) -> None:
    """Its dropout is drawn by the card, whose generator is kept, and no estimate moves it."""
    train_until(4, CONFIG, corpus(), tmp_path / "run")
    torch.manual_seed(1234)
    train(CONFIG, corpus(), tmp_path / "run", resume=True, quiet=True)
    assert outcome(tmp_path / "run") == outcome(trained)


def test_a_run_begun_on_the_card_is_finished_where_none_is(
    tmp_path: Path, no_card: Callable[[], None]
) -> None:
    train_until(4, CONFIG, corpus(), tmp_path / "run")
    no_card()
    assert train(CONFIG, corpus(), tmp_path / "run", resume=True, quiet=True).finished
    assert load_run(tmp_path / "run").model.decoder.E.weight.device.type == "cpu"


def test_a_run_is_scored_on_the_card_and_says_so(trained: Path) -> None:
    assert load_run(trained).model.decoder.E.weight.device.type == "card"
    assert finish_run(trained, corpus(), beam=3)["device"].endswith("(CARD)")


def test_the_widgets_draw_a_model_that_is_on_the_card() -> None:
    card, cpu = load_run(GIVEN), load_run(GIVEN, "cpu")
    assert card.model.decoder.E.weight.device.type == "card"
    words = json.loads((GIVEN.parent / "held_out.json").read_text(encoding="utf-8"))
    sentence = words["sentences"][0]["source"]
    drawn, expected = (AttentionStepper(run, sentence).sentences[0] for run in (card, cpu))
    [[one], [other]] = (each["models"] for each in (drawn, expected))
    assert one["target"] == other["target"]
    for name in ("alpha", "energies"):
        numbers = (torch.tensor(x[name]) for x in (one, other))
        torch.testing.assert_close(*numbers, rtol=0, atol=1e-3)
    trees = [BeamTree.of(run, sentence, (2,), (1.0,)).searches[0]["nodes"] for run in (card, cpu)]
    one, other = ([word for _, _, word, *_ in nodes] for nodes in trees)
    assert one == other


def test_an_answer_on_the_card_gets_its_verdict() -> None:
    values = {"x": torch.rand(2, 3).numpy(), "W": torch.rand(4, 3).numpy()}

    def right(x: Tensor, W: Tensor) -> Tensor:
        return torch.tanh(x.to("card") @ W.to("card").T)

    probing.slopes(right, ("result",), values, ("x", "W"))
    with pytest.raises(Exception, match="is not how fast"):
        probing.slopes(lambda x, W: right(x.detach(), W) + 0 * x.sum().to("card"),
                       ("result",), values, ("x", "W"))  # fmt: skip


def test_an_assignment_draws_translates_and_grades_on_the_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chapter 8's, whose model is put on the CPU; here it is not."""
    monkeypatch.chdir(GIVEN.parent)
    namespace: dict[str, Any] = {}
    for cell in source("heatmap_analysis").cells:
        if cell.cell_type == "code":
            exec(str(cell.source).replace(', "cpu")', ")"), namespace)
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "first_picture":
                break
    run = namespace["run"]
    assert run.model.decoder.E.weight.device.type == "card"
    expected = forced_weights(load_run(GIVEN, "cpu").model, *run.words, namespace["pairs"])
    for one, other in zip(namespace["weights"], expected, strict=True):
        assert abs(one - other).max() < 1e-4
