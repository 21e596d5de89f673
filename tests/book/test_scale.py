"""Commands on pages are those that there are; the preset on the one about scale is the paper's."""

import re
from pathlib import Path

import pytest

from course_lib.corpora.batches import POOL_BATCHES
from course_lib.models import model_config
from course_lib.training import RECIPES

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGES = [BOOK / "scale.md", BOOK / "own-language-pair.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_the_page_is_one_that_there_is(page: Path) -> None:
    from course_lib.cli import app

    known = {command.callback.__name__ for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups}
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    assert lines
    for line in lines:
        program, name, *_ = line.rpartition(" | ")[2].split()
        assert program in ("course", "python")
        if program == "course":
            assert name in known
        else:
            assert (BOOK.parent / name).is_file()


def test_the_preset_is_the_paper_s() -> None:
    recipe = RECIPES["paper"]
    assert (recipe.optimiser, recipe.learning_rate, recipe.schedule) == ("adadelta", 1, "constant")
    assert (recipe.warmup, recipe.clip, recipe.label_smoothing) == (0, 1, 0)
    assert (recipe.batch_size, recipe.batch_size * POOL_BATCHES) == (80, 1600)
    assert (recipe.max_words, recipe.min_frequency, recipe.max_length) == (30_000, 1, 50)
    assert (recipe.epochs, recipe.precision) == (5, "fp32")
    for model, encoder in (("rnnsearch", "bidirectional"), ("rnnencdec", "forward")):
        config = model_config(model, "paper", 30_004, 30_004)
        sizes = (config.embedding, config.hidden, config.alignment, config.readout)
        assert sizes == (620, 1000, 1000, 500)
        assert (config.unit, config.initialisation, config.dropout) == ("paper", "paper", 0)
        assert (config.encoder, config.decoder, config.layers) == (encoder, "paper", 1)
