"""How lines become tokens and tokens lines; and tokens that are kept, as Moses' rules are slow."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from course_lib.corpora.corpus import Rules, Split
from course_lib.corpora.tokenization import (
    PLAIN,
    PROTOCOL,
    clean,
    detokenize,
    tokenize,
    uniform,
)
from course_lib.files import cached


@dataclass(frozen=True)
class Splitting:
    """How lines of text become tokens, and tokens text again.

    lowercase: whether tokens are lower-cased.
    rules: `plain` for any language, `moses` for a published corpus, or `tokens` for a text that has
        its tokens between spaces already.
    """

    lowercase: bool
    rules: Rules = "plain"

    def tokens(self, line: str, language: str) -> list[str]:
        """One line's tokens."""
        if self.rules != "tokens":
            return tokenize(line, self._rules(language), self.lowercase)
        line = clean(line.lower() if self.lowercase else line).replace("\t", " ")
        return [token for token in line.strip().split(" ") if token]

    def text(self, tokens: list[str], language: str) -> str:
        """Tokens as text for people."""
        if self.rules == "tokens":
            return " ".join(tokens)
        return detokenize(tokens, self._rules(language))

    def reference(self, line: str) -> str:
        """A line as the text that translations are compared with."""
        return uniform(line) if self.rules == "plain" else line

    def _rules(self, language: str) -> str:
        return language if self.rules == "moses" else PLAIN

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
        return Split(source, target, None, list(map(self.reference, texts[1])))

    def _kept(self, folder: Path, lines: list[str], language: str) -> list[list[str]]:
        """The lines' tokens, from their file where it is undamaged; else split, and kept there."""

        def tokenised() -> bytes:
            bar = tqdm(lines, desc=f"tokenising {language}", leave=False, disable=None)
            return "\n".join(" ".join(self.tokens(line, language)) for line in bar).encode()

        body = cached(folder / f"{self.key(language, *lines)}.tokens", tokenised)
        return [line.split(" ") if line else [] for line in body.decode().split("\n")]


PUBLISHED = Splitting(lowercase=True, rules="moses")
"""How the published captions are split."""
