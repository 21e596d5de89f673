"""What only instructors may see is noticed wherever it comes to light."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path

import pytest
import yaml

from course_lib.grading.authoring import own_solution
from course_lib.grading.authoring.leaks import KEPT_BACK, leaks
from course_lib.grading.sources.project import assignment_names
from tests.conftest import ROOT, Course

NAME = "small"
SOLUTION = """scores = queries @ keys.transpose(1, 2)
scores = scores.masked_fill(~mask, -1e9)
shares = scores.softmax(dim=-1)"""
HIDDEN = """wanted = [0.25, 0.125, 0.625]
told = "That is not yet what it should be."
checks.close(shares, wanted, "shares", hint=told)"""
MADE_UP = """total = sum(math.exp(one) for one in scores)
shares = [math.exp(one) / total for one in scores]
shares = shares[::-1]  # the wrong way round"""
SHOWN = """values = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
checks.numbers(values, (2, 2), "values")
checks.numbers(shares, (1, 3), "shares")"""
SOURCE = f"""# Small

```{{code-cell}}
### BEGIN SOLUTION
{SOLUTION}
### END SOLUTION
```

```{{code-cell}}
{SHOWN}
### BEGIN HIDDEN TESTS
{HIDDEN}
checks.numbers(shares, (1, 3), "shares")
### END HIDDEN TESTS
```

### BEGIN MARK SCHEME
One point for the scale, one for the reason it is needed.
### END MARK SCHEME
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A course with one assignment, nothing of which has leaked."""
    solutions = tmp_path / "solutions" / NAME
    solutions.mkdir(parents=True)
    (solutions / f"{NAME}.md").write_text(SOURCE)
    entry = {"name": "backwards", "loses": ["a"], "cells": {"a": MADE_UP}}
    (solutions / "variants.yaml").write_text(yaml.safe_dump({"answers": [entry]}))
    (solutions / "demonstration.yaml").write_text(yaml.safe_dump({"students": [entry]}))
    for folder in ("exercises/small", "book/_build/html", "course_lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "exercises" / NAME / f"{NAME}.ipynb").write_text(notebook(SHOWN))
    return tmp_path


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "source": code.splitlines(keepends=True)}
    return json.dumps({"cells": [cell]}, indent=1)


def found(course: Path) -> list[str]:
    return leaks(course, [], course / "course_lib")


def as_html(code: str) -> str:
    words = "\n".join(
        " ".join(f"<span class='n'>{escape(word)}</span>" for word in line.split(" "))
        for line in code.splitlines()
    )
    return f"<p>Look:</p>\n<div><pre>{words}</pre></div>"


def test_a_course_that_keeps_its_secrets_is_left_alone(made: Path) -> None:
    (made / "course_lib" / "own.py").write_text(SHOWN + "\n" + SOLUTION.split("\n")[0])
    assert found(made) == []


@pytest.mark.parametrize("secret", [SOLUTION, HIDDEN, MADE_UP])
@pytest.mark.parametrize(
    "place",
    [
        "exercises/small/small.ipynb",
        "exercises/small/helper.py",
        "book/_build/html/book/page.html",
        "book/_build/html/notebooks/page.ipynb",
        "book/_build/html/_static/data.json",
        "course_lib/models/new.py",
        "book/page.md",
        "experiments/part/record.py",
    ],
)
def test_every_leak_is_found_with_its_place(made: Path, place: str, secret: str) -> None:
    path = made / place
    path.parent.mkdir(parents=True, exist_ok=True)
    indented = "\n".join(f"    {line}" for line in secret.splitlines())
    dressed = {
        ".ipynb": lambda: notebook(f"x = 1\n\n{indented}"),
        ".html": lambda: as_html(indented),
        ".json": lambda: json.dumps({"code": secret}),
        ".py": lambda: f"def f():\n{indented}\n",
        ".md": lambda: f"Look:\n\n{indented}\n",
    }
    path.write_text(dressed[path.suffix]())
    public, source = found(made)[0].split(" has what stands in ")
    assert public.startswith(f"{place}:")
    if secret == MADE_UP:
        assert source == "solutions/small/variants.yaml, backwards"
        return
    where, _, number = source.rpartition(":")
    assert where == "solutions/small/small.md"
    lines = (made / where).read_text().splitlines()
    assert lines[int(number) - 1] in secret


def test_one_line_of_a_region_is_too_many_in_a_release_but_not_in_a_page(made: Path) -> None:
    page = made / "book" / "_build" / "html" / "page.html"
    released = made / "exercises" / NAME / f"{NAME}.ipynb"
    for line in (
        SOLUTION.split("\n")[1],
        "One point for the scale, one for the reason it is needed.",
    ):
        page.write_text(as_html(line))
        released.write_text(notebook(SHOWN))
        assert found(made) == []
        released.write_text(notebook(f"{SHOWN}\n{line}"))
        assert len(found(made)) == 1


def test_this_course_keeps_its_secrets() -> None:
    assert assignment_names(ROOT)
    assert leaks(ROOT, []) == []


def test_the_wheel_keeps_them_and_students_are_given_no_folder_that_holds_any(
    tmp_path: Path,
) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("course_lib", *KEPT_BACK):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    code = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "wheel")
    assert {path.name for path in (tmp_path / "wheel").iterdir()} == {
        "course_lib",
        f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info",
    }
    assert (tmp_path / "wheel" / "course_lib" / "assignments" / "checks.py").is_file()
    assert leaks(ROOT, [], tmp_path / "wheel" / "course_lib") == []
    guide = (ROOT / "book" / "teaching" / "instructors.md").read_text(encoding="utf-8")
    commands = guide.replace("\\\n", "").splitlines()
    given = [line for line in commands if line.startswith("git archive")]
    assert given
    assert all(f"':!{folder}'" in line for line in given for folder in KEPT_BACK)
    hub = (ROOT / "book" / "teaching" / "jupyterhub.md").read_text(encoding="utf-8")
    [removed] = [line.split() for line in hub.splitlines() if line.startswith("rm -r ")]
    assert {f"/opt/looking-back/{name}" for name in (*KEPT_BACK, ".git")} <= {*removed}


def test_the_command_says_where_and_fails(
    made: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "nbgrader_config.py", made)
    name = assignment_names(ROOT)[0]
    for folder in ("solutions", "exercises"):
        shutil.rmtree(made / folder)
        shutil.copytree(ROOT / folder / name, made / folder / name)
    monkeypatch.chdir(made)
    monkeypatch.setattr(own_solution, "faults", lambda *_: [])  # which takes its time
    done = course("release", "--check")
    assert done.status == 0, done.out
    assert "the built site" in done.out
    secret = (made / "solutions" / name / f"{name}.md").read_text()
    hidden = secret.split("### BEGIN HIDDEN TESTS\n")[-1].split("### END")[0]
    (made / "book" / "_build" / "html" / "page.html").write_text(as_html(hidden))
    done = course("release", "--check")
    assert done.status == 1
    where = rf"book/_build/html/page\.html:\d+ has what stands in solutions/{name}/{name}\.md:"
    assert re.search(where, done.out)
