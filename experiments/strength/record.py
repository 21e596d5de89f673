"""Record how far RNNsearch goes on Multi30k: what the page on strength reads.

Runs below runs/ are taken as they are; presets and ablation train those that are not there.

presets: `quick`, `laptop` and `best` with every seed that the page compares: each run's
    result.json, and a few translations of RNNsearch with their weights.
variants: the result of every run in runs/variants/, a folder PRESET-TAG each, recorded with TAG.
ablation: what each ingredient of `laptop` is worth, one thing changed at a time. The validation set
    is scored with the same beam as the test set: greedy search ranks the rows in another order.
diversified: training text that the published translators wrote again (Nguyen et al., 2020), and the
    presets' results on it.
joined: BLEU of `laptop` on sentences longer than any in training, made by joining test sentences.
joined-cpu: the same of the runs of RNNsearch that chapter 8 compares.
unseen: what the published model of `best` does with words that no training sentence has.

Two records last longer than the runs they are of, and are not made anew: what was tried on the
validation set before the presets were settled (`tried`), and what the length penalty of their
searches was settled by (`length-penalty`).
"""

from collections.abc import Sequence
from math import isclose
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from course_lib.corpora import Split, load_corpus
from course_lib.evaluation.bleu import bleu_by_length, bleu_tok
from course_lib.files import write_atomically
from course_lib.pretrained import published_path
from course_lib.records import record_paths
from course_lib.training import Run, RunConfig, load_run, read_result, score_run
from course_lib.training.provenance import git_commit
from course_lib.training.recipe import RECIPES
from experiments.decoders import register
from experiments.recording import (
    RUNS,
    Part,
    Read,
    Records,
    captions,
    check_examples,
    check_same,
    check_scored,
    corpus_of,
    examples_of,
    kept_run,
    large,
    name_of,
    written,
)

BEAM = 12
TEST = "test_2016_flickr"
MODELS = ("rnnencdec", "rnnsearch")
PRESETS = (
    *(("rnnsearch", "en-de", "quick", seed) for seed in (0, 1)),
    *((model, "en-de", "laptop", seed) for model in MODELS for seed in range(3)),
    *(("rnnsearch", "en-de", "best", seed) for seed in range(3)),
    ("rnnencdec", "en-de", "best", 0),
    ("rnnsearch", "en-fr", "best", 0),
)
"""Model, languages, preset and seed of each run."""
LEAST = {
    ("en-de", "quick"): 36.0,
    ("en-de", "laptop"): 38.0,
    ("en-de", "best"): 39.0,
    ("en-fr", "best"): 59.0,
}
"""The score on the test set that every seed of a preset reaches with RNNsearch."""
MINUTES = {"quick": 6, "laptop": 18}
"""In which two cores train RNNsearch."""
ABLATED = "laptop"
register()
ROWS: dict[str, dict[str, Any]] = {
    "one-unit": {"decoder": "paper-reads-new-state"},
    "words": {"subwords": None, "tying": "output"},
    "no-tying": {"tying": "none"},
    "previous-state": {"decoder": "conditional-reads-old-state"},
    "no-averaging": {"averaging": 0.0},
    "no-dropout": {"dropout": 0.0},
    "no-smoothing": {"label_smoothing": 0.0},
    "constant-rate": {"schedule": "constant"},
}
"""What each row sets against the preset; `words` cannot share its tables over both sides. All are
compared with the preset's own runs."""
SEEDS = {"one-unit": (0, 1, 2), "words": (0, 1, 2)}
"""Of the rows that were trained with more seeds than 0."""
JOINED = (1, 2, 3, 4)
JOINED_EDGES = (10, 16, 21, 26, 31, 41, 51, 61)
"""The source lengths of joined sentences at which a new range begins."""
HOW_JOINED = (
    "joined: neighbouring sentences of the split, source to source and reference to reference, "
    "without overlap; what is left over at the end is left out"
)
CPU_SEEDS = (0, 1, 2)
"""Of chapter 7's runs that are scored on joined sentences."""
PUBLISHED = "multi30k-en-de"
WRITERS = {pair: (f"multi30k-{pair}", f"multi30k-{pair}-{ABLATED}") for pair in ("en-de", "en-fr")}
"""The published models whose translations of the training sentences are read beside people's."""
TAUGHT: dict[str, dict[str, Any]] = {
    "diversified": {},
    "diversified-paper": {"decoder": "paper"},
    "diversified-longer": {"epochs": 8},
}
"""By tag, what a run that reads them sets against its preset. The text is three times as long and
is read a third as often, so that updates and schedule stay the preset's; `longer` has twice as many
updates as `best`, because its validation loss still falls at the end of those."""
AS_CAPTIONS = {"corpus.moses": True}
"""The text is split as the captions are, or scores would be of other tokens than theirs. Those on
record do not say so: a text in these languages was split by Moses' rules unasked then."""
DIVERSIFIED = (
    *(("en-de", ABLATED, "diversified", seed) for seed in range(3)),
    *(("en-de", "best", "diversified", seed) for seed in range(3)),
    ("en-de", "best", "diversified-paper", 0),
    *(("en-de", "best", "diversified-longer", seed) for seed in range(3)),
    *(("en-fr", "best", "diversified-longer", seed) for seed in range(3)),
)
"""Languages, preset, tag and seed of each."""
WRITTEN = 0
"""The training sentence that is shown."""


def scored_on_val(config: RunConfig, name: str) -> Path:
    """The run RUNS/NAME, the validation set scored with the test set's beam."""
    path = kept_run(config, name, BEAM)
    if "val" not in read_result(path)["scores"]:
        score_run(load_run(path), corpus_of(config), "val", BEAM)
    return path


def preset_run(model: str, pair: str, preset: str, seed: int) -> Path:
    """The run of one of PRESETS."""
    config = RunConfig(model, "multi30k", pair, preset, seed)
    return scored_on_val(config, f"presets/{pair}-{model}-{preset}-seed{seed}")


def presets() -> Records:
    """Every result, and the examples of RNNsearch."""
    for model, pair, preset, seed in PRESETS:
        path = preset_run(model, pair, preset, seed)
        result = read_result(path)
        yield name_of(result), result
        if model == "rnnsearch":
            yield f"{name_of(result)}-examples", examples_of(path)


def variants() -> Records:
    """The runs that you trained with another setting, as in runs/variants/best-larger-step/."""
    for path in sorted((RUNS / "variants").glob("*/result.json")):
        result = read_result(path.parent)
        yield name_of(result, path.parent.name.removeprefix(f"{result['preset']}-")), result


def ablated(row: str, seed: int) -> RunConfig:
    """The run of one cell of the ablation."""
    return RunConfig("rnnsearch", "multi30k", "en-de", ABLATED, seed, ROWS[row])


def ablation() -> Records:
    """Every row with its seeds."""
    for row in ROWS:
        for seed in SEEDS.get(row, (0,)):
            path = scored_on_val(ablated(row, seed), f"ablation/{row}-seed{seed}")
            result = read_result(path)
            yield name_of(result, f"ablation-{row}"), result


def diversified_text(pair: str) -> Path:
    """The training pairs, then again with the translations of each of WRITERS, as a folder."""
    folder = RUNS / "diversified" / pair / "text"
    source, target = pair.split("-")
    if not (folder / f"train.{target}").exists():  # which is written last
        sides = {language: captions("train", language) for language in (source, target)}
        sides[source] *= 1 + len(WRITERS[pair])
        for writer in WRITERS[pair]:
            sides[target] += translations(writer, pair)
        for split in ("val", TEST, "train"):
            for language, lines in sides.items():
                of_split = lines if split == "train" else captions(split, language)
                write_lines(folder / f"{split}.{language}", of_split)
    return folder


def translations(writer: str, pair: str) -> list[str]:
    """What a published model makes of the training sources, beam 5; kept below RUNS."""
    source, target = pair.split("-")
    path = RUNS / "diversified" / pair / f"{writer}.{target}"
    if not path.exists():
        run = load_run(writer)
        sources = [run.tokens(line) for line in captions("train", source)]
        penalty = run.config.recipe.length_penalty
        found = written(run.model, run.words, sources, 5, penalty)
        write_lines(path, [run.text(words) for words in found])
    return path.read_text(encoding="utf-8").splitlines()


def writers_of(pair: str) -> dict[str, str]:
    """Who wrote a pair's text again, each with the SHA-256 of its weights."""
    return {name: sha256_of_model(name) for name in WRITERS[pair]}


def sha256_of_model(name: str) -> str:
    """Of a published model."""
    return str(read_result(published_path(name))["model_sha256"])


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """A file of text, whole or not there."""
    write_atomically(path, "".join(f"{line}\n" for line in lines))


def diversified() -> Records:
    """What the writers wrote, and every result of who read it."""
    for pair in WRITERS:
        yield f"multi30k-{pair}-diversified", rewritten(pair)
    for pair, preset, tag, seed in DIVERSIFIED:
        config = taught(pair, preset, tag, seed)
        path = scored_on_val(config, f"diversified/{pair}-{preset}-{tag}-seed{seed}")
        yield taught_name(pair, preset, tag, seed), {**read_result(path), "corpus": config.corpus}


def taught(pair: str, preset: str, tag: str, seed: int) -> RunConfig:
    """One of DIVERSIFIED."""
    changes = {"epochs": RECIPES[preset].epochs // (1 + len(WRITERS[pair])), **TAUGHT[tag]}
    text = str(diversified_text(pair))
    return RunConfig("rnnsearch", text, pair, preset, seed, {**changes, **AS_CAPTIONS})


def taught_name(pair: str, preset: str, tag: str, seed: int) -> str:
    """Of its record."""
    return name_of(RunConfig("rnnsearch", "multi30k", pair, preset, seed), tag)


def rewritten(pair: str) -> dict[str, Any]:
    """The text that a pair's writers made: how large it is, and how near to people's."""
    corpus = load_corpus(str(diversified_text(pair)), pair, moses=True)
    train, parts = corpus.splits["train"], 1 + len(WRITERS[pair])
    size = len(train) // parts
    sides = [train.target[i * size : (i + 1) * size] for i in range(parts)]
    pairs = set(zip(map(tuple, train.source), map(tuple, train.target), strict=True))
    return {
        "written_by": writers_of(pair),
        "corpus_sha256": corpus.sha256,
        "pairs": len(train),
        "different_pairs": len(pairs),
        "bleu_tok": [bleu_tok(side, sides[0]).score for side in sides[1:]],
        "example": [train.source[WRITTEN], *(side[WRITTEN] for side in sides)],
        "git_commit": git_commit(),
    }


def joined() -> Records:
    """Score both models of `laptop` on the joined sentences."""
    yield joined_record({model: preset_run(model, "en-de", ABLATED, 0) for model in MODELS})


def joined_cpu() -> Records:
    """Score chapter 7's runs of RNNsearch on the joined sentences."""
    for seed in CPU_SEEDS:
        yield joined_record({"rnnsearch": large("rnnsearch", seed)})


def joined_record(paths: dict[str, Path]) -> tuple[str, dict[str, Any]]:
    """Of runs on the same data, and how long training's sources were."""
    models: dict[str, Any] = {}
    for model, path in paths.items():
        run, result = load_run(path), read_result(path)
        split, corpus = next(iter(result["scores"])), corpus_of(run.config)
        beam, penalty = result["scores"][split]["beam"], run.config.recipe.length_penalty
        models[model] = {
            "git_commit": result["git_commit"],
            "model_sha256": read_result(path)["model_sha256"],
            **score_joined(run, corpus.splits[split], JOINED, beam, penalty),
        }
    kept = ("corpus", "pair", "preset", "seed", "versions", "corpus_sha256")
    shared = {
        **{key: result[key] for key in kept},
        "scored_by": git_commit(),
        "split": split,
        "longest_in_training": max(map(len, corpus.splits["train"].source)),
    }
    name = "{corpus}-{pair}-{preset}-seed{seed}-joined".format(**result)
    return name, {**shared, "models": models}


def join(split: Split, count: int) -> Split:
    """Every `count` neighbouring sentence pairs as one pair; a split of 1,000 becomes 500 for 2.

    Words and their order stay as they are; gold links are left out.
    """
    groups = [range(i, i + count) for i in range(0, len(split) - count + 1, count)]
    return Split(
        source=[[word for i in group for word in split.source[i]] for group in groups],
        target=[[word for i in group for word in split.target[i]] for group in groups],
        links=None,
        reference=[" ".join(split.reference[i] for i in group) for group in groups],
    )


def score_joined(
    run: Run, split: Split, counts: Sequence[int], beam: int, penalty: float
) -> dict[str, Any]:
    """Tokenised BLEU of a model on a split as it is and on its sentences joined.

    Returns:
        `how` the texts were made; `joined`, for each of `counts` the number of texts, their mean
        source length and their BLEU; `by_length`, all of the texts together in ranges of source
        length, each with the number of texts.
    """
    rows: list[dict[str, Any]] = []
    translations: list[list[str]] = []
    references: list[list[str]] = []
    lengths: list[int] = []
    for count in counts:
        part = join(split, count)
        hypotheses = written(run.model, run.words, part.source, beam, penalty)
        sizes = [len(source) for source in part.source]
        score = bleu_tok(hypotheses, part.target)
        rows.append(
            {
                "sentences_joined": count,
                "texts": len(part),
                "source_words": sum(sizes) / len(sizes),
                "bleu_tok": score.score,
                "bleu_tok_signature": score.signature,
            }
        )
        translations += hypotheses
        references += part.target
        lengths += sizes
    return {
        "how": HOW_JOINED,
        "beam": beam,
        "length_penalty": penalty,
        "joined": rows,
        "by_length": bleu_by_length(translations, references, lengths, JOINED_EDGES),
    }


def unseen() -> Records:
    """Two groups of test sentences: all source words are in training, or one is not."""
    run, result = load_run(PUBLISHED), read_result(published_path(PUBLISHED))
    corpus, split = corpus_of(run.config), next(iter(result["scores"]))
    train, test = corpus.splits["train"], corpus.splits[split]
    read, asked = ({w for x in side for w in x} for side in (train.source, train.target))
    penalty = run.config.recipe.length_penalty
    found = written(run.model, run.words, test.source, BEAM, penalty)
    pairs = list(zip(found, test.target, strict=True))
    new = [i for i, source in enumerate(test.source) if not read.issuperset(source)]
    groups = {}
    for name, chosen in (("unseen", new), ("seen", [i for i in range(len(test)) if i not in new])):
        lines = [[" ".join(text) for text in pairs[i]] for i in chosen]
        hypotheses, references = (list(side) for side in zip(*lines, strict=True))
        metric = BLEU(tokenize="none", force=True)
        score: Any = metric.corpus_score(hypotheses, [references], n_bootstrap=1_000)
        groups[name] = {
            "sentences": len(chosen),
            "source_words": sum(len(test.source[i]) for i in chosen) / len(chosen),
            "bleu_tok": score.score,
            "interval": [score._mean - score._ci, score._mean + score._ci],
        }
    invented = [(w, w in x) for y, x in pairs for w in y if w not in asked]
    yield (
        "multi30k-en-de-best-unseen",
        {
            **{key: result[key] for key in ("git_commit", "model_sha256", "corpus_sha256")},
            "scored_by": git_commit(),
            "split": split,
            "beam": BEAM,
            "groups": groups,
            "new_words_written": {
                "words": [word for word, _ in invented],
                "right": [word for word, right in invented if right],
            },
        },
    )


def check(read: Read) -> None:
    """Every preset reaches what it is for; the compared runs differ in what they say."""
    two_cores: dict[str, list[float]] = {preset: [] for preset in MINUTES}
    for model, pair, preset, seed in PRESETS:
        result = read(f"multi30k-{pair}-{model}-{preset}-seed{seed}")
        score = check_scored(result)["bleu_tok"]
        assert score >= (25 if model == "rnnencdec" else LEAST[pair, preset])
        if model == "rnnsearch" and result["threads"] == 2 and preset in MINUTES:
            two_cores[preset].append(result["train_seconds"])
    for preset, seconds in two_cores.items():
        assert seconds
        assert max(seconds) <= 60 * MINUTES[preset]
    for preset, seeds in ((ABLATED, 3), ("best", 1)):
        for seed in range(seeds):
            fixed, looking = (
                read(f"multi30k-en-de-{model}-{preset}-seed{seed}") for model in MODELS
            )
            assert fixed["model_config"] == {**looking["model_config"], "context": "fixed"}
            check_same(fixed, looking, "recipe", "corpus_sha256", "precision")
    for path in record_paths("multi30k-*-examples"):
        check_examples(read(path.stem))
    check_variants(read)
    check_diversified(read)
    for run in (f"{ABLATED}-seed0", *(f"cpu-seed{seed}" for seed in CPU_SEEDS)):
        check_joined(read(f"multi30k-en-de-{run}-joined"), read)
    check_unseen(read("multi30k-en-de-best-unseen"))
    record = read("multi30k-en-de-tried")
    assert all(run["metrics"] and "scores" not in run for run in record["runs"])
    settled = read("multi30k-en-de-length-penalty")
    assert record["split"] == settled["split"] == "val"  # no test score is among the numbers
    assert {run["run"] for run in settled["runs"]} <= {run["run"] for run in record["runs"]}


def check_variants(read: Read) -> None:
    """The other runs of these presets: each row of the ablation is trained by what it changes."""
    for preset in ("quick", ABLATED, "best"):
        for path in record_paths(f"multi30k-*-{preset}-*-seed[0-9]"):
            score = check_scored(read(path.stem))["bleu_tok"]
            least = 25 if "rnnencdec" in path.stem else 35 if preset == "quick" else 37
            assert "-ablation-" in path.stem or score >= least, path
    for row, changes in ROWS.items():
        for seed in SEEDS.get(row, (0,)):
            result = read(name_of(ablated(row, seed), f"ablation-{row}"))
            assert result["changes"] == changes
            assert (result["seed"], result["preset"]) == (seed, ABLATED)


def check_diversified(read: Read) -> None:
    """All read the text that was recorded, for as many updates as their preset has."""
    texts = {pair: read(f"multi30k-{pair}-diversified") for pair in WRITERS}
    for text in texts.values():
        for name, sha256 in text["written_by"].items():
            assert sha256 == sha256_of_model(name)
    for pair, preset, tag, seed in DIVERSIFIED:
        result = read(taught_name(pair, preset, tag, seed))
        plain = read(f"multi30k-{pair}-rnnsearch-{preset}-seed0")
        epochs = plain["recipe"]["epochs"] // (1 + len(WRITERS[pair]))
        assert result["corpus_sha256"] == texts[pair]["corpus_sha256"]
        assert {**AS_CAPTIONS, **result["changes"]} == {
            **AS_CAPTIONS,
            "epochs": epochs,
            **TAUGHT[tag],
        }
        model = {key: value for key, value in TAUGHT[tag].items() if key != "epochs"}
        assert result["model_config"] == {**plain["model_config"], **model}
        check_scored(result)


def check_joined(record: dict[str, Any], read: Read) -> None:
    """Sentences that are not joined score as they were recorded."""
    for model, found in record["models"].items():
        alone = read(name_of({**record, "model": model}))
        assert found["git_commit"] == alone["git_commit"]
        rows, scores = found["joined"], alone["scores"][record["split"]]
        assert [row["sentences_joined"] for row in rows] == list(JOINED)
        assert [row["texts"] for row in rows] == [scores["sentences"] // n for n in JOINED]
        assert isclose(rows[0]["bleu_tok"], scores["bleu_tok"], abs_tol=0.05)
        ranges = found["by_length"]
        assert sum(part["sentences"] for part in ranges) == sum(row["texts"] for row in rows)
        assert ranges[-1]["upper"] > record["longest_in_training"]


def check_unseen(record: dict[str, Any]) -> None:
    """The model is the one that comes along, and both groups are the whole test set."""
    result = read_result(published_path(PUBLISHED))
    assert record["model_sha256"] == result["model_sha256"]
    groups = record["groups"]
    assert sum(group["sentences"] for group in groups.values()) == 1_000


PARTS = {
    "presets": Part(presets, "minutes, and up to seven hours to train all runs"),
    "variants": Part(variants, "seconds", "runs in runs/variants/"),
    "ablation": Part(ablation, "minutes, and up to four hours to train all rows"),
    "diversified": Part(diversified, "minutes, and five hours with its text and trainings"),
    "joined": Part(joined, "five minutes, and up to forty to train both"),
    "joined-cpu": Part(joined_cpu, "four minutes, and chapter 7's trainings"),
    "unseen": Part(unseen, "two minutes"),
}
