"""Headless Chromium, for what is recorded or measured of pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from course_lib.errors import CourseError


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
