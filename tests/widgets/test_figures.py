"""What holds for every moving figure: a module, a widget and a picture of one kind."""

import json

import pytest
from matplotlib.figure import Figure

from course_lib.errors import CourseError
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import module, names, page_script
from tests.widgets.conftest import values_of


def test_every_module_is_a_figure() -> None:
    assert names() == sorted(FIGURES)
    with pytest.raises(CourseError, match="There is no moving figure 'nothing'"):
        module("nothing")


@pytest.mark.parametrize("name", FIGURES)
def test_widget_and_picture_take_the_values_of_the_page(name: str) -> None:
    figure, values = FIGURES[name], values_of(name)
    assert isinstance(figure.picture(**values), Figure)
    widget = figure.widget(**values)
    assert {key: getattr(widget, key) for key in values} == values
    assert set(values) <= set(widget.keys), "a value that the module cannot read"
    assert json.loads(json.dumps(values)) == values
    assert widget._esm == module(name)


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_in_a_module_could_end_its_script_or_fetch(name: str) -> None:
    text = page_script(name)
    assert "</script" not in text
    assert "export" not in text.split("const figure =")[1]
    for word in ("import ", "fetch(", "XMLHttpRequest", "eval("):
        assert word not in text
