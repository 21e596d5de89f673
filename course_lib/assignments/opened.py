"""What a notebook finds while it is checked: which parts of the library, and which files.

It may import those parts that answer none of its tasks. The others are not in the box where a
student's kernel runs, and `course validate` refuses them in the same words.
"""

from course_lib.assignments.instances import CLASS

CLOSED = "is not there while a notebook is checked"

ALWAYS = ("assignments", "errors")
"""For every notebook."""

OPENED: dict[str, tuple[str, ...]] = {
    "decoding": ("corpora", "files"),
    "heatmap_analysis": (
        *("corpora", "figures", "files", "allocator", "models", "pretrained", "search"),
        *("training", "evaluation.__init__", "evaluation.bleu", "evaluation.forced"),
        *("evaluation.score", "evaluation.weights"),
    ),
}
"""By assignment, packages and modules below `course_lib`."""


GIVEN: dict[str, tuple[str, ...]] = {
    "attention_by_hand": ("slips.json",),
    "beyond_additive": ("slips.json",),
    "build_rnnsearch": ("inputs.json", "slips.json"),
    "decoding": ("slips.json", "translator.safetensors"),
    "heatmap_analysis": ("held_out.json", "model/*", "slips.json"),
}
"""By assignment, patterns of the files that are given out beside its notebook.

Beside any of them may lie what the numbers of a class are drawn with.
"""


def given(assignment: str) -> tuple[str, ...]:
    """Patterns of the files that are given out beside a notebook."""
    return (CLASS, *GIVEN.get(assignment, ()))


def parts(assignment: str) -> tuple[str, ...]:
    """What an assignment opens."""
    return ALWAYS + OPENED.get(assignment, ())


def is_open(assignment: str, module: str) -> bool:
    """Whether a module may be imported; whatever is not the library's may."""
    library, _, below = module.partition(".")
    if library != "course_lib" or not below:
        return True
    return any(
        below == part.removesuffix(".__init__") or below.startswith(f"{part}.")
        for part in parts(assignment)
    )
