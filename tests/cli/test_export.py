"""`course export`, as typed."""

import shutil
from pathlib import Path

from course_lib.pretrained import FOLDER
from tests.conftest import Course


def test_a_run_becomes_a_folder_and_one_file(tmp_path: Path, course: Course) -> None:
    shutil.copytree(FOLDER / "multi30k-en-de-laptop", tmp_path / "mine")
    done = course("export", tmp_path / "mine", "--web", tmp_path / "web")
    assert done.status == 0
    pages = [tmp_path / "web" / name for name in ("index.html", "translator.html")]
    for page in pages:
        assert str(page) in done.out
        assert 'data-moving="live"' in page.read_text(encoding="utf-8")
    scripts = sorted((tmp_path / "web").glob("mine-*.js"))
    assert 7 <= len(scripts) <= 9
    whole = pages[1].read_text(encoding="utf-8")
    assert all(script.read_text() in whole for script in scripts)
