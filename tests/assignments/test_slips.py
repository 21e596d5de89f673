"""Code with one slip in it: drawn by id, one line wrong, and every slip shows."""

from pathlib import Path

import pytest

from course_lib.assignments import slips
from course_lib.errors import CourseError
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import source_notebook
from course_lib.grading.sources.slip_code import right_code, versions_of
from tests.assignments.cells import text_of
from tests.conftest import ROOT

NAMES = [name for name in assignment_names(ROOT) if versions_of(source_of(ROOT, name))]


@pytest.mark.parametrize("name", NAMES)
def test_each_version_has_one_wrong_line_and_lies_packed_beside_the_source(name: str) -> None:
    source = source_of(ROOT, name)
    right, versions = right_code(source).splitlines(), versions_of(source)
    assert len({one.code for one in versions}) == len(versions) >= 6
    for one in versions:
        lines = one.code.splitlines()
        assert len(lines) == len(right)
        assert sum(line != other for line, other in zip(lines, right, strict=True)) == 1
    given_out = (ROOT / "exercises" / name / slips.FILE).read_text(encoding="utf-8")
    assert slips.unpacked(given_out) == versions
    assert all(one.code.splitlines()[-1] not in given_out for one in versions)


@pytest.mark.parametrize("name", NAMES)
def test_the_solutions_test_catches_every_slip_and_no_right_code(name: str) -> None:
    source = source_of(ROOT, name)
    names: dict[str, object] = {}
    exec("import math\n" + text_of(source_notebook(source), "slip_caught_answer"), names)
    catches = names["catches"]
    assert callable(catches)
    versions = versions_of(source)
    assert [one.symptom for one in versions if not catches(one.function())] == []
    assert not catches(slips.Slip(versions[0].name, right_code(source), "").function())


def test_an_id_draws_one_of_them_and_its_neighbours_draw_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match="Copy it from the folder"):
        slips.drawn("ada")
    versions = [slips.Slip("f", f"def f():\n    return {n}\n", f"It is {n}.") for n in range(6)]
    Path(slips.FILE).write_text(slips.packed(versions))
    drawn = {name: slips.drawn(name) for name in map(str, range(60))}
    assert set(drawn.values()) == set(versions)
    assert slips.drawn(" Ada ") == slips.drawn("ada")
    assert str(versions[3]).splitlines()[1] == "  2      return 3"
    assert versions[3].function()() == 3
