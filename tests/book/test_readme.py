"""README.md: its commands, as they stand and in their order, in a fresh clone and an empty home."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.book.guide import ROOT, Shell
from tests.cli.conftest import write_text

BLOCK = re.compile(r"^```\n(.*?)^```$", re.M | re.S)

QUICK = "--preset smoke --set epochs=1 --beam 1"

NEVER = {
    # would run this test
    "make test": "make -n test",
    # does not end by itself
    "jupyter lab exercises/attention_by_hand/attention_by_hand.ipynb": "jupyter lab --version",
    # Nothing is written into it yet, so its tests fail, and that is what it has to say.
    "course validate exercises/attention_by_hand/attention_by_hand.ipynb": "|| [ $? = 1 ]",
    "course submit attention_by_hand": "|| [ $? = 1 ]",
    "course bench train": "--corpus toy",  # Multi30k would be fetched
    # tried in the instructor's guide, with a class that hands in
    "course collect attention_by_hand submissions.zip --roster roster.csv": "course collect --help",
    "course grade attention_by_hand --export-canvas points.csv": "course grade --help",
}
"""What is run in place of a command, or after it."""

MINUTES = {
    "make book": "make -n book",
    "make grade": "make -n grade",
    "course train --model rnnsearch --corpus toy --set context=general --out runs/general": QUICK,
    "course train --model luong --corpus toy --out runs/luong": QUICK,
    "course bench train": "course bench train --help",
    "course compare --corpus mine --pair en-es --preset laptop --out runs/mine": QUICK,
}
"""The same for what takes minutes, and is run as it stands among the slow proofs."""


def commands() -> list[str]:
    """Every line of every block, its comment left out."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    return [re.sub(r"\s+#.*", "", line) for line in lines if line]


def instead(command: str, other: str) -> str:
    """Another command, or this one with more behind it."""
    return f"{command} {other}" if other.startswith(("-", "|")) else other


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A person's session in a clone, with the environment that make would install."""
    shell = Shell(tmp_path)
    shell.serve_this_course()
    shell.environment["HOME"] = str(tmp_path / "home")
    (tmp_path / "home").mkdir()
    for name in ("COURSE_DATA", "XDG_CACHE_HOME"):
        shell.environment.pop(name, None)
    shell.run("git clone -q https://github.com/OWNER/looking-back\ncd looking-back")
    shell.give_environment()
    write_text(shell.here / "mine", "es")
    yield shell
    shell.close()


def test_what_is_replaced_stands_in_the_readme() -> None:
    known = commands()
    assert len(known) > 20
    assert {*NEVER, *MINUTES} <= set(known)


@pytest.mark.slow  # four minutes
def test_every_command_of_the_readme_runs(shell: Shell) -> None:
    said = ""
    for command in commands():
        other = (NEVER | MINUTES).get(command)
        said += shell.run(command if other is None else instead(command, other))
    assert "tests do not pass yet" in said
    assert "Packed attention_by_hand.zip" in said
    assert (shell.here / "runs" / "mine" / "report.html").is_file()


@pytest.mark.slow
def test_what_takes_minutes_runs_as_it_stands(shell: Shell) -> None:
    for command in commands():
        other = NEVER.get(command)
        shell.run(command if other is None else instead(command, other))
    assert (shell.here / "book" / "_build" / "html" / "index.html").is_file()
