"""The assignment `heatmap_analysis`: what the proof of its variants does not cover."""

import importlib
import json
import shutil
import statistics
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from nltk.translate.metrics import alignment_error_rate as nltk_error_rate
from safetensors.torch import load_file

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.corpus import Split
from course_lib.errors import CourseError
from course_lib.evaluation import alignment, diagnostics
from course_lib.evaluation.bleu import bleu_tok
from course_lib.evaluation.forced import forced_weights
from course_lib.evaluation.weights import Weights
from course_lib.grading.authoring.demonstration import read_variants
from course_lib.grading.handing_in.packing import pack_submission
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook
from course_lib.models import build_model, count_parameters
from course_lib.search import translate
from course_lib.training import Run, load_run, read_result
from course_lib.training.checkpoint import save_weights
from experiments.proof import execute, new_namespace
from tests.assignments.cells import failed_parts
from tests.conftest import ROOT

NAME = "heatmap_analysis"
FOLDER = source_of(ROOT, NAME).parent
SOURCE = source_notebook(source_of(ROOT, NAME))
Links = frozenset[tuple[int, int]]
SAID = (
    "a boy should say that daughters describe two forests in the afternoon .",
    "ein junge sollte sagen , dass töchter am nachmittag zwei wälder beschreiben .",
)


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    """The script that made the model and the sentences."""
    return importlib.import_module("experiments.heatmap_analysis.record")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("toy", "en-de")


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run(FOLDER / "model", "cpu")


@pytest.fixture(scope="module")
def sentences() -> list[dict[str, Any]]:
    text = (FOLDER / "held_out.json").read_text(encoding="utf-8")
    return json.loads(text)["sentences"]


@pytest.fixture(scope="module")
def weights(run: Run, sentences: list[dict[str, Any]]) -> list[Weights]:
    part = Split([x["source"] for x in sentences], [x["target"] for x in sentences], None, [])
    return forced_weights(run.model, run.source_vocabulary, run.target_vocabulary, part)


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    """The functions of the instructor's solution."""
    namespace = {**new_namespace(), "np": np}
    for cell in SOURCE.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        left_out = name == "verbs_answer" or name.startswith("slip")
        if name.endswith("_answer") and "\ndef " in f"\n{cell.source}" and not left_out:
            assert execute(cell, namespace) is None, name
    return namespace


def test_the_model_given_out_is_small_and_is_what_its_files_say(
    recorder: ModuleType, run: Run, corpus: Corpus
) -> None:
    files = {path.name: path.stat().st_size for path in (FOLDER / "model").iterdir()}
    assert files.keys() == {"config.yaml", "vocabulary.json", "model.safetensors", "result.json"}
    assert sum(files.values()) < 1_500_000
    tensors = load_file(FOLDER / "model" / "model.safetensors").values()
    assert {tensor.dtype for tensor in tensors} == {torch.float16}
    result = read_result(FOLDER / "model")
    assert run.config == recorder.CONFIGURATION
    assert result["changes"] == recorder.CONFIGURATION.changes
    assert result["corpus_sha256"] == corpus.sha256
    assert result["parameters"] == count_parameters(run.model)
    [told] = [one.source for one in SOURCE.cells if "## The model and its" in one.source]
    assert f"{result['parameters'] / 1e6:.2f} million parameters" in told
    assert f"BLEU about {result['scores']['test']['bleu_tok']:.0f} " in told
    for name in ("git_commit", "scored_by"):
        known = ["git", "merge-base", "--is-ancestor", result[name], "HEAD"]
        assert subprocess.run(known, cwd=ROOT, check=False).returncode == 0, name


def test_the_model_decodes_what_its_result_says(run: Run, corpus: Corpus) -> None:
    part = corpus.splits["test"]
    found = translate(run.model, [run.source_vocabulary.encode(x) for x in part.source], k=1)
    written = [run.target_vocabulary.decode(one.tokens) for one in found]
    scores = read_result(FOLDER / "model")["scores"]["test"]
    assert bleu_tok(written, part.target).score == pytest.approx(scores["bleu_tok"], abs=0.05)


def test_the_sentences_are_the_first_of_the_test_split_with_verbs_that_moved(
    recorder: ModuleType, corpus: Corpus, sentences: list[dict[str, Any]]
) -> None:
    written = (FOLDER / "held_out.json").read_text(encoding="utf-8")
    assert written == recorder.text_of(recorder.held_out(corpus))
    moved = [x for x in sentences if x["verbs"]]
    assert len(moved) >= 50
    for one in moved:
        for j, i in one["verbs"]:
            assert [j, i] in one["gold"]
            earlier = {k for h, k in one["gold"] if h > j and k < i}
            assert len(earlier) >= 2
            # a German word of the verb, and the English one, in lower case as all words are
            assert one["source"][j].isalpha()
            assert one["target"][i].isalpha()


def test_the_verbs_are_found_in_sentences_one_can_check_by_hand(recorder: ModuleType) -> None:
    source, target = map(str.split, SAID)
    pairs = "0-0 1-1 2-2 3-3 4-5 5-6 6-11 7-9 8-10 9-7 10-7 11-8 12-12"
    links = frozenset(tuple(map(int, pair.split("-"))) for pair in pairs.split())
    assert recorder.moved_verbs(source, target, links) == [(6, 11)]
    assert recorder.moved_verbs(source, target, links - {(7, 9), (8, 10), (9, 7), (10, 7)}) == []


def test_the_solutions_links_are_the_librarys(
    solved: dict[str, Any], weights: list[Weights]
) -> None:
    for alpha in weights:
        assert solved["largest_links"](alpha) == alignment.argmax_links(alpha)
        for threshold in (0.05, 0.1, 0.3, 0.9):
            links = alignment.threshold_links(alpha, threshold)
            assert solved["links_from"](alpha, threshold) == links


def random_links(seed: int) -> Links:
    numbers = np.random.default_rng(seed)
    size = int(numbers.integers(1, 15))
    return frozenset(zip(*numbers.integers(0, 8, (2, size)).tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_the_solutions_measures_are_what_others_compute(solved: dict[str, Any], seed: int) -> None:
    links, sure, more = (random_links(3 * seed + k) for k in range(3))
    assert solved["crossings"](links) == diagnostics.crossings(links)
    assert solved["shared_columns"](links) == diagnostics.one_to_many(links).keys()
    rate = solved["error_rate"](links, sure, sure | more)
    assert rate == pytest.approx(nltk_error_rate(sure, links, possible=sure | more))
    assert solved["rank_correlation"](links) == pytest.approx(spearman(links))


def spearman(links: Links) -> float:
    """By way of the mean of a value's first and last place among the sorted values."""

    def ranks(values: list[int]) -> list[float]:
        order = sorted(values)
        return [order.index(v) + order.count(v) / 2 for v in values]

    sides = [ranks([link[side] for link in links]) for side in (0, 1)]
    if any(len(set(side)) < 2 for side in sides):
        return 0.0
    return statistics.correlation(*sides)


def parts(folder: Path, changed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The parts that the solution loses in this folder, with pieces of its text replaced."""
    notebook = source_notebook(source_of(ROOT, NAME))
    for cell in notebook.cells:
        for old, new in changed.items():
            cell.source = cell.source.replace(old, new)
    monkeypatch.chdir(folder)
    return failed_parts(notebook)


@pytest.fixture
def own_run(tmp_path: Path, run: Run) -> Path:
    """A submission's folder with the files given out and a run of the student's own in `mine`."""
    for path in ("held_out.json", "model", "slips.json"):
        (shutil.copytree if (FOLDER / path).is_dir() else shutil.copyfile)(
            FOLDER / path, tmp_path / path
        )
    mine = shutil.copytree(tmp_path / "model", tmp_path / "mine")
    (mine / "result.json").unlink()
    other = build_model(run.model.config, 1)
    other.load_state_dict(run.model.state_dict())
    with torch.no_grad():  # other weights of the kind that another seed or another machine gives
        generator = torch.Generator().manual_seed(3)
        for parameter in other.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter += 0.05 * parameter.std() * noise if parameter.numel() > 1 else 0
    save_weights(mine / "model.safetensors", other)
    return tmp_path


def test_a_run_of_ones_own_is_judged_by_its_own_weights(
    own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {'RUN = "model"': 'RUN = "mine"'}
    assert parts(own_run, changed, monkeypatch) == {}
    # matrices and numbers of the model given out are not those of this one
    borrowed = {**changed, 'run = load_run(RUN, "cpu")': 'run = load_run("model", "cpu")'}
    assert parts(own_run, borrowed, monkeypatch).keys() >= {"five_maps", "five_figures"}


def test_a_run_of_ones_own_is_packed_with_the_notebook(
    own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_run)
    notebook = own_run / f"{NAME}.ipynb"
    text = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    for name in ("mine", "model"):
        notebook.write_text(text.replace('RUN = \\"model\\"', f'RUN = \\"{name}\\"'))
        inside = {f"{name}/{x}" for x in ("config.yaml", "vocabulary.json", "model.safetensors")}
        assert set(pack_submission(notebook, NAME).contents) == {notebook.name, *inside}
    for name in ("nowhere", "../mine", str(own_run / "mine" / "..")):
        notebook.write_text(text.replace('RUN = \\"model\\"', f'RUN = \\"{name}\\"'))
        with pytest.raises(CourseError, match="no such run directory beside it"):
            pack_submission(notebook, NAME)


def test_a_run_of_another_kind_is_named(own_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = own_run / "mine" / "config.yaml"
    config.write_text(config.read_text().replace("pair: en-de", "pair: de-en"))
    lost = parts(own_run, {'RUN = "model"': 'RUN = "mine"'}, monkeypatch)
    assert "mine was trained on toy de-en" in lost["five_translations"]


def test_another_model_under_the_given_ones_name_would_be_seen(
    own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grader puts the given files back; and matrices of other weights are not the model's."""
    stored = {
        "maps = [one.alpha.numpy() for one in found]": "tampered = load_run('mine', 'cpu')\n"
        "numbers = [run.source_vocabulary.encode(words) for words in sources]\n"
        "again = translate(tampered.model, numbers, k=1)\n"
        "maps = [one.alpha.numpy() for one in again]"
    }
    assert parts(own_run, stored, monkeypatch).keys() == {"five_maps", "five_figures"}


def test_the_numbers_in_the_mark_scheme_are_the_models(
    sentences: list[dict[str, Any]], weights: list[Weights]
) -> None:
    pairs = [
        (one, alpha, j, i)
        for one, alpha in zip(sentences, weights, strict=True)
        for j, i in one["verbs"]
    ]
    gaps = [abs(int(alpha[i].argmax()) - j) for _, alpha, j, i in pairs]
    diagonal = [
        dict((i, j) for j, i in alignment.diagonal_links(len(one["source"]), len(one["target"])))
        for one, *_ in pairs
    ]
    blind = [abs(guess[i] - j) for guess, (*_, j, i) in zip(diagonal, pairs, strict=True)]
    shares = [
        sum(gap <= reach for gap in found) / len(found)
        for found, reach in ((gaps, 0), (gaps, 1), (blind, 1))
    ]
    scheme = SOURCE.cells[-2].source
    for share in shares:
        assert f"{100 * share:.0f} of 100" in scheme, share


def test_put_together_takes_links_of_whatever_kind_the_notebook_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists of lists and arrays of links cannot be made a set as they are."""
    kinds = {"largest-loops", "threshold-argwhere"}
    variants = [one for one in read_variants(ROOT, NAME).answers if one.name in kinds]
    assert {one.name for one in variants} == kinds
    answers = {cell: text for one in variants for cell, text in one.cells.items()}
    notebook = source_notebook(source_of(ROOT, NAME))
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.pop(grade_id, cell.source)
    assert not answers
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    assert failed_parts(notebook) == {}
    out, _ = capsys.readouterr()
    assert "verbs found exactly 92%" in out
