"""The words of the toy grammar, read from the tables in `words/`, and which of them go together.

A row of a table becomes one object: its columns are the fields of the class, and a field's type
says how its cell is read. Words are lower-cased on the way; the capitals that the tables have are
kept in `CASED`, so that sentences can be shown to people. The order of the rows decides which
sentences a seed gives.
"""

import csv
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar, get_type_hints

Word = TypeVar("Word")


Case = IntEnum("Case", "NOMINATIVE ACCUSATIVE DATIVE", start=0)
"""Rows of a German declension table."""
Gender = IntEnum("Gender", "MASCULINE FEMININE NEUTER PLURAL", start=0)
"""Columns of a German declension table: three genders, and the plural, which has none."""
Person = IntEnum("Person", "FIRST THIRD ANY_PLURAL", start=0)
"""Places in `Forms`: every plural has the same form of a verb in both languages."""

NOMINATIVE, ACCUSATIVE, DATIVE = Case
MASCULINE, FEMININE, NEUTER, PLURAL = Gender
FIRST, THIRD, ANY_PLURAL = Person

Words = tuple[str, ...]
Forms = tuple[str, str, str]
"""One form for each `Person`; of a modal, as many words as it takes ("want to")."""
Links = tuple[tuple[int, int], ...]
"""Links inside an expression: English position, German position."""

LIVING = ("person", "animal")
PLACES = ("building", "locality", "room")


class Noun(NamedTuple):
    """A noun in both languages; `german_oblique` is its singular in accusative and dative.

    `possessed` is "yes" for what one can have several of ("my brothers") and "singular" for what
    nobody has two of ("my mother"). Places and furniture have prepositions that say where something
    is and, in German, where somebody goes. A `proper` noun is a name.

    `kind` decides what it can do in a sentence. A text is something to read, a device something
    that is switched on; streets and parks are buildings too, lakes localities, gardens rooms.
    """

    english: Words
    german: str
    german_oblique: str
    gender: Gender
    kind: str
    english_plural: Words = ()
    german_plural: str = ""
    german_dative_plural: str = ""
    possessed: str = ""
    english_at: Words = ()
    german_at: str = ""
    german_to: str = ""
    proper: bool = False


class Adjective(NamedTuple):
    """An adjective for nouns of these kinds; `german_stem` carries the German endings.

    The comparatives are empty where the grammar makes no comparison.
    """

    english: str
    english_comparative: Words
    german: str
    german_stem: str
    german_comparative: str
    kinds: Words
    colour: bool


class Verb(NamedTuple):
    """A verb in both languages, and the `frame` that says what goes with it.

    A gerund ("stops reading") is an infinitive with "zu" in German too.

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
    frame: str
    german_preposition: str
    german_case: Case
    objects: Words
    subjects: Words
    stative: bool
    lasting: bool


class Modal(NamedTuple):
    """A modal verb in one tense. "not" carries the negation, "cannot" both it and the modal.

    There is no `english_negated` where the languages disagree ("must not" is not "muss nicht").
    """

    tense: str
    english: Forms
    english_negated: Forms | None
    german: Forms


class Expression(NamedTuple):
    """A fixed adverbial in both languages, with the links between its words."""

    role: str
    english: Words
    german: Words
    links: Links


class Conjunction(NamedTuple):
    """A subordinating conjunction; without `german_past` it introduces no past clause.

    One that opens an `event` introduces what happens, and has not begun.
    """

    english: Words
    german: str
    german_past: str
    may_come_first: bool
    event: bool


class Preposition(NamedTuple):
    """A preposition of where something is, with the dative, for nouns of these kinds."""

    english: Words
    german: str
    kinds: Words


class Determiner(NamedTuple):
    """A determiner, perhaps of no words.

    `declension` is that of its German stem: "der", "dieser", "ein", or "fixed" without endings;
    `adjectives` the one of adjectives after it: "weak", "mixed" or "strong". A `role` is
    "possessive", "quantity" or "name" (of an owner).
    """

    english: Words
    english_plural: Words
    german: str
    declension: str
    adjectives: str
    definite: bool
    role: str


class PersonalPronoun(NamedTuple):
    """The forms of a personal pronoun, and the person of its verb."""

    english: str
    english_object: str
    german: str
    german_accusative: str
    german_dative: str
    person: Person


_CELL_READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    bool: lambda cell: cell == "yes",
    Words: lambda cell: tuple(cell.split()),
    Forms: lambda cell: tuple(cell.split("/")),
    Forms | None: lambda cell: tuple(cell.split("/")) if cell else None,
    Case: lambda cell: Case[cell.upper()],
    Gender: lambda cell: Gender[cell.upper()],
    Person: lambda cell: Person[cell.upper()],
    Links: lambda cell: tuple(tuple(map(int, link.split("-"))) for link in cell.split()),
}
CASED: dict[str, dict[str, str]] = {"en": {}, "de": {}}
"""By language, the words that have a capital inside a sentence: lower-cased form to their own."""


def _read(word: type[Word], table: str) -> list[Word]:
    """The words of a table, in its order; their capitals go to `CASED`."""
    types = get_type_hints(word)
    words = []
    with (files(__package__) / "words" / f"{table}.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for column, cell in row.items():
                cased = CASED["de" if column.startswith("german") else "en"]
                cased |= {part.lower(): part for part in cell.split() if part != part.lower()}
            cells = {column: cell.lower() for column, cell in row.items()}
            words.append(word(**{x: _CELL_READERS[types[x]](cell) for x, cell in cells.items()}))
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
SPEAKERS = (I_FORMS, WE_FORMS)

DETERMINERS = {" ".join(one.english): one for one in _read(Determiner, "determiners")}
THE, A, THIS, EVERY, ALL = (DETERMINERS[word] for word in ("the", "a", "this", "every", "all"))
BARE = DETERMINERS[""]
POSSESSIVES, QUANTITIES, NAME_POSSESSIVES = (
    [one for one in DETERMINERS.values() if one.role == role]
    for role in ("possessive", "quantity", "name")
)

CONJUNCTIONS = _read(Conjunction, "conjunctions")
PREPOSITIONS = _read(Preposition, "prepositions")
EXPRESSIONS = _read(Expression, "expressions")


@cache
def expressions(role: str) -> tuple[Expression, ...]:
    """The fixed adverbials of one role, such as "manner" or, for a time, its tense."""
    return tuple(one for one in EXPRESSIONS if one.role == role)


@cache
def nouns(kind: str, countable: bool = False) -> tuple[Noun, ...]:
    """The nouns of a kind, or those of them that have a plural."""
    return tuple(one for one in NOUNS if one.kind == kind and (one.german_plural or not countable))


@cache
def adjectives(kind: str) -> tuple[Adjective, ...]:
    """The adjectives for nouns of a kind."""
    return tuple(one for one in ADJECTIVES if kind in one.kinds)


@cache
def verbs(subject: str, frames: Words) -> tuple[Verb, ...]:
    """The verbs with one of these frames for a subject of this kind."""
    return tuple(one for one in VERBS if one.frame in frames and subject in one.subjects)
