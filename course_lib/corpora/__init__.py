"""Sentences in: corpora by name, their tokens, vocabularies and batches."""

from course_lib.corpora.corpus import Corpus, Link, Split
from course_lib.corpora.registry import CORPORA, load_corpus

__all__ = ["CORPORA", "Corpus", "Link", "Split", "load_corpus"]
