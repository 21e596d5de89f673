"""Buttons that open a page's notebook on Colab and Binder, once there is a repository."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from docutils import nodes
from sphinx.application import Sphinx

COLAB = "https://colab.research.google.com/github"
BINDER = "https://mybinder.org/v2/gh"


def notebook_of(page: str) -> str | None:
    """The notebook that belongs to a page, as a path from the repository's top."""
    name = page.rsplit("/", 1)[-1]
    if (page == f"book/{name}" and name[:2].isdigit()) or page == f"book/workshop/{name}":
        return f"book/notebooks/{name}.ipynb"
    if page == f"book/assignments/{name}" and name != "index":
        return f"exercises/{name}/{name}.ipynb"
    return None


def links(url: str, branch: str, notebook: str) -> dict[str, str]:
    """Where a notebook opens, by service; both know repositories on GitHub only."""
    parts = urlsplit(url)
    if parts.hostname != "github.com":
        return {}
    repository = parts.path.strip("/").removesuffix(".git")
    path, ref = quote(notebook), quote(branch, safe="")
    return {
        "Colab": f"{COLAB}/{repository}/blob/{ref}/{path}",
        "Binder": f"{BINDER}/{repository}/{ref}?urlpath=lab/tree/{path}",
    }


def add_buttons(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """One button with the services that can open this page; none without a repository's URL."""
    notebook = notebook_of(page)
    options = app.config.html_theme_options
    url, branch = options.get("repository_url", ""), options.get("repository_branch") or "main"
    found = links(url, branch, notebook) if url and notebook else {}
    # A notebook that is not there would open as somebody else's error page.
    if not found or not (Path(app.srcdir) / str(notebook)).is_file():
        return
    buttons = [
        {
            "type": "link",
            "text": service,
            "tooltip": f"Open this page as a notebook on {service}",
            "url": link,
        }
        for service, link in found.items()
    ]
    context["header_buttons"].append(
        {
            "type": "group",
            "buttons": buttons,
            "tooltip": "Open as a notebook",
            "icon": "fas fa-rocket",
            "label": "launch-buttons",
        }
    )


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_buttons, priority=502)
