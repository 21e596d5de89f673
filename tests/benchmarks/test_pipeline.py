"""The pipeline's measurement on a corpus of a moment: every stage, in the public format."""

from pathlib import Path

import pyarrow.parquet
import pytest

from benchmarks import pipeline, report
from benchmarks.pipeline import (
    LANGUAGES,
    STAGES,
    batches,
    count,
    measure_pipeline,
    tokenise,
    write_tokens,
)
from course_lib.corpora.token_files import TokenFiles


@pytest.mark.slow
def test_every_stage_is_measured_at_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    # A process of its own matters to peak memory alone, and costs seconds.
    monkeypatch.setattr(pipeline, "alone", lambda work, *arguments: work(*arguments))
    monkeypatch.setattr(pipeline, "TOKENISED", 300)
    result = measure_pipeline(sizes=(300, 600))
    assert [(row["pairs"], row["stage"]) for row in result["rows"]] == [
        (size, stage)
        for size in (300, 600)
        for name, stage in STAGES.items()
        if size == 300 or name != "tokenise"
    ]
    slowest = min(
        row["target_words_a_second"] for row in result["rows"] if row["stage"] == STAGES["batches"]
    )
    assert result["ours"] == slowest
    # Here all stages share a process, whose memory at a moment may be anything.
    assert all(row["peak_mib"] > 0 for row in result["rows"])
    header, *rows = report.pipeline(result)
    assert len(rows) == 7
    assert {len(row) for row in rows} == {len(header)}


def test_the_synthetic_corpus_has_the_public_one_s_format_and_law(tmp_path: Path) -> None:
    pipeline.write_public(tmp_path / "public", 2_000)
    [path] = (tmp_path / "public").iterdir()
    rows = pyarrow.parquet.read_table(path).to_pylist()
    assert rows[0].keys() == {"translation"}
    assert rows[0]["translation"].keys() == set(LANGUAGES)
    lengths = [len(row["translation"]["en"].split()) for row in rows]
    assert 20 < sum(lengths) / len(lengths) < 32
    assert 0 < sum(length > 50 for length in lengths) < 0.2 * len(lengths)
    done = write_tokens(tmp_path, 2_000)
    files = TokenFiles(tmp_path / "tokens")
    tokens = [
        [row[language].split() for language in ("en", "fr")]
        for file in files.paths()
        for row in pyarrow.parquet.read_table(file).to_pylist()
    ]
    assert sum(len(en) for en, _ in tokens) == sum(lengths) + len(lengths)  # and the full stops
    tokenise(tmp_path, 2_000)
    assert TokenFiles(tmp_path / "tokenised").sha256() == files.sha256()
    count(tmp_path, 2_000)
    epoch = batches(tmp_path, 2_000)
    # Pairs of more than 50 words are left out.
    short = [len(fr) + 1 for en, fr in tokens if max(len(en), len(fr)) <= 50]
    assert epoch.target_words == sum(short) < done.target_words
