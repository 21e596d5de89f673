"""WMT'14 in small: files of the public data set's format, as its library reads them."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from course_lib.corpora import wmt14

SIZES = {"train": 130, "validation": 3, "test": 4}


def translation(number: int) -> dict[str, str]:
    """A made-up pair; its length and its words depend on its number."""
    words = range(number % 7 + 1)
    return {
        "en": f"Sentence {number} isn't" + "".join(f" long{number * i % 11}" for i in words),
        "fr": f"L'énoncé {number}" + "".join(f" mot{number * i % 13}" for i in (*words, 1)),
    }


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """$COURSE_DATA/wmt14/fr-en with two files to train on, and an empty cache."""
    folder = tmp_path / "data" / "wmt14" / "fr-en"
    folder.mkdir(parents=True)
    for place, (split, size) in enumerate(SIZES.items()):
        rows = [{"translation": translation(1000 * place + i)} for i in range(size)]
        parts = [rows[: size // 2], rows[size // 2 :]] if split == "train" else [rows]
        for number, part in enumerate(parts):
            name = f"{split}-{number:05}-of-{len(parts):05}.parquet"
            pyarrow.parquet.write_table(
                pyarrow.Table.from_pylist(part), folder / name, row_group_size=20
            )
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(wmt14, "cache_folder", lambda: tmp_path / "cache")
    return folder
