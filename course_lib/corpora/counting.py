"""The most frequent words of a corpus that is too large for memory; its counts are not."""

import json
from collections import Counter
from collections.abc import Iterator

from course_lib.corpora.token_files import TokenFiles
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.files import write_atomically


def counted_blocks(files: TokenFiles, language: str) -> Iterator[dict[str, int]]:
    """How often each word stands in one block after the other of a corpus on disk."""
    from pyarrow import compute

    for block in files.blocks([language]):
        words = compute.value_counts(compute.split_pattern(block.column(0), " ").flatten())
        yield dict(
            zip(
                words.field("values").to_pylist(),
                words.field("counts").to_pylist(),
                strict=True,
            )
        )


def stream_vocabulary(
    files: TokenFiles, language: str, min_frequency: int = 1, max_words: int | None = None
) -> Vocabulary:
    """The most frequent words of one language; counted once and then kept beside the files."""
    cache = files.folder / f"words.{language}.{min_frequency}.{max_words or 'all'}.json"
    if cache.is_file():
        return Vocabulary(tuple(json.loads(cache.read_text(encoding="utf-8"))))
    counts: Counter[str] = Counter()
    for block in counted_blocks(files, language):
        counts.update(block)
    vocabulary = Vocabulary.from_counts(counts, min_frequency, max_words)
    write_atomically(cache, json.dumps(vocabulary.tokens, ensure_ascii=False) + "\n")
    return vocabulary
