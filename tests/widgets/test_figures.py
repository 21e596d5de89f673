"""What holds for every moving figure: a module, a widget and a picture of one kind."""

import json

import pytest
from matplotlib.figure import Figure
from traitlets import TraitError

from course_lib.widgets import FIGURES
from course_lib.widgets.modules import module, names
from tests.widgets.conftest import values_of


def test_every_module_is_a_figure() -> None:
    assert names() == sorted(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_widget_and_picture_take_the_values_of_the_page(name: str) -> None:
    figure, values = FIGURES[name], values_of(name)
    assert isinstance(figure.picture(**values), Figure)
    widget = figure.widget(**values)
    assert {key: getattr(widget, key) for key in values} == values
    assert set(values) <= set(widget.keys), "a value that the module cannot read"
    assert json.loads(json.dumps(values)) == values
    assert widget._esm == module(name)


@pytest.mark.parametrize(
    ("name", "last"), [("read_write", 20), ("tiny_translator", 11), ("transformer", 7)]
)
def test_only_sentences_and_frames_that_are_there(name: str, last: int) -> None:
    values = values_of(name)
    for wrong in ({"chosen": len(values["sentences"])}, {"frame": last + 1}):
        with pytest.raises(TraitError, match=f"{next(iter(wrong))} is at most"):
            FIGURES[name].widget(**{**values, **wrong})
