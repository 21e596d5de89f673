"""Figures, equations and exercises count within their chapter: Figure 5.2; elsewhere, by page.

Sphinx counts through the whole book and would say Figure 87.
"""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def chapter_of(page: str) -> str:
    """The number of a chapter, read from its file's name; empty for any other page."""
    number = page.rsplit("/", 1)[-1][:2]
    return str(int(number)) if number.isdigit() else ""


def put_back(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Sphinx writes every page anew whose numbers have changed, so it is shown its own."""
    if hasattr(env, "counted_through"):
        env.toc_fignumbers = env.counted_through
    return []


def number_by_chapter(app: Sphinx, env: BuildEnvironment) -> list[str]:
    env.counted_through = env.toc_fignumbers
    env.toc_fignumbers = {
        page: {
            kind: {
                name: (*filter(None, [chapter_of(page)]), place)
                for place, name in enumerate(sorted(found, key=found.__getitem__), start=1)
            }
            for kind, found in kinds.items()
        }
        for page, kinds in env.toc_fignumbers.items()
    }
    return []


def setup(app: Sphinx) -> None:
    app.connect("env-get-updated", put_back, priority=1)
    app.connect("env-get-updated", number_by_chapter, priority=999)
