"""The scores of a submitted run, computed again from its translations."""

from typing import Any

from course_lib.grading.runs.submitted_run import Fault, Submitted, expected_recipe, is_near, shown
from course_lib.models import count_parameters

BLEU_TOLERANCE = 0.01
DETOK_TOLERANCE = 0.1
"""Points. Another version of the detokeniser may join a word differently."""


def check_scores(run: Submitted, scores: dict[str, Any], split: str) -> None:
    """Whether result.json reports what the translations score, of the run that config.yaml says."""
    record, result = run.record, run.result
    if result is None:
        return
    for key in ("model", "corpus", "pair", "preset", "seed", "changes", "model_config"):
        if result[key] != record.raw[key]:
            raise Fault(f"{record.name}: result.json and config.yaml do not agree on {key}.")
    if result["precision"] != expected_recipe(record)["precision"]:
        raise Fault(f"{record.name}: result.json and config.yaml do not agree on precision.")
    if run.model is not None and result["parameters"] != count_parameters(run.model):
        raise Fault(f"{record.name}/result.json: the number of parameters is not the model's.")
    reported = result["scores"][split]
    for label, reported_value, value, tolerance in (
        ("sentences", reported["sentences"], scores["sentences"], 0),
        ("bleu_tok", reported["bleu_tok"], scores["bleu_tok"], BLEU_TOLERANCE),
        ("bleu_detok", reported["bleu_detok"], scores["bleu_detok"], DETOK_TOLERANCE),
        ("unk_rate", reported["unk_rate"], scores["unk_rate"], 1e-6),
        *_ranges("short", [reported["short"]], [scores["short"]]),
        *_ranges("long", [reported["long"]], [scores["long"]]),
        *_ranges("by_length", reported["by_length"], scores["by_length"]),
    ):
        if value is None and reported_value is None:
            continue
        if not is_near(reported_value, value, tolerance):
            raise Fault(
                f"{record.name}/result.json reports {label} = {shown(reported_value)}; its"
                f" translations give {shown(value)}."
            )


def _ranges(label: str, reported: Any, computed: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Pairs of a reported and a computed number, for rows of sentences and BLEU."""
    if len(reported) != len(computed):
        raise Fault(f"result.json reports {len(reported)} ranges of length, not {len(computed)}.")
    return [
        (f"{key} of {label}", one[key], other[key], BLEU_TOLERANCE if key == "bleu_tok" else 0)
        for one, other in zip(reported, computed, strict=True)
        for key in other
    ]
