"""What holds for the repository as a whole: its versions, its licences, its commands."""

import inspect
import re
import subprocess
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from torch import Tensor

from course_lib.cli import app
from course_lib.models import Attention
from tests.conftest import ROOT


def tracked_files() -> list[Path]:
    """The files of the repository: what git tracks, and what it would if it were added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


FILES = tracked_files()


def test_files_with_names_and_marks_are_kept_out_of_the_repository() -> None:
    """What the guide puts into a clone: one habitual `git add -A` would publish it."""
    names = [
        *("roster.csv", "submissions.zip", "grades.csv", "points.csv", "gradebook.db"),
        *("submitted/x", "put_aside/x", "rosters/x", "grading/x", "feedback/x", "report/x"),
        *("autograded/x", "report-pseudonyms/x", "pseudonyms.csv", "late.json"),
    ]
    command = ["git", "check-ignore", "--no-index", *names]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert listing.split() == names


def pins() -> dict[str, str]:
    """Canonical name to version of every line of the lock."""
    lines = map(Requirement, (ROOT / "requirements.lock").read_text().splitlines())
    return {
        canonicalize_name(line.name): str(line.specifier).removeprefix("==")
        for line in lines
        if line.marker is None or line.marker.evaluate()
    }


def test_every_data_file_of_the_library_goes_into_its_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    files = {path for path in FILES if path.is_relative_to(ROOT / "course_lib")}
    folders = {path.parent for path in files}  # also those without an __init__.py
    packaged = {
        found
        for package, patterns in setuptools["package-data"].items()
        for folder in (folders if package == "*" else [ROOT / package.replace(".", "/")])
        for pattern in patterns
        for found in folder.glob(pattern)
    }
    assert {path for path in files if path.suffix != ".py"} <= packaged


def test_every_pin_is_exact_and_named_once() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = []
    for line in lines:
        pin, _, marker = line.partition("; ")
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!]*", pin), line
        assert not marker or re.fullmatch(r'python_version (<|>=) "3\.15"', marker), line
        pinned.append((Requirement(line).name.lower(), marker))
    assert len(set(pinned)) == len(lines)
    for name, marker in pinned:  # one for every Python
        if "<" in marker:
            assert (name, marker.replace("<", ">=")) in pinned
        elif not marker:
            assert [other for other, _ in pinned].count(name) == 1


def test_the_lock_satisfies_every_range_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for line in [*asked, *(line for group in groups.values() for line in group)]:
        requirement = Requirement(line)
        version = pins().get(canonicalize_name(requirement.name))
        assert version is not None, f"{line}: not in requirements.lock"
        assert requirement.specifier.contains(version), f"{line}: locked at {version}"


def test_pyproject_and_the_licence_files_name_the_same_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # The models in the package, and captions in records, are neither MIT nor CC BY.
    assert project["license"] == "MIT AND CC-BY-4.0 AND LicenseRef-Multi30k-research-only"
    texts = {name: (ROOT / name).read_text() for name in project["license-files"]}
    assert set(texts) == {path.name for path in ROOT.glob("LICENSE*")}
    assert texts["LICENSE"].startswith("MIT License")
    assert "and except the models and sentences named in LICENSE-MULTI30K." in texts["LICENSE"]
    assert "(CC BY 4.0)" in texts["LICENSE-TEXT"].splitlines()[0]
    assert "LicenseRef-Multi30k-research-only" in texts["LICENSE-MULTI30K"].splitlines()[0]
    assert "course_lib/pretrained/" in texts["LICENSE-MULTI30K"]
    cards = (ROOT / "course_lib" / "pretrained").glob("*/README.md")
    terms = {yaml.safe_load(card.read_text().split("---")[1])["terms"] for card in cards}
    [free] = {said for said in terms if said.startswith("for any use")}
    [said] = terms - {free}
    assert said.removeprefix("for ") in " ".join(texts["LICENSE-MULTI30K"].split())


def test_the_versions_people_see_are_one() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_target_link_and_path_that_people_are_told_of_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    told = set(re.findall(r"(?:^ *|`)make ([a-z-]+)", text, re.MULTILINE))
    assert told <= makefile_targets()
    for target in re.findall(r"\]\(([^):]+)\)", text):
        assert (ROOT / target).exists(), target
    for notebook in re.findall(r"exercises/[a-z_]+/[a-z_]+\.ipynb", text):
        assert (ROOT / notebook).is_file(), notebook


def test_every_course_command_that_people_are_told_of_exists() -> None:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile")]
    found = 0
    for page in [*pages, *(ROOT / "book").rglob("*.md")]:
        text = page.read_text(encoding="utf-8").replace("\\\n", "")
        for told in re.findall(r"(?:^ *|\) |\| |`)course ([a-z][^`#|\n]*)", text, re.MULTILINE):
            words = told.split()
            commands = typer.main.get_command(app).commands
            while (command := commands[words.pop(0)]) and hasattr(command, "commands"):
                commands = command.commands
            options = {option for parameter in command.params for option in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= options, (page, told)
            found += 1
    assert found > 90


def test_make_alone_lists_every_command() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = set(re.findall(r"^  make ([a-z-]+) ", done.stdout, re.MULTILINE))
    assert listed == {name for name in makefile_targets() if not name.startswith("announce")}
    asked = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert asked.stdout == done.stdout


def test_without_a_fitting_python_make_says_what_to_do(tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": "/no/such/python"}
    command = ["bash", str(ROOT / ".ci" / "environment"), str(tmp_path / "venv")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "/no/such/python" in line
    assert "PYTHON=" in line
    assert not (tmp_path / "venv").exists()


def test_missing_programs_are_named_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "cat").symlink_to("/bin/cat")
    command = ["/bin/bash", str(ROOT / ".ci" / "programs")]
    environment = {"PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "apt-get install chromium bubblewrap" in done.stderr


def test_the_way_through_the_code_is_an_evenings() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    line = r"^\d+\. \[`(\w+/\w+\.py)`\]\(course_lib/\1\): "
    way = re.findall(line, contributing, re.MULTILINE)
    assert len(way) <= 8
    lines = {name: (ROOT / "course_lib" / name).read_text().count("\n") for name in way}
    assert sum(lines.values()) <= 1000, lines
    page = (ROOT / "book" / "workshop" / "reading-the-code.md").read_text()
    row = r"^(\d+)\. {download}`(.+?) <../../course_lib/(.+?)>`: (.+)$"
    rows = re.findall(row, page, re.MULTILINE)
    assert [path for _, _, path, _ in rows] == way
    for number, (box, name, path, parts) in enumerate(rows, start=1):
        assert (box, name) == (str(number), Path(path).name)
        source = (ROOT / "course_lib" / path).read_text()
        told = re.findall(r"`(\w+)`", parts)
        found = re.findall(rf"^ *(?:def|class) ({'|'.join(told)})\b", source, re.MULTILINE)
        assert list(dict.fromkeys(found)) == told, path


def test_the_walk_through_the_code_prints_what_its_answers_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "book" / "workshop" / "reading-the-code.md").read_text()
    walk, change = re.findall(r"```python\n(.+?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(walk, names)
    printed = capsys.readouterr().out
    fixed: dict[str, Any] = {}
    with pytest.raises(AttributeError):  # alpha is None
        exec(walk.replace('context="additive"', 'context="fixed"'), fixed)
    assert fixed["alpha"] is None
    sizes = set(re.findall(r"Size\((.+?)\)", printed + capsys.readouterr().out))
    assert sizes == set(re.findall(r"`(\[2, .+?\])`", page))
    assert names["alpha"][1].tolist()[2:] == [0, 0]  # the padding
    (shown,) = re.findall(r"```text\n(.+?)```", page, re.DOTALL)
    told, found = ([float(n) for n in re.findall(r"\d+\.?\d*", text)] for text in (shown, printed))
    assert told == pytest.approx(found, abs=0.002)
    first, second = re.findall(r"\[\[.+?\]\]", printed, re.DOTALL)
    assert first != second

    energies = textwrap.dedent(inspect.getsource(Attention.energies))
    line = "    return self.v_a(torch.tanh(self.W_a(s_prev).unsqueeze(-2) + keys)).squeeze(-1)\n"
    assert line in energies
    changed: dict[str, Any] = {}
    exec(energies.replace(line, "    " + change), {"Tensor": Tensor, "torch": torch}, changed)
    monkeypatch.setattr(Attention, "energies", changed["energies"])
    exec(walk, {})
    first, second = re.findall(r"\[\[.+?\]\]", capsys.readouterr().out, re.DOTALL)
    assert first == second
    (told_after,) = re.findall(r"weights, (.+?) for the first sentence", page)
    found_after = [float(number) for number in re.findall(r"\d+\.?\d*", first)][:4]
    assert [float(n) for n in re.findall(r"[\d.]+", told_after)] == pytest.approx(
        found_after, abs=0.002
    )
