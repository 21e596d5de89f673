"""The JavaScript of the moving figures, as text: what a notebook is sent and a page contains."""

from pathlib import Path

from course_lib.errors import CourseError

_MODULES = Path(__file__).parent / "modules"
STYLE = "moving.css"
COMMON = "common.mjs"


def names() -> list[str]:
    """Every figure that has a module."""
    found = (path.name for path in _MODULES.iterdir())
    return sorted(name[:-4] for name in found if name.endswith(".mjs") and name != COMMON)


def sources(name: str) -> list[Path]:
    """The files a figure is made of.

    Raises:
        CourseError: there is no such figure.
    """
    if name not in names():
        raise CourseError(f"There is no moving figure {name!r}. Known: {', '.join(names())}.")
    return [_MODULES / file for file in (COMMON, f"{name}.mjs", STYLE)]


def style() -> str:
    """The style sheet of all figures."""
    return (_MODULES / STYLE).read_text(encoding="utf-8")


def module(name: str) -> str:
    """A figure's module, with what all figures share in front: one file, nothing to import."""
    common, own, _ = sources(name)
    return "\n".join(path.read_text(encoding="utf-8") for path in (common, own))


def page_script(name: str) -> str:
    """The module for a page: it puts the figure in the place of each picture that stands for it.

    A script inside the page, since browsers load no module from a file on the reader's disk.
    """
    text = module(name).replace("export default", "const figure =")
    return f'{text}\nintoPage(figure, "{name}");\n'
