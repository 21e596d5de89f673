"""Record what a text of one's own is like: what the page "Your own language pair" reads.

catalogues: the names of countries and languages that Debian translates, as a folder each. The
package iso-codes is fetched by apt, so this part needs Debian.
captions: Multi30k from French to German, read as if it were somebody's own folder.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from babel.messages.mofile import read_mo

from course_lib.corpora.check import Judge
from course_lib.corpora.check import check as faults_of
from course_lib.corpora.multi30k import fetch
from course_lib.corpora.own import OwnText, own_corpus
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.training.provenance import git_commit
from experiments.recording import Part, Read, Records

CATALOGUES = ("iso_3166-1", "iso_639-3")
LANGUAGES = {
    "de": "Latin",
    "el": "Greek",
    "uk": "Cyrillic",
    "he": "Hebrew",
    "ar": "Arabic",
    "hi": "Devanagari",
    "ko": "Hangul",
    "ja": "Han and Kana",
    "zh_CN": "Han",
    "th": "Thai",
}


def messages(folder: Path, language: str) -> list[tuple[str, str]]:
    """The messages of a language's catalogues that are translated, English first."""
    pairs = []
    for name in CATALOGUES:
        with (folder / language / "LC_MESSAGES" / f"{name}.mo").open("rb") as file:
            known = [(one.id, one.string) for one in read_mo(file)]
        pairs += [(x, y) for x, y in known if isinstance(x, str) and x and y and x != y]
    return [(" ".join(x.split()), " ".join(y.split())) for x, y in pairs]


def found_in(folder: Path, pair: str) -> dict[str, Any]:
    """What the checker and the loader say of a text, and how its target comes back as text."""
    text = OwnText.find(folder, pair)
    corpus = own_corpus(str(folder), pair)
    language = text.pair[1]
    lines = [line for split in corpus.splits.values() for line in split.reference]
    back = sum(detokenize(tokenize(line, language, False), language) == line for line in lines)
    return {
        "pairs": {name: len(split) for name, split in corpus.splits.items()},
        "faults": faults_of(Judge(text)),
        "notes": list(corpus.notes),
        "example": [corpus.splits["test"].reference[0], corpus.splits["test"].target[0]],
        "comes_back": back / len(lines),
        "corpus_sha256": corpus.sha256,
    }


def catalogues() -> Records:
    """Ten languages in nine scripts."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        subprocess.run(["apt-get", "download", "-q", "iso-codes"], cwd=home, check=True)
        package = next(home.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", package.name, "files"], cwd=home, check=True)
        found = {}
        for language in LANGUAGES:
            folder = home / language
            folder.mkdir()
            pairs = messages(home / "files" / "usr" / "share" / "locale", language)
            for side, name in enumerate(("en", language)):
                text = "".join(pair[side] + "\n" for pair in pairs)
                (folder / f"train.{name}").write_text(text, encoding="utf-8")
            found[language] = {"script": LANGUAGES[language], **found_in(folder, f"en-{language}")}
        yield (
            "own-text-catalogues",
            {
                "package": package.stem,
                "git_commit": git_commit(),
                "languages": found,
            },
        )


def captions() -> Records:
    """French and German captions, which are translations of the same English ones."""
    splits = {"train": "train", "val": "val", "test": "test_2016_flickr"}
    names = {(x, y): f"{origin}.{y}.gz" for x, origin in splits.items() for y in ("fr", "de")}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "captions"
        folder.mkdir()
        for (split, language), path in zip(names, fetch(names.values()), strict=True):
            shutil.copyfile(path, folder / f"{split}.{language}.gz")
        yield (
            "own-text-captions",
            {"pair": "fr-de", "git_commit": git_commit(), **found_in(folder, "fr-de")},
        )


def check(read: Read) -> None:
    """What the page says of the records."""
    found = read("own-text-catalogues")["languages"]
    assert len(found) >= 4
    assert sum(one["script"] != "Latin" for one in found.values()) >= 2
    for one in found.values():
        assert min(one["pairs"].values()) > 10
        assert one["comes_back"] > 0.85
    two = read("own-text-captions")
    assert any("same pair" in fault or "times as long" in fault for fault in two["faults"])


PARTS = {
    "catalogues": Part(catalogues, "a minute"),
    "captions": Part(captions, "a minute"),
}
