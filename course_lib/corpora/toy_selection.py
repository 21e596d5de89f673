"""Which words of the toy grammar go together."""

from functools import cache

from course_lib.corpora.toy_lexicon import (
    ADJECTIVES,
    FEMININE,
    MASCULINE,
    NOUNS,
    RELATIONS,
    UNIQUE_RELATIONS,
    Adjective,
    Noun,
)
from course_lib.corpora.toy_phrases import (
    EVERY,
    HE_FORMS,
    IT_FORMS,
    SHE_FORMS,
    THEY_FORMS,
    NounPhrase,
    Pair,
    Phrase,
    Pronoun,
    RelativePronoun,
    person,
)
from course_lib.corpora.toy_verbs import THIRD, VERBS, Verb


def pronoun_for(phrase: Phrase) -> Pronoun | None:
    """The pronoun that takes a phrase up again; None for "the child" and "every man"."""
    if isinstance(phrase, Pronoun):
        return Pronoun(phrase.forms)
    if isinstance(phrase, Pair):
        return Pronoun(THEY_FORMS)
    if not isinstance(phrase, NounPhrase) or phrase.determiner is EVERY:
        return None
    if phrase.plural:
        return Pronoun(THEY_FORMS)
    gender = phrase.noun.gender
    if phrase.noun.kind != "p":
        return Pronoun(IT_FORMS[gender])
    forms = {MASCULINE: HE_FORMS, FEMININE: SHE_FORMS}.get(gender)
    return Pronoun(forms) if forms else None


@cache
def nouns(kinds: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.kind in kinds)


@cache
def countable(kinds: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.kind in kinds and noun.german_plural)


@cache
def adjectives(kind: str) -> tuple[Adjective, ...]:
    return tuple(adjective for adjective in ADJECTIVES if kind in adjective.kinds)


@cache
def comparable(kind: str) -> tuple[Adjective, ...]:
    return tuple(adjective for adjective in adjectives(kind) if adjective.comparative)


@cache
def telling_adjectives(kind: str) -> tuple[Adjective, ...]:
    """The adjectives that tell a person from a thing: nobody doubts whom or what they describe."""
    human = kind in "pa"
    return tuple(
        adjective
        for adjective in adjectives(kind)
        if human != bool(set(adjective.kinds) - set("pa")) and (human or "p" not in adjective.kinds)
    )


@cache
def verbs(subject: str, frames: tuple[str, ...]) -> tuple[Verb, ...]:
    return tuple(verb for verb in VERBS if verb.frame in frames and subject in verb.subjects)


@cache
def things_done_to(kind: str) -> tuple[Verb, ...]:
    """What a person can do to a thing of this kind, and to no person or animal."""
    return tuple(
        verb
        for verb in VERBS
        if verb.frame == "acc" and kind in verb.objects and not set("pa") & set(verb.objects)
    )


def can_be_owned(noun: Noun, plural: bool) -> bool:
    if noun.kind == "p":
        word = noun.english[0]
        return word in RELATIONS and not (plural and word in UNIQUE_RELATIONS)
    return noun.kind != "k" and not (noun.kind == "l" and noun.german_at == "auf")


def noun_of(phrase: Phrase) -> Noun | None:
    if isinstance(phrase, RelativePronoun):
        return phrase.head.noun
    return phrase.noun if isinstance(phrase, NounPhrase) else None


def hides_tense(verb: Verb, subject: Phrase) -> bool:
    """ "they read" does not show its tense; "he reads" does."""
    return verb.english == verb.english_past and person(subject) != THIRD
