"""How pages are filled in: everything that is put into a template is escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(package: str, folder: str, template: str, **values: object) -> str:
    """The page of a template in a folder of a package."""
    environment = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(**values)


def number(value: float) -> str:
    """Points without superfluous zeros."""
    return f"{round(value, 2):g}"
