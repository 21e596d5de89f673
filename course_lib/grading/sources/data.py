"""Data that an instructor writes beside a source, held to its schema."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from course_lib.errors import CourseError

T = TypeVar("T")


def read_data(path: Path, schema: type[T]) -> T:
    """What stands in a YAML file.

    Raises:
        CourseError: it is no YAML, or holds something that nobody would read.
    """
    try:
        return TypeAdapter(schema).validate_python(yaml.safe_load(path.read_text("utf-8")))
    except yaml.YAMLError as error:
        raise CourseError(f"{path} is no YAML: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        raise CourseError(f"{path}, {where}: {fault['msg']}.") from error
