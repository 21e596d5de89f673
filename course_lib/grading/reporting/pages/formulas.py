"""TeX to MathML, which browsers set without a script."""

import functools
import html
import re
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

LONGEST = 2000
"""Characters. A longer formula is shown as its source."""

_ALIGNED = re.compile(r"\\(begin|end)\{(aligned|alignedat|gather|gathered|eqnarray|split)\*?\}")
# Definitions can be made to grow without end.
_REFUSED = re.compile(r"\\(newcommand|renewcommand|providecommand|newenvironment|def|let)\b")
_ATTRIBUTES = frozenset(
    re.findall(
        r"\w+",
        "columnspacing depth display displaystyle fence form height linebreak lspace mathvariant"
        " maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator stretchy"
        " voffset width",
    )
)


@functools.lru_cache(maxsize=4096)
def mathml(tex: str, block: bool) -> str:
    """A formula as markup that is safe wherever it came from; its source if it cannot be read."""
    tex = tex.strip()
    source = f'<code class="tex">{html.escape(tex)}</code>'
    if len(tex) > LONGEST or _REFUSED.search(tex):
        return source
    try:
        element = convert_to_element(
            _ALIGNED.sub(r"\\\1{align*}", tex), display="block" if block else "inline"
        )
        _clean(element)
    except Exception:  # the converter fails in as many ways as there are slips in TeX
        return source
    element.attrib.pop("xmlns", None)
    # one language for all: a reader's software says the source where it knows no MathML
    element.set("alttext", tex)
    text = tostring(element, encoding="unicode")
    if block:
        return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{text}</div>'
    return text


def _clean(element: Element) -> None:
    """Leave what draws: the converter hands on links, styles and event handlers of the source."""
    if not re.fullmatch(r"math|m[a-z]+", element.tag) or element.tag in {"maction", "mglyph"}:
        raise ValueError(element.tag)
    aligned = element.tag == "mtable" and element.get("displaystyle") == "true"
    for name in set(element.attrib) - _ATTRIBUTES:
        del element.attrib[name]
    if aligned:
        element.set("class", "aligned")
    for place, child in enumerate(list(element)):
        if child.tag in {"maligngroup", "malignmark"}:
            del element[place]
    # entities are written out in its text
    element.text = html.unescape(element.text) if element.text else element.text
    for child in element:
        child.tail = html.unescape(child.tail) if child.tail else child.tail
        _clean(child)
