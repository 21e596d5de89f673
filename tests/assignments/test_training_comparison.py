"""The assignment `training_comparison`: what the proof of its variants does not cover."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from course_lib.assignments import inspection, owner
from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import disagreements, hand_in, read_class
from course_lib.grading.handing_in import packing
from course_lib.grading.handing_in.packing import pack_submission
from course_lib.grading.running.classroom import grade_class
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.runs.comparison import check_offered
from course_lib.grading.sources.project import load_config, source_of
from course_lib.grading.sources.release import (
    HANDED_IN,
    differences,
    generate,
    handed_in,
)
from course_lib.training import compared_configs, parse_changes
from tests.assignments.cells import ROOT, source, text_of

NAME = "training_comparison"
SOURCE = source(NAME)
RUNS = ROOT / "solutions" / NAME / HANDED_IN


def test_who_is_graded_gets_what_they_deserve_and_the_same_file_is_named(tmp_path: Path) -> None:
    submitted = tmp_path / "submitted"
    released = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    chosen = {"reference", "blank", "pickler"}
    declared = [student for student in read_class(ROOT, NAME) if student.name in chosen]
    hand_in(ROOT, NAME, released, submitted, declared)
    result = grade_class(ROOT, NAME, submitted=submitted, jobs=2)
    assert disagreements(result, declared) == []
    assert result.complete
    remarks = {report.student: "\n".join(report.remarks) for report in result.reports}
    assert "comparison/rnnsearch/model.safetensors is damaged" in remarks["pickler"]
    same = "comparison/rnnencdec/model.safetensors is byte for byte the file of {}."
    assert same.format("pickler") in remarks["reference"]
    assert same.format("reference") in remarks["pickler"]
    assert "There is no comparison/rnnencdec/config.yaml" in remarks["blank"]
    assert "not verifiable" in remarks["reference"]
    page = tmp_path / "feedback" / "pickler" / NAME / f"{NAME}.html"
    assert "model.safetensors is damaged" in page.read_text(encoding="utf-8")
    assert not list((tmp_path / "autograded").rglob("*.safetensors"))
    assert not list(tmp_path.rglob(HANDED_IN))


def test_each_setting_prints_a_command_that_the_library_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings: dict[str, str] = {}
    for setting in ("gpu", "cpu", "docs", "toy"):
        namespace = {"student_id": " Ada ", "setting": setting, "owner": owner}
        exec(text_of(SOURCE, "command"), namespace)
        words = capsys.readouterr().out.split()
        assert words[:2] == ["course", "compare"]
        options = dict(zip(words[2::2], words[3::2], strict=True))
        assert options["--seed"] == str(owner.seed("ada"))
        assert options["--out"] == inspection.FOLDER
        changes = parse_changes(
            [value for key, value in zip(words[2::2], words[3::2], strict=True) if key == "--set"]
        )
        configs = compared_configs(
            corpus=options["--corpus"],
            pair=options["--pair"],
            preset=options["--preset"],
            seed=owner.seed("ada"),
            changes=changes,
        )
        assert configs["rnnsearch"].recipe.epochs >= 4
        assert ("corpus.seed" in changes) == (setting in ("docs", "toy"))
        check_offered(setting, configs["rnnsearch"])
        settings[setting] = options["--corpus"]
        if setting == "toy":
            toy = load_corpus("toy", **{**configs["rnnsearch"].corpus_options, "train": 1})
            standard = load_corpus("toy", train=1, val=1, test=1)
            lengths = [len(source) for source in toy.splits["test"].source]
            assert toy.splits["test"].source[0] != standard.splits["test"].source[0]
            assert sum(length > 20 for length in lengths) >= 20
            assert sum(length < 10 for length in lengths) >= 20
    assert settings == {
        "gpu": "multi30k",
        "cpu": "multi30k",
        "docs": "python-docs",
        "toy": "toy",
    }


def test_what_the_solution_hands_in_is_in_no_release_and_a_students_runs_stay(
    tmp_path: Path,
) -> None:
    assert list(generate(ROOT, NAME)) == [f"{NAME}.ipynb", "AGENTS.md"]
    assert len(handed_in(source_of(ROOT, NAME))) == 12
    assert HANDED_IN in load_config(ROOT).CourseDirectory.ignore  # nor in what is given back
    for folder in (f"solutions/{NAME}", f"exercises/{NAME}"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(RUNS, tmp_path / "exercises" / NAME, dirs_exist_ok=True)
    assert differences(tmp_path, [NAME]) == {}


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder: the notebook, and runs as training leaves them."""
    shutil.copy(ROOT / "exercises" / NAME / f"{NAME}.ipynb", tmp_path)
    shutil.copytree(RUNS, tmp_path, dirs_exist_ok=True)
    for model in ("rnnencdec", "rnnsearch"):
        (tmp_path / "comparison" / model / "last.safetensors").write_bytes(b"optimiser")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_packed_is_what_the_inspection_wants_and_no_training_state(
    workplace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    package = pack_submission(workplace / f"{NAME}.ipynb", NAME)
    assert len(package.contents) == 13
    assert not [name for name in package.contents if "last" in name]
    unpacked = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(package.path) as archive:
        assert archive.namelist() == package.contents
        archive.extractall(unpacked)
    assert inspection.missing(unpacked) == []
    assert package.path.stat().st_size > 100_000


def test_what_is_not_there_or_too_much_is_said_in_a_line(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = workplace / f"{NAME}.ipynb"
    monkeypatch.setattr(packing, "LARGEST_DATA", 500_000)
    with pytest.raises(CourseError, match=r"1 MB together; 0 MB can be"):
        pack_submission(notebook, NAME)
    (workplace / "comparison/rnnsearch/result.json").unlink()
    with pytest.raises(CourseError, match=r"^There is no comparison/rnnsearch/result.json in /"):
        pack_submission(notebook, NAME)
    shutil.rmtree(workplace / "comparison")
    with pytest.raises(CourseError, match=r"and 11 more .* Train both models") as refused:
        pack_submission(notebook, NAME)
    assert "\n" not in str(refused.value)
    assert not (workplace / f"{NAME}.zip").exists()


def test_visible_tests_need_no_grader_and_say_what_to_do(workplace: Path) -> None:
    """On the student's machine nobody has inspected anything."""
    seed = owner.seed("reference")
    for part in ("files", "recipe", "scores", "curves", "translations"):
        visible = re.sub(
            r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS",
            "",
            text_of(SOURCE, f"runs_{part}"),
            flags=re.S,
        )
        exec(visible, {"student_id": "Reference"})
        with pytest.raises(AssertionError, match="student_id is still missing"):
            exec(visible, {"student_id": None})
    with pytest.raises(AssertionError, match="another seed than yours"):
        exec(text_of(SOURCE, "runs_recipe"), {"student_id": "bela"})
    config = workplace / "comparison/rnnsearch/config.yaml"
    assert f"seed: {seed}\n" in config.read_text()
    config.unlink()
    for part in ("files", "recipe"):
        with pytest.raises(AssertionError, match=r"rnnsearch/config.yaml. Train both models, to"):
            exec(text_of(SOURCE, f"runs_{part}"), {"student_id": "reference"})


def test_everybody_trains_on_sentences_of_their_own(workplace: Path) -> None:
    visible = text_of(SOURCE, "runs_recipe").split("### BEGIN HIDDEN TESTS")[0]
    configs = list(workplace.glob("comparison/*/config.yaml"))
    seed = owner.seed("bela")
    for config in configs:
        text = config.read_text().replace(f"seed: {owner.seed('reference')}", f"seed: {seed}")
        config.write_text(text)
    texts = {config: config.read_text() for config in configs}
    for corpus in ("toy", "python-docs"):
        for config, text in texts.items():
            config.write_text(text.replace("corpus: toy", f"corpus: {corpus}"))
        with pytest.raises(AssertionError, match="other sentences were trained on than yours"):
            exec(visible, {"student_id": "bela"})
        for config in configs:
            config.write_text(
                config.read_text().replace("  corpus.val", f"  corpus.seed: {seed}\n  corpus.val")
            )
        exec(visible, {"student_id": "bela"})


def test_the_class_is_prepared_only_where_somebody_used_the_corpus(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(boxed_inspection, "load_corpus", lambda name, pair: asked.append(name))
    boxed_inspection.prepare(ROOT, NAME, [workplace, workplace / "nobody"])
    boxed_inspection.prepare(ROOT, "attention_by_hand", [workplace])
    assert asked == []
    config = workplace / "comparison/rnnencdec/config.yaml"
    config.write_text(config.read_text().replace("corpus: toy", "corpus: multi30k"))
    boxed_inspection.prepare(ROOT, NAME, [workplace])
    assert asked == ["multi30k"]
    config.write_text(config.read_text().replace("corpus: multi30k", "corpus: python-docs"))
    boxed_inspection.prepare(ROOT, NAME, [workplace, workplace])
    assert asked == ["multi30k", "python-docs"]
