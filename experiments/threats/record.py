"""Record what the grader says of pairs of runs that were trained, and of pairs that were not.

costs: two honest pairs are trained with the small recipe of the tests, from the seeds of two
    students. A third student forges: takes the weights of the first (and second), changes them in a
    way that is to hide it, writes a curve, translations and scores that fit, and hands in. Costs
    are seconds of a processor; what the forger's own time costs is not counted.
honest: a class of twenty who trained their pairs as people do: on other machines, stopped and gone
    on with, with other settings that the task offers, a year before.
in-full: chapter 8's three pairs, trained to their end, are compared with one another.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import torch
import yaml
from safetensors.torch import save_file
from torch import Tensor

from course_lib.assignments import owner
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import bleu_tok
from course_lib.evaluation.score import measured
from course_lib.grading.runs.comparison import MODELS, inspect
from course_lib.grading.runs.evidence import agreement, alike, evidence_of, unpacked
from course_lib.grading.sources.project import project_root
from course_lib.models import RNNsearch, build_model
from course_lib.training import (
    Run,
    RunConfig,
    compare,
    compared_configs,
    encode_pairs,
    load_run,
    mean_loss,
)
from course_lib.training.provenance import git_commit
from experiments.recording import Part, Read, Records, corpus_of, large, written

HANDED_IN = project_root(Path(__file__).parent) / "solutions/training_comparison/handed_in"
HONEST = ("ada", "bela")
FORGER = "cem"
RATE = 0.01
"""Of further training, as of the honest one."""

Weights = dict[str, Tensor]


class Forgery(NamedTuple):
    """One way to forge.

    Attributes:
        does: for the page.
        change: from the weights of the source and of another run, and the forger's own draw, to
            those handed in.
        updates: of training after that.
        torch_version: of the record, if the forger says it was another.
    """

    does: str
    change: Callable[[Weights, Weights, Weights], Weights]
    updates: int = 0
    torch_version: str = ""


def mixed(share: float) -> Callable[[Weights, Weights, Weights], Weights]:
    """So much of the forger's draw added to every number."""
    return lambda source, _, drawn: {
        name: value + share * drawn[name] for name, value in source.items()
    }


def put_in_order(
    weights: Weights, places: Tensor, rows: tuple[str, ...] = (), columns: tuple[str, ...] = ()
) -> None:
    """Change the rows of some matrices, gate by gate, and the columns of others, to this order."""
    for name in rows:
        if name in weights:
            blocks = len(weights[name]) // len(places)  # gates lie one below the other
            every = [places + block * len(places) for block in range(blocks)]
            weights[name] = weights[name][torch.cat(every)]
    for name in columns:
        if name in weights:
            weights[name] = weights[name][:, places]


def in_another_order(weights: Weights) -> Weights:
    """The same model with its units, and the numbers of its embeddings, in another order."""
    found = {name: value.clone() for name, value in weights.items()}
    draw = torch.Generator().manual_seed(5)

    def order(of: str, across: bool = False) -> Tensor:
        return torch.randperm(found[of].shape[across], generator=draw)

    turn = partial(put_in_order, found)
    score = "decoder.context.score"
    read = []
    for side in ("", "_reverse"):
        units = order(f"encoder.rnn.units.weight_hh_l0{side}", across=True)
        gates = tuple(
            f"encoder.rnn.units.{kind}_l0{side}"
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        turn(units, rows=gates, columns=(gates[1],))
        read.append(units)
    both = torch.cat([read[0], read[1] + len(read[0])])
    wide = found["decoder.C.weight"].shape[1] == len(both)
    turn(both, columns=(f"{score}.U_a.weight",))
    turn(both if wide else read[0], columns=("decoder.C.weight", "decoder.C_o.weight"))
    turn(read[1], columns=("decoder.W_s.weight",))
    turn(
        order("encoder.E.weight", across=True),
        columns=(
            "encoder.E.weight",
            *(f"encoder.rnn.units.weight_ih_l0{side}" for side in ("", "_reverse")),
        ),
    )
    turn(
        order("decoder.E.weight", across=True),
        columns=("decoder.E.weight", "decoder.unit.W.weight", "decoder.V_o.weight"),
    )
    turn(
        order("decoder.W_s.weight"),
        rows=(
            *("decoder.W_s.weight", "decoder.W_s.bias", "decoder.C.weight"),
            *(f"decoder.unit.{kind}" for kind in ("W.weight", "W.bias", "U.weight", "U.bias")),
        ),
        columns=("decoder.unit.U.weight", "decoder.U_o.weight", f"{score}.W_a.weight"),
    )
    if f"{score}.v_a.weight" in found:
        turn(
            order(f"{score}.v_a.weight", across=True),
            rows=(f"{score}.W_a.weight", f"{score}.U_a.weight"),
            columns=(f"{score}.v_a.weight",),
        )
    readout = order("decoder.W_o.weight", across=True)
    turn(readout, columns=("decoder.W_o.weight",))
    pairs = torch.stack([2 * readout, 2 * readout + 1], dim=1).flatten()  # maxout takes pairs
    for name in ("U_o.weight", "V_o.weight", "V_o.bias", "C_o.weight"):
        found[f"decoder.{name}"] = found[f"decoder.{name}"][pairs]
    return {name: value.contiguous() for name, value in found.items()}


def embeddings_turned(weights: Weights) -> Weights:
    """The same model, the space of the source embeddings turned by a random rotation."""
    size = weights["encoder.E.weight"].shape[1]
    draw = torch.Generator().manual_seed(6)
    rotation = torch.linalg.qr(torch.randn(size, size, generator=draw)).Q
    turned = ("encoder.E.weight", *(f"encoder.rnn.units.weight_ih_l0{x}" for x in ("", "_reverse")))
    return weights | {name: weights[name] @ rotation for name in turned}


def reordered(source: Weights, other: Weights, drawn: Weights) -> Weights:
    """The source in another order, with the forger's draw added."""
    return mixed(0.6)(in_another_order(source), other, drawn)


def own_parts(*parts: str) -> Callable[[Weights, Weights, Weights], Weights]:
    """These parts as one's own seed draws them, the rest of the other run, in another order."""
    return lambda source, other, drawn: (
        reordered(source, other, drawn)
        | {name: value for name, value in drawn.items() if name.startswith(parts)}
    )


FORGERIES: dict[str, Forgery] = {
    "copied": Forgery("the other run's weights as they are", lambda source, *_: source),
    "other torch": Forgery(
        "the same, said to be drawn by another version of torch",
        lambda source, *_: source,
        torch_version="2.0.0",
    ),
    "a fifth": Forgery("with 0.2 of one's own draw added", mixed(0.2)),
    "mixed": Forgery("with 0.6 of one's own draw added", mixed(0.6)),
    "averaged": Forgery(
        "the mean of two other runs, with 0.6 of one's own draw",
        lambda one, two, drawn: mixed(0.6)({n: (one[n] + two[n]) / 2 for n in one}, two, drawn),
    ),
    "ordered": Forgery("units in another order, with 0.6 of one's own draw", reordered),
    "tuned": Forgery("the same, and 100 updates of training", reordered, updates=100),
    "turned": Forgery(
        "the same, and the source embeddings turned",
        lambda source, other, drawn: mixed(0.6)(
            embeddings_turned(in_another_order(source)), other, drawn
        ),
        updates=100,
    ),
    "own encoder": Forgery(
        "one's own encoder before the other's decoder, and 100 updates",
        own_parts("encoder."),
        updates=100,
    ),
    "own ends": Forgery(
        "one's own encoder and output matrix, the rest of the other's, and 100 updates",
        own_parts("encoder.", "decoder.W_o."),
        updates=100,
    ),
}
"""From the simplest on."""


def honest(student: str, folder: Path) -> float:
    """Train a student's pair below a folder; returns the seconds."""
    pair = configs(owner.seed(student))
    corpus = corpus_of(pair["rnnsearch"])
    begin = process_time()
    compare(pair, corpus, folder / "comparison", beam=3)
    return process_time() - begin


def configs(seed: int, **changed: Any) -> dict[str, RunConfig]:
    """The small recipe's pair, with these settings changed."""
    recorded = yaml.safe_load((HANDED_IN / "comparison/rnnsearch/config.yaml").read_text())
    changes = recorded["changes"] | changed
    return compared_configs(corpus="toy", preset="cpu", seed=seed, changes=changes)


def forge(forgery: Forgery, source: Path, other: Path, folder: Path, student: str) -> float:
    """Write a forged pair below a folder, with files that fit its weights; returns the seconds."""
    shutil.copytree(source / "comparison", folder / "comparison")
    begin = process_time()
    for model in MODELS:
        place = folder / "comparison" / model
        run, another = load_run(place), load_run(other / "comparison" / model)
        corpus = corpus_of(run.config)
        drawn = build_model(run.model.config, owner.seed(student)).state_dict()
        changed = forgery.change(run.model.state_dict(), another.model.state_dict(), drawn)
        run.model.load_state_dict(changed)
        _train(run.model, encode_pairs(corpus.splits["train"], run.words), forgery.updates)
        tensors = {name: value.contiguous() for name, value in run.model.state_dict().items()}
        save_file(tensors, place / "model.safetensors")
        _disguise(run, corpus, student, forgery.torch_version)
    return process_time() - begin


def _train(model: RNNsearch, pairs: list[EncodedPair], updates: int) -> None:
    draw = torch.Generator().manual_seed(7)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    model.train()
    for update in range(updates):
        chosen = torch.randint(len(pairs), (32,), generator=draw).tolist()
        loss, count = model.loss(make_batch(pairs, chosen))
        optimiser.zero_grad()
        (loss / count).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.param_groups[0]["lr"] = RATE * (1 - update / updates)
        optimiser.step()
    model.eval()


@torch.no_grad()
def _disguise(run: Run, corpus: Corpus, student: str, torch_version: str) -> None:
    """A seed, a curve, translations and scores that fit the weights."""
    place, val, test = run.path, corpus.splits["val"], corpus.splits["test"]
    result = json.loads((place / "result.json").read_text())
    config = yaml.safe_load((place / "config.yaml").read_text())
    rows, seed = result["metrics"], owner.seed(student)
    loss = mean_loss(run.model, encode_pairs(val, run.words))
    best = result["best_epoch"]
    for row in rows:
        if row["epoch"] == best:
            score = bleu_tok(written(run.model, run.words, val.source), val.target).score
            row |= {"val_loss": loss, "val_bleu": score}
        else:
            row["val_loss"] = max(row["val_loss"], loss + 0.004 * abs(row["epoch"] - best))
    beam = result["scores"]["test"]["beam"]
    found = written(run.model, run.words, test.source, beam)
    result["scores"]["test"] |= measured(found, corpus, "test")
    result |= {"metrics": rows, "best_val_loss": loss, "seed": seed}
    if torch_version:
        result["versions"]["torch"] = torch_version
    texts = {
        "config.yaml": yaml.safe_dump(config | {"seed": seed}, sort_keys=False),
        "result.json": json.dumps(result),
        "metrics.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "hypotheses.test.txt": "".join(" ".join(line) + "\n" for line in found),
    }
    for name, text in texts.items():
        (place / name).write_text(text)


def seen(folder: Path, student: str, others: dict[str, Any]) -> dict[str, Any]:
    """What the grader says of a pair, alone and in a class with others' evidence."""
    found = inspect(folder, student)
    facts = found["facts"]
    remarks = alike(others | {student: facts["units"]}).get(student, [])
    return {
        "parts": [part for part, problems in facts["problems"].items() if problems],
        "remarked": any("another version of torch" in one.lower() for one in found["remarks"]),
        "models named in class": len({remark.split()[0] for remark in remarks}),
        "agreement": agreements(facts["units"], others),
        "bleu": {model: facts["runs"][model]["score"]["bleu_tok"] for model in MODELS},
        "units": facts["units"],
    }


def agreements(mine: Any, others: dict[str, Any]) -> dict[str, float]:
    """By what is compared, the largest agreement of any model with those of others."""
    return {
        view: max(
            agreement(unpacked(mine[model])[view][1], unpacked(theirs[model])[view][1])
            for theirs in others.values()
            for model in MODELS
        )
        for view in mine[MODELS[0]]
        if others
    }


def costs() -> Records:
    """Both honest pairs, and every forgery."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        seconds = {student: honest(student, place / student) for student in HONEST}
        units = {student: inspect(place / student, student)["facts"]["units"] for student in HONEST}
        units["reference"] = inspect(HANDED_IN, "reference")["facts"]["units"]
        rows = []
        for student in HONEST:
            others = {one: evidence for one, evidence in units.items() if one != student}
            found = seen(place / student, student, others)
            rows.append({"name": "honest", "seconds": seconds[student], **found})
        for name, forgery in FORGERIES.items():
            took = forge(forgery, *(place / one for one in HONEST), place / name, FORGER)
            found = seen(place / name, FORGER, {HONEST[0]: units[HONEST[0]]})
            rows.append({"name": name, "does": forgery.does, "seconds": took, **found})
    for row in rows:
        del row["units"]
    yield "forgeries", {**made_of(), "between honest": between(units), "rows": rows}


def made_of() -> dict[str, Any]:
    """The code and the corpus of a record."""
    return {"git_commit": git_commit(), "corpus_sha256": corpus_of(configs(0)[MODELS[0]]).sha256}


def between(units: dict[str, Any]) -> dict[str, list[float]]:
    """By what is compared, every agreement of two honest models of a kind."""
    found: dict[str, list[float]] = {}
    for (_, one), (_, other) in combinations(units.items(), 2):
        for model in MODELS:
            mine, theirs = unpacked(one[model]), unpacked(other[model])
            for view in mine:
                found.setdefault(view, []).append(agreement(mine[view][1], theirs[view][1]))
    return found


@dataclass(frozen=True)
class Way:
    """One way to train honestly.

    Attributes:
        does: for the page.
        changes: settings that are not the small recipe's.
        environment: variables of the training process, which make another machine of it.
        threads: that it computes with.
        stops: so many validations are in a model's file when the process is killed, to go on later.
    """

    does: str
    changes: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    threads: int = 1
    stops: dict[str, int] = field(default_factory=dict)


OLD_PROCESSOR = {"ATEN_CPU_CAPABILITY": "default", "DNNL_MAX_CPU_ISA": "SSE41"}
WAYS = (
    *(Way("as the task says"),) * 4,
    Way("on an old processor", environment=OLD_PROCESSOR),
    Way("on a processor of 2013", environment={"ATEN_CPU_CAPABILITY": "avx2"}),
    Way("with two threads", threads=2),
    Way("in bfloat16", {"precision": "bf16"}),
    Way("killed early, and gone on with", stops={"rnnencdec": 2}),
    Way("killed late, and gone on with on two threads", threads=2, stops={"rnnsearch": 8}),
    Way("killed in both runs", stops={"rnnencdec": 5, "rnnsearch": 1}),
    Way("with half the passes", {"epochs": 5}),
    Way("with three passes", {"epochs": 3}),
    Way("with larger models", {"embedding": 32, "hidden": 32, "alignment": 32, "readout": 32}),
    Way("with larger minibatches", {"batch_size": 32}),
    Way("with dropout and label smoothing", {"dropout": 0.2, "label_smoothing": 0.1}),
    Way("with half the learning rate", {"learning_rate": 0.005}),
    Way("with words seen twice only", {"min_frequency": 2}),
    Way("a year ago, and handed in again"),
    Way("a year ago, and trained again on another machine", environment=OLD_PROCESSOR),
)
"""Of twenty students. Nobody has two ways."""


def train_as(way: Way, student: str, folder: Path) -> None:
    """Train a student's pair in this way, with the command that students type."""
    config = configs(owner.seed(student), **way.changes)[MODELS[0]]
    settings = [f"--set={key}={json.dumps(value)}" for key, value in config.changes.items()]
    command = [sys.executable, "-m", "course_lib", "compare", "--corpus", config.corpus]
    command += ["--preset", config.preset, "--seed", str(config.seed), "--beam", "3", *settings]
    threads = {"OMP_NUM_THREADS": str(way.threads)}
    process = partial(
        subprocess.Popen,
        [*command, "--out", str(folder / "comparison")],
        env={**os.environ, **threads, **way.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for model, validations in way.stops.items():
        with process() as training:
            while len(_lines(folder / "comparison" / model / "metrics.jsonl")) < validations:
                time.sleep(0.01)
            training.kill()
    with process() as training:
        if training.wait():
            raise CourseError(f"The training of {student} ended with {training.returncode}.")


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def honest_class() -> Records:
    """What the grader says of the twenty, each alone and all together with the reference."""
    with tempfile.TemporaryDirectory() as folder:
        rows, units = [], {"reference": inspect(HANDED_IN, "reference")["facts"]["units"]}
        for number, way in enumerate(WAYS, start=1):
            student, place = f"student-{number}", Path(folder) / str(number)
            train_as(way, student, place)
            found = inspect(place, student)
            units[student] = found["facts"]["units"]
            parts = [part for part, problems in found["facts"]["problems"].items() if problems]
            remarks = found["remarks"][1:]  # the first says what was compared
            rows.append({"does": way.does, "parts": parts, "remarks": remarks})
        for number, row in enumerate(rows, start=1):
            row["named"] = alike(units).get(f"student-{number}", [])
    yield "honest", {**made_of(), "between honest": between(units), "rows": rows}


def in_full() -> Records:
    """How far chapter 8's models of one kind agree, which differ in their seed."""
    units = {}
    for seed in range(3):
        runs = {model: load_run(large(model, seed)) for model in MODELS}
        units[seed] = {
            model: evidence_of(
                run.model, (run.source_vocabulary, run.target_vocabulary), corpus_of(run.config)
            )
            for model, run in runs.items()
        }
    sha256 = corpus_of(runs[MODELS[0]].config).sha256
    yield "in-full", {**made_of(), "corpus_sha256": sha256, "between honest": between(units)}


def check(read: Read) -> None:
    """Every way and every forgery was tried; what came of the simplest and of the costs."""
    assert [row["does"] for row in read("honest")["rows"]] == [way.does for way in WAYS]
    assert read("in-full")["between honest"]
    found = read("forgeries")
    rows = {row["name"]: row for row in found["rows"] if row["name"] != "honest"}
    for row in found["rows"]:
        if row["name"] == "honest":
            assert not row["parts"]
            assert not row["models named in class"]
            assert rows["mixed"]["seconds"] < row["seconds"] / 10
            assert rows["own ends"]["seconds"] < row["seconds"]
    assert rows.keys() == FORGERIES.keys()
    assert "recipe" in rows["copied"]["parts"]
    assert rows["other torch"]["remarked"]
    for name in ("mixed", "ordered", "tuned", "turned", "own encoder", "own ends"):
        assert not rows[name]["parts"]


PARTS = {
    "costs": Part(costs, "2 minutes"),
    "honest": Part(honest_class, "10 minutes"),
    "in-full": Part(in_full, "a minute, after chapter 8's trainings"),
}
