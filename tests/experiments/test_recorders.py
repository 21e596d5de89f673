"""How recorders work: what they train, what they measure, and what they refuse to write."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from course_lib.corpora.vocabulary import EOS, MARKS, Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.evaluation.forced import forced_weights
from course_lib.records import read_record
from course_lib.training import RunConfig
from experiments import __main__ as command
from experiments import recording
from experiments.__main__ import load, recorders
from experiments.maps import agreement
from tests.models.paper_names import paper_parameters
from tests.models.tiny import tiny_model
from tests.reference import translator

Recorder = Callable[[str], ModuleType]
TINY = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 8)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recorder:
    """A chapter's recorder, whose runs are those below a folder of the test's own."""

    def loaded(chapter: str) -> ModuleType:
        module = load(recorders()[chapter])
        if hasattr(module, "RUNS"):
            monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
        return module

    return loaded


def test_a_small_run_is_scored_on_every_test_sentence() -> None:
    parts = {"corpus.train": 8, "corpus.val": 4, "corpus.test": 4, "epochs": 1}
    changes = {**recording.SMALL, **TINY, **parts}
    done = recording.trained(RunConfig("rnnsearch", "toy", changes=changes))
    assert done.run.model.config.hidden == 8
    assert len(done.hypotheses) == len(done.corpus.splits["test"]) == 4
    assert done.result["changes"] == changes
    assert done.cpu_seconds > 0


def test_a_run_is_trained_once_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recording, "RUNS", tmp_path)
    parts = {"corpus.train": 8, "corpus.val": 4, "corpus.test": 4, "epochs": 1}
    config = RunConfig("rnnsearch", "toy", changes={**recording.SMALL, **TINY, **parts})
    path = recording.kept_run(config, "some/run", beam=1)
    assert path == tmp_path / "some" / "run"
    result = path / "result.json"
    before = result.stat().st_mtime_ns
    assert recording.kept_run(config, "some/run", beam=1) == path
    assert result.stat().st_mtime_ns == before


@pytest.mark.parametrize("holds", [True, False])
def test_a_record_is_written_only_if_the_check_finds_nothing(
    holds: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "05-five"
    folder.mkdir()
    (folder / "model.json").write_text("[0]")
    (folder / "record.py").write_text(
        "from experiments.recording import Part\n"
        "def words():\n"
        "    yield 'model', {'word': 'für', 'scores': (1, 2)}\n"
        "    yield 'weights.bin', b'01'\n"
        "def check(read):\n"
        f"    assert read('model')['scores'] == {[1, 2] if holds else [2, 1]}\n"
        "PARTS = {'words': Part(words, 'a second', 'nothing')}\n"
    )
    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(command, "REFUSED", tmp_path / "refused")
    assert command.main(["05"]) == (0 if holds else 2)
    said = capsys.readouterr()
    assert said.out.startswith("words: a second; needs nothing\n")
    written = folder if holds else tmp_path / "refused"
    assert json.loads((written / "model.json").read_text("utf-8")) == {
        "word": "für",
        "scores": [1, 2],
    }
    assert (written / "weights.bin").read_bytes() == b"01"
    if not holds:
        assert (folder / "model.json").read_text() == "[0]"
        assert "record.py:6 no longer holds: assert read('model')" in said.err


def test_what_is_not_there_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, known in ((["99"], "01, 03"), (["08", "stepper", "graphs"], "alignment, aligners")):
        assert command.main(asked) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("There is no ")
        assert known in said.err
        assert said.err.count("\n") == 1


def test_without_a_chapter_every_part_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == sum(len(load(folder).PARTS) for folder in recorders().values())


def test_each_row_of_the_ablation_changes_one_thing(recorder: Recorder) -> None:
    strength = recorder("strength")
    whole = RunConfig("rnnsearch", "multi30k", "en-de", strength.ABLATED)
    for row, changes in strength.ROWS.items():
        config = strength.ablated(row, 0)
        sizes = (5, 4) if config.recipe.subwords is None else (5, 5)
        before = {**asdict(whole.recipe), **whole.model_config(5, 5).to_dict()}
        after = {**asdict(config.recipe), **config.model_config(*sizes).to_dict()}
        different = {name for name in before if before[name] != after[name]}
        assert different - {"target_vocabulary"} == set(changes)


def test_joined_sentences_are_scored_as_the_texts_they_make(recorder: Recorder) -> None:
    strength = recorder("strength")
    small = {"corpus.train": 11, "corpus.val": 8, "corpus.test": 8, "epochs": 1}
    config = RunConfig("rnnsearch", "toy", changes={**recording.SMALL, **TINY, **small})
    done = recording.trained(config)
    split = done.corpus.splits["train"]
    assert strength.join(split, 1) == replace(split, links=None)
    made = strength.join(split, 3)
    assert len(made) == 3  # the last two are left out
    for side in ("source", "target"):
        words = [[word for line in getattr(one, side) for word in line] for one in (made, split)]
        assert words[0] == words[1][: len(words[0])]
    assert " ".join(made.reference) == " ".join(split.reference[:9])
    found = strength.score_joined(done.run, split, (1, 3), 2, 1.0)
    one, three = found["joined"]
    assert (one["texts"], three["texts"]) == (11, 3)
    translations = recording.written(done.run.model, done.run.words, made.source, 2)
    assert three["bleu_tok"] == bleu_tok(translations, made.target).score
    assert three["source_words"] == pytest.approx(sum(map(len, made.source)) / 3)
    assert sum(row["sentences"] for row in found["by_length"]) == 14
    assert max(row["upper"] for row in found["by_length"]) >= max(map(len, made.source))


def test_uniform_weights_stay_uniform_while_everything_else_learns(recorder: Recorder) -> None:
    small = {"corpus.train": 128, "corpus.val": 8, "corpus.test": 8, "epochs": 2}
    config = RunConfig("rnnsearch", "toy", changes={**TINY, **small, "min_frequency": 1})
    corpus = recording.corpus_of(config)
    source, target = corpus.splits["train"].source, corpus.splits["train"].target
    words = Vocabulary.from_sentences(source, 1), Vocabulary.from_sentences(target, 1)
    maps = recorder("08")
    uniform, learned = (maps.learned(config, corpus, words, flat) for flat in (True, False))
    for alpha in forced_weights(uniform, *words, corpus.splits["test"]):
        np.testing.assert_allclose(alpha, 1 / alpha.shape[1], rtol=1e-5)
    rows = [alpha for alpha in forced_weights(learned, *words, corpus.splits["test"])]
    assert max(float(np.ptp(alpha)) for alpha in rows) > 1e-3
    assert 0 <= maps.share_right(uniform, corpus, words) <= 1


def test_readings_are_what_the_pronouns_reader_returns(recorder: Recorder) -> None:
    reading = recorder("10")
    model = reading.fresh_reader(3).eval()
    found = reading.readings(model)
    learned = dict(reading.learned())
    number = {w: k for k, w in enumerate(sorted({w for text in learned for w in text.split()}))}
    assert len(number) == 36
    for text, one in found.items():
        x = torch.tensor([[number[word] for word in text.split()]])
        seen = torch.ones(1, 10, dtype=torch.bool)
        vectors, [alpha] = model.attention.with_weights(model.E(x), seen)
        shares = (vectors[0, -1] @ model.W_o.weight.T + model.W_o.bias).softmax(dim=0)
        assert one["weights"] == pytest.approx(alpha[0, 0, -1].tolist(), abs=1e-5)
        assert one["probabilities"] == pytest.approx(shares.tolist(), abs=1e-5)
        assert one["held_out"] == (text not in learned)
        if text in learned:
            assert one["right"] == ("er", "sie", "es")[learned[text]]


def test_the_writer_reads_what_it_wrote_and_meets_new_pairs_of_nouns(recorder: Recorder) -> None:
    """Word by word it gives what one pass over the whole translation gives."""
    writing = recorder("10")
    learned, held_out = writing.sentences()
    assert (len(learned), len(held_out)) == (324, 72)
    assert not {(a, b) for a, _, b in learned} & {(a, b) for a, _, b in held_out}
    assert set(writing.WRITTEN) <= set(held_out)
    cow = ("cow", "heard", "dog")
    assert cow in learned
    english, german = writing.sentence_pair(cow)
    assert " ".join(english) == "the cow has heard the dog </s>"
    assert " ".join(german) == "<s> die Kuh hat den Hund gehört </s>"
    model = writing.train_writer(3, steps=5)
    found = writing.written(model, english)
    source, _ = writing.numbers([(english, german)])
    words = writing.alphabets()[1]
    read = torch.tensor([[words.index(word) for word in found["read"]]])
    in_source = list[torch.Tensor]()
    attention = model.encoder.blocks[0].attention
    attention.register_forward_hook(lambda *call: in_source.append(call[2][1][0, 0]))
    logits, [(on_read, on_source)] = model(source, source >= 0, read[:, :-1])
    assert logits.argmax(dim=2).tolist() == read[:, 1:].tolist()
    np.testing.assert_allclose(found["on_read"], on_read[0, 0].detach(), atol=1e-5)
    np.testing.assert_allclose(found["on_source"], on_source[0, 0].detach(), atol=1e-5)
    np.testing.assert_allclose(found["in_source"], in_source[0].detach(), atol=1e-5)


@pytest.mark.slow
def test_the_writer_trained_again_looks_where_the_recorded_one_does(recorder: Recorder) -> None:
    """Another processor rounds otherwise, which 1,200 steps enlarge: what the page says stays."""
    writing = recorder("10")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = writing.train_writer(writing.DRAWN_SEED)
    finally:
        torch.set_num_threads(threads)
    for one, drawn in zip(
        writing.WRITTEN, read_record("transformer-writes")["figure"]["sentences"], strict=True
    ):
        found = writing.written(model, writing.sentence_pair(one)[0])
        assert found["read"] == drawn["read"]
        for key in ("in_source", "on_source", "on_read"):
            sure = np.array(drawn[key]) > 0.9
            assert (np.array(found[key])[sure] > 0.8).all(), key
        assert np.argmax(found["on_source"][5]) == 4  # the second *the*
    assert writing.deaf(model, writing.SELF_ATTENTIONS["decoder"])["sixth"]["hat"] > 36
    assert writing.deaf(model, writing.SELF_ATTENTIONS["encoder"])["right"][5] < 36


def test_heads_are_taken_away_one_by_one(recorder: Recorder) -> None:
    heads = recorder("10")
    torch.manual_seed(0)
    model = heads.fresh_captioner(9, 8).eval().requires_grad_(False)
    part = slice(3 * 32, 4 * 32)
    x, seen = torch.randn(1, 4, 256), torch.ones(1, 1, 4, dtype=torch.bool)
    whole, without = (
        one.encoder.blocks[1].attention for one in (model, heads.without_head(model, 1, 3))
    )
    (brought, alpha), (less, _) = whole(x, x, x, seen), without(x, x, x, seen)
    of_head = alpha[0, 3] @ whole.W_V(x)[0, :, part] @ whole.W_O.weight[:, part].T
    np.testing.assert_allclose(brought[0] - less[0], of_head, atol=1e-5)
    assert of_head.abs().max() > 0.01

    seen_by = list[torch.Tensor]()
    whole.register_forward_hook(lambda *call: seen_by.append(call[2][1][0]))
    pairs = [([4, 5, 6], [4, 5]), ([7, 4, 8, 5, 6], [6])]
    for source, _ in pairs:
        np.testing.assert_array_equal(heads.looks(model, source), seen_by[-1])
        assert seen_by[-1].shape == (8, len(source) + 1, len(source) + 1)
    model.W_o.bias[EOS] = 10  # so sure of one word that smoothing would show
    alone = [heads.loss_on(model, [pair]) for pair in pairs]
    for (source, target), loss in zip(pairs, alone, strict=True):
        x, y = torch.tensor([[*source, EOS]]), torch.tensor([[1, *target]])
        logits, _ = model(x, x > 0, y)
        right = torch.tensor([*target, EOS])
        plain = torch.nn.functional.cross_entropy(logits[0], right).item()
        assert loss == pytest.approx(plain, abs=0.1)
    assert heads.loss_on(model, pairs) == pytest.approx((3 * alone[0] + 2 * alone[1]) / 5, abs=0.1)


def test_agreement_counts_places_and_shares() -> None:
    end = [0.0, 0.0, 1.0]
    one = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [1.0, 0.0, 0.0], end])
    other = np.array([[0.4, 0.6, 0.0], [0.2, 0.8, 0.0], [0.0, 1.0, 0.0], end])
    found = agreement([one], [other], [["der", "hund", "."]])
    assert found == {"rows": 2, "same_place": 0.5, "distance": pytest.approx(0.15)}


def test_frames_are_those_of_a_greedy_translation_by_the_equations(recorder: Recorder) -> None:
    choices = translator.Choices(context="fixed", encoder="forward")
    words = Vocabulary((*MARKS, *"abcde")), Vocabulary((*MARKS, *"xyz"))
    for seed in range(3):
        model = tiny_model(choices, seed)
        found = recorder("01").frames_of(model, words, list("abe"), list("xyz"))
        assert (found["source"], found["right"]) == ([*"abe", "</s>"], [*"xyz", "</s>"])
        target = [words[1].tokens.index(word) for word in found["target"]]
        p = paper_parameters(model)
        source = [*words[0].encode("abe"), EOS]
        encoded = translator.encode(p, source, choices)
        steps = translator.decode(p, source, target, choices)
        np.testing.assert_allclose(found["read"], encoded.annotations, atol=0.005001)
        np.testing.assert_array_equal(encoded.last_forward, encoded.annotations[-1])  # the note
        states = [translator.start(p, encoded, choices), *(step.states for step in steps)]
        np.testing.assert_allclose(found["written"], [s.h for (s,) in states], atol=0.005001)
        limit = 2 * len(source) + 10
        greedy = [int(step.log_probs.argmax()) for step in steps][: limit - 1]
        assert greedy == target[: limit - 1]
        assert target.index(EOS) == len(target) - 1
