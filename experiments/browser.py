"""Headless Chromium, for what is recorded or measured of pages."""

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from course_lib.errors import CourseError
from course_lib.files import write_atomically


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine.

    Raises:
        CourseError: there is none.
    """
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        raise CourseError("Chromium is missing. Install it, or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def write_picture(page: Path, picture: Path, wide: int, cut: str, argument: Any) -> Any:
    """Write the upper part of a page, shown `wide` pixels wide, as a PNG.

    `cut` is a JavaScript function that gets the argument, leaves what is to be seen, and gives the
    height in pixels and whatever is to be returned.
    """
    with chromium() as browser:
        sheet = browser.new_page(viewport={"width": wide, "height": 800}, device_scale_factor=2)
        sheet.goto(page.resolve().as_uri())
        height, found = sheet.evaluate(cut, argument)
        size = {"x": 0, "y": 0, "width": wide, "height": height + 12}
        shot = sheet.screenshot(full_page=True, clip=size)
    small, out = Image.open(io.BytesIO(shot)).convert("RGB").quantize(96), io.BytesIO()
    small.save(out, "PNG", optimize=True)
    write_atomically(picture, out.getvalue())
    return found
