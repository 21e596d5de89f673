"""Pages that need nothing from elsewhere: MathJax comes from an installed package."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

MATHJAX = "mathjax/tex-chtml-full.js"
# The complete component needs its fonts and loads no other file.
MATHJAX_FILES = (MATHJAX, "mathjax/output/chtml/fonts/woff-v2")


def mathjax_source() -> Path:
    # The package's name has hyphens, so `import` cannot say it.
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise ExtensionError("MathJax is missing. Run: pip install sphinx-mathjax-offline")
    return Path(spec.origin).parent / "static"


def use_local_mathjax(app: Sphinx, config: Config) -> None:
    config.mathjax_path = MATHJAX


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for name in MATHJAX_FILES:
        source, target = mathjax_source() / name, static / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def drop_thebe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """jupyter-book always adds this launcher, whose code lies on a public server."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", script))
        and "THEBE" not in str(getattr(script, "attributes", {}).get("body", ""))
    ]


def drop_thebe_settings(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(nodes.raw)):
        if "x-thebe-config" in node.astext() or "kernelName" in node.astext():
            node.parent.remove(node)


def setup(app: Sphinx) -> None:
    app.connect("config-inited", use_local_mathjax)
    app.connect("build-finished", copy_mathjax)
    app.connect("html-page-context", drop_thebe)
    app.connect("doctree-resolved", drop_thebe_settings, priority=900)
