"""The random choices inside one clause of the toy grammar: nouns, verbs, adverbials.

Together with `toy_sentences` they keep every sentence translatable in one way only, in both
directions: English simple past is the German perfect, a progressive comes only with "now" and its
like, and "they read", which does not show its tense, is never said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from course_lib.corpora.toy_adverbials import (
    BY_VEHICLE,
    EVERY_TIME,
    FREQUENCY,
    LOCATED_AT_HOME,
    MANNER,
    TIME,
    TOWARDS_HOME,
)
from course_lib.corpora.toy_clauses import Clause, Predicate
from course_lib.corpora.toy_lexicon import (
    COLOURS,
    NAMES,
    Adjective,
    Noun,
)
from course_lib.corpora.toy_phrases import (
    ACCUSATIVE,
    ALL,
    BARE,
    DATIVE,
    EVERY,
    HE_FORMS,
    I_FORMS,
    POSSESSIVES,
    QUANTITIES,
    SHE_FORMS,
    THE,
    THEY_FORMS,
    THIS,
    WE_FORMS,
    A,
    Adverbial,
    Determiner,
    NounPhrase,
    Pair,
    Phrase,
    Pronoun,
    PronounForms,
    RelativePronoun,
    name_possessive,
)
from course_lib.corpora.toy_selection import (
    adjectives,
    can_be_owned,
    comparable,
    countable,
    hides_tense,
    noun_of,
    nouns,
    telling_adjectives,
    verbs,
)
from course_lib.corpora.toy_verbs import BE, HAVE, MODALS, PAST_MODALS, Verb

T = TypeVar("T")


NEAR = ((("behind",), "hinter"), (("in", "front", "of"), "vor"), (("next", "to"), "neben"))
UNDER_AND_NEAR = (*NEAR, (("under",), "unter"))
NAME_POSSESSIVES = [name_possessive(name) for name in NAMES]
# Frames of verbs that need no other clause.
SIMPLE_FRAMES = ("intr", "acc", "dat", "prep", "give", "to", "at")


def _counted(clause: Clause) -> bool:
    """Whether "not" and "often" would leave open what they deny or repeat: "not every dog"."""
    thing = clause.object
    return isinstance(thing, NounPhrase) and thing.determiner in (EVERY, ALL, *QUANTITIES)


@dataclass
class Planner:
    """Draws sentences. `richness` (0 to 1) says how often anything optional is added.

    `previous` is the last verb drawn, which the next clause does not repeat.
    """

    rng: Random
    richness: float = 0.5
    previous: Verb | None = None

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        # Only random() is promised to give the same numbers in every version of Python.
        return items[int(self.rng.random() * len(items))]

    # Phrases

    def noun_phrase(
        self, kind: str, *, plain: bool = False, plural_chance: float = 0.22
    ) -> NounPhrase:
        """A noun phrase of this kind; `plain`: definite, with nothing after the noun."""
        if kind == "p" and self.chance(0.17):
            return NounPhrase(BARE, self.pick(NAMES))
        plural = kind != "d" and self.chance(plural_chance)
        noun = self.pick(countable(kind) if plural else nouns(kind))
        phrase = NounPhrase(self._determiner(noun, plural, plain), noun, plural)
        if self.chance(0.12 + 0.5 * self.richness):
            phrase.adjectives = self.adjectives(noun)
        if not plain and kind == "p" and self.chance(0.12 * self.richness):
            phrase.companion = self.noun_phrase(self.pick("cat"), plain=True)
        return phrase

    def _determiner(self, noun: Noun, plural: bool, plain: bool) -> Determiner:
        draw = self.rng.random()
        if not noun.german_plural and not plain and draw < 0.6:
            return BARE
        if draw < 0.5 or (plain and draw < 0.72):
            return THE
        if draw < 0.62 or (plain and draw < 0.86):
            return self.pick(POSSESSIVES) if can_be_owned(noun, plural) else THE
        if draw < 0.68 or plain or not noun.german_plural:
            return THIS
        if plural:
            return BARE if draw < 0.8 else ALL if draw < 0.83 else self.pick(QUANTITIES)
        if draw < 0.73 and can_be_owned(noun, plural):
            return self.pick(NAME_POSSESSIVES)
        return A if draw < 0.98 else EVERY

    def adjectives(self, noun: Noun) -> tuple[tuple[Adjective, bool], ...]:
        """One adjective, now and then with "very", or a plain one and a colour."""
        first = self.pick(adjectives(noun.kind))
        if first.english in COLOURS:
            return ((first, False),)
        colours = [one for one in adjectives(noun.kind) if one.english in COLOURS]
        if colours and self.chance(0.3 * self.richness):
            return ((first, False), (self.pick(colours), False))
        return ((first, self.chance(0.15 * self.richness)),)

    def subject(self, opening: bool, living: bool = False) -> tuple[Phrase, str]:
        """A subject and its kind. Only the opening may say he, she, they without saying who."""
        draw = self.rng.random()
        if draw < 0.12:
            return Pronoun(self.pick((I_FORMS, WE_FORMS))), "p"
        if draw < 0.2 and opening:
            return Pronoun(self.pick((HE_FORMS, SHE_FORMS, THEY_FORMS))), "p"
        if draw < 0.26:
            first = self.noun_phrase("p", plain=True)
            second = self.noun_phrase("p", plain=True)
            while second.noun is first.noun:
                second = self.noun_phrase("p", plain=True)
            return Pair(first, second), "p"
        kind = "p" if draw < 0.74 else "a" if draw < 0.83 or living else self.pick("vvvrtclkhe")
        return self.noun_phrase(kind), kind

    def object_pronoun(self, subject: Phrase) -> Pronoun:
        """me, us, him or her, and never the subject's own person."""
        own: tuple[PronounForms, ...] = ()
        if isinstance(subject, Pronoun) and subject.forms in (I_FORMS, WE_FORMS):
            own = (I_FORMS, WE_FORMS)
        others = (I_FORMS, WE_FORMS, HE_FORMS, SHE_FORMS)
        return Pronoun(self.pick([forms for forms in others if forms not in own]))

    def location(self, kind: str) -> Adverbial:
        """ "in the park", "next to the church", "under the table": where something is."""
        phrase = self.noun_phrase(kind, plain=True, plural_chance=0.05)
        noun = phrase.noun
        around = kind == "u" or (kind == "l" and noun.german_at != "auf")
        if not around or self.chance(0.6):
            return Adverbial(english=(noun.english_at,), german=noun.german_at, phrase=phrase)
        english, german = self.pick(UNDER_AND_NEAR if kind == "u" else NEAR)
        return Adverbial(english=english, german=german, phrase=phrase)

    def direction(self, kinds: str) -> Adverbial:
        """ "to the station", "home": where somebody goes."""
        if "h" in kinds and self.chance(0.12):
            return Adverbial(TOWARDS_HOME)
        phrase = self.noun_phrase(self.pick(kinds), plain=True, plural_chance=0.05)
        german = phrase.noun.german_to
        case = DATIVE if german == "zu" else ACCUSATIVE
        return Adverbial(english=("to",), german=german, case=case, phrase=phrase)

    # Clauses

    def predicate(self, subject: Phrase, kind: str, telling: bool = False) -> Predicate:
        """What is said of something of this kind with "is"."""
        comparisons = comparable(kind)
        if comparisons and not telling and self.chance(0.2):
            than = self.noun_phrase(kind, plain=True)
            if than.noun is not noun_of(subject):
                return Predicate(self.pick(comparisons), than=than)
        named = subject.head if isinstance(subject, RelativePronoun) else subject
        known = [one for one, _ in named.adjectives] if isinstance(named, NounPhrase) else []
        fitting = telling_adjectives(kind) if telling else adjectives(kind)
        adjective = self.pick([one for one in fitting if one not in known])
        draw = self.rng.random()
        return Predicate(adjective, "very" if draw < 0.2 else "too" if draw < 0.3 else "")

    def clause(
        self,
        subject: Phrase,
        kind: str,
        tense: str,
        *,
        frames: tuple[str, ...] = SIMPLE_FRAMES,
        active: bool = False,
        telling: bool = False,
        open_end: bool = True,
    ) -> Clause:
        """A clause with this subject, nothing after its object or complement unless `open_end`.

        `active` leaves states out; `telling` describes a person in no way that suits a thing.
        """
        clause = Clause(subject, self._verb(subject, kind, frames, active), tense)
        self._fill(clause, kind, telling)
        self.decorate(clause, kind, tense, open_end)
        return clause

    def decorate(self, clause: Clause, kind: str, tense: str, open_end: bool = True) -> None:
        """Modal, negation and adverbials, for a subject of this kind."""
        self._modal_and_negation(clause, kind, tense)
        if open_end:
            self._adverbials(clause, kind, tense)

    def infinitive(self, tense: str) -> Clause:
        """What somebody tries or begins to do: `tense` is zu, or ing after some English words."""
        nobody = NounPhrase(BARE, NAMES[0])
        clause = Clause(nobody, self._verb(nobody, "p", SIMPLE_FRAMES, True), tense)
        self._fill(clause, "p", False)
        clause.subject = None
        if isinstance(clause.object, Pronoun):
            clause.object = self.noun_phrase("p", plain=True)
        if isinstance(clause.recipient, Pronoun):
            clause.recipient = self.noun_phrase("p", plain=True)
        if self.chance(0.2 * self.richness):
            clause.manner = Adverbial(self.pick(MANNER))
        return clause

    def _verb(self, subject: Phrase, kind: str, frames: tuple[str, ...], active: bool) -> Verb:
        if frames == ("be",):
            return BE
        if frames is SIMPLE_FRAMES and not active:
            draw = self.rng.random()
            if draw < 0.12 or (kind not in "pav" and draw < 0.75):
                return BE
            if draw < 0.18 and kind == "p":
                return HAVE
        choices = verbs(kind, frames)
        if not choices:
            return BE
        verb = self.pick(choices)
        if hides_tense(verb, subject) or (active and verb.stative) or verb is self.previous:
            others = [
                one
                for one in choices
                if not hides_tense(one, subject)
                and not (active and one.stative)
                and one is not self.previous
            ]
            verb = self.pick(others) if others else BE
        self.previous = verb
        return verb

    def _fill(self, clause: Clause, kind: str, telling: bool) -> None:
        """Give the verb what its frame asks for."""
        verb, subject = clause.verb, clause.subject
        assert subject is not None
        if verb.frame == "be":
            if kind in "patrcf" and not (telling and kind not in "pa") and self.chance(0.3):
                clause.complement = self._whereabouts(kind)
            else:
                clause.predicate = self.predicate(subject, kind, telling)
        elif verb.frame in ("acc", "dat", "prep"):
            if "p" in verb.objects and self.chance(0.2):
                clause.object = self.object_pronoun(subject)
            else:
                clause.object = self.noun_phrase(self.pick(verb.objects))
                if verb.frame == "prep":
                    clause.object.companion = None
        elif verb.frame == "give":
            person_first = self.chance(0.25)
            clause.recipient = (
                self.object_pronoun(subject) if person_first else self.noun_phrase("p", plain=True)
            )
            clause.object = self.noun_phrase(self.pick(verb.objects))
        elif verb.frame == "to":
            clause.complement = self.direction(verb.objects)
        elif verb.frame == "at":
            clause.complement = self.location(self.pick(verb.objects))

    def _whereabouts(self, kind: str) -> Adverbial:
        if kind == "p" and self.chance(0.2):
            return Adverbial(LOCATED_AT_HOME)
        return self.location(self.pick("lkh" if kind in "pa" else "uh"))

    def _modal_and_negation(self, clause: Clause, kind: str, tense: str) -> None:
        verb = clause.verb
        able = kind in "pa" and verb not in (BE, HAVE) and not verb.lasting
        if able and tense in ("present", "past") and self.chance(0.22):
            clause.modal = self.pick(MODALS if tense == "present" else PAST_MODALS)
        if not _counted(clause) and (clause.modal is None or clause.modal.negated):
            clause.negated = self.chance(0.13)

    def _adverbials(self, clause: Clause, kind: str, tense: str) -> None:
        """When, how often, how and where, as far as they go together."""
        verb, rich = clause.verb, self.richness
        active = not verb.stative
        plain = clause.modal is None and not clause.negated
        repeatable = plain and not verb.lasting and not _counted(clause)
        if verb is BE and kind not in "pa":
            return
        timed = 0.0 if verb.lasting else 0.5 if verb is BE else 1.0
        if self.chance(timed * (0.25 + 0.5 * rich)):
            if tense == "present" and active and plain and self.chance(0.4):
                clause.tense = "progressive"
                clause.time = Adverbial(self.pick(TIME["progressive"]))
            else:
                clause.time = self._time(tense, repeated=active and plain)
        elif repeatable and tense in ("present", "past") and self.chance(0.15 + 0.2 * rich):
            clause.frequency = Adverbial(self.pick(FREQUENCY))
        if clause.negated or not active:
            return
        if verb.english in ("travel", "drive") and self.chance(0.3):
            clause.manner = Adverbial(self.pick(BY_VEHICLE))
        elif kind in "pa" and verb.frame != "dat" and self.chance(0.08 + 0.25 * rich):
            clause.manner = Adverbial(self.pick(MANNER))
        here = verb.frame in ("intr", "acc") and kind in "pa" and verb.prefix != "zurück"
        if here and not set("lkh") & set(verb.objects) and self.chance(0.12 + 0.35 * rich):
            clause.place = self.location(self.pick("lkh"))

    def _time(self, tense: str, repeated: bool) -> Adverbial:
        """ "every day" only for what somebody does, does again, and is not said not to do."""
        while True:
            expression = self.pick(TIME[tense if self.chance(0.6) else "any"])
            if repeated or expression not in EVERY_TIME:
                return Adverbial(expression)
