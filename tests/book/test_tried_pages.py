"""Pages whose commands are tried as written: no block is left out, and none has changed."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from course_lib.records import read_record
from tests.conftest import ROOT

BOOK = ROOT / "book"
MARK = r" *% (as (root|instructor|ada)|keep running as root|by hand: needs .+)\n"


@pytest.fixture(scope="module")
def trial() -> ModuleType:
    """The program that tried the hub."""
    spec = importlib.util.spec_from_file_location("hub_trial", ROOT / ".ci" / "hub_trial.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_block_of_commands_says_who_runs_it() -> None:
    text = (BOOK / "teaching" / "jupyterhub.md").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    blocks = [number for number, line in enumerate(lines) if line.strip() == "```sh"]
    assert blocks
    for number in blocks:
        assert re.fullmatch(MARK, lines[number - 1]), "".join(lines[number - 1 : number + 2])


def test_the_hub_was_tried_as_the_page_is_now(trial: ModuleType) -> None:
    recorded = read_record("hub-trial")
    assert recorded["blocks"] == trial.fingerprint(BOOK / "teaching" / "jupyterhub.md"), (
        "a block of the page is not the one that was tried: run .ci/hub_trial.py again"
    )
    assert recorded["scores"]["bela"] < recorded["scores"]["ada"] < recorded["points"]
    assert len(recorded["checks"]) == len(set(recorded["checks"]))


def test_a_changed_block_is_noticed_and_a_changed_text_is_not(
    trial: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    text = (BOOK / "teaching" / "jupyterhub.md").read_text(encoding="utf-8")
    prints = []
    for changed in (
        text,
        text.replace("nbgrader collect", "nbgrader zip_collect"),
        text.replace("% as ada", "% as bela", 1),
        text.replace("# On a JupyterHub", "# On some hub"),
    ):
        page.write_text(changed, encoding="utf-8")
        prints.append(trial.fingerprint(page))
    assert prints[3] == prints[0]
    assert len(set(prints)) == 3
