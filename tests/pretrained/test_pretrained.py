"""The published models: small, what their cards say, and able to translate."""

import html
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from safetensors import safe_open

from course_lib.corpora.registry import CORPORA
from course_lib.corpora.subwords import WORD_START
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.files import sha256_of
from course_lib.models import count_parameters
from course_lib.pretrained import FOLDER, published, published_path
from course_lib.search import translate
from course_lib.training import Run, load_run
from course_lib.widgets.stepper import AttentionStepper, recorded_steps
from course_lib.widgets.training_words import is_seen, seen_words
from tests.conftest import ROOT, Course

KINDS = ("", "-laptop", "-laptop-rnnencdec", "-rnnencdec")
NAMES = (
    *(f"multi30k-en-de{kind}" for kind in (*KINDS, "-taught")),
    *(f"multi30k-en-fr{kind}" for kind in KINDS),
    "python-docs-en-es",
    "python-docs-en-es-rnnencdec",
)
HALF = ("multi30k-en-de-laptop", "multi30k-en-de-laptop-rnnencdec", *NAMES[-2:])
LARGEST = 8_000_000


@pytest.fixture(scope="module", params=NAMES)
def run(request: pytest.FixtureRequest) -> Run:
    return load_run(request.param, "cpu")


@pytest.fixture
def result(run: Run) -> dict[str, Any]:
    return json.loads((run.path / "result.json").read_text(encoding="utf-8"))


@pytest.fixture
def card(run: Run) -> str:
    return (run.path / "README.md").read_text(encoding="utf-8")


def test_they_are_the_two_models_of_the_comparison_and_a_pupil_of_theirs(run: Run) -> None:
    assert published() == list(NAMES)
    name = run.path.name
    assert run.config.model == ("rnnencdec" if "rnnencdec" in name else "rnnsearch")
    assert run.config.preset == ("laptop" if "laptop" in name or "docs" in name else "best")
    assert published_path("multi30k") is published_path("../pretrained/multi30k-en-de") is None


def test_it_brings_the_words_of_its_training(run: Run) -> None:
    known = seen_words(run)
    assert is_seen("street" if run.config.corpus == "multi30k" else "function", known)
    assert is_seen("&quot;", known)
    assert not is_seen("parliament", known)


def test_the_weights_are_small_and_rounded(run: Run, result: dict[str, Any]) -> None:
    weights = run.path / "model.safetensors"
    assert weights.stat().st_size <= LARGEST
    with safe_open(weights, framework="pt") as file:
        sizes = {file.get_tensor(name).dtype.itemsize for name in file.offset_keys()}
    # With 8 bits go the rows' scales, and vectors, in single precision.
    assert sizes == {"float16": {2}, "int8": {1, 4}}[result["weights"]["dtype"]]
    assert {parameter.dtype.itemsize for parameter in run.model.parameters()} == {4}


def test_the_card_is_about_this_file(run: Run, result: dict[str, Any], card: str) -> None:
    weights = run.path / "model.safetensors"
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["weights"] == result["weights"]
    dtype = "float16" if run.path.name in HALF else "int8"
    about = {"file": weights.name, "dtype": dtype, "bytes": weights.stat().st_size}
    assert head["weights"].items() >= {**about, "sha256": sha256_of(weights)}.items()
    assert result["model_sha256"] == head["weights"]["sha256"] != head["weights"]["made_from"]
    assert head["parameters"] == count_parameters(run.model)
    assert head["model"] == run.config.model
    assert head["name"] == run.path.name
    assert head["language"] == run.config.pair.split("-")
    assert head["terms"] == CORPORA[run.config.corpus].terms
    for field in ("git_commit", "published_by"):
        assert head[field] == result[field]
        assert head[field]
    for protocol in ("bleu_tok", "bleu_detok"):
        for split, scores in result["scores"].items():
            assert head[protocol][split] == round(scores[protocol], 2)
            assert f" {scores[protocol]:.1f} |" in card
            assert scores[f"{protocol}_signature"] in card


def test_rounding_costs_next_to_nothing(result: dict[str, Any]) -> None:
    """BLEU stays within a tenth; with half precision one translation in thirty is another one."""
    most, kept = {"float16": (1 / 30, "half_precision"), "int8": (1 / 4, "eight_bits")}[
        result["weights"]["dtype"]
    ]
    assert result[kept].keys() == result["scores"].keys()
    for split, rounding in result[kept].items():
        scores = result["scores"][split]
        assert rounding["changed"] <= most * scores["sentences"]
        assert abs(scores["bleu_tok"] - rounding["bleu_tok_full"]) <= 0.1
    if "val" in result:
        assert abs(result["val"]["bleu_tok"] - result["val"]["bleu_tok_full"]) <= 0.1


def test_a_pupils_card_names_its_teachers(run: Run, result: dict[str, Any], card: str) -> None:
    name = run.path.name
    if name.endswith("-taught"):
        teachers = [name.removesuffix("-taught") + kind for kind in ("", "-laptop")]
        weights = [sha256_of(FOLDER / teacher / "model.safetensors") for teacher in teachers]
        assert result["written_by"] == dict(zip(teachers, weights, strict=True))
        assert f"`{teachers[0]}` and `{teachers[1]}`" in card
    else:
        assert "written_by" not in result


def test_it_translates_the_cards_sentences_as_the_card_says(
    run: Run, result: dict[str, Any], card: str
) -> None:
    source, target = run.config.pair.split("-")
    sources = [tokenize(row["source"], source) for row in result["examples"]]
    encoded = [run.source_vocabulary.encode(words) for words in sources]
    found = translate(run.model, encoded, 12, run.config.recipe.length_penalty)
    for row, hypothesis in zip(result["examples"], found, strict=True):
        answer = detokenize(run.target_vocabulary.decode(hypothesis.tokens), target)
        assert answer == row["translation"]
        assert f"| {row['source']} | {answer} |" in card


def test_it_answers_by_its_name_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, course: Course
) -> None:
    """One of each kind of weights; by their names all of them are read above."""
    monkeypatch.chdir(tmp_path)
    for name, words in (
        (HALF[0], {"ein", "fahrrad.", "fährt"}),
        ("multi30k-en-fr", {"un", "homme", "vélo."}),
    ):
        done = course("translate", name, stdin="a man is riding a bicycle .\n")
        [first, *_] = json.loads((FOLDER / name / "result.json").read_text())["examples"]
        assert done == (0, first["translation"] + "\n", "")
        assert words <= set(first["translation"].split())


def test_the_set_up_page_shows_what_a_first_translation_prints(course: Course) -> None:
    page = (ROOT / "book" / "set-up.md").read_text(encoding="utf-8")
    shown = r"echo (.+?) \| course translate (\S+)\n```\n\n```text\n(.+?)```"
    [(sentence, name, translation)] = re.findall(shown, page, re.DOTALL)
    assert course("translate", name, stdin=f"{sentence}\n").out == translation


def test_a_name_that_nobody_published_lists_those_that_are(course: Course) -> None:
    done = course("translate", "multi30k-de-en", stdin="ein hund\n")
    assert done.status == 2
    [line] = done.err.splitlines()
    assert "multi30k-de-en is not a run directory" in line
    assert all(name in line for name in NAMES)


def test_a_figure_is_made_from_its_name() -> None:
    figure = AttentionStepper("multi30k-en-de-laptop", "a man is riding a bicycle .")
    [model] = figure.sentences[0]["models"]
    written = "".join(
        word if WORD_START in "".join(model["target"]) else f" {word}"
        for word in model["target"][:-1]
    )
    answer = detokenize(
        [html.escape(word) for word in written.replace(WORD_START, " ").split()], "de"
    )
    [first, *_] = json.loads((FOLDER / NAMES[0] / "result.json").read_text())["examples"]
    assert answer == first["translation"]


def test_a_figure_ranks_as_its_run_was_scored() -> None:
    run = load_run("multi30k-en-de-laptop", "cpu")
    words = tokenize("Two young, white males are outside near many bushes.", "en")
    written = []
    for penalty in (0.0, 4.0):
        other = replace(run, config=replace(run.config, changes={"length_penalty": penalty}))
        [best] = translate(run.model, [run.source_vocabulary.encode(words)], 5, penalty)
        written.append([run.target_vocabulary.tokens[token] for token in best.tokens])
        assert recorded_steps(other, words, "")["target"][:-1] == written[-1]
    assert written[0] != written[1]


@pytest.mark.slow
def test_an_installed_wheel_answers_without_the_repository(tmp_path: Path) -> None:
    sources = tmp_path / "sources"  # building leaves files beside them
    shutil.copytree(
        ROOT / "course_lib", sources / "course_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, sources)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(sources)], check=True)
    [wheel] = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    for name in NAMES:
        installed = tmp_path / "installed" / "course_lib" / "pretrained" / name
        kept = {path.name for path in (FOLDER / name).iterdir()}
        assert {path.name for path in installed.iterdir()} == kept
    command = "from course_lib.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "translate", "multi30k-en-de"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed")},
        input="a dog is running .\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "hund" in done.stdout
