"""`course report`: everything a comparison found, on one page that needs nothing else."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from bs4 import BeautifulSoup

from course_lib.corpora import own_text
from course_lib.figures import report
from tests.cli.conftest import SHORT, write_text
from tests.conftest import Course, typed

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A comparison on ninety made-up pairs in Hebrew script, with two seeds.

    One test sentence is trained on, too, in capitals and with another translation.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(own_text, "cache_folder", lambda: home / "cache")
        text = write_text(home / "<mine> & co")
        seen = (text / "test.en").read_text(encoding="utf-8").splitlines()[0].upper()
        for side, line in (("en", seen), ("he", "כלב")):
            with (text / f"train.{side}").open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        words = ["compare", "--corpus", text, "--pair", "en-he", *SHORT]
        for seed in (1, 2):
            assert typed(*words, "--seed", seed, "--out", home / f"seed{seed}") == 0
        assert typed("report", home / "seed1", home / "seed2") == 0
        yield home / "seed1"


@pytest.fixture(scope="module")
def page(folder: Path) -> BeautifulSoup:
    return BeautifulSoup((folder / "report.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def words(page: BeautifulSoup) -> list[str]:
    """Its texts."""
    return list(page.stripped_strings)


def test_it_needs_nothing_else_and_names_are_text(page: BeautifulSoup, words: list[str]) -> None:
    loads = [tag.get("src") or tag["href"] for tag in page.select("[src], [href]")]
    assert loads
    assert all(address.startswith("data:image/png") for address in loads)
    assert page.script is None
    assert any("<mine> & co en-he" in text for text in words)


def test_it_has_ten_sentences_with_their_maps(
    page: BeautifulSoup, words: list[str], folder: Path
) -> None:
    assert len(page.select("article")) == 10
    test = report.read_comparison(folder).test
    assert set(test.reference) <= set(words)
    found = report.examples(report.read_comparison(folder))
    assert all(set(one.translations) == {"rnnencdec", "rnnsearch"} for one in found)
    maps = [one.maps["rnnsearch"] for one in found if one.translations["rnnsearch"]]
    assert maps
    for one in maps:
        rows = [
            [float(w) for w in re.findall(r"--w:([\d.]+)", row)] for row in one.split("<tr>")[2:]
        ]
        assert all(sum(row) == pytest.approx(1, abs=0.02) for row in rows)


def test_a_test_sentence_that_was_trained_on_is_said_beside_the_score(
    page: BeautifulSoup, folder: Path, course: Course
) -> None:
    said = "1 of the 10 sources of test, or near copies of them, are trained on"
    below = page.find("h2", string="Scores").find_next("strong")
    assert below.text == f"{said}."
    assert below.find_next("h2").text == "Other seeds"
    done = course("score", folder / "rnnsearch", "--split", "test", "--beam", 1, "--json")
    assert said in done.err
    json.loads(done.out)
    assert "trained on" not in course("score", folder / "rnnsearch", "--split", "val").err


def test_words_carry_their_language(page: BeautifulSoup) -> None:
    spoken = {"source": "en", "reference": "he", "RNNsearch": "he", "RNNencdec": "he"}
    for article in page.select("article"):
        for name, one in zip(article.select("dt"), article.select("dd"), strict=True):
            assert one["lang"] == spoken[name.text]
    for one in page.select("table.map"):
        assert {word["lang"] for word in one.select("th[scope=row]")} == {"he"}
        assert {word["lang"] for word in one.select("th[scope=col] span")} == {"en"}


def test_the_scores_fit_a_wide_page(folder: Path, browser: "Browser") -> None:
    with browser.new_context(viewport={"width": 1200, "height": 800}) as context:
        page = context.new_page()
        page.goto((folder / "report.html").as_uri())
        assert page.evaluate(
            "(x => x.scrollWidth <= x.clientWidth)(document.querySelector('.wide'))"
        )


def test_maps_show_what_moses_escapes_as_people_write_it() -> None:
    tokens = BeautifulSoup(report.map_table([[1, 0], [0, 1]], ["l&apos;"], ["&lt;"]), "html.parser")
    assert [word.text for word in tokens.select("th")] == ["l'", "</s>", "<", "</s>"]


def test_scores_are_those_of_the_results(words: list[str], folder: Path) -> None:
    found = report.read_comparison(folder)
    half, p = report.intervals(found)
    assert 0 <= p <= 1
    for row, (model, scores) in zip(report.score_rows(found), found.scores.items(), strict=True):
        assert not row[2].startswith("-")  # no BLEU is below 0
        assert f"{scores['bleu_tok']:.1f}" in words
        assert f"{scores['chrf']:.1f}" in words
        middle, width = half[model]
        assert abs(middle - scores["bleu_tok"]) < max(5, width * 2)
    rows = report.spread_rows([found, report.read_comparison(folder.parent / "seed2")])
    for _, *values in rows:
        one, other, mean, least, greatest = map(float, values)
        assert (least, greatest) == (min(one, other), max(one, other))
        assert mean == pytest.approx((one + other) / 2, abs=0.1)
    assert {"seed 1", "seed 2"} <= set(words)


def test_the_notebook_is_one_and_its_cells_run(folder: Path) -> None:
    notebook = nbformat.read(folder / "report.ipynb", as_version=4)
    nbformat.validate(notebook)
    names: dict[str, object] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    assert set(names["comparison"].scores) == {"rnnencdec", "rnnsearch"}


@pytest.mark.parametrize("broken", ["nothing", "other text"])
def test_what_cannot_be_reported_is_one_line(
    broken: str, folder: Path, tmp_path: Path, course: Course
) -> None:
    if broken == "other text":
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        result = json.loads((tmp_path / "rnnsearch" / "result.json").read_text())
        result["corpus_sha256"]["test.he"] = "0"
        (tmp_path / "rnnsearch" / "result.json").write_text(json.dumps(result))
    remedy = "Put the text back" if broken == "other text" else "course compare"
    assert course("report", tmp_path).refused(remedy)
