"""Every corpus of the course by name: what it is, its terms, and how to load it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.corpora import multi30k, python_docs, wmt14
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own_text import OwnText, is_own, own_corpus, pairs_of
from course_lib.corpora.strings import string_corpus
from course_lib.corpora.toy import toy_corpus
from course_lib.errors import CourseError

TOKENS = ("tokens",)


@dataclass(frozen=True)
class Description:
    """What a person asks of a corpus before choosing it, and the function that loads it."""

    what: str
    pairs: tuple[str, ...]
    load: Callable[..., Corpus]
    size: str = "endless, of any length; nothing to download"
    terms: str = "made for this course, under its own licence"
    generated: bool = True


CORPORA = {
    "toy": Description(
        what="a synchronous English-German grammar with gold word alignments",
        pairs=("en-de", "de-en"),
        load=toy_corpus,
    ),
    **{
        task: Description(f"token strings {what}", TOKENS, partial(string_corpus, task))
        for task, what in (
            ("copy", "to be written down again"),
            ("reverse", "to be written down backwards"),
            ("verbs", "whose verbs move to the end of the clause"),
        )
    },
    "multi30k": Description(
        what="descriptions of photographs, translated by people (Elliott et al., 2016)",
        pairs=multi30k.PAIRS,
        size="29,000 training pairs; 2 MB to download",
        terms="for research and teaching, not for commercial use",
        generated=False,
        load=multi30k.multi30k,
    ),
    "python-docs": Description(
        what="paragraphs of Python's documentation, translated by its Spanish community",
        pairs=python_docs.PAIRS,
        size="43,553 training pairs of up to 60 words; 7 MB to download",
        terms="for any use: translations CC0, the English under the PSF licence",
        generated=False,
        load=python_docs.python_docs,
    ),
    "wmt14": Description(
        what="parliament, news and web pages: the paper's own task (Bojar et al., 2014)",
        pairs=wmt14.PAIRS,
        size="40,836,715 training pairs, streamed; about 4 GB to read and as much of tokens "
        "on disk",
        terms="for research, as statmt.org gives it out; the data set names no licence",
        generated=False,
        load=wmt14.wmt14,
    ),
}


def describe(name: str) -> Description:
    """The description of the corpus called `name`; raises CourseError that lists the names."""
    if name not in CORPORA:
        raise CourseError(
            f"There is no corpus {name!r}. Choose one of {', '.join(CORPORA)}, or give the path of "
            "a folder or table of your own."
        )
    return CORPORA[name]


def chosen(name: str, pair: str | None) -> tuple[str, str]:
    """A corpus and its pair as a run keeps them: a path from the root, and the pair that is meant.

    Raises CourseError where a text of one's own has more than one pair, and none is given.
    """
    if not _is_path(name):
        return name, pair or "en-de"
    if pair is None:
        known = pairs_of(Path(name)) or ["en-es", "es-en"]
        raise CourseError(
            f"Say what {name} translates from and to: --pair {' or --pair '.join(known)}."
        )
    return str(Path(name).resolve()), "-".join(OwnText.find(name, pair).pair)


def languages_of(name: str, pair: str, **options: Any) -> tuple[str, ...]:
    """The languages of source and target; none where the text is tokens between spaces."""
    known = CORPORA.get(name)
    if (known and known.pairs == TOKENS) or options.get("tokenized") or "-" not in pair:
        return ()
    return tuple(pair.split("-"))


def _is_path(name: str) -> bool:
    return name not in CORPORA and is_own(name)


def load_corpus(name: str, pair: str = "en-de", **options: Any) -> Corpus:
    """The corpus called `name`, or the text at that path.

    `options` go to the function that makes it (its seed, its sizes, whether its case is kept).

    Token strings have no languages: for them the default pair is as good as "tokens".
    Raises CourseError for a name, pair or option that does not exist, and names those that do.
    """
    own = _is_path(name)
    load = partial(own_corpus, name) if own else describe(name).load
    pairs = () if own else describe(name).pairs
    _check_options(name, load, options)
    if pairs == TOKENS and pair in ("en-de", *TOKENS):
        return load(**options)
    if pairs and pair not in pairs:
        raise CourseError(
            f"The corpus {name} has no pair {pair!r}. Choose one of {', '.join(pairs)}."
        )
    return load(pair, **options)


def _check_options(name: str, load: Callable[..., Corpus], options: dict[str, Any]) -> None:
    """Refuse options that there are not, other values than an option takes, and empty splits."""
    defaults = {x: p.default for x, p in inspect.signature(load).parameters.items() if x != "pair"}
    for option, value in options.items():
        if option not in defaults:
            raise CourseError(
                f"The corpus {name} has no option {option!r}. "
                f"It has {', '.join(defaults) or 'none'}."
            )
        default = defaults[option]
        if isinstance(default, bool):
            fits, wanted = type(value) is bool, "true or false"
        elif isinstance(default, int):
            fits, wanted = type(value) is int, "a whole number"
            if option in ("train", "val", "test"):
                fits, wanted = fits and value >= 1, "a whole number above 0"
        else:
            fits = value is None or (
                isinstance(value, tuple | list) and all(type(part) is int for part in value)
            )
            wanted = f"{len(default)} whole numbers, as in [{', '.join(map(str, default))}]"
        if not fits:
            raise CourseError(f"corpus.{option}={value!r} does not fit. Give {wanted}.")
