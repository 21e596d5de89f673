"""What holds of every corpus."""

from itertools import combinations

from course_lib.corpora.corpus import Corpus


def assert_fits_together(corpus: Corpus) -> None:
    """Sides of equal length, no empty sentence, links inside theirs, no pair in two splits."""
    pairs = {}
    for name, split in corpus.splits.items():
        assert len(split.source) == len(split.target) == len(split.reference)
        assert all(split.source)
        assert all(split.target)
        for source, target, links in zip(
            split.source, split.target, split.links or [()] * len(split), strict=True
        ):
            assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in links)
        both = zip(split.source, split.target, strict=True)
        pairs[name] = {(tuple(source), tuple(target)) for source, target in both}
    for first, second in combinations(pairs, 2):
        assert not pairs[first] & pairs[second]
