"""What students run asks for no system but Python's own: neither POSIX modules nor UTF-8."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

BLOCKED = """
import builtins, importlib, pkgutil, sys
POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
real = builtins.__import__

def imported(name, names=None, *rest, **more):
    who = (names or {}).get("__name__", "")
    # Other people's packages know on which system they are.
    if name in POSIX and who.startswith("course_lib"):
        raise ModuleNotFoundError(f"{who} imports {name}")
    return real(name, names, *rest, **more)

builtins.__import__ = imported
import course_lib
names = [module.name for module in pkgutil.walk_packages(course_lib.__path__, "course_lib.")
         if not module.name.startswith("course_lib.grading") and module.name[-8:] != "__main__"]
for name in names:
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


def python(*words: str | Path, text: str = "", **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        input=text.encode(),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )


def test_nothing_that_a_student_imports_needs_a_posix_module() -> None:
    done = python("-W", "ignore", "-c", BLOCKED)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 80


def test_text_is_utf_8_whatever_the_platform_calls_its_encoding(tmp_path: Path) -> None:
    """In the plain C locale Python takes ASCII for what a file has, if nobody says otherwise."""
    home = tmp_path / "home"
    home.mkdir()
    here = tmp_path / "text"
    here.mkdir()
    words = ["dog", "cat", "house", "tree", "here", "now"]
    for split, count in (("train", 36), ("val", 6), ("test", 6)):
        pairs = [(words[i % 6], words[i // 6 % 6]) for i in range(count)]
        for language, end in (("en", "."), ("el", "· αβγ")):
            lines = "".join(f"{a} {b} {end}\n" for a, b in pairs)
            (here / f"{split}.{language}").write_text(lines, encoding="utf-8")
    plain = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home),
    }
    out = tmp_path / "run"
    sizes = [f"--set={x}" for x in ("hidden=8", "embedding=8", "alignment=8", "epochs=1")]
    sizes += ["--set=precision=fp32", "--set=readout=4", "--preset=smoke", "--beam=1"]
    lines = [
        ["corpus", "show", here, "--pair", "en-el", "--n", "1"],
        ["train", "--model=rnnsearch", "--corpus", here, "--pair=en-el", *sizes, "--out", out],
        ["score", out, "--split", "test", "--beam", "1"],
        ["align", out, "--split", "test"],
        ["translate", out, "--beam", "1"],
    ]
    program = json.dumps([[str(word) for word in line] for line in lines])
    done = python("-c", COMMANDS, program, text="dog cat .\n", **plain)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert "αβγ" in done.stdout.decode("utf-8")
