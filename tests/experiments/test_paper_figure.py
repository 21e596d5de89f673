"""The recorder of BLEU against length: what it trains, what it counts, what it refuses."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.python_docs import Prepared, TextPair
from course_lib.corpora.restructured_text import Plain
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import bleu_by_length, bleu_tok
from course_lib.models import build_model, count_parameters
from course_lib.training import train
from experiments import recording
from experiments.__main__ import load, main, recorders
from experiments.transformer import TransformerConfig, build_transformer

SMALL = {"subwords": 150, "epochs": 1, "batch_size": 16, "warmup": 2}
HYPOTHESES = [f"the cat sat on the mat and saw {i} mice today".split() for i in range(40)]
REFERENCES = [f"the cat sat on a mat and saw {i // 2} mice".split() for i in range(40)]
LENGTHS = [1 + (7 * i) % 60 for i in range(40)]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The recorder on a small text of a clean commit, its runs in a folder of the test's own."""
    module = load(recorders()["paper-figure"])
    toy = load_corpus("toy", "en-de", train=32, val=4, test=12)
    test = toy.splits["test"]
    pairs = [
        TextPair("a.po", Plain(" ".join(s), []), Plain(" ".join(t), []))
        for s, t in zip(test.source, test.target, strict=True)
    ]
    monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(module, "corpus", lambda: toy)
    monkeypatch.setattr(module, "prepare", lambda: Prepared({"test": pairs}, {}))
    monkeypatch.setattr(module, "EXAMPLES", (len(test.source[0]),))
    monkeypatch.setattr(module, "BEAM", 1)
    monkeypatch.setattr(module, "train", partial(train, quiet=True))
    for place in (module, "course_lib.training.run_directory"):
        name = f"{place}.git_commit" if isinstance(place, str) else "git_commit"
        target = (name,) if isinstance(place, str) else (module, name)
        monkeypatch.setattr(*target, lambda: "c0ffee")
    return module


def test_bleu_of_summed_counts_is_sacrebleus(recorder: ModuleType) -> None:
    rows = recorder.counts(HYPOTHESES, REFERENCES)
    assert float(recorder.bleu(rows.sum(axis=0))) == pytest.approx(
        bleu_tok(HYPOTHESES, REFERENCES).score
    )
    found = recorder.by_length([rows], LENGTHS)
    expected = bleu_by_length(HYPOTHESES, REFERENCES, LENGTHS, recorder.EDGES)
    assert [row["mean"] for row in found[:-1]] == pytest.approx(
        [row["bleu_tok"] for row in expected]
    )
    assert [row["sentences"] for row in found[:-1]] == [row["sentences"] for row in expected]
    assert found[-1]["sentences"] == len(LENGTHS)


def test_the_interval_is_of_the_mean_and_narrows_with_more_sentences(recorder: ModuleType) -> None:
    rows = recorder.counts(HYPOTHESES, REFERENCES)
    worse = recorder.counts([words[2:] for words in HYPOTHESES], REFERENCES)
    (row,) = recorder.by_length([rows, worse], [5] * 40)[:1]
    assert row["mean"] == pytest.approx(sum(row["bleu_tok"]) / 2)
    assert row["bleu_tok"][0] > row["bleu_tok"][1]
    low, high = row["interval"]
    assert low < row["mean"] < high
    many = recorder.by_length([np.tile(rows, (9, 1)), np.tile(worse, (9, 1))], [5] * 360)[0]
    assert many["mean"] == pytest.approx(row["mean"])
    assert (many["interval"][1] - many["interval"][0]) < 0.5 * (high - low)


def test_nothing_right_is_a_score_of_nought(recorder: ModuleType) -> None:
    assert recorder.bleu(np.array([0, 0, 0, 0, 4, 3, 2, 1, 4, 4])) == 0
    assert recorder.bleu(np.zeros(10)) == 0


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("a b , c d e", "a b ,"),
        ("a , b c d e f g , h", "a , b c d"),  # no mark within the middle half
        ("a b c d . e f , g h", "a b c d ."),
        ("a b c", "a b"),
        ("a", "a"),
    ],
)
def test_halves_are_the_sentence_cut_near_its_middle(
    recorder: ModuleType, source: str, first: str
) -> None:
    halves = recorder.halved(source.split())
    assert halves[0] == first.split()
    assert halves[0] + halves[1] == source.split()


def losses(recorder: ModuleType, monkeypatch: pytest.MonkeyPatch, best: float) -> list[str]:
    """Trainings are only named; val's loss grows with the distance of the rate from `best`."""
    names: list[str] = []

    def trained(name: str, config: Any) -> Path:
        names.append(name)
        return Path(name)

    def validations(path: Path) -> dict[str, Any]:
        rate, dropout = re.findall(r"(?:rate|dropout)-([0-9.]+(?:e-[0-9]+)?)", path.name)
        distance = abs(np.log(float(rate) / best))
        return {"val_loss": distance + 0.1 * float(dropout), "val_bleu": 0.0}

    monkeypatch.setattr(recorder, "trained", trained)
    monkeypatch.setattr(recorder, "validations", validations)
    monkeypatch.setattr(
        recorder, "origin", lambda paths: {"git_commit": "c0ffee", "changes": {}, "recipe": {}}
    )
    return names


@pytest.mark.parametrize(("best", "rates"), [(4e-3, 4), (2e-3, 5), (5e-4, 7), (16e-3, 5)])
def test_rates_are_tried_until_the_best_has_one_on_either_side(
    recorder: ModuleType, monkeypatch: pytest.MonkeyPatch, best: float, rates: int
) -> None:
    names = losses(recorder, monkeypatch, best)
    ((name, record),) = recorder.tuning("rnnsearch")
    assert name == "paper-figure-tuning-rnnsearch"
    assert record["chosen"] == {"learning_rate": best, "dropout": min(recorder.DROPOUTS)}
    assert len(names) == len(set(names)) == len(record["rows"]) == rates * 2
    recorder.check_tuning("rnnsearch", record)
    record["chosen"]["dropout"] = max(recorder.DROPOUTS)
    with pytest.raises(AssertionError):
        recorder.check_tuning("rnnsearch", record)


@pytest.mark.parametrize("model", ["rnnsearch", "transformer"])
def test_a_part_trains_what_is_missing_and_records_it_whole(
    model: str, recorder: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = SMALL if model == "transformer" else {**SMALL, "embedding": 8, "hidden": 8}
    chosen = {**small, "learning_rate": 1e-3, "dropout": 0.1}
    monkeypatch.setattr(recorder, "SEEDS", (0, 1))
    monkeypatch.setattr(recorder, "EPOCHS", 1)
    monkeypatch.setattr(recorder, "read_record", lambda name: {"chosen": chosen})
    monkeypatch.setattr(recorder, "LEAST", 1)
    lengths = sorted(len(source) for source in recorder.corpus().splits["test"].source)
    monkeypatch.setattr(recorder, "EDGES", (lengths[-1],))
    ((name, record),) = recorder.seeds(model)
    assert name == f"paper-figure-{model}"
    recorder.check_scores(record, 2)
    assert chosen.items() <= record["changes"].items()
    assert record["examples"][0]["translation"]
    assert record["parameters"] > 0
    files = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.safetensors")}
    assert len(list((tmp_path / "runs").rglob("hypotheses.test.txt"))) == 2
    ((_, again),) = recorder.seeds(model)
    assert again == record
    assert {p: p.stat().st_mtime_ns for p in files} == files
    ((_, halved),) = recorder.halves(model)
    assert halved["whole"] == record["by_length"]
    assert halved["by_length"][-1]["sentences"] == record["by_length"][-1]["sentences"]
    monkeypatch.setattr(recorder, "git_commit", lambda: "c0ffee-dirty")
    with pytest.raises(CourseError, match="Commit first"):
        next(recorder.seeds(model))


def test_runs_of_two_commits_make_no_record(
    recorder: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    config: Callable[[Path], dict[str, Any]] = recorder.config_file
    paths = []
    for seed in (0, 1):
        changes = {**SMALL, "embedding": 8, "hidden": 8}
        paths.append(
            recorder.trained(f"one/{seed}", recorder.config_of("rnnsearch", seed, **changes))
        )
    assert recorder.origin(paths)["git_commit"] == "c0ffee"
    other = {paths[1]: "another"}
    monkeypatch.setattr(
        recorder,
        "config_file",
        lambda path: {**config(path), "git_commit": other.get(path, "c0ffee")},
    )
    with pytest.raises(CourseError, match="2 commits"):
        recorder.origin(paths)


def test_the_three_models_are_of_about_one_size(recorder: ModuleType) -> None:
    sizes = {}
    for model in recorder.MODELS:
        config = recorder.config_of(model, 0).model_config(3000, 3000)
        build = build_transformer if isinstance(config, TransformerConfig) else build_model
        sizes[model] = count_parameters(build(config, 0))
    assert sizes["transformer"] == pytest.approx(sizes["rnnsearch"], rel=0.02)
    assert sizes["rnnencdec"] == pytest.approx(sizes["rnnsearch"], rel=0.2)


def test_runs_lie_where_it_is_said_and_else_in_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load(recorders()["paper-figure"])
    assert module.runs().parts[-2:] == ("runs", "paper-figure")
    assert module.runs().is_absolute()
    monkeypatch.setattr(recording, "RUNS", recording.RUNS)
    assert main(["--runs", str(tmp_path / "mine"), "paper-figure", "nothing"]) == 2
    assert "no part" in capsys.readouterr().err
    assert load(recorders()["paper-figure"]).runs() == tmp_path / "mine" / "paper-figure"
