"""The course's own corpus: an endless stream of English-German sentence pairs with gold alignments.

A synchronous grammar says every sentence in both languages at once, so the alignment is known and
the translation is a function of the source. `words/` has the words as tables and `lexicon` reads
them; `plan` says what a sentence is made of; `planner` draws the parts of one clause and
`sentence` joins clauses; `english` and `german` say the plan, and `corpus` aligns what they said.
"""

from course_lib.corpora.toy.corpus import detokenize, sentence_pairs, toy_corpus

__all__ = ["detokenize", "sentence_pairs", "toy_corpus"]
