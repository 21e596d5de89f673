"""What students run asks for no system but Python's own, and for no package but what the course
brings by itself: neither POSIX modules nor UTF-8, neither the book's packages nor the graders'."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course_lib.grading.sources.marked_cells import checksum
from tests.conftest import ROOT

IMPORTED = r"^(?:from (?=[\w.]+ import )|import )([\w.]+)"

# Python runs this first, in the notebook's kernel too and in whatever else is started.
OTHER_SYSTEM = """
import builtins, json, os, platform, socket, sys
from importlib.machinery import PathFinder
platform.system = lambda: "Elsewhere"
OTHERS = set(json.loads(os.environ["NOT_FOR_STUDENTS"]))
POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
UNIX = socket.AF_UNIX
real, looked_for = builtins.__import__, PathFinder.find_spec

def found(name, path=None, target=None):
    return None if name.partition(".")[0] in OTHERS else looked_for(name, path, target)

def imported(name, names=None, *rest, **more):
    who = (names or {}).get("__name__", "")
    # Other people's packages know on which system they are.
    if name in POSIX and who.startswith("course_lib"):
        raise ModuleNotFoundError(f"{who} imports {name}")
    return real(name, names, *rest, **more)

def refuse(event, given):
    ours = lambda: sys._getframe(3).f_globals.get("__name__", "").startswith("course_lib")
    if event == "os.fork" or (event == "socket.__new__" and given[1] == UNIX and ours()):
        raise OSError(f"{event} is not there on every system")

PathFinder.find_spec = staticmethod(found)
builtins.__import__ = imported
sys.addaudithook(refuse)
"""

EVERYTHING = """
import importlib, json, pkgutil, sys
import course_lib
names = [module.name for module in pkgutil.walk_packages(course_lib.__path__, "course_lib.")
         if not module.name.startswith("course_lib.grading") and module.name[-8:] != "__main__"]
names += ["course_lib.grading.handing_in.packing", "course_lib.grading.handing_in.validation"]
for name in names + json.loads(sys.argv[1]):
    importlib.import_module(name)
assert "course_lib.assignments.checks" in names and "course_lib.cli.runs" in names
print(len(names))
"""

# Several commands in one process: to start one takes longer than what it does.
COMMANDS = """
import json, locale, sys
from course_lib.cli import main
assert "UTF-8" not in locale.getpreferredencoding()
for words in json.loads(sys.argv[1]):
    sys.argv = ["course", *words]
    try:
        main()
    except SystemExit as done:
        assert not done.code, words
"""


def brought() -> set[str]:
    """What installing the course and none of its extras brings: names of distributions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [Requirement(line) for line in project["dependencies"]]
    found: set[tuple[str, str]] = set()
    for one in asked:  # grows meanwhile
        for extra in ("", *one.extras):
            if (key := (canonicalize_name(one.name), extra)) in found:
                continue
            found.add(key)
            needs = map(Requirement, requires(one.name) or [])
            asked += [x for x in needs if x.marker is None or x.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


@pytest.fixture(scope="module")
def other_system(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process on a machine with another system and the course alone."""
    folder, names = tmp_path_factory.mktemp("site"), brought()
    (folder / "sitecustomize.py").write_text(OTHER_SYSTEM)
    others = [
        name
        for name, owners in packages_distributions().items()
        if not {*names, "looking-back"} & set(map(canonicalize_name, owners))
    ]
    assert {"nbgrader", "dask", "jupyter_book", "sphinx", "playwright"} <= set(others)
    return {
        "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))),
        "NOT_FOR_STUDENTS": json.dumps(others),
    }


def python(
    *words: str | Path, folder: Path = ROOT, text: str = "", **environment: str
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        input=text.encode(),
        capture_output=True,
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )


def write_notebook(path: Path) -> None:
    """A notebook of an answer and a test, with the marks that the release gives them."""
    answer = new_code_cell("def double(x):\n    return 2 * x")
    test = new_code_cell(
        "# Part 1: twice\nfrom course_lib.assignments import checks\n"
        "checks.close([double(2.0)], [4.0], 'double', hint='')"
    )
    for cell, is_test in ((answer, False), (test, True)):
        cell.metadata["nbgrader"] = {"grade": is_test, "locked": is_test, "solution": not is_test}
        cell.metadata["nbgrader"] |= {"grade_id": f"twice-{is_test}", "points": 1}
        cell.metadata["nbgrader"] |= {"schema_version": 3, "task": False}
        cell.metadata["nbgrader"]["checksum"] = checksum(cell)
    nbformat.write(new_notebook(cells=[answer, test]), path)


def test_students_install_neither_the_book_nor_the_graders() -> None:
    names = brought()
    assert {"torch", "nbconvert", "ipykernel"} <= names
    # Without what PyTorch brings along where it comes with CUDA.
    assert len([name for name in names if not name.startswith(("nvidia-", "cuda-"))]) < 120
    others = {"jupyter-book", "sphinx", "jupyterlab", "nbgrader", "sqlalchemy", "dask", "ruff"}
    others |= {"distributed", "copydetect", "playwright", "pytest", "import-linter", "mypy", "uv"}
    assert not names & {*others, "datasets", "pyarrow", "pandas"}


def asked_for(*extras: str) -> set[str]:
    """The distributions that pyproject.toml names, for everybody and in these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    asked = [Requirement(line) for line in lines]
    return {canonicalize_name(name) for one in asked for name in (one.name, *one.extras)}


@pytest.mark.parametrize(
    ("folder", "extras"), [("grading", ("classes",)), ("corpora", ("scale",)), ("", ())]
)
def test_what_the_library_imports_it_asks_for(folder: str, extras: tuple[str, ...]) -> None:
    """And not only by way of another package, which may stop to need it."""
    owners, named = packages_distributions(), asked_for(*extras)
    found = set()
    for path in (ROOT / "course_lib" / folder).rglob("*.py"):
        if not folder and path.relative_to(ROOT / "course_lib").parts[0] in ("grading", "corpora"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {module.partition(".")[0] for module in modules}
    found -= {*sys.stdlib_module_names, "course_lib"}
    assert len(found) > 5
    missing = {x for x in found if not named & set(map(canonicalize_name, owners.get(x, [x])))}
    assert missing == set()


def test_what_students_import_is_there_on_every_system(other_system: dict[str, str]) -> None:
    """Test cells included, the hidden ones too."""
    asked = {
        module
        for source in (ROOT / "solutions").glob("*/*.md")
        for module in re.findall(IMPORTED, source.read_text("utf-8"), re.M)
    }
    assert {"course_lib.assignments", "torch"} <= asked
    done = python("-W", "ignore", "-c", EVERYTHING, json.dumps(sorted(asked)), **other_system)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 80


def test_text_is_utf_8_whatever_the_platform_calls_its_encoding(
    tmp_path: Path, other_system: dict[str, str]
) -> None:
    """In the plain C locale Python takes ASCII for what a file has, if nobody says otherwise.

    Every command of a student's runs there, on the other system with the course alone.
    """
    home = tmp_path / "home"
    home.mkdir()
    here = tmp_path / "text"
    here.mkdir()
    write_notebook(tmp_path / "homework.ipynb")
    english = ["dog", "cat", "house", "tree", "here", "now"]
    greek = ["σκύλος", "γάτα", "σπίτι", "δέντρο", "εδώ", "τώρα"]
    for split, count in (("train", 36), ("val", 6), ("test", 6)):
        # no pair of val or test is one of train
        end = " ." if split == "train" else f" {split} !"
        for language, words in (("en", english), ("el", greek)):
            lines = "".join(f"{words[i % 6]} {words[i // 6]}{end}\n" for i in range(count))
            (here / f"{split}.{language}").write_text(lines, encoding="utf-8")
    plain = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home),
    }
    out, both = tmp_path / "run", tmp_path / "both"
    sizes = [f"--set={x}" for x in ("hidden=8", "embedding=8", "alignment=8", "epochs=1")]
    sizes += ["--set=precision=fp32", "--set=readout=4", "--preset=smoke", "--beam=1"]
    lines = [
        ["doctor"],
        ["corpus", "check", here],
        ["corpus", "show", here, "--pair", "en-el", "--n", "1"],
        ["train", "--model=rnnsearch", "--corpus", here, "--pair=en-el", *sizes, "--out", out],
        ["compare", "--corpus", here, "--pair=en-el", *sizes, "--out", both],
        ["score", out, "--split", "test", "--beam", "1"],
        ["align", out, "--split", "test"],
        ["translate", out, "--beam", "1"],
        ["validate", "homework.ipynb"],
        ["submit", "homework"],
    ]
    program = json.dumps([[str(word) for word in line] for line in lines])
    done = python(
        *("-c", COMMANDS, program), folder=tmp_path, text="dog cat .\n", **plain, **other_system
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    said = done.stdout.decode("utf-8")
    assert "σκύλος" in said
    assert said.count("ok    Part 1: twice") == 2
    assert (tmp_path / "homework.zip").is_file()
