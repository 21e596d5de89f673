"""A run whose weights are stored in 8 bits is a run like any other."""

import shutil
from pathlib import Path

import torch

from course_lib.corpora.tokenization import tokenize
from course_lib.files import write_atomically
from course_lib.models.quantised import dequantised, quantised
from course_lib.pretrained import FOLDER
from course_lib.search import translate
from course_lib.training import load_run
from course_lib.training.checkpoint import serialised
from course_lib.training.run_directory import BEST


def test_it_loads_and_translates(tmp_path: Path) -> None:
    source = FOLDER / "multi30k-en-de-laptop-rnnencdec"
    full = load_run(source, "cpu")
    shutil.copytree(source, tmp_path / "small")
    file = tmp_path / "small" / BEST
    write_atomically(file, serialised(quantised(full.model.state_dict()), {}))
    assert file.stat().st_size < 0.55 * (source / BEST).stat().st_size
    run = load_run(tmp_path / "small", "cpu")
    expected = dequantised(quantised(full.model.state_dict()))
    for name, values in run.model.state_dict().items():
        assert torch.equal(values, expected[name])
    sentence = "two children are playing in the snow ."
    words = run.source_vocabulary.encode(tokenize(sentence, "en"))
    (found,) = translate(run.model, [words], 5)
    assert run.target_vocabulary.decode(found.tokens)[:2] == ["zwei", "kinder"]
