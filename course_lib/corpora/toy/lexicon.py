"""The words of the toy grammar, read from the tables in `words/`, and which of them go together.

A row of a table becomes one object: its columns are the fields of the class, and a field's type
says how its cell is read. Words are lower-cased on the way; the capitals that the tables have are
kept in `CASED`, so that sentences can be shown to people. The order of the rows decides which
sentences a seed gives.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar, get_args, get_type_hints

Word = TypeVar("Word")


class Case(IntEnum):
    """Rows of a German declension table."""

    NOMINATIVE, ACCUSATIVE, DATIVE = range(3)


class Gender(IntEnum):
    """Columns of a German declension table: three genders, and the plural, which has none."""

    MASCULINE, FEMININE, NEUTER, PLURAL = range(4)


class Person(IntEnum):
    """Places in `Forms`: every plural has the same form of a verb in both languages."""

    FIRST, THIRD, ANY_PLURAL = range(3)


NOMINATIVE, ACCUSATIVE, DATIVE = Case
MASCULINE, FEMININE, NEUTER, PLURAL = Gender
FIRST, THIRD, ANY_PLURAL = Person

Kind = Literal[
    "person",
    "animal",
    "text",  # something to read
    "thing",
    "device",  # something that is switched on
    "food",
    "drink",
    "clothing",
    "vehicle",
    "building",  # also a street, a park or a market
    "locality",  # a town or a landscape: a city, a lake, a mountain
    "room",  # also a garden
    "furniture",
]
"""What a noun stands for, which decides what it can do in a sentence."""

Frame = Literal[
    "copula",
    "intransitive",
    "accusative",
    "dative",
    "prepositional",
    "ditransitive",
    "direction",
    "location",
    "that",
    "whether",
    "infinitive",
    "gerund",
]
"""What a verb asks for. A gerund ("stops reading") is an infinitive with "zu" in German too."""

Words = tuple[str, ...]
Kinds = tuple[Kind, ...]
Forms = tuple[str, str, str]
"""One form for each `Person`; of a modal, as many words as it takes ("want to")."""
Links = tuple[tuple[int, int], ...]
"""Links inside an expression: English position, German position."""

LIVING: Kinds = ("person", "animal")
PLACES: Kinds = ("building", "locality", "room")


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun in both languages; `german_oblique` is its singular in accusative and dative.

    `possessed` is "yes" for what one can have several of ("my brothers") and "singular" for what
    nobody has two of ("my mother"). Places and furniture have prepositions that say where something
    is and, in German, where somebody goes. A `proper` noun is a name.
    """

    english: Words
    german: str
    german_oblique: str
    gender: Gender
    kind: Kind
    english_plural: Words = ()
    german_plural: str = ""
    german_dative_plural: str = ""
    possessed: str = ""
    english_at: Words = ()
    german_at: str = ""
    german_to: str = ""
    proper: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective for nouns of these kinds; `german_stem` carries the German endings.

    The comparatives are empty where the grammar makes no comparison.
    """

    english: str
    english_comparative: Words
    german: str
    german_stem: str
    german_comparative: str
    kinds: Kinds
    colour: bool


@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb in both languages, and the frame that says what goes with it.

    `english_particle` stands next to the English verb ("picks up"), `english_preposition` before
    its object ("waits for"). `german_prefix` is the separable part of the German verb, which the
    participle contains and the other forms do not. The past is the German perfect where there is
    no `german_past`. An object of each of the kinds `objects` is equally likely. A `stative` verb
    has no progressive and no manner, a `lasting` one no time and no modal either.
    """

    english: str
    english_third: str
    english_past: str
    english_ing: str
    english_particle: str
    english_preposition: str
    german: str
    german_prefix: str
    german_present: Forms
    german_past: Forms | None
    german_participle: str
    german_auxiliary: str
    frame: Frame
    german_preposition: str
    german_case: Case
    objects: Kinds
    subjects: Kinds
    stative: bool
    lasting: bool


@dataclass(frozen=True, eq=False, slots=True)
class Modal:
    """A modal verb in one tense. "not" carries the negation, "cannot" both it and the modal.

    There is no `english_negated` where the languages disagree ("must not" is not "muss nicht").
    """

    tense: str
    english: Forms
    english_negated: Forms | None
    german: Forms


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """A fixed adverbial in both languages, with the links between its words."""

    role: str
    english: Words
    german: Words
    links: Links


@dataclass(frozen=True, eq=False, slots=True)
class Conjunction:
    """A subordinating conjunction; without `german_past` it introduces no past clause.

    One that opens an `event` introduces what happens, and has not begun.
    """

    english: Words
    german: str
    german_past: str
    may_come_first: bool
    event: bool


@dataclass(frozen=True, eq=False, slots=True)
class Preposition:
    """A preposition of where something is, with the dative, for nouns of these kinds."""

    english: Words
    german: str
    kinds: Kinds


@dataclass(frozen=True, eq=False, slots=True)
class Determiner:
    """A determiner, perhaps of no words.

    `declension` is that of its German stem: "der", "dieser", "ein", or "fixed" without endings;
    `adjectives` the one of adjectives after it: "weak", "mixed" or "strong".
    """

    english: Words
    english_plural: Words
    german: str
    declension: str
    adjectives: str
    definite: bool


@dataclass(frozen=True, eq=False, slots=True)
class PersonalPronoun:
    """The forms of a personal pronoun, and the person of its verb."""

    english: str
    english_object: str
    german: str
    german_accusative: str
    german_dative: str
    person: Person


def _one_of(choices: Any) -> Callable[[str], str]:
    """A reader of cells that hold one of the choices; another one is a KeyError."""
    return {choice: choice for choice in get_args(choices)}.__getitem__


def _links(cell: str) -> Links:
    pairs = [link.split("-") for link in cell.split()]
    return tuple((int(i), int(j)) for i, j in pairs)


_kind = _one_of(Kind)
_CELL_READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    bool: lambda cell: cell == "yes",
    Words: lambda cell: tuple(cell.split()),
    Forms: lambda cell: tuple(cell.split("/")),
    Forms | None: lambda cell: tuple(cell.split("/")) if cell else None,
    Kind: _kind,
    Kinds: lambda cell: tuple(_kind(kind) for kind in cell.split()),
    Frame: _one_of(Frame),
    Case: lambda cell: Case[cell.upper()],
    Gender: lambda cell: Gender[cell.upper()],
    Person: lambda cell: Person[cell.upper()],
    Links: _links,
}
CASED: dict[str, dict[str, str]] = {"en": {}, "de": {}}
"""By language, the words that have a capital inside a sentence: lower-cased form to their own."""


def _read(word: type[Word], table: str) -> list[Word]:
    """The words of a table, in its order; their capitals go to `CASED`."""
    text = (files(__package__) / "words" / f"{table}.csv").read_text(encoding="utf-8")
    columns, *rows = csv.reader(text.splitlines())
    types = get_type_hints(word)
    readers = [_CELL_READERS[types[column]] for column in columns]
    words = []
    for row in rows:
        fields = {}
        for column, read, cell in zip(columns, readers, row, strict=True):
            lowered = cell.lower()
            if cell != lowered:
                cased = CASED["de" if column.startswith("german") else "en"]
                cased.update({part.lower(): part for part in cell.split() if not part.islower()})
            fields[column] = read(lowered)
        words.append(word(**fields))
    return words


NOUNS = _read(Noun, "nouns")
NAMES = _read(Noun, "names")
ADJECTIVES = _read(Adjective, "adjectives")
BE, HAVE, *VERBS = _read(Verb, "verbs")
AUXILIARIES = {"sein": BE.german_present, "haben": HAVE.german_present}
FUTURE, *_MODALS = _read(Modal, "modals")
MODALS = {
    tense: [modal for modal in _MODALS if modal.tense == tense] for tense in ("present", "past")
}

I_FORMS, WE_FORMS, HE_FORMS, SHE_FORMS, THEY_FORMS, *IT_FORMS = _read(PersonalPronoun, "pronouns")
"""One English "it" is three German pronouns: the gender of what it stands for decides."""

DETERMINERS = {" ".join(one.english): one for one in _read(Determiner, "determiners")}
THE, A, THIS, EVERY, ALL = (DETERMINERS[word] for word in ("the", "a", "this", "every", "all"))
BARE = DETERMINERS[""]
POSSESSIVES = [DETERMINERS[word] for word in ("my", "his", "her", "our")]
NAME_POSSESSIVES = [DETERMINERS[f"{name.english[0]} 's"] for name in NAMES]
QUANTITIES = [
    DETERMINERS[word] for word in ("two", "three", "four", "five", "ten", "many", "some", "several")
]

CONJUNCTIONS = _read(Conjunction, "conjunctions")
PREPOSITIONS = _read(Preposition, "prepositions")
EXPRESSIONS = _read(Expression, "expressions")


@cache
def expressions(role: str) -> tuple[Expression, ...]:
    """The fixed adverbials of one role, such as "manner" or, for a time, its tense."""
    return tuple(one for one in EXPRESSIONS if one.role == role)


@cache
def conjunctions(past: bool, first: bool) -> tuple[Conjunction, ...]:
    """The conjunctions of a clause in the past or the present, before its main clause or after."""
    return tuple(
        one
        for one in CONJUNCTIONS
        if (one.german_past or not past) and (one.may_come_first or not first)
    )


@cache
def prepositions(kind: Kind) -> tuple[Preposition, ...]:
    """Where something can be that is not in or on a noun of this kind."""
    return tuple(one for one in PREPOSITIONS if kind in one.kinds)


@cache
def nouns(kind: Kind) -> tuple[Noun, ...]:
    """The nouns of a kind."""
    return tuple(noun for noun in NOUNS if noun.kind == kind)


@cache
def countable_nouns(kind: Kind) -> tuple[Noun, ...]:
    """The nouns of a kind that have a plural."""
    return tuple(noun for noun in nouns(kind) if noun.german_plural)


@cache
def adjectives(kind: Kind) -> tuple[Adjective, ...]:
    """The adjectives for nouns of a kind."""
    return tuple(adjective for adjective in ADJECTIVES if kind in adjective.kinds)


@cache
def comparable_adjectives(kind: Kind) -> tuple[Adjective, ...]:
    """The adjectives for nouns of a kind that have a comparative."""
    return tuple(adjective for adjective in adjectives(kind) if adjective.german_comparative)


@cache
def distinctive_adjectives(kind: Kind) -> tuple[Adjective, ...]:
    """The adjectives that tell the living from things: nobody doubts which they describe."""
    if kind in LIVING:
        return tuple(one for one in adjectives(kind) if set(one.kinds) <= set(LIVING))
    return tuple(one for one in adjectives(kind) if "person" not in one.kinds)


@cache
def verbs(subject: Kind, frames: tuple[Frame, ...]) -> tuple[Verb, ...]:
    """The verbs with one of these frames for a subject of this kind."""
    return tuple(verb for verb in VERBS if verb.frame in frames and subject in verb.subjects)


@cache
def verbs_for_things(kind: Kind) -> tuple[Verb, ...]:
    """What a person can do to a thing of this kind, and to nobody living."""
    return tuple(
        verb
        for verb in VERBS
        if verb.frame == "accusative" and kind in verb.objects and not {*LIVING} & {*verb.objects}
    )
