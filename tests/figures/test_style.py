"""Colours that everyone can tell apart and read, and labels that keep their distance."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry

from course_lib.figures import style
from course_lib.figures.heatmap import heatmap


def luminance(color: object) -> float:
    """Relative luminance (WCAG 2.2)."""
    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: object, two: object) -> float:
    low, high = sorted([luminance(one), luminance(two)])
    return (high + 0.05) / (low + 0.05)


def lightness(color: object) -> float:
    """L* of CIELAB, in which equal steps look equal."""
    return 116 * luminance(color) ** (1 / 3) - 16 if luminance(color) > 0.009 else 0.0


MODELS = [style.RNNSEARCH, style.RNNENCDEC, *style.OTHERS]


def test_words_are_legible_on_their_background() -> None:
    for role in style.ROLES.values():
        assert contrast(role.text, style.CARD) >= 4.5
        assert contrast(role.dark, "#121212") >= 4.5
    for model in MODELS:
        assert contrast(model.text, style.CARD) >= 4.5
    assert contrast(style.MUTED, style.CARD) >= 4.5
    assert contrast(style.MUTED, style.SHADE) >= 4.5


def test_every_role_and_model_has_a_colour_of_its_own() -> None:
    colours = [role.fill for role in style.ROLES.values()] + [model.color for model in MODELS]
    assert len({to_rgb(colour) for colour in colours}) == len(colours)


def test_models_differ_in_colour_marker_and_dashes() -> None:
    for one, two in itertools.combinations(MODELS, 2):
        assert one.color != two.color
        assert one.marker != two.marker
        assert one.linestyle != two.linestyle
    # And the two of the course without any colour at all.
    assert abs(lightness(style.RNNSEARCH.color) - lightness(style.RNNENCDEC.color)) > 40


def test_a_model_keeps_its_style_in_any_company() -> None:
    alone = style.styles_for(["rnnsearch"])
    both = style.styles_for(["luong", "RNNencdec", "rnnsearch", "dot"])
    assert alone["rnnsearch"] == both["rnnsearch"] == style.RNNSEARCH
    assert both["RNNencdec"] == style.RNNENCDEC
    assert both["luong"].label == "luong"
    assert both["luong"].color != both["dot"].color


def test_weights_darken_evenly_in_one_hue() -> None:
    colours = [style.WEIGHTS(w)[:3] for w in np.linspace(0, 1, 41)]
    steps = -np.diff([lightness(colour) for colour in colours])
    assert (steps > 0).all()
    assert steps.max() < 1.4 * steps.min()
    for red, green, blue in colours[1:]:
        assert red > green > blue  # orange throughout


def test_the_look_ends_with_the_block() -> None:
    before = dict(mpl.rcParams)
    with style.styled():
        assert mpl.rcParams["axes.spines.top"] is False
    assert dict(mpl.rcParams) == before


def test_apply_is_for_a_chapters_own_plots() -> None:
    with mpl.rc_context():
        style.apply()
        assert to_rgb(Figure().get_facecolor()[:3]) == to_rgb(style.CARD)
        assert not Figure().add_subplot().spines["top"].get_visible()


def test_text_width_is_close_to_what_is_drawn() -> None:
    figure = Figure(dpi=200)
    for word in ["Straßenbahnhaltestelle", "</s>", "$", "ii"]:
        with style.styled():
            drawn = figure.text(0, 0, word, fontsize=10, parse_math=False)
        assert drawn.get_window_extent().width / 200 == pytest.approx(
            style.text_width(word, 10), rel=0.08, abs=0.02
        )


def test_letters_of_other_scripts_come_from_a_font_that_is_there() -> None:
    assert style.families([]) == ["DejaVu Sans"]
    there = [FontEntry(name=name, weight=700) for name in ("Arial", "Yu Gothic", "Unifont")]
    assert style.families(there) == ["DejaVu Sans", "Unifont", "Yu Gothic"]
    assert style.RC["font.family"][0] == "DejaVu Sans"


def test_a_bold_word_asks_for_no_font_that_has_no_bold_face() -> None:
    """matplotlib would say so on standard error, for every figure of a report."""
    plain = [FontEntry(name=name, weight=400) for name in ("Yu Gothic", "Droid Sans Fallback")]
    assert style.families([*plain, FontEntry(name="Yu Gothic", weight=700)])[1:] == ["Yu Gothic"]


def test_a_letter_that_the_first_font_lacks_is_drawn_from_a_further_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the picture itself; matplotlib warns of a box, and warnings are errors here."""

    def drawn(fonts: list[str]) -> bytes:
        monkeypatch.setitem(style.RC, "font.family", fonts)
        figure = heatmap(np.eye(2), ["א", "ب"], ["დ", "Ж"])
        assert isinstance(figure, style.CourseFigure)
        return figure._repr_png_()

    assert isinstance(style.RC["font.family"], list)
    assert drawn(["DejaVu Sans Display", "DejaVu Sans"]) == drawn(["DejaVu Sans"])


def test_a_letter_is_looked_for_in_every_font_that_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """STIX, which comes with matplotlib as DejaVu does, has no Georgian; a box would be a warning,
    and warnings are errors here."""
    monkeypatch.setitem(style.RC, "font.family", ["STIXGeneral"])
    usual, *further = style.families_for("კატა cat")
    assert usual == "STIXGeneral"
    assert further
    assert style.families_for("cat") == ["STIXGeneral"]
    assert style.families_for("cat \U0010fffd\n") == ["STIXGeneral"]
    figure = heatmap(np.eye(2), ["კატა", "ძაღლი"], ["cat", "dog"])
    assert isinstance(figure, style.CourseFigure)
    figure._repr_png_()
