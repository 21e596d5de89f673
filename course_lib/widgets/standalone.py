"""A page of its own that translates with a run, for a reader who has nothing but a browser."""

import json
from collections.abc import Sequence
from pathlib import Path

from course_lib.figures.picture import Picture
from course_lib.files import write_atomically
from course_lib.training import Run
from course_lib.widgets.live import greeting, looked, packs_of, values_of
from course_lib.widgets.modules import page_script, style
from course_lib.widgets.pack import Pack

PAGE, ONE_FILE = "index.html", "translator.html"
_TITLE = "Translators that live in the page"
_TEXT = """
<p>Type a sentence and press <i>translate</i>: your browser does it, and nothing is sent anywhere.
{data} A wavy line marks a word that was not in the training. The weights are rounded to 8 bits
here, so now and then a sentence comes out otherwise than by <code>course translate</code>.</p>
"""
_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  --page: #fdfdfb; --surface: #f4f4f0; --ink: #23262b; --ink-quiet: #565c66; --line: #d9d9d2; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
@media print { :root { color-scheme: light; } }
@media screen and (prefers-color-scheme: dark) { body {
  --page: #16191d; --surface: #1f2328; --ink: #d8dbdf; --ink-quiet: #a3a9b2; --line: #3a4048;
  --link: #b3abf5; --role-annotation: #6cb4ea; --role-state: #f59a5f; --role-energy: #abb0b8;
  --role-weight: #efb747; --role-context: #45cba1; --role-word: #e39ac0;
  --right: #5fcf9a; --wrong: #f59086; } }
.moving-still img { max-width: 100%; }
"""


def export_web(runs: Sequence[Run], out: Path) -> list[Path]:
    """Write a page for these runs: a folder with a script for each part, and one file to send.

    Args:
        runs: one, or several to set side by side.
        out: the folder; `index.html` in it loads the models from scripts beside it, and
            `translator.html` needs no other file.

    Returns:
        the two pages.
    """
    packs = packs_of(runs)
    inside = ""
    for pack in packs:
        for number, script in enumerate(pack.scripts):
            write_atomically(out / f"{pack.name}-{number}.js", script)
            inside += f"<script>{script.replace('<', chr(92) + 'u003c')}</script>\n"
    before, after = standalone_page(runs, packs)
    write_atomically(out / PAGE, before + after)
    write_atomically(out / ONE_FILE, before + inside + after)
    return [out / PAGE, out / ONE_FILE]


def standalone_page(runs: Sequence[Run], packs: Sequence[Pack]) -> tuple[str, str]:
    """The page's HTML before and after the place where scripts of models may stand."""
    still, first = "", greeting(runs, packs)
    values = values_of(runs, packs, ".", first)
    data = json.dumps(values, ensure_ascii=False).replace("<", "\\u003c")
    if any(one["alpha"] for one in first.values()):
        picture = Picture(looked(first), f"Where the model looks: {values['text']}")
        still = f'<div class="moving-still">{picture._repr_html_()}</div>'
    names = {"multi30k": "The models learned from captions of photographs and know nothing else."}
    text = _TEXT.format(data=names.get(runs[0].config.corpus, ""))
    script = page_script("live").replace("</", "<\\/")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_TITLE}</title><style>{_STYLE}{style()}</style></head>\n"
        f"<body><main><h1>{_TITLE}</h1>{text}"
        f'<div class="moving-figure" data-moving="live">{still}'
        f'<script type="application/json">{data}</script></div>'
        "<noscript><p>Without JavaScript there is only the picture.</p></noscript></main>\n",
        f'<script type="module">{script}</script></body></html>\n',
    )
