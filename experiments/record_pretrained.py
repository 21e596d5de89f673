"""Make the published models from run directories: half precision, scored as such, with a card.

    python experiments/record_pretrained.py RUN NAME

Writes course_lib/pretrained/NAME: what RUN is read from, its weights in half precision, result.json
with the scores of exactly these weights on every test split, and the model card, README.md. About
a minute a model and test split. The translations in full precision are those that scoring left in
RUN.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import torch
import yaml
from recording import in_half_precision

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.registry import CORPORA
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.errors import CourseError
from course_lib.evaluation.score import score_split
from course_lib.files import sha256_of, write_atomically
from course_lib.pretrained import FOLDER
from course_lib.search import translate
from course_lib.training import Run, load_run, read_result
from course_lib.training.provenance import git_commit
from course_lib.training.run_directory import BEST, CONFIG, RESULT, VOCABULARY

BEAM = 12
LARGEST = 20_000_000
"""Bytes that a published model's weights may have."""
CARD = "README.md"
SENTENCES = (
    "a man is riding a bicycle .",
    "Two children are playing in the snow.",
    "A woman in a red dress is dancing on the street while three men watch her.",
)
"""What the card shows translated."""


def publish(source: Path, name: str) -> None:
    """Write the published model `name` from the run directory `source`."""
    out = FOLDER / name
    full = read_result(source)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for kept in (CONFIG, VOCABULARY):
        write_atomically(out / kept, (source / kept).read_bytes())
    halve(source / BEST, out / BEST)
    run = load_run(out, "cpu")
    corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
    scores, rounding = {}, {}
    for split in (split for split in corpus.splits if split.startswith("test")):
        scores[split], hypotheses = score_split(
            run.model,
            run.source_vocabulary,
            run.target_vocabulary,
            corpus,
            split,
            BEAM,
            run.config.recipe.length_penalty,
        )
        before = (source / f"hypotheses.{split}.txt").read_text(encoding="utf-8").splitlines()
        pairs = zip(before, hypotheses, strict=True)
        rounding[split] = {
            "changed": sum(old != " ".join(new) for old, new in pairs),
            "bleu_tok_full": full["scores"][split]["bleu_tok"],
        }
    weights = sha256_of(out / BEST)
    result = {
        **full,
        "name": name,
        "model_sha256": weights,
        "published_by": git_commit(),
        "weights": {
            "file": BEST,
            "dtype": "float16",
            "bytes": (out / BEST).stat().st_size,
            "sha256": weights,
            "made_from": sha256_of(source / BEST),
        },
        "scores": scores,
        "half_precision": rounding,
        "examples": examples(run),
    }
    write_atomically(out / RESULT, json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    write_atomically(out / CARD, card(result, run, corpus))


def halve(source: Path, target: Path) -> None:
    """A file's weights in half precision, small enough to come with the library."""
    write_atomically(target, in_half_precision(source))
    if target.stat().st_size > LARGEST:
        raise CourseError(f"{source} makes a file of more than {LARGEST:,} bytes. Take a smaller.")


def examples(run: Run) -> list[dict[str, str]]:
    """The card's sentences as `course translate` answers them."""
    source, target = run.config.pair.split("-")
    words = [run.source_vocabulary.encode(tokenize(line, source)) for line in SENTENCES]
    found = translate(run.model, words, BEAM, run.config.recipe.length_penalty)
    return [
        {
            "source": line,
            "translation": detokenize(run.target_vocabulary.decode(hypothesis.tokens), target),
        }
        for line, hypothesis in zip(SENTENCES, found, strict=True)
    ]


def card(result: dict[str, Any], run: Run, corpus: Corpus) -> str:
    """The model card: a YAML block for programs, then text for people."""
    about, recipe = CORPORA[corpus.name], run.config.recipe
    kind = {"rnnsearch": "RNNsearch", "rnnencdec": "RNNencdec"}[result["model"]]
    head = {
        "name": result["name"],
        "model": result["model"],
        "language": result["pair"].split("-"),
        "datasets": [corpus.name],
        "terms": about.terms,
        "parameters": result["parameters"],
        "weights": result["weights"],
        "git_commit": result["git_commit"],
        "published_by": result["published_by"],
        "bleu_tok": {split: round(s["bleu_tok"], 2) for split, s in result["scores"].items()},
        "bleu_detok": {split: round(s["bleu_detok"], 2) for split, s in result["scores"].items()},
    }
    first = result["examples"][0]
    train = corpus.splits["train"]
    longest = max(map(len, train.source))
    sides = {"source": run.source_vocabulary, "target": run.target_vocabulary}
    sizes = " and ".join(f"{len(words):,} {side}" for side, words in sides.items()) + " words"
    unseen = "a word outside it"
    if isinstance(run.source_vocabulary, Pieces):
        sizes = f"{len(run.source_vocabulary):,} subwords, the same for both languages"
        unseen = "a character that none of them has"
    ranked = f"log-probability / length ** {recipe.length_penalty:g}"
    attention = (
        "It attends: every target word is written from a weighted mean of the source's annotations."
        if run.model.config.context != "fixed"
        else "It does not attend: every target word is written from the same one vector, the "
        "encoder's last forward state; the decoder starts from its last backward one, as in "
        "RNNsearch. It is here to be compared with."
    )
    settings = ", ".join(f"{name}={value}" for name, value in result["changes"].items())
    lines = [
        "---",
        yaml.safe_dump(head, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {result['name']}",
        "",
        f"{kind} (Bahdanau, Cho and Bengio, 2014), {result['parameters']:,} parameters, "
        f"{result['pair']}. {attention}",
        "",
        "```",
        f'echo "{first["source"]}" | course translate {result["name"]}',
        "```",
        "",
        f"answers `{first['translation']}`. In Python: "
        f'`course_lib.training.load_run("{result["name"]}")`.',
        "",
        "| source | translation |",
        "| --- | --- |",
        *(f"| {row['source']} | {row['translation']} |" for row in result["examples"]),
        "",
        "## Data and its terms",
        "",
        f"{len(train):,} training pairs of {corpus.name}, {about.what}; "
        f"{len(corpus.splits['val']):,} for validation. The data are {about.terms}. The weights "
        "were made from them: use them on the same terms. No sentence of the data comes along, "
        "but the vocabulary does. The captions describe photographs of people, and what their "
        "writers assumed about these people has been learned too.",
        "",
        "## Recipe",
        "",
        f"Preset `{result['preset']}`{' with ' + settings if settings else ''}, seed "
        f"{result['seed']}: {result['epochs']} epochs (the best was {result['best_epoch']}), "
        f"batches of {recipe.batch_size}, {recipe.optimiser}, learning rate "
        f"{recipe.learning_rate:g}, dropout {run.model.config.dropout:g}, label smoothing "
        f"{recipe.label_smoothing:g}, {result['precision']}; "
        f"{result['train_seconds'] / 60:.0f} minutes on {result['device']}, "
        f"{result['threads']} thread{'s' * (result['threads'] != 1)}. Everything that decided the "
        "result stands in `config.yaml`, the losses in `result.json`.",
        "",
        "## Scores",
        "",
        f"Of these weights, in half precision; beam {BEAM}, ranked by {ranked}.",
        "",
        "| test set | BLEU, tokenised | BLEU, detokenised | under 10 words | over 20 words |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for split, scores in result["scores"].items():
        cells = (
            scores["bleu_tok"],
            scores["bleu_detok"],
            scores["short"]["bleu_tok"],
            scores["long"]["bleu_tok"],
        )
        lines.append(f"| {split} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    some = next(iter(result["scores"].values()))
    lines += [
        "",
        f"Tokenised: {some['bleu_tok_signature']}, on the data set's own lower-cased, normalised "
        f"Moses tokens. Detokenised: {some['bleu_detok_signature']}.",
        "",
    ]
    for split, rounding in result["half_precision"].items():
        scores = result["scores"][split]
        lines += [
            f"Half precision changed {rounding['changed']} of {scores['sentences']:,} translations "
            f"of {split}: BLEU was {rounding['bleu_tok_full']:.2f} in full precision and is "
            f"{scores['bleu_tok']:.2f}.",
            "",
        ]
    lines += [
        "## Limits",
        "",
        "- It knows captions and nothing else. Expect nonsense for questions, news or speech.",
        f"- Its vocabulary has {sizes}; {unseen} becomes `<unk>`, as do "
        f"{some['unk_rate']:.1%} of the words it writes on {next(iter(result['scores']))}.",
        "- It writes in lower case.",
        f"- No training sentence has more than {longest} words, so longer ones are nothing it has "
        "learned. The table's last two columns show the decline before that.",
        "- It is one run; another seed scores a little differently.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    torch.set_num_threads(1)
    arguments = parser.parse_args()
    publish(arguments.run, arguments.name)
