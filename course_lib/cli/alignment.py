"""`course align`: a run's attention weights as word alignments."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from course_lib.cli.runs import Json, RunPath, cell
from course_lib.errors import CourseError
from course_lib.files import write_atomically

KINDS = {"attention": "attention", "ibm1": "IBM Model 1", "blind": "blind guess"}
NAMES = {
    "argmax": "largest weight",
    "words": "largest weight on a word",
    "forward": "this direction",
}


def align(
    run: RunPath,
    split: Annotated[str, typer.Option(help="A split of the run's corpus.")],
    save: Annotated[
        Path | None, typer.Option(help="Write every matrix with its words to this .json file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Align a split with a run's attention weights, beside IBM Model 1, and diagnose the weights.

    The reference is given word by word (forced decoding). The alignment error rate needs the
    corpus's gold links (`test.links` in a folder of yours). Weights that look wrong are reported,
    and the exit status stays 0.
    """
    from course_lib.corpora.own_text import links_beside
    from course_lib.evaluation.align import align_split, saved_weights
    from course_lib.evaluation.forced import forced_weights
    from course_lib.evaluation.links import check_links, counted_from_one, read_links
    from course_lib.training import load_run
    from course_lib.training.same_run import check_same_data

    if save is not None and save.suffix != ".json":
        raise CourseError(f"--save writes JSON. Give a file that ends in .json, not {save.name}.")
    loaded = load_run(run)
    config = loaded.config
    corpus = config.load_corpus()
    check_same_data(loaded, corpus)
    part = corpus.split(split)
    links = None
    if (gold := links_beside(config.corpus, split)) is not None:
        links = read_links(gold)
        check_links(links, part.source, part.target, str(gold))
        if question := counted_from_one(links):
            typer.echo(f"{gold}: {question}.", err=True)
    try:
        weights = forced_weights(loaded.model, *loaded.words, part)
    except CourseError as error:
        raise CourseError(f"{loaded.path}: {error}") from error
    record = {
        "run": str(run),
        "model": config.model,
        "corpus": corpus.name,
        "pair": corpus.pair,
        "split": split,
        **align_split(weights, corpus, split, links),
    }
    if save is not None:
        text = json.dumps(saved_weights(weights, corpus, split), ensure_ascii=False)
        write_atomically(save, text + "\n")
    typer.echo(json.dumps(record, indent=1) if as_json else _as_text(record))


def _as_text(record: dict[str, Any]) -> str:
    look = record["diagnostics"]
    lines = [
        f"{record['split']}: {record['sentences']} sentence pairs, {record['corpus']} "
        f"{record['pair']}, by forced decoding of the reference",
        f"gold: {record['gold']}",
        f"end marks: {record['end_mark']}",
        f"units: {record['units']}",
    ]
    if record["alignments"]:
        lines.append(f"{'':38}{'precision':>10}{'recall':>8}{'AER':>8}")
    for who, errors in record["alignments"].items():
        for how, score in errors.items():
            way = NAMES.get(how, how)
            if how == "threshold":
                way = f"weight of {record['threshold']} or more"
            lines.append(
                f"  {KINDS[who] + ', ' + way:36}{cell(score['precision'], '10.3f')}"
                f"{cell(score['recall'], '8.3f')}{cell(score['aer'], '8.3f')}"
            )
    order = look["monotonicity"]
    lines += [
        f"entropy: {look['entropy']:.2f} nats a word, {look['normalised_entropy']:.0%} of the "
        "largest possible",
        f"order: {cell(order, '1.0%')} of the steps do not go back, "
        f"{look['crossings']:.1f} crossings a sentence",
        f"coverage: {look['hardly_covered']:.1%} of the source words hardly looked at, "
        f"{look['unaligned']:.1%} of the target words unaligned, {look['end_weight']:.1%} of the "
        "weight on the end mark",
        f"several: {look['many_to_one']:.1%} of the target words have several source words, "
        f"{look['one_to_many']:.1%} of the source words several target words",
        f"warnings: {look['warnings']['uniform']} sentences collapsed to uniform, "
        f"{look['warnings']['stuck']} stuck on one word",
        *look["advice"],
    ]
    return "\n".join(lines)
