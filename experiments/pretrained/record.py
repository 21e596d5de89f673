"""Make the published models from run directories: rounded, scored as such, with a card.

A part is a model, made from runs/NAME: what the run is read from, its weights in half precision
or, for the page of translators, in 8 bits, result.json with the scores of exactly these weights on
every test split, and the model card, README.md. The translations in full precision are those that
scoring left in the run.
"""

import json
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined
from safetensors.torch import load_file

from course_lib.corpora import Corpus
from course_lib.corpora.multi30k import OPTIONAL_SPLITS
from course_lib.corpora.own_text import is_own
from course_lib.corpora.registry import CORPORA
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.errors import CourseError
from course_lib.evaluation.score import score_split
from course_lib.files import sha256_of
from course_lib.models.quantised import quantised
from course_lib.pretrained import FOLDER
from course_lib.training import Run, load_run, read_result
from course_lib.training.checkpoint import serialised
from course_lib.training.provenance import git_commit
from course_lib.training.run_directory import BEST, CONFIG, RESULT, VOCABULARY
from course_lib.widgets.live import DOCUMENTATION
from course_lib.widgets.training_words import SEEN, seen_words
from experiments.recording import RUNS, Part, Records, corpus_of, in_half_precision, written
from experiments.strength.record import writers_of

DTYPES = {
    "multi30k-en-de": "int8",
    "multi30k-en-de-taught": "int8",
    "multi30k-en-de-rnnencdec": "int8",
    "multi30k-en-de-laptop": "float16",
    "multi30k-en-de-laptop-rnnencdec": "float16",
    "multi30k-en-fr": "int8",
    "multi30k-en-fr-taught": "int8",
    "multi30k-en-fr-rnnencdec": "int8",
    "multi30k-en-fr-laptop": "int8",
    "multi30k-en-fr-laptop-rnnencdec": "int8",
    "python-docs-en-es": "float16",
    "python-docs-en-es-rnnencdec": "float16",
}
"""The published models, by what each weight is kept in."""
KEPT = {"float16": "half_precision", "int8": "eight_bits"}
"""What a result calls the rounding."""
BEAM = 12
LARGEST = 8_000_000
"""Bytes that a published model's weights may have."""
CARD = "README.md"
SENTENCES = {
    "multi30k": (
        "a man is riding a bicycle .",
        "Two children are playing in the snow.",
        "A woman in a red dress is dancing on the street while three men watch her.",
    ),
    "python-docs": DOCUMENTATION,
}
"""What the card shows translated, by corpus."""


def publish(name: str) -> Records:
    """Make the model NAME from RUNS/NAME."""
    source = RUNS / name
    dtype = DTYPES[name]
    if dtype == "float16":
        weights = in_half_precision(source / BEST)
    else:  # each row's numbers in 8 bits with one scale
        weights = serialised(quantised(load_file(source / BEST)), {})
    if len(weights) > LARGEST:
        raise CourseError(f"{source} makes a file of more than {LARGEST:,} bytes. Take a smaller.")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (out / VOCABULARY).write_bytes((source / VOCABULARY).read_bytes())
        (out / CONFIG).write_text(settings_of(source), encoding="utf-8")
        (out / BEST).write_bytes(weights)
        run = load_run(out, "cpu")
        corpus = corpus_of(run.config)
        if run.how.rules != corpus.rules:
            raise CourseError(f"{source} has split its text otherwise than {corpus.name} is split.")
        result = scored(source, name, run, corpus)
        text = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
        yield str(FOLDER / name / SEEN), seen_words(run)
        for kept in (CONFIG, VOCABULARY, BEST):
            yield str(FOLDER / name / kept), (out / kept).read_bytes()
    yield str(FOLDER / name / RESULT), text.encode()
    yield str(FOLDER / name / CARD), card(result, run, corpus).encode()


def settings_of(source: Path) -> str:
    """A run's config.yaml; a text that was written again is called by the corpus that it is of."""
    text = (source / CONFIG).read_text(encoding="utf-8")
    record = yaml.safe_load(text)
    if not is_own(record["corpus"]):
        return text
    record |= {"corpus": "multi30k", "changes": of_training(record["changes"])}
    return yaml.safe_dump(record, sort_keys=False, allow_unicode=True)


def of_training(changes: Mapping[str, Any]) -> dict[str, Any]:
    """A run's changes but for how its text was read, which a published corpus settles itself."""
    return {name: value for name, value in changes.items() if not name.startswith("corpus.")}


def scored(source: Path, name: str, run: Run, corpus: Corpus) -> dict[str, Any]:
    """The result of the run's rounded weights, beside what the run in full precision scored."""
    full, weights = read_result(source), run.path / BEST
    penalty = run.config.recipe.length_penalty
    scores, rounding = {}, {}
    for split in (split for split in corpus.splits if split.startswith("test")):
        scores[split], hypotheses = score_split(run.model, run.words, corpus, split, BEAM, penalty)
        before = (source / f"hypotheses.{split}.txt").read_text(encoding="utf-8").splitlines()
        pairs = zip(before, hypotheses, strict=True)
        rounding[split] = {
            "changed": sum(old != " ".join(new) for old, new in pairs),
            "bleu_tok_full": full["scores"][split]["bleu_tok"],
        }
    on_val = {
        key: score_split(model, run.words, corpus, "val", BEAM, penalty)[0]["bleu_tok"]
        for key, model in (
            ("bleu_tok_full", load_run(source, "cpu").model),
            ("bleu_tok", run.model),
        )
    }
    again: dict[str, Any] = {}
    if is_own(full["corpus"]):
        again = {
            "changes": of_training(full["changes"]),
            "written_by": writers_of(run.config.pair),
        }
    return {
        **full,
        **again,
        "name": name,
        "corpus": corpus.name,
        "model_sha256": sha256_of(weights),
        "published_by": git_commit(),
        "weights": {
            "file": BEST,
            "dtype": DTYPES[name],
            "bytes": weights.stat().st_size,
            "sha256": sha256_of(weights),
            "made_from": sha256_of(source / BEST),
        },
        "scores": scores,
        KEPT[DTYPES[name]]: rounding,
        "val": on_val,
        "examples": examples(run),
    }


def examples(run: Run) -> list[dict[str, str]]:
    """The card's sentences as `course translate` answers them."""
    source, target = run.config.pair.split("-")
    sentences = SENTENCES[run.config.corpus]
    sources = [tokenize(line, source) for line in sentences]
    found = written(run.model, run.words, sources, BEAM, run.config.recipe.length_penalty)
    return [
        {"source": line, "translation": detokenize(words, target)}
        for line, words in zip(sentences, found, strict=True)
    ]


def head_of(result: dict[str, Any]) -> str:
    """The card's YAML block, for programs."""
    head = {
        "name": result["name"],
        "model": result["model"],
        "language": result["pair"].split("-"),
        "datasets": [result["corpus"]],
        "terms": CORPORA[result["corpus"]].terms,
        **{key: result[key] for key in ("parameters", "weights", "git_commit", "published_by")},
        "bleu_tok": {split: round(s["bleu_tok"], 2) for split, s in result["scores"].items()},
        "bleu_detok": {split: round(s["bleu_detok"], 2) for split, s in result["scores"].items()},
    }
    return str(yaml.safe_dump(head, sort_keys=False, allow_unicode=True)).rstrip()


def card(result: dict[str, Any], run: Run, corpus: Corpus) -> str:
    """The model card: a YAML block for programs, then text for people."""
    rounded = KEPT[result["weights"]["dtype"]]
    text = Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(text)
    return template.render(
        result,
        head=head_of(result),
        rounded=rounded.replace("eight", "8").replace("_", " "),
        rounding=result[rounded],
        config=run.model.config,
        about=CORPORA[corpus.name],
        splits=corpus.splits,
        longest=max(map(len, corpus.splits["train"].source)),
        settings=", ".join(f"{name}={value}" for name, value in result["changes"].items()),
        recipe=run.config.recipe,
        beam=BEAM,
        unscored=[
            split
            for split in OPTIONAL_SPLITS
            if corpus.name == "multi30k" and split not in result["scores"]
        ],
        pieces=isinstance(run.source_vocabulary, Pieces),
    )


PARTS = {
    name: Part(partial(publish, name), "a minute for each test split", f"the run runs/{name}/")
    for name in DTYPES
}
