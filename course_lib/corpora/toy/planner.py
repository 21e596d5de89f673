"""The random choices inside one clause of a toy sentence: nouns, verbs, adverbials.

Together with those in `sentence` they keep every sentence translatable in one way only, in both
directions: the English simple past is the German perfect, a progressive comes only with "now" and
its like, and "they read", which does not show its tense, is never said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from course_lib.corpora.toy import lexicon
from course_lib.corpora.toy.plan import (
    Clause,
    Coordination,
    FixedAdverbial,
    NounPhrase,
    Phrase,
    Predicate,
    PrepositionalPhrase,
    Pronoun,
    RelativePronoun,
    Subject,
    Tense,
    person_of,
)

T = TypeVar("T")

SIMPLE_FRAMES: tuple[str, ...] = (
    "intransitive",
    "accusative",
    "dative",
    "prepositional",
    "ditransitive",
    "direction",
    "location",
)
"""The frames of verbs that need no other clause."""
LIFELESS_SUBJECTS = (
    *("vehicle", "vehicle", "vehicle"),
    *("text", "thing", "clothing", "building", "locality", "room", "device"),
)
"""Vehicles are three times as likely as others: they alone move, so more is said of them."""
MOVABLE = (*lexicon.LIVING, "thing", "text", "clothing", "food")
"""What can be at one place today and at another one tomorrow."""
COMPANIONS = ("clothing", "animal", "thing")
"""What a person is told apart by: "the man with the hat"."""
HE_AND_SHE = (lexicon.HE_FORMS, lexicon.SHE_FORMS)
QUANTIFIERS = (lexicon.EVERY, lexicon.ALL, *lexicon.QUANTITIES)


def hides_tense(verb: lexicon.Verb, subject: Phrase) -> bool:
    """ "they read" does not show its tense; "he reads" does."""
    return verb.english == verb.english_past and person_of(subject) is not lexicon.THIRD


def is_quantified(phrase: Phrase | None) -> bool:
    """Whether "not" and "often" would leave open what they deny or repeat: "not every dog"."""
    return isinstance(phrase, NounPhrase) and phrase.determiner in QUANTIFIERS


@dataclass(slots=True)
class Planner:
    """Draws phrases and clauses. `richness` (0 to 1) says how often anything optional is added.

    `previous` is the last verb drawn, which the next clause does not repeat.
    """

    rng: Random
    richness: float = 0.5
    previous: lexicon.Verb | None = None

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, every one equally likely."""
        # Only random() is promised to give the same numbers in every version of Python.
        return items[int(self.rng.random() * len(items))]

    def adverbial(self, role: str) -> FixedAdverbial:
        """A fixed adverbial of this role."""
        return FixedAdverbial(self.pick(lexicon.expressions(role)))

    # Phrases

    def noun_phrase(
        self, kind: str, *, plain: bool = False, plural_chance: float = 0.22
    ) -> NounPhrase:
        """A noun phrase of this kind; a `plain` one is definite and has nothing after its noun."""
        if kind == "person" and self.chance(0.17):
            return NounPhrase(lexicon.BARE, self.pick(lexicon.NAMES))
        plural = kind != "drink" and self.chance(plural_chance)
        noun = self.pick(lexicon.nouns(kind, countable=plural))
        phrase = NounPhrase(self._determiner(noun, plural, plain), noun, plural)
        if self.chance(0.12 + 0.5 * self.richness):
            phrase.adjectives = self._adjectives(kind)
        if not plain and kind == "person" and self.chance(0.12 * self.richness):
            phrase.companion = self.noun_phrase(self.pick(COMPANIONS), plain=True)
        return phrase

    def _determiner(self, noun: lexicon.Noun, plural: bool, plain: bool) -> lexicon.Determiner:
        draw = self.rng.random()
        countable = bool(noun.german_plural)
        possessed = noun.possessed == "yes" or (noun.possessed == "singular" and not plural)
        if not countable and not plain and draw < 0.6:
            return lexicon.BARE
        if draw < 0.5 or (plain and draw < 0.72):
            return lexicon.THE
        if draw < 0.62 or (plain and draw < 0.86):
            return self.pick(lexicon.POSSESSIVES) if possessed else lexicon.THE
        if draw < 0.68 or plain or not countable:
            return lexicon.THIS
        if plural and draw < 0.8:
            return lexicon.BARE
        if plural:
            return lexicon.ALL if draw < 0.83 else self.pick(lexicon.QUANTITIES)
        if draw < 0.73 and possessed:
            return self.pick(lexicon.NAME_POSSESSIVES)
        return lexicon.A if draw < 0.98 else lexicon.EVERY

    def _adjectives(self, kind: str) -> tuple[tuple[lexicon.Adjective, bool], ...]:
        """One adjective, now and then with "very", or another one and a colour."""
        fitting = lexicon.adjectives(kind)
        first = self.pick(fitting)
        if first.colour:
            return ((first, False),)
        colours = [adjective for adjective in fitting if adjective.colour]
        if colours and self.chance(0.3 * self.richness):
            return ((first, False), (self.pick(colours), False))
        return ((first, self.chance(0.15 * self.richness)),)

    def subject(self, *, opening: bool, living: bool = False) -> Subject:
        """A new subject. Only the `opening` one may be he, she or they without saying who."""
        draw = self.rng.random()
        if draw < 0.12:
            return Subject(Pronoun(self.pick(lexicon.SPEAKERS)), "person")
        if draw < 0.2 and opening:
            return Subject(Pronoun(self.pick((*HE_AND_SHE, lexicon.THEY_FORMS))), "person")
        if draw < 0.26:
            first = self.noun_phrase("person", plain=True)
            second = self.noun_phrase("person", plain=True)
            while second.noun is first.noun:
                second = self.noun_phrase("person", plain=True)
            return Subject(Coordination(first, second), "person")
        if draw < 0.74:
            return Subject(self.noun_phrase("person"), "person")
        kind = "animal" if draw < 0.83 or living else self.pick(LIFELESS_SUBJECTS)
        return Subject(self.noun_phrase(kind), kind)

    def _object_pronoun(self, subject: Phrase) -> Pronoun:
        """me, us, him or her, and never the subject's own person."""
        if isinstance(subject, Pronoun) and subject.forms in lexicon.SPEAKERS:
            return Pronoun(self.pick(HE_AND_SHE))
        return Pronoun(self.pick((*lexicon.SPEAKERS, *HE_AND_SHE)))

    def _location(self, kind: str) -> PrepositionalPhrase:
        """ "in the park", "next to the church", "under the table": where something is."""
        phrase = self.noun_phrase(kind, plain=True, plural_chance=0.05)
        noun = phrase.noun
        around = kind == "furniture" or (kind == "building" and noun.german_at != "auf")
        if not around or self.chance(0.6):
            return PrepositionalPhrase(noun.english_at, noun.german_at, phrase)
        preposition = self.pick([one for one in lexicon.PREPOSITIONS if kind in one.kinds])
        return PrepositionalPhrase(preposition.english, preposition.german, phrase)

    def _direction(self, kinds: tuple[str, ...]) -> FixedAdverbial | PrepositionalPhrase:
        """ "to the station", "home": where somebody goes."""
        if "room" in kinds and self.chance(0.12):
            return FixedAdverbial(*lexicon.expressions("direction"))
        phrase = self.noun_phrase(self.pick(kinds), plain=True, plural_chance=0.05)
        german = phrase.noun.german_to
        case = lexicon.DATIVE if german == "zu" else lexicon.ACCUSATIVE
        return PrepositionalPhrase(("to",), german, phrase, case)

    def _predicate(self, subject: Subject) -> Predicate:
        """What is said of a subject with "is"."""
        phrase, kind, anaphoric = subject
        described = phrase.head if isinstance(phrase, RelativePronoun) else phrase
        fitting = lexicon.adjectives(kind)
        comparable = [one for one in fitting if one.german_comparative]
        if comparable and not anaphoric and self.chance(0.2):
            than = self.noun_phrase(kind, plain=True)
            if not (isinstance(described, NounPhrase) and than.noun is described.noun):
                return Predicate(self.pick(comparable), than=than)
        known = []
        if isinstance(described, NounPhrase):
            known = [adjective for adjective, _ in described.adjectives]
        # Of a pronoun only what tells the living from things: nobody doubts what it describes.
        if anaphoric and kind in lexicon.LIVING:
            fitting = tuple(one for one in fitting if {*one.kinds} <= {*lexicon.LIVING})
        elif anaphoric:
            fitting = tuple(one for one in fitting if "person" not in one.kinds)
        adjective = self.pick([one for one in fitting if one not in known])
        draw = self.rng.random()
        return Predicate(adjective, "very" if draw < 0.2 else "too" if draw < 0.3 else "")

    # Clauses

    def clause(
        self,
        subject: Subject,
        tense: Tense,
        *,
        frames: tuple[str, ...] = SIMPLE_FRAMES,
        dynamic: bool = False,
        adverbials: bool = True,
    ) -> Clause:
        """A clause with this subject; a `dynamic` one says what is done, not what is."""
        clause = Clause(subject.phrase, self._verb(subject, frames, dynamic), tense)
        self._complete(clause, subject)
        self.decorate(clause, subject.kind, adverbials=adverbials)
        return clause

    def infinitive(self, tense: Tense) -> Clause:
        """What somebody tries or begins to do: `tense` is infinitive or gerund."""
        somebody = Subject(NounPhrase(lexicon.BARE, lexicon.NAMES[0]), "person")
        verb = self._verb(somebody, SIMPLE_FRAMES, dynamic=True)
        clause = Clause(somebody.phrase, verb, tense)
        self._complete(clause, somebody)
        clause.subject = None
        if isinstance(clause.object, Pronoun):
            clause.object = self.noun_phrase("person", plain=True)
        if isinstance(clause.recipient, Pronoun):
            clause.recipient = self.noun_phrase("person", plain=True)
        if self.chance(0.2 * self.richness):
            clause.manner = self.adverbial("manner")
        return clause

    def decorate(self, clause: Clause, kind: str, *, adverbials: bool = True) -> None:
        """Modal, negation and adverbials, for a subject of this kind."""
        verb = clause.verb
        takes_a_modal = verb not in (lexicon.BE, lexicon.HAVE) and not verb.lasting
        if (
            kind in lexicon.LIVING
            and takes_a_modal
            and clause.tense in lexicon.MODALS
            and self.chance(0.22)
        ):
            clause.modal = self.pick(lexicon.MODALS[clause.tense])
        can_be_negated = clause.modal is None or clause.modal.english_negated is not None
        if can_be_negated and not is_quantified(clause.object):
            clause.negated = self.chance(0.13)
        if adverbials and (verb is not lexicon.BE or kind in lexicon.LIVING):
            self._say_when(clause)
            if not clause.negated and not verb.stative:
                self._say_how(clause, kind)
                self._say_where(clause, kind)

    def _verb(self, subject: Subject, frames: tuple[str, ...], dynamic: bool) -> lexicon.Verb:
        """A verb with one of the frames for this subject."""
        kind = subject.kind
        if frames == ("copula",):
            return lexicon.BE
        if frames == SIMPLE_FRAMES and not dynamic:
            draw = self.rng.random()
            acts = kind in lexicon.LIVING or kind == "vehicle"
            if draw < 0.12 or (not acts and draw < 0.75):
                return lexicon.BE
            if draw < 0.18 and kind == "person":
                return lexicon.HAVE
        choices = lexicon.verbs(kind, frames)
        if not choices:
            return lexicon.BE
        verb = self.pick(choices)
        if not self._fits(verb, subject, dynamic):
            others = [other for other in choices if self._fits(other, subject, dynamic)]
            verb = self.pick(others) if others else lexicon.BE
        self.previous = verb
        return verb

    def _fits(self, verb: lexicon.Verb, subject: Subject, dynamic: bool) -> bool:
        return (
            not hides_tense(verb, subject.phrase)
            and not (dynamic and verb.stative)
            and verb is not self.previous
        )

    def _complete(self, clause: Clause, subject: Subject) -> None:
        """Give the verb what its frame asks for."""
        verb = clause.verb
        if verb.frame == "copula":
            unmistakable = not subject.anaphoric or subject.kind in lexicon.LIVING
            if subject.kind in MOVABLE and unmistakable and self.chance(0.3):
                clause.complement = self._whereabouts(subject.kind)
            else:
                clause.predicate = self._predicate(subject)
        elif verb.frame in ("accusative", "dative", "prepositional"):
            if "person" in verb.objects and self.chance(0.2):
                clause.object = self._object_pronoun(subject.phrase)
            else:
                clause.object = self.noun_phrase(self.pick(verb.objects))
                if verb.frame == "prepositional":
                    clause.object.companion = None
        elif verb.frame == "ditransitive":
            if self.chance(0.25):
                clause.recipient = self._object_pronoun(subject.phrase)
            else:
                clause.recipient = self.noun_phrase("person", plain=True)
            clause.object = self.noun_phrase(self.pick(verb.objects))
        elif verb.frame == "direction":
            clause.complement = self._direction(verb.objects)
        elif verb.frame == "location":
            clause.complement = self._location(self.pick(verb.objects))

    def _whereabouts(self, kind: str) -> FixedAdverbial | PrepositionalPhrase:
        if kind == "person" and self.chance(0.2):
            return FixedAdverbial(*lexicon.expressions("location"))
        places = lexicon.PLACES if kind in lexicon.LIVING else ("furniture", "room")
        return self._location(self.pick(places))

    def _say_when(self, clause: Clause) -> None:
        """When or how often, as far as that goes with the verb."""
        verb, tense = clause.verb, clause.tense
        plain = clause.modal is None and not clause.negated
        timed = 0.0 if verb.lasting else 0.5 if verb is lexicon.BE else 1.0
        if self.chance(timed * (0.25 + 0.5 * self.richness)):
            if tense == "present" and plain and not verb.stative and self.chance(0.4):
                clause.tense = "progressive"
                clause.time = self.adverbial("time progressive")
            else:
                clause.time = self._time(tense, repeatable=plain and not verb.stative)
            return
        repeatable = plain and not verb.lasting and not is_quantified(clause.object)
        if repeatable and tense != "future" and self.chance(0.15 + 0.2 * self.richness):
            clause.frequency = self.adverbial("frequency")

    def _time(self, tense: Tense, repeatable: bool) -> FixedAdverbial:
        """ "every day" only for what somebody does, does again, and is not said not to do."""
        while True:
            time = self.adverbial(f"time {tense if self.chance(0.6) else 'any'}")
            if repeatable or time.expression.english[0] != "every":
                return time

    def _say_how(self, clause: Clause, kind: str) -> None:
        rarely = 0.08 + 0.25 * self.richness
        if clause.verb.english in ("travel", "drive") and self.chance(0.3):
            clause.manner = self.adverbial("transport")
        elif kind in lexicon.LIVING and clause.verb.frame != "dative" and self.chance(rarely):
            clause.manner = self.adverbial("manner")

    def _say_where(self, clause: Clause, kind: str) -> None:
        verb = clause.verb
        anywhere = (
            kind in lexicon.LIVING
            and verb.frame in ("intransitive", "accusative")
            and verb.german_prefix != "zurück"
            and set(lexicon.PLACES).isdisjoint(verb.objects)
        )
        if anywhere and self.chance(0.12 + 0.35 * self.richness):
            clause.place = self._location(self.pick(lexicon.PLACES))
