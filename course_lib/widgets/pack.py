"""A run as a page takes it: 8-bit weights with everything that reading and writing text needs.

A pack is a file of safetensors, packed by gzip; a page is given it as scripts, since a page opened
from a disk may load nothing else. `modules/live/pack.mjs` and `modules/live/text.mjs` read it.
"""

import base64
import gzip
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from safetensors.torch import save

from course_lib.corpora.registry import TOKENS
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import CLUSTER, MOSES, PATTERNS
from course_lib.errors import CourseError
from course_lib.models.quantised import quantised
from course_lib.training import Run
from course_lib.widgets.training_words import seen_words

PART = 600_000
"""Characters of base64 in one script: progress is shown script by script."""

TEXTS = {"multi30k": "captions", "python-docs": "Python's documentation"}
"""What a page calls the text of a corpus."""
NAMES = {"rnnsearch": "RNNsearch", "rnnencdec": "RNNencdec"}
"""What a page calls the models."""
COMPUTED: dict[str, tuple[Any, ...]] = {
    "context": ("additive", "fixed"),
    "decoder": ("paper", "conditional"),
    "encoder": ("bidirectional",),
    "unit": ("torch", "paper"),
    "layers": (1,),
    "reverse_source": (False,),
}
"""What of a model's configuration `modules/live/rnnsearch.mjs` computes."""


@dataclass(frozen=True)
class Pack:
    """A run for a page.

    name: what its scripts are called.
    about: what is known before it is loaded: `name`, `model`, `pair`, `text`, which says what kind
        of sentences it has read, and `parts`.
    data: the file.
    seen: what `seen_words` says of the run.
    """

    name: str
    about: dict[str, Any]
    data: bytes
    seen: bytes

    @property
    def scripts(self) -> list[str]:
        """The scripts that hand the page the file, part by part."""
        text = base64.b64encode(self.data).decode()
        parts = [text[at : at + PART] for at in range(0, len(text), PART)]
        return [
            f"(globalThis.courseParts ??= {{}})[{json.dumps(f'{self.name}/{number}')}] = "
            f'"{part}";\n'
            for number, part in enumerate(parts)
        ]


def pack_run(run: Run, name: str | None = None) -> Pack:
    """A run, its weights in 8 bits, for a page; `name` without one is the run directory's.

    Raises:
        CourseError: a page does not compute such a model, or does not split such a language.
    """
    config = run.model.config.to_dict()
    for name_of, values in COMPUTED.items():
        if config[name_of] not in values:
            raise CourseError(
                "A page takes RNNsearch, RNNencdec and the conditional decoder, with one layer of "
                f"gated units; {run.path} has {name_of}={config[name_of]}. Use course translate."
            )
    if run.how.rules == "moses" and not set(run.config.languages) <= set(MOSES):
        raise CourseError(f"A page does not split {run.config.pair}. Use course translate.")
    name, seen = name or run.path.name, seen_words(run)
    about = {
        "name": name,
        "model": NAMES[run.config.model],
        "pair": "-".join(run.config.languages) or TOKENS[0],
        "text": TEXTS.get(run.config.corpus, ""),
        "length_penalty": run.config.recipe.length_penalty,
        "config": config,
        "source": run.source_vocabulary.tokens,
        "target": run.target_vocabulary.tokens,
        **_cutting(run),
        "rules": {
            **tokenisation_rules(run.config.languages if run.how.rules == "moses" else ()),
            "kind": run.how.rules if run.config.languages else "tokens",
            "lowercase": run.how.lowercase,
        },
        "seen": base64.b64encode(seen).decode(),
    }
    tensors = quantised(run.model.state_dict())
    # One text in the header, for several come in any order, and no date: the same run makes the
    # same file. Whether it is whole is for gzip's checksum to say.
    file = save(tensors, metadata={"about": json.dumps(about, ensure_ascii=False)})
    data = gzip.compress(file, compresslevel=9, mtime=0)
    shown = {key: about[key] for key in ("name", "model", "pair", "text", "length_penalty")}
    parts = -(-len(base64.b64encode(data)) // PART)
    return Pack(name, {**shown, "parts": parts}, data, seen)


def _cutting(run: Run) -> dict[str, Any]:
    """How words are cut: byte pairs in their order and, where letters stand without spaces, the
    pattern of the spaces that are taken away before."""
    words = run.source_vocabulary
    if not isinstance(words, Pieces):
        return {"merges": None, "closed": None}
    cutter = json.loads(words.tokenizer)
    closed = cutter["normalizer"] and cutter["normalizer"]["pattern"]["Regex"]
    if closed:
        closed = re.sub(r"\\p{(\w+)}", r"\\p{Script=\1}", closed)
    return {"merges": cutter["model"]["merges"], "closed": closed}


@cache
def tokenisation_rules(languages: tuple[str, ...]) -> dict[str, Any]:
    """The patterns of the plain rules and, for languages that Moses' rules split, Moses' tables.

    Those are what sacremoses takes for letters and numbers, as ranges within a JavaScript character
    class, and the abbreviations it knows.
    """
    plain = {name: _for_a_page(pattern) for name, pattern in PATTERNS.items()}
    if not languages:
        return {"plain": plain}
    import sacremoses
    from sacremoses.util import CJKChars

    tokens, text = sacremoses.MosesTokenizer, sacremoses.MosesDetokenizer
    found: dict[str, Any] = {
        "plain": plain,
        "cluster": _for_a_page(CLUSTER),
        "tokens": {
            "alnum": character_class(tokens.IsAlnum),
            "number": character_class(tokens.IsN),
            "letter": character_class(tokens.IsAlpha),
            "lower": character_class(tokens.IsLower),
        },
        "text": {
            "currency": character_class(text.IsSc),
            "letter": character_class(text.IsAlpha),
            "cjk": CJKChars.ranges,
        },
    }
    for language in languages:
        tokenizer = sacremoses.MosesTokenizer(lang=language)
        found[language] = {
            "prefixes": tokenizer.NONBREAKING_PREFIXES,
            "numeric": tokenizer.NUMERIC_ONLY_PREFIXES,
        }
    return found


def _for_a_page(pattern: str) -> str:
    """A pattern of Python's `regex` as JavaScript's flag v reads it."""
    return re.sub(r"\\U000([0-9a-f]{5})", r"\\u{\1}", pattern)


def character_class(characters: Iterable[str]) -> str:
    r"""Characters as ranges, `\u{61}-\u{7a}\u{e4}`, for a regular expression with the flag u."""
    ranges: list[list[int]] = []
    for code in sorted(set(map(ord, characters))):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(
        f"\\u{{{first:x}}}" + (f"-\\u{{{last:x}}}" if last > first else "")
        for first, last in ranges
    )
