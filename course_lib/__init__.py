"""The shared library of Looking Back: from the fixed-vector bottleneck to RNNsearch.

The book, the assignments and the tests import it; it imports none of them. Inside, imports run one
way: corpora, models, search, evaluation, training, figures, widgets, assignments, grading, cli.
"""
