"""Sentences out: greedy, beam search, sampling; a search written down."""

from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis, length_limit
from course_lib.search.sampling import generators, narrowed, sample_search
from course_lib.search.search_tree import Node, SearchTree, n_best, record_beam_search
from course_lib.search.translate import sample, translate

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
    "sample",
    "sample_search",
    "translate",
]
