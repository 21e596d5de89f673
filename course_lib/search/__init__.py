"""Sentences out: greedy, beam search and sampling."""

from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis, length_limit
from course_lib.search.sampling import generators, narrowed, sample_search
from course_lib.search.translate import sample, translate

__all__ = [
    "Hypothesis",
    "beam_search",
    "generators",
    "greedy_search",
    "length_limit",
    "narrowed",
    "sample",
    "sample_search",
    "translate",
]
