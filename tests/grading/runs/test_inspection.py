"""Runs that are handed in: honest ones pass whatever rounded them, tampered ones are found out."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from course_lib.assignments import inspection, owner
from course_lib.corpora import own
from course_lib.corpora.own import own_corpus
from course_lib.errors import CourseError
from course_lib.evaluation.score import measured
from course_lib.grading.runs import boxed_inspection, comparison
from course_lib.grading.runs.comparison import Unavailable, inspect
from course_lib.search import translate
from course_lib.training import load_run
from tests.conftest import ROOT
from tests.grading.runs.handed_in import (
    BOTH,
    NAME,
    STUDENT,
    Change,
    corpus,
    edit_config,
    edit_json,
    edit_metrics,
    edit_result,
    lines,
    problems,
    references,
    rescore,
    set_weights,
    write_lines,
)


def test_an_honest_pair_has_no_problem_and_its_scores_are_those_it_reports(folder: Path) -> None:
    found = inspect(folder, " Reference ")
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    for model in BOTH:
        result = json.loads((folder / "comparison" / model / "result.json").read_text())
        score = found["facts"]["runs"][model]["score"]
        assert score["bleu_tok"] == pytest.approx(result["scores"]["test"]["bleu_tok"])
        assert score["short"]["sentences"] > 5
        assert score["long"]["sentences"] > 5
        assert found["facts"]["runs"][model]["curve"] == result["metrics"]
    assert found["facts"]["units"].keys() == set(BOTH)
    assert [remark for remark in found["remarks"] if "not verifiable" in remark]


ROUNDINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "bfloat16": lambda value: value.bfloat16().float(),
    "float16": lambda value: value.half().float(),
    "one part in a thousand": lambda value: value * (1 + 1e-3 * torch.randn_like(value)),
}


@pytest.mark.parametrize("rounding", [*ROUNDINGS, "float64"])
def test_another_rounding_is_not_accused(folder: Path, rounding: str) -> None:
    """The scores are those of a machine that rounds otherwise than the one that checks them."""
    for model in BOTH:
        run = folder / "comparison" / model
        loaded = load_run(run)
        torch.manual_seed(3)
        with torch.no_grad():
            if rounding == "float64":
                loaded.model.double()
            else:
                for parameter in loaded.model.parameters():
                    parameter.copy_(ROUNDINGS[rounding](parameter))
        sources = [loaded.source_vocabulary.encode(x) for x in corpus().splits["test"].source]
        found = translate(loaded.model, sources, k=3, batch_size=13)
        write_lines(run, [" ".join(loaded.target_vocabulary.decode(h.tokens)) for h in found])
        edit_metrics(run, -1, val_loss=json.loads(last_row(run))["val_loss"] + 1e-4)
        rescore(run)
    assert problems(folder) == {}


def test_what_an_editor_does_to_a_text_is_no_change(folder: Path) -> None:
    """It may put a mark of order first, and end lines as Windows does."""
    for model in BOTH:
        run = folder / "comparison" / model
        for path in (run / "metrics.jsonl", run / "result.json", run / "config.yaml"):
            text = path.read_bytes().replace(b"\n", b"\r\n")
            path.write_bytes(b"\xef\xbb\xbf" + text)
    assert problems(folder) == {}


def last_row(run: Path) -> str:
    return (run / "metrics.jsonl").read_text().splitlines()[-1]


SCORES, CURVES, RECIPE, OWN = {"scores"}, {"curves"}, {"recipe"}, {"translations"}
ALL = {"files", "recipe", "scores", "curves", "translations"}
ON_WEIGHTS = ALL - {"scores"}
TAMPERED: list[tuple[Change, set[str], str]] = []
"""What is done to the pair, the parts that see it, and what is said."""


def seen_by(parts: set[str], said: str) -> Callable[[Change], Change]:
    def add(change: Change) -> Change:
        TAMPERED.append((change, parts, said))
        return change

    return add


@seen_by(SCORES, "reports bleu_tok = 61.50; its translations give")
def invented_bleu(place: Path) -> None:
    edit_json(
        place / "rnnsearch/result.json",
        lambda result: result["scores"]["test"].update(bleu_tok=61.5),
    )


@seen_by(SCORES, "bleu_tok of long = 61.50")
def invented_long(place: Path) -> None:
    edit_json(
        place / "rnnsearch/result.json",
        lambda result: result["scores"]["test"]["long"].update(bleu_tok=61.5),
    )


@seen_by(SCORES, "bleu_detok")
def invented_detok(place: Path) -> None:
    edit_json(
        place / "rnnencdec/result.json",
        lambda result: result["scores"]["test"].update(bleu_detok=1.5 + 30),
    )


@seen_by(SCORES, "number of parameters")
def other_parameters(place: Path) -> None:
    edit_result(place / "rnnencdec", parameters=7_912_371)


@seen_by({"scores", "translations"}, "could not be checked")
def wrong_types(place: Path) -> None:
    edit_result(place / "rnnsearch", scores=[1, 2, 3])


@seen_by(SCORES, "could not be checked")
def text_for_numbers(place: Path) -> None:
    edit_json(
        place / "rnnsearch/result.json",
        lambda result: result["scores"]["test"].update(bleu_tok="good", short=None),
    )


@seen_by(OWN, "of its lines are the model's")
def half_edited(place: Path) -> None:
    text = lines(place / "rnnsearch")
    write_lines(place / "rnnsearch", [*references()[:30], *text[30:]])
    rescore(place / "rnnsearch")


@seen_by(OWN, "where the model has")
def references_copied(place: Path) -> None:
    write_lines(place / "rnnsearch", references())
    rescore(place / "rnnsearch")


@seen_by(OWN, "of its lines are the model's")
def other_runs_translations(place: Path) -> None:
    write_lines(place / "rnnsearch", lines(place / "rnnencdec"))
    rescore(place / "rnnsearch")


@seen_by(OWN, "comparison/rnnsearch/hypotheses.test.txt")
def other_order(place: Path) -> None:
    text = lines(place / "rnnsearch")
    write_lines(place / "rnnsearch", [*text[1:], text[0]])
    rescore(place / "rnnsearch")


@seen_by({"curves", "translations"}, "of the weights that were handed in")
def noise_in_the_weights(place: Path) -> None:
    torch.manual_seed(0)
    set_weights(place / "rnnsearch", lambda value: value + 0.3 * torch.randn_like(value))


@seen_by({"files"}, "are swapped")
def swapped_folders(place: Path) -> None:
    (place / "rnnsearch").rename(place / "aside")
    (place / "rnnencdec").rename(place / "rnnsearch")
    (place / "aside").rename(place / "rnnencdec")


@seen_by(OWN, "of its lines are the model's")
def swapped_translations(place: Path) -> None:
    first, second = (lines(place / model) for model in BOTH)
    write_lines(place / "rnnencdec", second)
    write_lines(place / "rnnsearch", first)
    for model in BOTH:
        rescore(place / model)


@seen_by(ALL, "comparison/rnnencdec holds a run of rnnsearch")
def same_run_twice(place: Path) -> None:
    shutil.rmtree(place / "rnnencdec")
    shutil.copytree(place / "rnnsearch", place / "rnnencdec")


@seen_by(ON_WEIGHTS, "weights of another model")
def other_weights(place: Path) -> None:
    shutil.copy(place / "rnnsearch/model.safetensors", place / "rnnencdec/model.safetensors")


@seen_by(RECIPE, "trained with seed 1; the seed of reference is")
def other_seed(place: Path) -> None:
    for model in BOTH:
        edit_config(place / model, seed=1)
        edit_result(place / model, seed=1)


@seen_by(RECIPE, "differ in more than the context: recipe")
def longer_training(place: Path) -> None:
    recipe = yaml.safe_load((place / "rnnsearch/config.yaml").read_text())["recipe"]
    edit_config(place / "rnnsearch", recipe=recipe | {"label_smoothing": 0.3})


@seen_by(RECIPE, "differ in more than the context: changes")
def more_dropout(place: Path) -> None:
    changes = yaml.safe_load((place / "rnnsearch/config.yaml").read_text())["changes"]
    edit_config(place / "rnnsearch", changes=changes | {"dropout": 0.5})
    edit_result(place / "rnnsearch", changes=changes | {"dropout": 0.5})


@seen_by(RECIPE, "the checksums differ")
def other_data(place: Path) -> None:
    for model in BOTH:
        edit_config(place / model, corpus_sha256={"generator": "0" * 64})


@seen_by(CURVES, "nats below that of the weights")
def lower_best(place: Path) -> None:
    row = json.loads(last_row(place / "rnnsearch"))
    edit_metrics(place / "rnnsearch", -1, val_loss=row["val_loss"] - 0.5)


@seen_by(CURVES, "is written down with BLEU 55.00")
def higher_best_bleu(place: Path) -> None:
    best = json.loads((place / "rnnsearch/result.json").read_text())["best_epoch"]
    edit_metrics(place / "rnnsearch", best - 1, val_bleu=55.0)


@seen_by(CURVES, "validations; this recipe ends after")
def fewer_validations(place: Path) -> None:
    path = place / "rnnsearch/metrics.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))


@seen_by(CURVES, "line 1: epoch or step")
def steps_renumbered(place: Path) -> None:
    edit_metrics(place / "rnnsearch", 0, step=10)


@seen_by(CURVES, "best_val_loss in result.json")
def curve_and_result_disagree(place: Path) -> None:
    edit_result(place / "rnnencdec", best_val_loss=0.5)


@seen_by({"files", "curves"}, "contains NaN")
def nan_in_the_curve(place: Path) -> None:
    path = place / "rnnsearch/metrics.jsonl"
    path.write_text(path.read_text().replace('"val_bleu": ', '"val_bleu": NaN, "was": ', 1))


@seen_by(CURVES, "not the six numbers")
def infinite_curve(place: Path) -> None:
    path = place / "rnnsearch/metrics.jsonl"
    path.write_text(path.read_text().replace('"train_loss": ', '"train_loss": 1e999, "was": ', 1))


@seen_by(ALL, "began with the weights of another run")
def begun_elsewhere(place: Path) -> None:
    edit_config(place / "rnnsearch", init_from={"run": "longer", "sha256": "0" * 64})


@seen_by(ALL, "comparison/rnnencdec/config.yaml is missing")
def only_one_run(place: Path) -> None:
    shutil.rmtree(place / "rnnencdec")


@seen_by(ALL, "comparison/rnnsearch/config.yaml is missing")
def nothing_at_all(place: Path) -> None:
    shutil.rmtree(place)


@seen_by(ON_WEIGHTS, "not opened in any other way")
def truncated(place: Path) -> None:
    path = place / "rnnsearch/model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


@seen_by(ON_WEIGHTS, "no finite numbers")
def nan_weights(place: Path) -> None:
    set_weights(place / "rnnsearch", lambda value: value * float("nan"))


@seen_by(ON_WEIGHTS, "has 101 MB")
def huge_file(place: Path) -> None:
    with (place / "rnnsearch/model.safetensors").open("r+b") as file:
        file.truncate(101 * 1024**2)


@seen_by({"files", "curves"}, "more than a file of a run has")
def huge_text(place: Path) -> None:
    with (place / "rnnsearch/metrics.jsonl").open("r+b") as file:
        file.truncate(2 * 1024**2)


@seen_by({"files", "scores", "curves", "translations"}, "is not a plain file")
def linked(place: Path) -> None:
    (place / "rnnsearch/result.json").unlink()
    (place / "rnnsearch/result.json").symlink_to("/etc/hostname")


@seen_by({"files", "scores", "curves", "translations"}, "is not a plain file")
def folder_for_a_file(place: Path) -> None:
    (place / "rnnsearch/result.json").unlink()
    (place / "rnnsearch/result.json").mkdir()


@seen_by({"files", "scores", "curves", "translations"}, "cannot be read as JSON")
def deep_json(place: Path) -> None:
    (place / "rnnsearch/result.json").write_text("[" * 100_000)


@seen_by({"files", "scores", "curves", "translations"}, "is not text")
def no_text(place: Path) -> None:
    (place / "rnnsearch/result.json").write_bytes(b"\xff\xfe\x00")


@seen_by(ALL, "cannot be read as YAML")
def yaml_that_builds_objects(place: Path) -> None:
    path = place / "rnnsearch/config.yaml"
    path.write_text(path.read_text() + "x: !!python/object/apply:os.system ['touch /tmp/caught']\n")


@seen_by(ALL, "cannot be read as YAML")
def yaml_that_explodes(place: Path) -> None:
    nested = "".join(f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 9)}]\n" for i in range(1, 12))
    path = place / "rnnsearch/config.yaml"
    path.write_text(path.read_text() + "k0: &k0 [lol]\n" + nested)


@seen_by(ALL, "too large")
def enormous_model(place: Path) -> None:
    changes = yaml.safe_load((place / "rnnsearch/config.yaml").read_text())["changes"]
    edit_config(place / "rnnsearch", changes=changes | {"hidden": 200_000})


@seen_by(ALL - {"files"}, "too many here")
def endless_corpus(place: Path) -> None:
    for model in BOTH:
        changes = yaml.safe_load((place / model / "config.yaml").read_text())["changes"]
        edit_config(place / model, changes=changes | {"corpus.train": 10**9})


@seen_by(ON_WEIGHTS, "does not hold the words")
def foreign_words(place: Path) -> None:
    def change(sides: Any) -> None:
        sides["source"][50] = 7

    edit_json(place / "rnnsearch/vocabulary.json", change)


@pytest.mark.parametrize(
    ("change", "parts", "said"), TAMPERED, ids=[change.__name__ for change, _, _ in TAMPERED]
)
def test_what_was_tampered_with_is_found_and_named(
    folder: Path, change: Change, parts: set[str], said: str
) -> None:
    change(folder / "comparison")
    found = problems(folder)
    assert found.keys() == parts, found
    assert any(said in one for part in found.values() for one in part), found


@pytest.mark.parametrize("file", inspection.INSPECTORS[NAME].files())
def test_a_part_that_rests_on_a_missing_file_gets_no_points_and_is_told_which(
    folder: Path, file: str
) -> None:
    resting = {part for part in ALL if file in inspection.INSPECTORS[NAME].files(part)}
    [path] = folder.glob(file)
    path.unlink()
    # a student is told the same where they work
    assert {part for part in ALL if inspection.missing(NAME, folder, part)} == resting
    found = problems(folder)
    assert found.keys() == resting
    for part in resting - {"files"}:
        assert f"{file} is missing or cannot be used. Let the training come" in found[part][0]
    assert f"{path.relative_to(folder)} is missing." in found["files"][0]


def test_a_changed_middle_of_a_curve_is_not_claimed_to_be_checked(folder: Path) -> None:
    run = folder / "comparison/rnnsearch"
    row = json.loads((run / "metrics.jsonl").read_text().splitlines()[1])
    edit_metrics(run, 1, val_loss=row["val_loss"] + 0.01, val_bleu=0.0)
    found = inspect(folder, STUDENT)
    assert not any(found["facts"]["problems"].values())
    assert "others are not verifiable" in " ".join(found["remarks"])


def test_another_students_runs_are_not_this_students(folder: Path) -> None:
    found = problems(folder, student="bela")
    assert found.keys() == {"recipe"}
    assert f"the seed of bela is {owner.seed('bela')}" in found["recipe"][0]


def test_another_students_runs_under_an_edited_seed_are_noticed_by_their_weights(
    folder: Path,
) -> None:
    for model in BOTH:
        for edit in (edit_config, edit_result):
            edit(folder / "comparison" / model, seed=owner.seed("bela"))
    found = problems(folder, student="bela")
    assert found.keys() == {"recipe"}
    assert "the weights did not begin as the seed" in found["recipe"][0]
    # torch may draw otherwise in another version: then it is a remark, and costs nothing
    for model in BOTH:
        edit_result(folder / "comparison" / model, versions={"torch": "2.3.0"})
    found = inspect(folder, "bela")
    assert not any(found["facts"]["problems"].values())
    assert any("did not begin" in remark for remark in found["remarks"])


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    caught = tmp_path / "caught"

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch {caught}",)

    for name in ("model.safetensors", "result.json", "vocabulary.json"):
        (folder / "comparison/rnnsearch" / name).write_bytes(pickle.dumps(Hostile()))
    torch.save({"x": Hostile()}, folder / "comparison/rnnencdec/model.safetensors")
    found = problems(folder)
    assert "files" in found
    assert not caught.exists()


def test_the_whole_runs_boxed_in_and_leaves_its_findings_to_be_read(folder: Path) -> None:
    boxed_inspection.keep({"facts": {}}, folder, NAME, "somebody")
    found = boxed_inspection.inspect(ROOT, NAME, folder, STUDENT, boxed=True)
    assert found is not None
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    assert inspection.facts(folder) == found["facts"]
    assert os.stat(folder / inspection.FILE).st_mode & 0o222 == 0
    assert not list(folder.rglob("*.safetensors"))
    assert inspection.facts(folder / "comparison") is None
    assert boxed_inspection.inspect(ROOT, "attention_by_hand", folder, STUDENT, boxed=True) is None


def test_without_walls_it_says_the_same_and_what_ends_early_is_defined(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boxed_inspection, "WALL_SECONDS", 0.01)
    found = boxed_inspection.inspect(ROOT, NAME, folder, STUDENT, boxed=False)
    assert found is not None
    assert set(found["facts"]["problems"]) == ALL
    assert "took longer" in found["remarks"][0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden": 8}, "hidden is under 24"),
        ({"corpus.train": 100}, "fewer than 800 pairs"),
        ({"tying": "output"}, "another tying than the task's"),
        ({"optimiser": "adadelta"}, "another optimiser"),
    ],
)
def test_a_setting_that_the_task_does_not_offer_is_named(
    folder: Path, changes: dict[str, Any], said: str
) -> None:
    for model in BOTH:
        record = yaml.safe_load((folder / "comparison" / model / "config.yaml").read_text())
        edit_config(folder / "comparison" / model, changes=record["changes"] | changes)
    assert any(said in one for one in problems(folder)["recipe"])


@pytest.mark.parametrize("preset", ["laptop", "smoke", "paper"])
def test_other_presets_are_not_the_tasks(folder: Path, preset: str) -> None:
    for model in BOTH:
        edit_config(folder / "comparison" / model, preset=preset)
    assert any(f"preset {preset}" in one for one in problems(folder)["recipe"])


def test_a_few_better_lines_earn_nothing(folder: Path) -> None:
    """No more lines are swapped than rounding could change, but they are worth more."""
    run = folder / "comparison" / "rnnsearch"
    write_lines(run, [*references()[:5], *lines(run)[5:]])
    rescore(run)
    found = problems(folder)
    assert found.keys() == OWN
    assert "92 % of its lines are the model's, and they score" in found["translations"][0]


def test_a_machine_without_the_corpus_says_so_and_accuses_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in BOTH:
        edit_config(folder / "comparison" / model, corpus="multi30k", changes={})
    monkeypatch.setattr("course_lib.grading.runs.comparison.locate", lambda name: None)
    with pytest.raises(Unavailable, match="course corpus fetch multi30k"):
        inspect(folder, STUDENT)


@pytest.fixture
def ours(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text of the instructor's, and the pair as if a student had trained it on that text.

    It holds the tokens that the pair was trained on, so weights and words are the same.
    """
    monkeypatch.setattr(own, "cache_folder", lambda: tmp_path / "cache")
    text = tmp_path / "texts" / "ours"
    text.mkdir(parents=True)
    for split, part in corpus().splits.items():
        for language, side in (("xx", part.source), ("yy", part.target)):
            both = "".join(" ".join(words) + "\n" for words in side)
            (text / f"{split}.{language}").write_text(both, encoding="utf-8")
    read = own_corpus(str(text), "xx-yy", tokenized=True)
    for model in BOTH:
        run = folder / "comparison" / model
        record = yaml.safe_load((run / "config.yaml").read_text())
        changes = {k: v for k, v in record["changes"].items() if not k.startswith("corpus.")}
        said = {"corpus": r"C:\Users\Ada\ours", "pair": "xx-yy", "corpus_sha256": read.sha256}
        said |= {"changes": {**changes, "corpus.tokenized": True}}
        edit_config(run, **said)
        edit_result(run, **said)
        score = measured([line.split() for line in lines(run)], read, "test")
        edit_json(run / "result.json", lambda x, score=score: x["scores"]["test"].update(score))
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.ComparedRuns.corpus, c.ComparedRuns.pair = "texts/ours", "xx-yy"\n'
    )
    return text


def test_a_text_that_the_instructor_names_may_be_compared_on(
    folder: Path, ours: Path, tmp_path: Path
) -> None:
    """Wherever it lay when the student trained."""
    [refused, *_] = problems(folder)["recipe"]
    assert "was trained on ours xx-yy; the task is multi30k en-de or toy en-de" in refused
    boxed_inspection.prepare(tmp_path, NAME, [folder])
    found = boxed_inspection.inspect(tmp_path, NAME, folder, STUDENT, boxed=True)
    assert found is not None
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    [remark] = found["remarks"]
    assert remark.startswith("Compared on ours xx-yy, preset")
    assert "Ada" not in remark  # a path may name the student
    for model in BOTH:
        result = json.loads((folder / "comparison" / model / "result.json").read_text())
        score = found["facts"]["runs"][model]["score"]
        assert score["bleu_tok"] == pytest.approx(result["scores"]["test"]["bleu_tok"])


def test_another_text_than_the_instructors_is_found_out(folder: Path, ours: Path) -> None:
    named = (str(ours), "xx-yy")
    first = (ours / "train.yy").read_text(encoding="utf-8")
    (ours / "train.yy").write_text("und " + first, encoding="utf-8")
    found = inspect(folder, STUDENT, named)
    assert any("was trained on other data" in one for one in found["facts"]["problems"]["recipe"])


def test_a_text_that_cannot_be_used_stops_the_class_before_it_begins(
    folder: Path, ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ((own, "IN_MEMORY", 100), (comparison, "MOST_SENTENCES", {"val": 9}))
    for module, name, least in limits:
        with monkeypatch.context() as patched:
            patched.setattr(module, name, least)
            with pytest.raises(CourseError, match="Take fewer"):
                boxed_inspection.prepare(tmp_path, NAME, [folder])
    (ours / "train.yy").unlink()
    with pytest.raises(CourseError, match=r"train\.xx and train\.yy"):
        boxed_inspection.prepare(tmp_path, NAME, [folder])


def test_multi30k_may_be_named_with_another_pair(folder: Path) -> None:
    for model in BOTH:
        edit_config(folder / "comparison" / model, corpus="multi30k", pair="en-fr", changes={})
    assert "the task is" in problems(folder)["recipe"][0]
    found = inspect(folder, STUDENT, ("toy", "de-en"))
    assert "or toy de-en" in found["facts"]["problems"]["recipe"][0]
