"""The plan of a toy sentence: what it says, before either language says it.

A word of a sentence has keys that name the parts of the plan which it expresses, and an English and
a German word are linked where they share a key. "to the" and "zum" share two, "coffee cup" and
"kaffeetasse" one that both English words have, "visited" and "hat ... besucht" two. A key begins
with the part itself, so each part stands at one place of one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from course_lib.corpora.toy import lexicon

Tense = Literal["present", "progressive", "past", "future", "infinitive", "gerund"]
"""The last two are of clauses without a subject."""

Key = tuple[object, ...]
"""A part of the plan, and what of it a word expresses."""
Token = tuple[str, tuple[Key, ...]]


def token(word: str, *keys: Key) -> Token:
    """A word of a sentence with its keys."""
    return word, keys


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A determiner, adjectives (each with "very" or not) and a noun, perhaps "with" another.

    `relative` is the clause that describes it.
    """

    determiner: lexicon.Determiner
    noun: lexicon.Noun
    plural: bool = False
    adjectives: tuple[tuple[lexicon.Adjective, bool], ...] = ()
    companion: NounPhrase | None = None
    relative: Clause | None = None

    @property
    def gender(self) -> lexicon.Gender:
        """The column of every German declension table."""
        return lexicon.PLURAL if self.plural else self.noun.gender


@dataclass(slots=True, eq=False)
class Pronoun:
    """A personal pronoun at one place of a sentence."""

    forms: lexicon.PersonalPronoun


@dataclass(slots=True, eq=False)
class Coordination:
    """Two noun phrases joined by "and"."""

    first: NounPhrase
    second: NounPhrase


@dataclass(slots=True, eq=False)
class RelativePronoun:
    """ "who", "whom", "which": German gender from its head, case from its own clause."""

    head: NounPhrase


Phrase = NounPhrase | Pronoun | Coordination | RelativePronoun


def person_of(phrase: Phrase) -> lexicon.Person:
    """The person of a verb that has this phrase as its subject."""
    if isinstance(phrase, Pronoun):
        return phrase.forms.person
    if isinstance(phrase, Coordination):
        return lexicon.ANY_PLURAL
    noun_phrase = phrase.head if isinstance(phrase, RelativePronoun) else phrase
    return lexicon.ANY_PLURAL if noun_phrase.plural else lexicon.THIRD


def pronoun_for(phrase: Phrase) -> Pronoun | None:
    """The pronoun that takes a phrase up again; None for "the child" and "every man"."""
    if isinstance(phrase, Pronoun):
        return Pronoun(phrase.forms)
    if isinstance(phrase, Coordination):
        return Pronoun(lexicon.THEY_FORMS)
    if isinstance(phrase, RelativePronoun) or phrase.determiner is lexicon.EVERY:
        return None
    if phrase.plural:
        return Pronoun(lexicon.THEY_FORMS)
    gender = phrase.noun.gender
    if phrase.noun.kind != "person":
        return Pronoun(lexicon.IT_FORMS[gender])
    forms = {lexicon.MASCULINE: lexicon.HE_FORMS, lexicon.FEMININE: lexicon.SHE_FORMS}.get(gender)
    return Pronoun(forms) if forms else None


class Subject(NamedTuple):
    """A subject and its kind; an `anaphoric` one is the pronoun of an earlier phrase."""

    phrase: Phrase
    kind: str
    anaphoric: bool = False

    def again(self) -> Subject | None:
        """The same subject as a pronoun, where there is one."""
        pronoun = pronoun_for(self.phrase)
        return None if pronoun is None else Subject(pronoun, self.kind, anaphoric=True)


@dataclass(slots=True, eq=False)
class FixedAdverbial:
    """An expression at one place of a sentence."""

    expression: lexicon.Expression


@dataclass(slots=True, eq=False)
class PrepositionalPhrase:
    """A preposition with a noun phrase; `case` is that of the German one."""

    english: tuple[str, ...]
    german: str
    phrase: NounPhrase
    case: lexicon.Case = lexicon.DATIVE


Adverbial = FixedAdverbial | PrepositionalPhrase


@dataclass(slots=True, eq=False)
class Predicate:
    """What follows "is": an adjective, with "very" or "too", or its comparative with "than"."""

    adjective: lexicon.Adjective
    degree: Literal["very", "too", ""] = ""
    than: NounPhrase | None = None


@dataclass(slots=True, eq=False)
class EmbeddedClause:
    """A clause inside another one with the words that introduce it.

    German sets it off by `commas`, but for an infinitive that has nothing with it.
    """

    english: tuple[str, ...]
    german: tuple[str, ...]
    clause: Clause
    commas: bool = True


@dataclass(slots=True, eq=False)
class Clause:
    """One clause.

    `front` is the one of its adverbials that stands first; `before` is an embedded clause that
    does, `after` one that stands last. An `elided` subject is known from the clause before and left
    out.
    """

    subject: Phrase | None
    verb: lexicon.Verb
    tense: Tense = "present"
    modal: lexicon.Modal | None = None
    negated: bool = False
    object: Phrase | None = None
    recipient: Phrase | None = None
    predicate: Predicate | None = None
    time: Adverbial | None = None
    frequency: FixedAdverbial | None = None
    manner: Adverbial | None = None
    place: Adverbial | None = None
    complement: Adverbial | None = None
    front: Adverbial | None = None
    before: EmbeddedClause | None = None
    after: EmbeddedClause | None = None
    elided: bool = False

    @property
    def person(self) -> lexicon.Person:
        """The person of its verb."""
        return lexicon.THIRD if self.subject is None else person_of(self.subject)


@dataclass(slots=True, eq=False)
class Conjunct:
    """One of the main clauses that "and" and "but" join, with all that is embedded in it.

    `clauses` counts it and those; `opposed` to the one before it is what "but" introduces.
    """

    main: Clause
    subject: Subject
    clauses: int = 1
    opposed: bool = False


def joined(
    conjuncts: list[Conjunct], said: Callable[[Clause], list[Token]], joint: str, opposing: str
) -> list[Token]:
    """A sentence of its conjuncts as they are `said`, joined by "and" or by what opposes them.

    A comma stands before what opposes, and after a conjunct with a clause inside.
    """
    words: list[Token] = []
    for number, conjunct in enumerate(conjuncts):
        if number:
            if conjunct.opposed or conjuncts[number - 1].clauses > 1:
                words.append(token(",", (conjunct, "comma")))
            word = opposing if conjunct.opposed else joint
            words.append(token(word, (conjunct, "conjunction")))
        words += said(conjunct.main)
    return [*words, token(".", ("sentence", "stop"))]
