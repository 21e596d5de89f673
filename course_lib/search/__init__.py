"""Sentences out: greedy and beam search."""

from course_lib.search.beam import beam_search
from course_lib.search.greedy import greedy_search
from course_lib.search.hypothesis import Hypothesis, length_limit
from course_lib.search.translate import translate

__all__ = ["Hypothesis", "beam_search", "greedy_search", "length_limit", "translate"]
