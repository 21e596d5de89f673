"""Record trainings with and without teacher forcing, for chapter 3.

RNNencdec and RNNsearch with three schedules on short verb-final strings, three seeds each, until
they hardly learn any more: for each run how it learned, and how often it errs at each target
position after true previous words, after its own, and after one that was made wrong on purpose.
"""

import json
import platform
import time
from importlib.metadata import version
from itertools import product
from typing import Any

import torch
from torch import Tensor

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.corpora.vocabulary import EOS, PAD, Vocabulary
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.forced import logits
from course_lib.models import RNNsearch, build_model
from course_lib.search import translate
from course_lib.training import RunConfig, encode_pairs
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.vocabularies import make_vocabularies
from experiments.recording import SMALL, Part, Read, Records, corpus_of, updates, written

SETTINGS: dict[str, Any] = {
    **SMALL,
    "corpus.max_length": 6,
    "corpus.train": 6_400,
    "corpus.val": 200,
    "corpus.test": 500,
    "encoder": "forward",
    "epochs": 24,
    "learning_rate": 1e-2,
    "warmup": 30,
    "teacher_forcing_end": 0.25,
}
MODELS = ("rnnencdec", "rnnsearch")
SCHEDULES = ("always", "linear", "never")
SEEDS = (0, 1, 2)
EVERY = 200
"""Updates between two measurements."""
WORDS = 6
"""The test strings all have as many words, so that a position means the same in each."""
SLIP = 2
"""Which previous word is made wrong on purpose, counted from 1."""


def errors(predicted: Tensor, wanted: Tensor) -> list[float]:
    """Per cent of the sentences with a wrong word at each position, the end mark the last."""
    assert predicted.shape == wanted.shape
    return [round(100 * share, 2) for share in (predicted != wanted).float().mean(dim=0).tolist()]


def own_words(model: RNNsearch, pairs: list[EncodedPair], width: int) -> Tensor:
    """Greedy translations, (B, width), with the end mark, cut or filled up with padding."""
    found = translate(model, [source for source, _ in pairs], k=1)
    return torch.tensor([[*h.tokens, EOS, *[PAD] * width][:width] for h in found])


@torch.no_grad()
def by_position(model: RNNsearch, pairs: list[EncodedPair]) -> dict[str, list[float]]:
    """Errors at each position after true words, after own words, and after one wrong word."""
    model.eval()
    batch = make_batch(pairs, range(len(pairs)))

    def predictions(target_in: Tensor) -> Tensor:
        return logits(model, batch._replace(target_in=target_in)).argmax(dim=-1)

    words = model.config.target_vocabulary - 4
    draw = torch.Generator().manual_seed(0)
    shift = torch.randint(1, words, (len(pairs),), generator=draw)
    slipped = batch.target_in.clone()
    slipped[:, SLIP] = 4 + (slipped[:, SLIP] - 4 + shift) % words  # any word but the true one
    wanted = batch.target_out
    return {
        "true": errors(predictions(batch.target_in), wanted),
        "own": errors(own_words(model, pairs, wanted.shape[1]), wanted),
        "slip": errors(predictions(slipped), wanted),
    }


def tokens(model: RNNsearch, words: tuple[Vocabulary, Vocabulary], corpus: Corpus) -> float:
    """Tokens right on the validation strings in per cent, the model reading its own words."""
    val = corpus.splits["val"]
    right = sum(map(tokens_right, written(model, words, val.source), val.target))
    return round(100 * right / sum(map(len, val.target)), 2)


def one_run(name: str, schedule: str, seed: int) -> dict[str, Any]:
    """Train one model with one schedule, measuring on the way and at the end."""
    changes = {**SETTINGS, "teacher_forcing": schedule}
    config = RunConfig(name, "verbs", "tokens", seed=seed, changes=changes)
    corpus = corpus_of(config)
    words = make_vocabularies(config, corpus)
    pairs = encode_pairs(corpus.splits["train"], words)
    longest = {"min_length": WORDS, "max_length": WORDS, "train": 1, "val": 1, "test": 500}
    test_pairs = encode_pairs(load_corpus("verbs", "tokens", **longest).splits["test"], words)

    model = build_model(config.model_config(*map(len, words)), seed)
    total = config.recipe.epochs * -(-len(pairs) // config.recipe.batch_size)
    seconds = 0.0
    curve = [{"step": 0, "tokens": tokens(model, words, corpus)}]
    begin = time.process_time()
    for step in updates(model, pairs, config):
        seconds += time.process_time() - begin
        if step % EVERY == 0 or step == total:
            curve.append({"step": step, "tokens": tokens(model, words, corpus)})
        begin = time.process_time()
    return {
        "model": name,
        "schedule": schedule,
        "seed": seed,
        "updates": total,
        "seconds": round(seconds, 1),
        "curve": curve,
        "errors": by_position(model, test_pairs),
        "corpus_sha256": dict(corpus.sha256),
    }


def teaching() -> Records:
    """All runs, in one record."""
    runs = []
    for run in product(MODELS, SCHEDULES, SEEDS):
        runs.append(one_run(*run))
        print(*run, f"{runs[-1]['curve'][-1]['tokens']:.1f}% right", flush=True)
    (corpus_sha256,) = {json.dumps(run.pop("corpus_sha256"), sort_keys=True) for run in runs}
    yield (
        "verbs-tokens-teaching",
        {
            "settings": SETTINGS,
            "words": WORDS,
            "slip": SLIP,
            "device": device_name(),
            "threads": torch.get_num_threads(),
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "git_commit": git_commit(),
            "corpus_sha256": json.loads(corpus_sha256),
            "runs": runs,
        },
    )


def check(read: Read) -> None:
    """Every planned run is there, all were measured alike, and only what is read changes errors."""
    record = read("verbs-tokens-teaching")
    assert record["settings"] == SETTINGS
    found = [(run["model"], run["schedule"], run["seed"]) for run in record["runs"]]
    assert found == list(product(MODELS, SCHEDULES, SEEDS))
    steps = [row["step"] for row in record["runs"][0]["curve"]]
    assert steps[0] == 0
    for run in record["runs"]:
        assert [row["step"] for row in run["curve"]] == steps
        assert steps[-1] == run["updates"]
        assert all(0 <= row["tokens"] <= 100 for row in run["curve"])
        assert run["seconds"] > 0
        errors = run["errors"]
        assert {len(row) for row in errors.values()} == {record["words"] + 1}
        assert errors["own"][0] == errors["true"][0]  # nothing has been read yet
        before = slice(0, record["slip"])
        assert errors["slip"][before] == errors["true"][before]


PARTS = {"teaching": Part(teaching, "ten minutes")}
