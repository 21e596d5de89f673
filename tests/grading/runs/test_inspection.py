"""Runs that are handed in: honest ones pass whatever rounded them, tampered ones are found out."""

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file

from course_lib.assignments import inspection, owner
from course_lib.corpora import load_corpus, multi30k, own_text, python_docs
from course_lib.corpora.batches import make_batch
from course_lib.corpora.own_text import own_corpus
from course_lib.corpora.python_docs import Prepared
from course_lib.errors import CourseError
from course_lib.evaluation.score import measured
from course_lib.grading.runs import boxed_inspection, comparison
from course_lib.grading.runs.comparison import Unavailable, check_offered, inspect
from course_lib.models import build_model
from course_lib.search import translate
from course_lib.training import RunConfig, encode_pairs, finish_run, load_run, mean_loss, train
from tests.conftest import ROOT
from tests.grading.runs.handed_in import (
    BOTH,
    NAME,
    STUDENT,
    Change,
    corpus,
    edit_config,
    edit_json,
    edit_metrics,
    lines,
    problems,
    references,
    rescore,
    set_weights,
    write_lines,
)


def test_an_honest_pair_has_no_problem_and_its_scores_are_those_it_reports(folder: Path) -> None:
    """Whatever an editor does: it may put a mark of order first, and end lines as Windows does."""
    for path in folder.glob("comparison/*/*.*"):
        if path.name in ("metrics.jsonl", "result.json", "config.yaml"):
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    found = inspect(folder, " Reference ")
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    for model in BOTH:
        result = json.loads((folder / "comparison" / model / "result.json").read_text("utf-8-sig"))
        score = found["facts"]["runs"][model]["score"]
        assert score["bleu_tok"] == pytest.approx(result["scores"]["test"]["bleu_tok"])
        assert score["short"]["sentences"] > 5
        assert score["long"]["sentences"] > 5
        assert found["facts"]["runs"][model]["curve"] == result["metrics"]
    assert [remark for remark in found["remarks"] if "not verifiable" in remark]


ROUNDINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "bfloat16": lambda value: value.bfloat16().float(),
    "one part in a thousand": lambda value: value * (1 + 1e-3 * torch.randn_like(value)),
}


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_another_rounding_is_not_accused(folder: Path, rounding: str) -> None:
    """The scores are those of a machine that rounds otherwise than the one that checks them."""
    for model in BOTH:
        run = folder / "comparison" / model
        loaded = load_run(run)
        torch.manual_seed(3)
        with torch.no_grad():
            for parameter in loaded.model.parameters():
                parameter.copy_(ROUNDINGS[rounding](parameter))
        sources = [loaded.source_vocabulary.encode(x) for x in corpus().splits["test"].source]
        found = translate(loaded.model, sources, k=3, batch_size=13)
        write_lines(run, [" ".join(loaded.target_vocabulary.decode(h.tokens)) for h in found])
        edit_metrics(run, -1, val_loss=last_loss(run) + 1e-4)
        rescore(run)
    assert problems(folder) == {}


def last_loss(run: Path) -> float:
    return float(json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["val_loss"])


SCORES, CURVES, RECIPE, OWN = {"scores"}, {"curves"}, {"recipe"}, {"translations"}
ALL = {"files", "recipe", "scores", "curves", "translations"}
ON_WEIGHTS = ALL - {"scores"}
RUN = "rnnsearch"


def config(*runs: str, **values: Any) -> Change:
    """Other values in the configurations of these runs; of `changes`, those that are named."""

    def change(place: Path) -> None:
        for run in runs:
            record = yaml.safe_load((place / run / "config.yaml").read_text())
            merged = {k: record[k] | v if k == "changes" else v for k, v in values.items()}
            edit_config(place / run, **merged)

    return change


def scores(**values: Any) -> Change:
    def change(result: Any) -> None:
        found = result["scores"]["test"]
        for key, value in values.items():
            found[key] = found[key] | value if isinstance(value, dict) else value

    return lambda place: edit_json(place / RUN / "result.json", change)


def translated(change: Callable[[list[str]], list[str]]) -> Change:
    """Other translations, and the scores that they have."""

    def rewrite(place: Path) -> None:
        write_lines(place / RUN, change(lines(place / RUN)))
        rescore(place / RUN)

    return rewrite


def weights(change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    return lambda place: set_weights(place / RUN, change)


def rewritten(file: str, change: Callable[[bytes], bytes]) -> Change:
    def rewrite(place: Path) -> None:
        (place / RUN / file).write_bytes(change((place / RUN / file).read_bytes()))

    return rewrite


def same_run_twice(place: Path) -> None:
    shutil.rmtree(place / "rnnencdec")
    shutil.copytree(place / "rnnsearch", place / "rnnencdec")


def lower_best(place: Path) -> None:
    edit_metrics(place / RUN, -1, val_loss=last_loss(place / RUN) - 0.5)


def foreign_words(place: Path) -> None:
    """Two words have changed places, and the checksum of the file is that of now."""
    path = place / RUN / "vocabulary.json"

    def change(sides: Any) -> None:
        sides["source"][50:52] = reversed(sides["source"][50:52])

    edit_json(path, change)


def noise(value: torch.Tensor) -> torch.Tensor:
    drawn = torch.randn(value.shape, generator=torch.Generator().manual_seed(0))
    return value + 0.03 * drawn


EXPLODING = b"k0: &k0 [lol]\n" + b"".join(
    f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 9)}]\n".encode() for i in range(1, 12)
)
BUILDING = b"x: !!python/object/apply:os.system ['touch /tmp/caught']\n"
TAMPERED: dict[str, tuple[set[str], str, Change]] = {
    "BLEU": (SCORES, "reports bleu_tok = 61.50; its translations give", scores(bleu_tok=61.5)),
    "BLEU of long": (SCORES, "bleu_tok of long = 61.50", scores(long={"bleu_tok": 61.5})),
    "BLEU of plain text": (SCORES, "bleu_detok = nan", scores(bleu_detok=float("nan"))),
    "text for numbers": (
        SCORES,
        "of config.yaml, result.json, hypotheses",
        scores(bleu_tok="good", short=None),
    ),
    "half edited": (
        OWN,
        "of the lines are the model's",
        translated(lambda text: [*references()[:31], *text[31:]]),
    ),
    # no more lines are swapped than rounding could change, but they are worth more
    "a few better": (
        OWN,
        "92 % of the lines are the model's, and they score",
        translated(lambda text: [*references()[:5], *text[5:]]),
    ),
    "noisy weights": (CURVES | OWN, "of the weights that were handed in", weights(noise)),
    "NaN in weights": (CURVES | OWN, "is not trained", weights(lambda x: x * float("nan"))),
    "one run twice": (ALL, "comparison/rnnencdec holds a run of rnnsearch", same_run_twice),
    "the other's weights": (
        ON_WEIGHTS,
        "weights of another model",
        lambda place: shutil.copy(
            place / "rnnencdec/model.safetensors", place / "rnnsearch/model.safetensors"
        ),
    ),
    "cut weights": (
        ON_WEIGHTS,
        "comparison/rnnsearch/model.safetensors is damaged",
        rewritten("model.safetensors", lambda data: data[:-1000]),
    ),
    "another seed": (RECIPE, "with seed 1; the seed of reference is", config(*BOTH, seed=1)),
    "more dropout": (
        RECIPE,
        "differ in more than the context: dropout.",
        config(RUN, changes={"dropout": 0.5}),
    ),
    "other data": (
        RECIPE,
        "the checksums differ",
        config(*BOTH, corpus_sha256={"generator": "0" * 64}),
    ),
    "foreign words": (RECIPE | CURVES, "does not hold the words", foreign_words),
    "begun elsewhere": (
        RECIPE,
        "began with the weights of another run",
        config(RUN, init_from={"run": "longer", "sha256": "0" * 64}),
    ),
    "a lower best": (CURVES, "beside that of the weights", lower_best),
    "an infinite number": (
        CURVES,
        "line 1: not all of it are numbers",
        rewritten("metrics.jsonl", lambda text: text.replace(b": ", b': 1e999, "was": ', 1)),
    ),
    "one JSON list": (
        {"files"} | CURVES,
        "metrics.jsonl does not have a JSON object on each line",
        rewritten("metrics.jsonl", lambda text: b"[" + b",".join(text.splitlines()) + b"]\n"),
    ),
    "an empty curve": (
        {"files"} | CURVES,
        "metrics.jsonl does not have a JSON object on each line",
        rewritten("metrics.jsonl", lambda _: b""),
    ),
    "deep JSON": (
        {"files", "scores", "translations"},
        "could not be checked (RecursionError)",
        rewritten("result.json", lambda _: b"[" * 100_000),
    ),
    "YAML that builds objects": (
        ALL,
        "config.yaml is damaged",
        rewritten("config.yaml", lambda text: text + BUILDING),
    ),
    "an enormous model": (ALL, "at most 16384", config(RUN, changes={"hidden": 200_000})),
    "an endless corpus": (
        RECIPE,
        "too many here",
        config(*BOTH, changes={"corpus.train": 10**9}),
    ),
}
"""What is done to the pair: the parts that see it, and what is said."""


@pytest.mark.parametrize("how", TAMPERED)
def test_what_was_tampered_with_is_found_and_named(folder: Path, how: str) -> None:
    parts, said, change = TAMPERED[how]
    change(folder / "comparison")
    found = problems(folder)
    assert found.keys() == parts, found
    assert any(said in one for part in found.values() for one in part), found


def test_text_that_explodes_where_it_is_read_harms_nobody(folder: Path) -> None:
    rewritten("config.yaml", lambda text: text + EXPLODING)(folder / "comparison")
    assert problems(folder) == {}


@pytest.mark.parametrize("file", [one for one in inspection.wanted() if RUN in one])
def test_a_part_that_rests_on_a_missing_file_gets_no_points_and_is_told_which(
    folder: Path, file: str
) -> None:
    resting = {part for part in ALL if file in inspection.wanted(part)}
    [path] = folder.glob(file)
    path.unlink()
    # a student is told the same where they work
    assert {part for part in ALL if inspection.missing(folder, part)} == resting
    said = f"There is no {file}. {inspection.REMEDY}."
    assert problems(folder) == {part: [said] for part in resting}


def test_a_changed_middle_of_a_curve_is_not_claimed_to_be_checked(folder: Path) -> None:
    run = folder / "comparison/rnnsearch"
    row = json.loads((run / "metrics.jsonl").read_text().splitlines()[1])
    edit_metrics(run, 1, val_loss=row["val_loss"] + 0.01, val_bleu=0.0)
    found = inspect(folder, STUDENT)
    assert not any(found["facts"]["problems"].values())
    assert "others are not verifiable" in " ".join(found["remarks"])


def test_weights_as_drawn_are_no_training(folder: Path) -> None:
    for model in BOTH:
        run = folder / "comparison" / model
        drawn = build_model(load_run(run).model.config, owner.seed(STUDENT)).state_dict()
        save_file(drawn, run / "model.safetensors")
    said = " ".join(problems(folder)["curves"])
    assert re.search(r"rnnsearch is not trained: its validation loss is \d\.\d\d", said)


def test_a_model_that_learned_next_to_nothing_is_a_training(folder: Path) -> None:
    """A score costs nothing, however low: here after five updates."""
    for model in BOTH:
        run = folder / "comparison" / model
        words = load_run(run).words
        fresh = build_model(load_run(run).model.config, owner.seed(STUDENT))
        train = encode_pairs(corpus().splits["train"], words)
        optimiser = torch.optim.Adam(fresh.parameters(), lr=0.01)
        for update in range(5):
            loss, count = fresh.loss(make_batch(train, list(range(32 * update, 32 * update + 32))))
            optimiser.zero_grad()
            (loss / count).backward()
            optimiser.step()
        save_file(fresh.state_dict(), run / "model.safetensors")
        loss = mean_loss(fresh.eval(), encode_pairs(corpus().splits["val"], words))
        rows = (run / "metrics.jsonl").read_text().splitlines()
        made = json.dumps(json.loads(rows[0]) | {"val_loss": loss})
        (run / "metrics.jsonl").write_text(f"{made}\n")
    assert problems(folder).keys() == OWN


def test_a_file_that_two_handed_in_is_named_to_both_and_no_other_is(
    folder: Path, tmp_path: Path
) -> None:
    submitted = tmp_path / "submitted"
    for student in ("ada", "bela", "cem"):
        shutil.copytree(folder / "comparison", submitted / student / NAME / "comparison")
    for path in (submitted / "cem").rglob("*.*"):
        if path.is_file():
            path.write_bytes(path.read_bytes() + b" ")
    (submitted / "bela" / NAME / "comparison/rnnencdec/model.safetensors").unlink()
    (submitted / "dora" / NAME).mkdir(parents=True)
    (submitted / "dora" / NAME / "comparison").symlink_to(submitted / "ada" / NAME / "comparison")
    said = boxed_inspection.same_files(submitted, NAME, ["ada", "bela", "cem", "dora"])
    assert said.keys() == {"ada", "bela"}
    assert (
        "comparison/rnnsearch/model.safetensors is byte for byte the file of bela." in said["ada"]
    )
    assert not any("rnnencdec/model" in one for one in said["ada"])
    assert not any("config.yaml" in one or "vocabulary" in one for one in said["ada"])
    assert boxed_inspection.same_files(submitted, "attention_by_hand", ["ada", "bela"]) == {}
    team = {"ada": ["bela"], "bela": ["ada"]}
    everybody = ["ada", "bela", "cem", "dora"]
    assert not boxed_inspection.same_files(
        submitted, NAME, everybody, lambda one: team.get(one, [])
    )


def test_a_group_trains_with_the_seed_of_any_of_its_members(folder: Path) -> None:
    assert not problems(folder, "ada\nreference\nbela")
    (said,) = problems(folder, "ada\nbela").values()
    for one in ("ada", "bela"):
        assert f"the seed of {one} is {owner.seed(one)}" in said[0]


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    caught = tmp_path / "caught"

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch {caught}",)

    for name in ("model.safetensors", "result.json", "vocabulary.json"):
        (folder / "comparison/rnnsearch" / name).write_bytes(pickle.dumps(Hostile()))
    torch.save({"x": Hostile()}, folder / "comparison/rnnencdec/model.safetensors")
    assert problems(folder).keys() == ALL
    assert not caught.exists()


def test_the_whole_runs_boxed_in_and_leaves_its_findings_to_be_read(folder: Path) -> None:
    found = boxed_inspection.inspect(ROOT, NAME, folder, STUDENT, boxed=True)
    assert found is not None
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    assert inspection.facts(folder) == found["facts"]
    assert os.stat(folder / inspection.FILE).st_mode & 0o222 == 0
    assert not list(folder.rglob("*.safetensors"))
    assert inspection.facts(folder / "comparison") is None
    assert boxed_inspection.inspect(ROOT, "attention_by_hand", folder, STUDENT, boxed=True) is None


def test_without_walls_it_says_the_same_and_what_ends_early_is_defined(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boxed_inspection, "WALL_SECONDS", 0.01)
    found = boxed_inspection.inspect(ROOT, NAME, folder, STUDENT, boxed=False)
    assert found is not None
    assert set(found["facts"]["problems"]) == ALL
    assert "took longer" in found["remarks"][0]


DOCS = {"corpus": "python-docs", "pair": "en-es"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"changes": {"hidden": 8}}, "hidden is under 24"),
        ({"changes": {"corpus.train": 100}}, "corpus.train is under 800"),
        ({"changes": {"tying": "output"}}, "another tying than the task's"),
        ({"preset": "smoke"}, "preset smoke"),
        ({**DOCS, "changes": {"corpus.train": 20_000}}, "corpus.train=30000 of python-docs"),
        ({**DOCS, "changes": {"corpus.train": 30_000}}, "corpus.test=600 of python-docs"),
    ],
)
def test_a_setting_that_the_task_does_not_offer_is_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(CourseError, match=said):
        check_offered("mine", RunConfig("rnnsearch", **{"corpus": "toy", **values}))


@pytest.mark.parametrize(
    ("module", "values"),
    [
        (multi30k, {"corpus": "multi30k", "changes": {}}),
        (python_docs, {**DOCS, "changes": {"corpus.train": 30_000, "corpus.test": 600}}),
    ],
)
def test_a_machine_without_the_corpus_says_so_and_accuses_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: Any, values: dict[str, Any]
) -> None:
    for model in BOTH:
        edit_config(folder / "comparison" / model, **values)
    monkeypatch.setattr(module, "locate", lambda *_: None)
    with pytest.raises(Unavailable, match=f"course corpus fetch {values['corpus']}"):
        inspect(folder, STUDENT)


PARTS_OF_SAMPLE = {"python-docs": {"train": 16, "test": 6}}


@contextmanager
def documentation_of_twenty(cache: Path) -> Iterator[None]:
    """Python's documentation as if it were the sample alone, and the task's parts of that."""
    pairs = python_docs.sample_pairs()
    prepared = Prepared({"train": pairs, "val": pairs[:8], "test": pairs}, {"entries": len(pairs)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(python_docs, "prepare", lambda: prepared)
        patched.setattr(python_docs, "cache_folder", lambda: cache)
        patched.setattr(python_docs, "locate", lambda: cache)
        patched.setattr(comparison, "PARTS_OF", PARTS_OF_SAMPLE)
        patched.setattr(comparison, "LEAST", {})
        comparison._loaded.cache_clear()
        yield


def test_long_paragraphs_in_pieces_of_words_are_checked_by_the_same_rules(tmp_path: Path) -> None:
    """Both models after a few updates on that documentation."""
    seed = owner.seed(STUDENT)
    changes = {"corpus.train": 16, "corpus.test": 6, "corpus.seed": seed, "subwords": 300}
    changes |= dict.fromkeys(comparison.SIZE_FIELDS, 24)
    changes |= {"epochs": 3, "batch_size": 4, "dropout": 0.0}
    changes |= {"averaging": 0.5, "warmup": 2, "learning_rate": 0.01}
    place = tmp_path / "comparison"
    with documentation_of_twenty(tmp_path / "cache"):
        for model in BOTH:
            config_of_it = RunConfig(model, "python-docs", "en-es", "cpu", seed, changes)
            data = load_corpus("python-docs", "en-es", **config_of_it.corpus_options)
            train(config_of_it, data, place / model, quiet=True)
            finish_run(place / model, data, beam=2)
        assert problems(tmp_path) == {}
        written = lines(place / RUN)
        assert len(written) == 6
        write_lines(place / RUN, written[::-1])
        assert "translations" in problems(tmp_path)
        config(*BOTH, changes={"corpus.seed": 1})(place)  # somebody else's part of it
        assert any("other data" in one for one in problems(tmp_path)["recipe"])


@pytest.fixture
def ours(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text of the instructor's, and the pair as if a student had trained it on that text.

    It holds the tokens that the pair was trained on, so weights and words are the same.
    """
    monkeypatch.setattr(own_text, "cache_folder", lambda: tmp_path / "cache")
    text = tmp_path / "texts" / "ours"
    text.mkdir(parents=True)
    for split, part in corpus().splits.items():
        for language, side in (("en", part.source), ("es", part.target)):
            both = "".join(" ".join(words) + "\n" for words in side)
            (text / f"{split}.{language}").write_text(both, encoding="utf-8")
    read = own_corpus(str(text), "en-es", tokenized=True)
    for model in BOTH:
        run = folder / "comparison" / model
        record = yaml.safe_load((run / "config.yaml").read_text())
        changes = {k: v for k, v in record["changes"].items() if not k.startswith("corpus.")}
        said = {"corpus": r"C:\Users\Ada\ours", "pair": "en-es", "corpus_sha256": read.sha256}
        said |= {"changes": {**changes, "corpus.tokenized": True}}
        edit_config(run, **said)
        score = measured([line.split() for line in lines(run)], read, "test")
        edit_json(run / "result.json", lambda x, score=score: x["scores"]["test"].update(score))
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.ComparedRuns.corpus, c.ComparedRuns.pair = "texts/ours", "en-es"\n'
    )
    return text


def test_a_text_that_the_instructor_names_may_be_compared_on(
    folder: Path, ours: Path, tmp_path: Path
) -> None:
    """Wherever it lay when the student trained."""
    [refused, *_] = problems(folder)["recipe"]
    assert (
        "was trained on ours en-es; the task is multi30k en-de or python-docs en-es or toy en-de"
        in refused
    )
    boxed_inspection.prepare(tmp_path, NAME, [folder])
    found = boxed_inspection.inspect(tmp_path, NAME, folder, STUDENT, boxed=True)
    assert found is not None
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    [remark] = found["remarks"]
    assert remark.startswith("Compared on ours en-es, preset")
    assert "Ada" not in remark  # a path may name the student
    for model in BOTH:
        result = json.loads((folder / "comparison" / model / "result.json").read_text())
        score = found["facts"]["runs"][model]["score"]
        assert score["bleu_tok"] == pytest.approx(result["scores"]["test"]["bleu_tok"])


def test_another_text_than_the_instructors_is_found_out(folder: Path, ours: Path) -> None:
    named = (str(ours), "en-es")
    first = (ours / "train.es").read_text(encoding="utf-8")
    (ours / "train.es").write_text("und " + first, encoding="utf-8")
    found = inspect(folder, STUDENT, named)
    assert any("was trained on other data" in one for one in found["facts"]["problems"]["recipe"])


def test_a_text_that_cannot_be_used_stops_the_class_before_it_begins(
    folder: Path, ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ((own_text, "IN_MEMORY", 100), (comparison, "MOST_SENTENCES", {"val": 9}))
    for module, name, least in limits:
        with monkeypatch.context() as patched:
            patched.setattr(module, name, least)
            with pytest.raises(CourseError, match="Take fewer"):
                boxed_inspection.prepare(tmp_path, NAME, [folder])
    (ours / "train.es").unlink()
    with pytest.raises(CourseError, match=r"train\.en and train\.es"):
        boxed_inspection.prepare(tmp_path, NAME, [folder])


def test_multi30k_may_be_named_with_another_pair(folder: Path) -> None:
    for model in BOTH:
        edit_config(folder / "comparison" / model, corpus="multi30k", pair="en-fr", changes={})
    assert "the task is" in problems(folder)["recipe"][0]
    found = inspect(folder, STUDENT, ("toy", "de-en"))
    assert "or toy de-en" in found["facts"]["problems"]["recipe"][0]
