"""Submitted runs that read and write pieces of words are examined as those of whole words are."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

import pytest
import yaml

from course_lib.assignments import owner
from course_lib.corpora.subwords import START, Pieces
from course_lib.corpora.toy import toy_corpus
from course_lib.corpora.vocabulary import EOS
from course_lib.grading.runs.comparison import LEAST_RESEMBLANCE, examine, resemblance
from course_lib.grading.runs.submitted_run import Fault, Record, Submitted, read_words
from course_lib.grading.runs.translations import check_translations
from course_lib.models import ModelConfig, build_model
from course_lib.search import translate
from course_lib.training import RunConfig, compare, compared_configs, load_run
from course_lib.training.run_directory import start_run

CONFIG = RunConfig("rnnsearch", "toy", preset="smoke", changes={"subwords": 90})


@pytest.fixture(scope="module")
def made() -> tuple:
    """A corpus and its pieces."""
    corpus = toy_corpus(clauses=(1, 1), max_words=6, train=60, val=0, test=24)
    train = corpus.splits["train"]
    return corpus, Pieces.learn([*train.source, *train.target], 90)


def submitted(folder: Path, config: RunConfig = CONFIG) -> Submitted:
    record = Record("comparison/rnnsearch", folder, {}, config)
    return Submitted(record, result={"scores": {"test": {"beam": 2}}})


def test_a_model_is_believed_its_own_translations_and_no_others(made, tmp_path: Path) -> None:
    corpus, pieces = made
    test, size = corpus.splits["test"], len(pieces)
    # An untrained model puts words together from any pieces, not from those they are cut into.
    model = build_model(ModelConfig(size, size, embedding=8, hidden=8, alignment=8, readout=8))
    found = translate(model.eval(), [pieces.encode(x) for x in test.source], k=2)
    own = [pieces.decode(one.tokens) for one in found]
    assert any(pieces.encode(line) != one.tokens for line, one in zip(own, found, strict=True))
    run, words = submitted(tmp_path), (pieces, pieces)
    check_translations(run, model, words, own, None, test, "test", 0)
    with pytest.raises(Fault, match="references themselves"):
        check_translations(run, model, words, test.target, None, test, "test", 0)
    with pytest.raises(Fault, match="cannot have written"):
        check_translations(run, model, words, [["\u2603"], *own[1:]], None, test, "test", 0)


def test_translations_are_made_again_with_the_run_s_length_penalty(made, tmp_path: Path) -> None:
    corpus, pieces = made
    test, size = corpus.splits["test"], len(pieces)
    model = build_model(ModelConfig(size, size, embedding=8, hidden=8, alignment=8, readout=8))
    for values in model.parameters():
        values.data *= 2
    model.decoder.W_o.bias.data[EOS] = 3.0  # to end at once is likely, but not certain
    sources = [pieces.encode(x) for x in test.source]
    translations = {
        penalty: [pieces.decode(h.tokens) for h in translate(model.eval(), sources, 2, penalty)]
        for penalty in (0.0, 4.0)
    }
    for penalty in translations:
        config = replace(CONFIG, changes={**CONFIG.changes, "length_penalty": penalty})
        run = submitted(tmp_path, config)
        for other, lines in translations.items():
            arguments = (run, model, (pieces, pieces), lines, None, test, "test", 0)
            if other == penalty:
                check_translations(*arguments)
            else:
                with pytest.raises(Fault, match="not what the submitted model translates"):
                    check_translations(*arguments)


def test_the_pieces_of_a_run_are_read_back_and_checked(made, tmp_path: Path) -> None:
    corpus, pieces = made
    model = CONFIG.model_config(len(pieces), len(pieces))
    start_run(tmp_path, CONFIG, model, corpus, [pieces, pieces])
    record = submitted(tmp_path).record
    assert read_words(record) == (pieces, pieces)
    path = tmp_path / "vocabulary.json"
    sides = json.loads(path.read_text())
    for changed in (
        {"target": sides["target"][:-1]},
        {"subwords": {}},
        {"subwords": replace(pieces).tokenizer},
        {"source": [*sides["source"][:-1], f"{START}foreign"]},
    ):
        path.write_text(json.dumps({**sides, **changed}))
        with pytest.raises(Fault, match="as training wrote"):
            read_words(record)


@pytest.fixture(scope="module")
def tied(made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair of ada's with tied tables and averaged weights, trained until little is as drawn."""
    changes = {
        **dict.fromkeys(("embedding", "hidden", "alignment", "readout", "batch_size"), 16),
        **{
            "tying": "all",
            "decoder": "conditional",
            "subwords": 90,
            "averaging": 0.9,
            "dropout": 0.1,
        },
        **{"epochs": 8, "learning_rate": 0.02, "precision": "fp32", "corpus.clauses": (1, 1)},
        **{"corpus.max_words": 6, "corpus.train": 60, "corpus.val": 8, "corpus.test": 24},
    }
    configs = compared_configs(
        corpus="toy", preset="smoke", seed=owner.seed("ada"), changes=changes
    )
    folder = tmp_path_factory.mktemp("tied")
    corpus = toy_corpus(**configs["rnnsearch"].corpus_options)
    compare(configs, corpus, folder / "comparison", beam=2)
    return folder


def test_the_seed_of_tied_models_is_seen_in_their_weights(tied: Path, tmp_path: Path) -> None:
    found = examine(tied, "ada", 1)
    assert not any(found["facts"]["problems"].values()), found["remarks"]
    assert len(found["remarks"]) == 1  # what nobody can check: nothing about seeds

    shutil.copytree(tied, tmp_path, dirs_exist_ok=True)
    for run in (tmp_path / "comparison").iterdir():
        for name in ("config.yaml", "result.json"):  # JSON is YAML
            record = yaml.safe_load((run / name).read_text()) | {"seed": owner.seed("bela")}
            (run / name).write_text(json.dumps(record))
    found = examine(tmp_path, "bela", 1)
    wrong = {part: said for part, said in found["facts"]["problems"].items() if said}
    assert wrong.keys() == {"recipe"}
    assert len(wrong["recipe"]) == 2
    assert all("did not begin as the seed" in said for said in wrong["recipe"])


@pytest.mark.parametrize("initialisation", ["modern", "paper"])
def test_weights_resemble_another_seeds_by_no_more_than_chance(
    initialisation: str, tied: Path
) -> None:
    for run in (tied / "comparison").iterdir():
        trained = load_run(run, "cpu")
        own = resemblance(trained.model, build_model(trained.model.config, trained.config.seed))
        assert own > 3 * LEAST_RESEMBLANCE
        config = replace(trained.model.config, initialisation=initialisation)
        others = [resemblance(trained.model, build_model(config, seed)) for seed in range(100)]
        assert abs(mean(others)) < 0.4
        assert 0.75 < stdev(others) < 1.25
