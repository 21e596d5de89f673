"""How the pages are filled in: everything that is put into a template is escaped."""

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def render(template: str, **values: object) -> str:
    """The page of a template in this folder."""
    environment = Environment(
        loader=PackageLoader("course_lib.grading.reporting", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(css=Markup(style), **values)


def number(value: float) -> str:
    """Points without superfluous zeros."""
    return f"{round(value, 2):g}"
