"""The role colours can be read, in both themes, and mean the same everywhere."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
STYLE = (ROOT / "book" / "_static" / "book.css").read_text(encoding="utf-8")
ROLES = ("annotation", "state", "energy", "weight", "context", "word")
TEXT = [f"--role-{role}" for role in ROLES] + [
    "--ink",
    "--ink-quiet",
    "--link",
    "--right",
    "--wrong",
]


def colours(theme: str) -> dict[str, str]:
    selector = {"light": 'html:not([data-theme="dark"])', "dark": 'html[data-theme="dark"]'}[theme]
    block = re.search(re.escape(selector) + " {(.*?)}", STYLE, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", block[1]))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_the_standard_measures_it() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", TEXT)
def test_text_in_this_colour_can_be_read(theme: str, name: str) -> None:
    palette = colours(theme)
    for ground in ("--page", "--surface"):
        assert contrast(palette[name], palette[ground]) >= 4.5


def test_every_role_has_its_rule_and_every_macro_a_role() -> None:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    macros = config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    used = set(re.findall(r"role-(\w+)", str(macros)))
    ruled = set(re.findall(r"^\.role-(\w+) {", STYLE, re.MULTILINE))
    assert used == ruled == set(ROLES)
