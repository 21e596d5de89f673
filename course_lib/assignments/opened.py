"""Which parts of the library a notebook may import: those that answer none of its tasks.

The others are not in the box where a student's kernel runs, and `course validate` refuses them in
the same words.
"""

CLOSED = "is not there while a notebook is checked"

ALWAYS = ("assignments", "errors")
"""For every notebook."""

PARTS: dict[str, tuple[str, ...]] = {
    "decoding": ("corpora", "files"),
    "heatmap_analysis": (
        *("corpora", "figures", "files", "freed_memory", "models", "pretrained", "search"),
        *("training", "evaluation.__init__", "evaluation.bleu", "evaluation.forced"),
        *("evaluation.score", "evaluation.weights"),
    ),
}
"""By assignment, packages and modules below `course_lib`."""


def parts(assignment: str) -> tuple[str, ...]:
    """What an assignment opens."""
    return ALWAYS + PARTS.get(assignment, ())


def is_open(assignment: str, module: str) -> bool:
    """Whether a module may be imported; whatever is not the library's may."""
    library, _, below = module.partition(".")
    if library != "course_lib" or not below:
        return True
    return any(
        below == part.removesuffix(".__init__") or below.startswith(f"{part}.")
        for part in parts(assignment)
    )
