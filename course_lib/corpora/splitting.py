"""How lines become tokens, and tokens that are kept because Moses' rules take seconds in Python."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from course_lib.corpora.corpus import Split
from course_lib.corpora.tokenization import PROTOCOL, tokenize
from course_lib.files import write_atomically


@dataclass(frozen=True)
class Splitting:
    """How lines of text become tokens.

    `tokenized` says that the text has its tokens between spaces already.
    """

    lowercase: bool
    tokenized: bool

    def tokens(self, line: str, language: str) -> list[str]:
        """One line's tokens."""
        if not self.tokenized:
            return tokenize(line, language, self.lowercase)
        return (line.lower() if self.lowercase else line).split()

    def lines(self, texts: list[str], language: str) -> list[str]:
        """Many lines' tokens, each line's between single spaces."""
        return [" ".join(self.tokens(text, language)) for text in texts]

    def key(self, *parts: str) -> str:
        """A name for what these parts become: another one where anything that decides differs."""
        text = "\n".join((repr(self), PROTOCOL, version("regex"), *parts))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def split(
        self, folder: Path, pairs: Sequence[tuple[str, str]], languages: Sequence[str]
    ) -> Split:
        """Sentence pairs as a split, its tokens kept in this folder."""
        texts = [[pair[side] for pair in pairs] for side in (0, 1)]
        both = zip(texts, languages, strict=True)
        source, target = (self._kept(folder, lines, language) for lines, language in both)
        return Split(source, target, None, texts[1])

    def _kept(self, folder: Path, lines: list[str], language: str) -> list[list[str]]:
        """The lines' tokens, from their file where it is undamaged; else split, and kept there."""
        entry = folder / f"{self.key(language, *lines)}.tokens"
        with suppress(OSError):
            seal, _, body = entry.read_bytes().partition(b"\n")
            if seal == hashlib.sha256(body).hexdigest().encode():
                return [line.split() for line in body.decode("utf-8").split("\n")]
        bar = tqdm(lines, desc=f"tokenising {language}", leave=False, disable=None)
        tokens = [self.tokens(line, language) for line in bar]
        body = "\n".join(" ".join(sentence) for sentence in tokens).encode()
        # A cache that cannot be written, as in a sandbox, costs the next load its seconds only.
        with suppress(OSError):
            write_atomically(entry, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        return tokens
