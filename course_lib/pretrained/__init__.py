"""The published models: small enough to come with the library, so that they answer at once.

Each is a folder here that reads like a run directory: configuration, vocabularies, the weights in
half precision or in 8 bits, result.json with the scores of exactly these weights, seen.bin, which
tells the words of its training from others, and the model card, README.md.
`make record CHAPTER=pretrained` makes them from run directories.
"""

from pathlib import Path

FOLDER = Path(__file__).parent


def published() -> list[str]:
    """The names of the published models."""
    return sorted(path.parent.name for path in FOLDER.glob("*/config.yaml"))


def published_path(name: str | Path) -> Path | None:
    """The folder of a published model; None for any other name."""
    return FOLDER / name if str(name) in published() else None


def small() -> list[str]:
    """Those of captions that the page of translators loads, of the preset `laptop`: half as large
    as the others, which are of `best`, and twice as fast."""
    return [name for name in published() if "-laptop" in name]


def of_long_sentences() -> list[str]:
    """Those of Python's documentation, the pair of the paper's figure."""
    return [name for name in published() if name.startswith("python-docs")]
