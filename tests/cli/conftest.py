"""A small run and a small text that several files of commands work on."""

from pathlib import Path

import pytest

from tests.conftest import typed

SETTINGS = [
    "epochs=2",
    "precision=fp32",
    "corpus.train=200",
    "corpus.val=20",
    "corpus.test=20",
    "corpus.min_length=2",
    "corpus.max_length=5",
]
TINY = [word for setting in SETTINGS for word in ("--set", setting)]
COPY = ["--corpus", "copy", "--pair", "tokens", "--preset", "smoke", *TINY, "--beam", 2]

WORDS = {"dog": "כלב", "cat": "חתול", "runs": "רץ", "sleeps": "ישן", "here": "כאן", "now": "עכשיו"}
SHORT = ["--preset", "smoke", "--set", "epochs=1", "--set", "precision=fp32", "--beam", 1]


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned a little of copying."""
    out = tmp_path_factory.mktemp("runs") / "rnnsearch"
    assert typed("train", "--model", "rnnsearch", *COPY, "--out", out) == 0
    return out


def write_text(folder: Path, language: str = "he") -> Path:
    """Ninety pairs of four words, in an order of their own on each side, and links for the test.

    The second side is Hebrew, whatever it is called.
    """
    folder.mkdir()
    english = [[a, b, c] for a in WORDS for b in WORDS for c in ("here", "now", "dog")][:90]
    for split, lines in (("train", english[:70]), ("val", english[70:80]), ("test", english[80:])):
        text = "".join(" ".join(line).capitalize() + ".\n" for line in lines)
        (folder / f"{split}.en").write_text(text, encoding="utf-8")
        text = "".join(" ".join(WORDS[word] for word in line[::-1]) + ".\n" for line in lines)
        (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    (folder / "test.links").write_text("0-2 1-1 2-0 3-3\n" * 10)
    return folder
