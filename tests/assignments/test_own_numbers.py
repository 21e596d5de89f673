"""A class with numbers of its own: one source for all that says them, and equal difficulty."""

import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from course_lib.assignments import checks, instances, owner, slips
from course_lib.assignments.checks import Refused
from course_lib.files import copy_files
from course_lib.grading.authoring.demonstration import Student, answered
from course_lib.grading.sources.project import NBGRADER_CONFIG, source_of
from course_lib.grading.sources.release import (
    data_files,
    drawn_with,
    generate,
    release,
    source_notebook,
)
from tests.assignments.cells import failed_parts, source
from tests.conftest import ROOT

SALTED = json.dumps({"salt": "autumn"})
NAMES = [f"student{number}" for number in range(60)]
DRAWN = {
    "attention_by_hand": {"energies", "context", "energies_negated"},
    "beyond_additive": {"by_hand", "measured"},
    "decoding": {"by_hand", "scores_by_hand"},
    "heatmap_analysis": {"five_choice", "verb_numbers"},
}
"""Parts in which the book's answers are wrong for a student with numbers of their own."""


@pytest.fixture
def salted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / instances.CLASS).write_text(SALTED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def solved(notebook: NotebookNode, student: str) -> NotebookNode:
    return answered(Student(student, loses=frozenset()), notebook, notebook)


@pytest.mark.parametrize("name", DRAWN)
def test_the_solution_is_right_for_whoever_it_is_drawn_for_and_the_books_is_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(source_of(ROOT, name).parent, tmp_path / name)
    (copy / instances.CLASS).write_text(SALTED)
    own = source_notebook(copy / f"{name}.md")
    work = tmp_path / "work"
    copy_files(data_files(copy / f"{name}.md"), work)
    assert (work / instances.CLASS).is_file()
    monkeypatch.chdir(work)
    for student in ("ada", "bela"):
        (work / owner.FILE).write_text(student)
        assert failed_parts(solved(own, student)) == {}
    book = solved(source(name), "bela")
    assert DRAWN[name] <= failed_parts(book).keys()


@pytest.mark.parametrize("name", DRAWN)
def test_the_notebook_says_first_which_parts_are_drawn(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(source_of(ROOT, name).parent, tmp_path / name)
    (copy / instances.CLASS).write_text(SALTED)
    cells = source_notebook(copy / f"{name}.md").cells
    heads = {
        cell.metadata["nbgrader"]["grade_id"]: cell.source
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code"
    }
    drawn = {int(re.findall(r"# Part (\d+)", heads[part])[0]) for part in DRAWN[name]}
    before = [cell.source for cell in cells[: [cell.cell_type for cell in cells].index("code") + 6]]
    said = set()
    for text in before:
        for sentence in re.findall(r"[^.]*\bdrawn\s+from (?:it|your id)\b", text):
            for first, last in re.findall(r"\bparts? (\d+)(?: to (\d+))?", sentence):
                said |= set(range(int(first), int(last or first) + 1))
    assert drawn <= said


def test_without_the_word_everybody_has_the_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a release with it leaves no trace in the next without."""
    name = "decoding"
    shutil.copytree(source_of(ROOT, name).parent, tmp_path / "solutions" / name)
    shutil.copyfile(ROOT / NBGRADER_CONFIG, tmp_path / NBGRADER_CONFIG)
    before = generate(tmp_path, name)
    with drawn_with(tmp_path, [name], "a word"):
        release(tmp_path, [name])
    with_it = generate(tmp_path, name)
    assert with_it.keys() == {*before, instances.CLASS}
    assert b"a word" not in with_it[instances.CLASS]
    notebook = f"{name}.ipynb"
    assert b"rain 0.4" in before[notebook]
    assert b"rain 0.4" not in with_it[notebook]
    with drawn_with(tmp_path, [name], None):
        release(tmp_path, [name])
    assert generate(tmp_path, name) == before
    assert not (tmp_path / "exercises" / name / instances.CLASS).exists()
    monkeypatch.chdir(tmp_path)
    assert instances.salt() is None
    assert checks.drawn_for(lambda: None) is None


def test_somebody_elses_numbers_are_refused(salted: Path) -> None:
    (salted / owner.FILE).write_text("ada")
    assert checks.drawn_for(lambda: "Ada") == "ada"
    with pytest.raises(Refused, match="'bela'"):
        checks.drawn_for(lambda: "bela")

    def gone() -> None:
        raise NameError

    with pytest.raises(Refused, match="still None"):
        checks.drawn_for(gone)


@pytest.mark.parametrize(
    ("typed", "folder"),
    [("Ann  Marie ", "Ann-Marie"), (".ada", "ada"), ("-ada-", "ada"), (4711, "4711")],
)
def test_an_id_draws_what_the_folder_made_of_it_draws(
    salted: Path, typed: Any, folder: str
) -> None:
    assert owner.as_folder(typed) == folder
    (salted / slips.FILE).write_text(
        slips.packed([slips.Slip(f"f{number}", "", "") for number in range(50)])
    )
    for what in (
        instances.example,
        instances.three_vectors,
        instances.query,
        instances.rain,
        slips.drawn,
        lambda name: instances.number(name, 64),
        lambda name: instances.sentences(name, 200),
    ):
        assert what(typed) == what(folder)


def test_another_word_draws_other_numbers(salted: Path) -> None:
    drawn = {
        what: [what(name) for name in NAMES]
        for what in (instances.example, instances.three_vectors, instances.rain)
    }
    (salted / instances.CLASS).write_text(SALTED.replace("autumn", "spring"))
    for what, before in drawn.items():
        same = sum(what(name) == one for name, one in zip(NAMES, before, strict=True))
        assert same <= 4


def test_the_example_is_of_the_books_difficulty_for_everybody(salted: Path) -> None:
    found = Counter(instances.example(name) for name in NAMES)
    assert max(found.values()) <= 8
    for one in found:
        (x, y), third = one.annotations[0], one.annotations[2]
        assert one.annotations[1] == (y, x)
        assert third == (x, x) == (max(x, y),) * 2
        for sign in (1, -1):
            state = [sign * part for part in one.state]
            e = [
                sum(math.tanh(s + h) for s, h in zip(state, pair, strict=True))
                for pair in one.annotations
            ]
            assert abs(e[0] - e[1]) < 1e-9
            assert 0.3 <= e[2] - e[0] <= 1.1
    assert instances.EXAMPLE not in found


def test_greedy_search_misses_the_best_sentence_for_everybody(salted: Path) -> None:
    tables = {str(instances.rain(name)) for name in NAMES}
    assert len(tables) > 50
    for name in NAMES:
        follows = instances.rain(name)
        for row in follows.values():
            assert sum(row.values()) == pytest.approx(1)
            assert all(p >= 0.049 for p in row.values())
            # what is most probable is so by more than rounding
            ranked = sorted(row.values(), reverse=True)
            assert len(ranked) == 1 or ranked[0] - ranked[1] >= 0.049
        greedy, words = 1.0, ["<s>"]
        while words[-1] != "</s>":
            row = follows.get(words[-1], {"</s>": 1.0})
            words.append(max(row, key=row.__getitem__))
            greedy *= row[words[-1]]
        assert words[1:] == ["it", "rains", "</s>"]
        every = dict(ways(follows, ("<s>",), 1.0))
        best = max(every, key=every.__getitem__)
        assert best == ("<s>", "rain", "falls", "</s>")
        others = [p for sentence, p in every.items() if sentence != best]
        assert every[best] >= 1.19 * max(others)
        longer = every["<s>", "it", "is", "raining", "</s>"]
        assert greedy > longer
        assert math.log(longer) / 4 > math.log(greedy) / 3


def ways(follows: instances.Follows, words: tuple[str, ...], p: float) -> list:
    if words[-1] == "</s>":
        return [(words, p)]
    row = follows.get(words[-1], {"</s>": 1.0})
    return [one for word, q in row.items() for one in ways(follows, (*words, word), p * q)]


def test_everybodys_query_points_away_from_one_word_alone(salted: Path) -> None:
    assert len({instances.query(name) for name in NAMES}) > 10
    for name in NAMES:
        x, y = instances.query(name)
        assert x > 0 > y
        assert x >= -y + 0.0


def test_everybodys_sentences_hold_enough_of_each_kind(salted: Path) -> None:
    text = (ROOT / "exercises" / "heatmap_analysis" / "held_out.json").read_text("utf-8")
    held_out = json.loads(text)["sentences"]
    for name in NAMES:
        mine = [held_out[n] for n in instances.sentences(name, len(held_out))]
        assert len(mine) == 100
        lengths = [len(one["source"]) for one in mine]
        assert min(lengths) <= 6
        assert max(lengths) >= 15
        assert sum(bool(one["verbs"]) for one in mine) >= 20
        crossed = [crossings(one["gold"]) for one in mine]
        assert sum(many >= 5 for many in crossed) >= 10
        assert sum(many == 0 for many in crossed) >= 5


def crossings(links: list[list[int]]) -> int:
    return sum(j < k and i > h for j, i in links for k, h in links)
