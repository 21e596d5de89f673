"""How pages are filled in: everything that is put into a template is escaped."""

import functools

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(package: str, folder: str, template: str, **values: object) -> str:
    """The page of a template in a folder of a package."""
    return _environment(package, folder).get_template(template).render(**values)


@functools.cache
def _environment(package: str, folder: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment


def number(value: float) -> str:
    """Points without superfluous zeros."""
    return f"{round(value, 2):g}"
