"""One colour for a role and for a model, on a moving figure as on a printed one."""

import re

import yaml
from matplotlib.colors import to_hex

from course_lib.figures.style import ROLES, WEIGHTS
from course_lib.widgets.modules import module, style
from tests.conftest import ROOT

BOOK_STYLE = ROOT / "book" / "_static" / "book.css"


def block(text: str, selector: str) -> str:
    found = re.search(re.escape(selector) + r" {(.*?)}", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_roles_have_the_colours_of_the_printed_figures() -> None:
    css, book = style(), BOOK_STYLE.read_text(encoding="utf-8")
    dark = block(css, 'body[data-jp-theme-light="false"] .moving')
    for name, role in ROLES.items():
        assert f".role-{name} {{ color: var(--role-{name}, {role.text}); }}" in css
        assert f"--role-{name}: {role.dark};" in dark
        assert f"--role-{name}: {role.text};" in block(book, 'html:not([data-theme="dark"])')
        assert f"--role-{name}: {role.dark};" in block(book, 'html[data-theme="dark"]')


def test_every_role_has_its_rule_and_every_macro_a_role() -> None:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    macros = config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    used = set(re.findall(r"role-(\w+)", str(macros)))
    ruled = set(
        re.findall(r"^\.role-(\w+) {", BOOK_STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert used == ruled == set(ROLES)


def test_the_steppers_map_is_coloured_as_the_printed_one() -> None:
    scale = re.search(r"const SCALE = (\[.*\]);", module("attention_stepper"))
    assert scale is not None
    ends = re.findall(r"\[([\d.]+), \[(\d+), (\d+), (\d+)\]\]", scale[1])
    assert len(ends) == 3
    for place, *channels in ends:
        drawn = "#" + "".join(f"{int(channel):02x}" for channel in channels)
        printed = to_hex(WEIGHTS(float(place)))
        for k in (1, 3, 5):
            assert abs(int(drawn[k : k + 2], 16) - int(printed[k : k + 2], 16)) <= 1
