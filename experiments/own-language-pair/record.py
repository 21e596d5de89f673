"""Record what a text of one's own is like: what the page "Your own language pair" reads.

catalogues: the names of countries and languages that Debian translates, as a folder each. The
package iso-codes is fetched by apt, so this part needs Debian.
captions: Multi30k from French to German, read as if it were somebody's own folder.
expected: both models on parts of Multi30k, each read as a folder, and on generated texts.
report: what `course report` writes of the published models `laptop`, and a picture of it.
"""

import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from babel.messages.mofile import read_mo

from course_lib.corpora.own_text import OwnText, own_corpus
from course_lib.corpora.text_checker import TextChecker
from course_lib.corpora.text_checker import check as faults_of
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.figures.report import intervals, read_comparison, write_comparison
from course_lib.files import sha256_of
from course_lib.pretrained import published_path
from course_lib.training import compare, compared_configs, load_run, score_run
from course_lib.training.provenance import git_commit
from course_lib.training.recipe import RECIPES
from experiments.browser import write_picture
from experiments.recording import RUNS, Part, Read, Records, corpus_of
from experiments.recording import captions as lines_of

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
PAIRS = {"captions": (1_000, 10_000, 29_000), "generated": (1_000, 10_000, 100_000)}
"""How many training pairs each text has."""
PRESET = "quick"
READ = 58_000
"""Pairs read in a training, again and again if there are fewer, unless it stops before: the
preset's epochs of Multi30k."""
BEAM = 12
KEPT = ("git_commit", "corpus_sha256", "preset", "seed", "best_epoch", "precision")
"""What is said of each run."""
TEST = "test_2016_flickr"
PICTURE = Path(__file__).parents[2] / "book" / "images" / "report.png"
WIDE, SENTENCE = 560, 3
"""The picture is so many pixels wide, and shows this one of the report's sentences."""
CUT = """number => {
  const main = document.querySelector("main");
  const shown = main.querySelectorAll("article")[number - 1];
  const heads = [...main.querySelectorAll("h2")];
  let part = heads[1];
  for (let next; part; part = next) {
    next = part.nextElementSibling;
    if (part !== shown) part.remove();
  }
  return [main.getBoundingClientRect().bottom, shown.querySelector("h3").textContent];
}"""
"""Leaves the report's beginning, to the end of its scores, and one sentence."""


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
        "faults": faults_of(TextChecker(text)),
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
    with tempfile.TemporaryDirectory() as temporary:
        folder = part_of_captions(Path(temporary) / "captions", "fr-de")
        record = {"pair": "fr-de", "git_commit": git_commit(), **found_in(folder, "fr-de")}
    yield "own-text-captions", record


def expected(kind: str, pairs: int, as_set: bool = False) -> Records:
    """Both models on a text of so many pairs, READ pairs read at most; or as the preset is set."""
    name = f"{kind}-{pairs}" + "-as-set" * as_set
    home = RUNS / "own-text" / name
    epochs = RECIPES[PRESET].epochs if as_set else max(1, round(READ / pairs))
    changes: dict[str, Any] = {"epochs": epochs}
    if kind == "captions":
        corpus, pair = str(part_of_captions(home / "text", "en-de", pairs)), "en-de"
    else:
        corpus, pair = "toy", "en-de"
        changes |= {"corpus.train": pairs, "corpus.val": min(1_000, pairs // 10)}
        changes |= {"corpus.test": 1_000}
    configs = compared_configs(corpus=corpus, pair=pair, preset=PRESET, changes=changes)
    found = compare(configs, corpus_of(next(iter(configs.values()))), home, BEAM)
    yield (
        f"own-text-{name}",
        {
            "kind": kind,
            "pairs": pairs,
            "epochs": epochs,
            "models": {
                model: {
                    **{key: result[key] for key in KEPT},
                    "scores": next(iter(result["scores"].values())),
                }
                for model, result in found.items()
            },
        },
    )


def part_of_captions(folder: Path, pair: str, pairs: int = 29_000) -> Path:
    """The first so many training pairs of Multi30k as somebody's own folder.

    A tenth as many pairs are for validation, at most all of `val`; the test set is whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    splits = {"train": ("train", pairs), "val": ("val", pairs // 10), "test": (TEST, None)}
    for split, (origin, most) in splits.items():
        for language in pair.split("-"):
            text = "".join(line + "\n" for line in lines_of(origin, language)[:most])
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8", newline="\n")
    return folder


def report() -> Records:
    """The report of the published models `laptop` to German, and its beginning as a picture."""
    home = RUNS / "own-text" / "report"
    for model, name in (
        ("rnnencdec", "multi30k-en-de-laptop-rnnencdec"),
        ("rnnsearch", "multi30k-en-de-laptop"),
    ):
        if (home / model / f"hypotheses.{TEST}.txt").exists():
            continue
        shutil.copytree(published_path(name), home / model, dirs_exist_ok=True)
        run = load_run(home / model, "cpu")
        score_run(run, corpus_of(run.config), TEST, BEAM)
    page, _ = write_comparison([home])
    sentence = write_picture(page, PICTURE, WIDE, CUT, SENTENCE)
    found = read_comparison(home)
    half, p = intervals(found)
    yield (
        "own-text-report",
        {
            "sentence": sentence,
            "git_commit": git_commit(),
            "models": {model: one["model_sha256"] for model, one in found.results.items()},
            "intervals": half,
            "p": p,
            "bleu_tok": {model: one["bleu_tok"] for model, one in found.scores.items()},
            "picture_sha256": sha256_of(PICTURE),
        },
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
    for kind, several in PAIRS.items():
        bleu = [
            read(f"own-text-{kind}-{pairs}")["models"]["rnnsearch"]["scores"]["bleu_tok"]
            for pairs in several
        ]
        assert bleu == sorted(bleu)  # more pairs, more points
    assert read("own-text-captions-1000-as-set")["epochs"] == RECIPES[PRESET].epochs
    assert read("own-text-report")["picture_sha256"] == sha256_of(PICTURE)


PARTS = {
    "catalogues": Part(catalogues, "a minute"),
    "captions": Part(captions, "a minute"),
    "report": Part(report, "five minutes"),
    **{
        f"expected-{kind}-{pairs}": Part(partial(expected, kind, pairs), "ten minutes")
        for kind, several in PAIRS.items()
        for pairs in several
    },
    "expected-as-set": Part(partial(expected, "captions", 1_000, as_set=True), "two minutes"),
}
