"""Noun phrases and adverbials of the toy grammar, in English and in German.

Every word carries keys that name the part of the sentence it expresses; an English word and a
German word are linked where they share a key. "to the" and "zum" share two, "coffee cup" and
"kaffeetasse" one that both English words have, "visited" and "hat ... besucht" two.
A phrase object stands at one place of one sentence: its identity is part of its keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_lib.corpora.toy_adverbials import Expression
from course_lib.corpora.toy_lexicon import PLURAL, Adjective, Noun
from course_lib.corpora.toy_verbs import FIRST, THEY, THIRD

if TYPE_CHECKING:
    from course_lib.corpora.toy_clauses import Clause

Key = tuple[int, str]
Token = tuple[str, tuple[Key, ...]]

NOMINATIVE, ACCUSATIVE, DATIVE = range(3)
# Rows: nominative, accusative, dative; columns: masculine, feminine, neuter, plural.
DEFINITE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
)
RELATIVE = (*DEFINITE[:2], ("dem", "der", "dem", "denen"))
DIESER_ENDINGS = (("er", "e", "es", "e"), ("en", "e", "es", "e"), ("em", "er", "em", "en"))
EIN_ENDINGS = (("", "e", "", "e"), ("en", "e", "", "e"), ("em", "er", "em", "en"))
ADJECTIVE_ENDINGS = {
    "weak": (("e", "e", "e", "en"), ("en", "e", "e", "en"), ("en", "en", "en", "en")),
    "mixed": (("er", "e", "es", "en"), ("en", "e", "es", "en"), ("en", "en", "en", "en")),
    "strong": DIESER_ENDINGS,
}
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
}
# What the determiner does to an adjective after it.
DECLENSION = {"der": "weak", "dieser": "weak", "ein": "mixed", "bare": "strong", "fixed": "strong"}


@dataclass(frozen=True, eq=False)
class Determiner:
    """`pattern` says how the German stem is declined: der, dieser, ein, fixed or bare (no word)."""

    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    german: str
    pattern: str
    adjectives: str
    definite: bool = True


def _determiner(
    english: str, german: str, pattern: str, adjectives: str = "", definite: bool = True
) -> Determiner:
    singular, _, plural = english.partition("/")
    return Determiner(
        tuple(singular.split()),
        tuple((plural or singular).split()),
        german,
        pattern,
        adjectives or DECLENSION[pattern],
        definite,
    )


THE = _determiner("the", "d", "der")
A = _determiner("a", "ein", "ein", definite=False)
BARE = _determiner("", "", "bare", definite=False)
THIS = _determiner("this/these", "dies", "dieser")
EVERY = _determiner("every", "jed", "dieser", definite=False)
MY = _determiner("my", "mein", "ein")
HIS = _determiner("his", "sein", "ein")
HER = _determiner("her", "ihr", "ein")
OUR = _determiner("our", "unser", "ein")
POSSESSIVES = (MY, HIS, HER, OUR)
ALL = _determiner("all", "all", "dieser", definite=False)
QUANTITIES = (
    _determiner("two", "zwei", "fixed", definite=False),
    _determiner("three", "drei", "fixed", definite=False),
    _determiner("four", "vier", "fixed", definite=False),
    _determiner("five", "fünf", "fixed", definite=False),
    _determiner("ten", "zehn", "fixed", definite=False),
    _determiner("many", "viel", "dieser", "strong", definite=False),
    _determiner("some", "einig", "dieser", "strong", definite=False),
    _determiner("several", "mehrer", "dieser", "strong", definite=False),
)


def name_possessive(name: Noun) -> Determiner:
    """ "anna 's" and "annas": two English words, one German word that never changes."""
    return Determiner((*name.english, "'s"), (), name.german + "s", "fixed", "strong")


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A determiner, adjectives (each with "very" or not) and a noun, perhaps "with" another.

    `relative` is the clause that describes it: its own words come through the clause that uses it.
    """

    determiner: Determiner
    noun: Noun
    plural: bool = False
    adjectives: tuple[tuple[Adjective, bool], ...] = ()
    companion: NounPhrase | None = None
    relative: Clause | None = None

    @property
    def column(self) -> int:
        return PLURAL if self.plural else self.noun.gender


@dataclass(frozen=True, eq=False)
class PronounForms:
    """English subject and object, German nominative, accusative, dative, and the verb's person."""

    english: tuple[str, str]
    german: tuple[str, str, str]
    person: int


I_FORMS = PronounForms(("i", "me"), ("ich", "mich", "mir"), FIRST)
WE_FORMS = PronounForms(("we", "us"), ("wir", "uns", "uns"), THEY)
HE_FORMS = PronounForms(("he", "him"), ("er", "ihn", "ihm"), THIRD)
SHE_FORMS = PronounForms(("she", "her"), ("sie", "sie", "ihr"), THIRD)
THEY_FORMS = PronounForms(("they", "them"), ("sie", "sie", "ihnen"), THEY)
# One English "it", three German pronouns: the gender of what it stands for decides.
IT_FORMS = (
    PronounForms(("it", "it"), ("er", "ihn", "ihm"), THIRD),
    PronounForms(("it", "it"), ("sie", "sie", "ihr"), THIRD),
    PronounForms(("it", "it"), ("es", "es", "ihm"), THIRD),
)


@dataclass(slots=True, eq=False)
class Pronoun:
    """A personal pronoun at one place of a sentence."""

    forms: PronounForms


@dataclass(slots=True, eq=False)
class Pair:
    """Two noun phrases joined by "and": always plural."""

    first: NounPhrase
    second: NounPhrase


@dataclass(slots=True, eq=False)
class RelativePronoun:
    """ "who", "whom", "which": German gender from its head, case from its own clause."""

    head: NounPhrase


Phrase = NounPhrase | Pronoun | Pair | RelativePronoun


@dataclass(slots=True, eq=False)
class Adverbial:
    """A fixed expression, or a preposition with a noun phrase, at one place of a sentence."""

    expression: Expression | None = None
    english: tuple[str, ...] = ()
    german: str = ""
    case: int = DATIVE
    phrase: NounPhrase | None = None


def person(phrase: Phrase) -> int:
    """The row of a conjugation that the phrase asks for as a subject."""
    if isinstance(phrase, Pronoun):
        return phrase.forms.person
    if isinstance(phrase, Pair):
        return THEY
    noun_phrase = phrase.head if isinstance(phrase, RelativePronoun) else phrase
    return THEY if noun_phrase.plural else THIRD


def english_phrase(phrase: Phrase, as_object: bool = False) -> list[Token]:
    """The English words of a phrase, a relative clause included."""
    if isinstance(phrase, Pronoun):
        return [(phrase.forms.english[as_object], ((id(phrase), "pronoun"),))]
    if isinstance(phrase, Pair):
        joint = ("and", ((id(phrase), "and"),))
        return [*english_phrase(phrase.first), joint, *english_phrase(phrase.second)]
    if isinstance(phrase, RelativePronoun):
        human = "whom" if as_object else "who"
        word = human if phrase.head.noun.kind == "p" else "which"
        return [(word, ((id(phrase), "pronoun"),))]
    node = id(phrase)
    noun = phrase.noun
    determiner = phrase.determiner
    words = determiner.english_plural if phrase.plural else determiner.english
    tokens: list[Token] = [(word, ((node, "determiner"),)) for word in words]
    for index, (adjective, very) in enumerate(phrase.adjectives):
        if very:
            tokens.append(("very", ((node, f"very{index}"),)))
        tokens.append((adjective.english, ((node, f"adjective{index}"),)))
    for word in noun.english_plural if phrase.plural else noun.english:
        tokens.append((word, ((node, "noun"),)))
    if determiner is A and tokens[1][0][0] in "aeiou" and not tokens[1][0].startswith("us"):
        tokens[0] = ("an", tokens[0][1])
    if phrase.companion is not None:
        tokens.append(("with", ((node, "with"),)))
        tokens += english_phrase(phrase.companion)
    if phrase.relative is not None:
        tokens += phrase.relative.english_words()
    return tokens


def german_phrase(
    phrase: Phrase, case: int, preposition: Token | None = None, negation: Key | None = None
) -> list[Token]:
    """The German words of a phrase in a case, without its relative clause.

    A preposition runs together with the plain article where German does so ("zum", "im"). With a
    `negation`, "ein" and no article become "kein".
    """
    tokens: list[Token] = [] if preposition is None else [preposition]
    if isinstance(phrase, Pronoun):
        return [*tokens, (phrase.forms.german[case], ((id(phrase), "pronoun"),))]
    if isinstance(phrase, Pair):
        joint = ("und", ((id(phrase), "and"),))
        return [*german_phrase(phrase.first, case), joint, *german_phrase(phrase.second, case)]
    if isinstance(phrase, RelativePronoun):
        return [*tokens, (RELATIVE[case][phrase.head.column], ((id(phrase), "pronoun"),))]
    node = id(phrase)
    column = phrase.column
    declension = phrase.determiner.adjectives
    if negation is not None:
        word = "kein" + EIN_ENDINGS[case][column]
        tokens.append((word, (negation, (node, "determiner"))))
        declension = "mixed"
    else:
        word = _german_determiner(phrase.determiner, case, column)
        keys: tuple[Key, ...] = ((node, "determiner"),)
        if preposition is not None and phrase.determiner is THE:
            joined = CONTRACTIONS.get((preposition[0], word))
            if joined:
                tokens, word, keys = [], joined, (*preposition[1], *keys)
        if word:
            tokens.append((word, keys))
    for index, (adjective, very) in enumerate(phrase.adjectives):
        if very:
            tokens.append(("sehr", ((node, f"very{index}"),)))
        inflected = adjective.stem + ADJECTIVE_ENDINGS[declension][case][column]
        tokens.append((inflected, ((node, f"adjective{index}"),)))
    tokens.append((_german_noun(phrase.noun, case, phrase.plural), ((node, "noun"),)))
    if phrase.companion is not None:
        tokens += german_phrase(phrase.companion, DATIVE, ("mit", ((node, "with"),)))
    return tokens


def _german_determiner(determiner: Determiner, case: int, column: int) -> str:
    if determiner.pattern == "der":
        return DEFINITE[case][column]
    if determiner.pattern == "dieser":
        return determiner.german + DIESER_ENDINGS[case][column]
    if determiner.pattern == "ein":
        return determiner.german + EIN_ENDINGS[case][column]
    return determiner.german


def _german_noun(noun: Noun, case: int, plural: bool) -> str:
    if plural:
        return noun.german_dative_plural if case == DATIVE else noun.german_plural
    return noun.german if case == NOMINATIVE else noun.oblique


def english_adverbial(adverbial: Adverbial) -> list[Token]:
    """The English words of an adverbial."""
    node = id(adverbial)
    expression = adverbial.expression
    if expression is not None:
        return [
            (word, tuple((node, f"{i}-{j}") for i, j in expression.links if i == position))
            for position, word in enumerate(expression.english)
        ]
    assert adverbial.phrase is not None
    preposition: list[Token] = [(word, ((node, "preposition"),)) for word in adverbial.english]
    return preposition + english_phrase(adverbial.phrase)


def german_adverbial(adverbial: Adverbial) -> list[Token]:
    """The German words of an adverbial."""
    node = id(adverbial)
    expression = adverbial.expression
    if expression is not None:
        return [
            (word, tuple((node, f"{i}-{j}") for i, j in expression.links if j == position))
            for position, word in enumerate(expression.german)
        ]
    assert adverbial.phrase is not None
    preposition = (adverbial.german, ((node, "preposition"),))
    return german_phrase(adverbial.phrase, adverbial.case, preposition)
