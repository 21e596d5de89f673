"""Sentences out: greedy, beam search, sampling; the unknown word; a search written down."""

from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis, length_limit
from course_lib.search.record import Node, SearchTree, n_best, record_beam_search
from course_lib.search.sampling import generators, narrowed, sample_search
from course_lib.search.translate import sample, translate
from course_lib.search.unknown import replace_unknown

__all__ = [
    "Hypothesis",
    "Node",
    "SearchTree",
    "beam_search",
    "generators",
    "greedy_search",
    "length_limit",
    "n_best",
    "narrowed",
    "record_beam_search",
    "replace_unknown",
    "sample",
    "sample_search",
    "translate",
]
