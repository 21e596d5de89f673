"""How clauses of the toy grammar make a sentence of a given number of clauses.

A third-person pronoun takes up the subject of the clause before it, with two exceptions that nobody
can misread: "because it is expensive" and "and sells it" after a person has bought a thing. Nothing
that could belong to the main clause follows a relative clause or a reported one.
"""

from dataclasses import dataclass

from course_lib.corpora.toy_adverbials import CONNECTIVE, CONSEQUENCES, OPINION
from course_lib.corpora.toy_clauses import Attached, Clause, english_clause, german_clause
from course_lib.corpora.toy_links import Sentence, linked, settle_commas
from course_lib.corpora.toy_phrases import (
    EVERY,
    I_FORMS,
    WE_FORMS,
    Adverbial,
    NounPhrase,
    Phrase,
    Pronoun,
    RelativePronoun,
    Token,
)
from course_lib.corpora.toy_plans import Planner
from course_lib.corpora.toy_selection import hides_tense, pronoun_for, things_done_to
from course_lib.corpora.toy_verbs import VERBS


@dataclass(frozen=True)
class Subordinator:
    """An English subordinating conjunction and the German one in the present and in the past."""

    english: tuple[str, ...]
    present: str
    past: str = ""


SUBORDINATORS = (
    Subordinator(("because",), "weil", "weil"),
    Subordinator(("although",), "obwohl", "obwohl"),
    Subordinator(("when",), "wenn", "als"),
    Subordinator(("while",), "während", "während"),
    Subordinator(("before",), "bevor", "bevor"),
    Subordinator(("if",), "falls"),
    Subordinator(("as", "soon", "as"), "sobald"),
    Subordinator(("so", "that"), "damit"),
)
IN_THE_PAST = tuple(word for word in SUBORDINATORS if word.past)
# The others follow their main clause.
MAY_COME_FIRST = tuple(word for word in SUBORDINATORS if word.present not in ("damit", "bevor"))
FIRST_IN_THE_PAST = tuple(word for word in MAY_COME_FIRST if word.past)
REASONS = SUBORDINATORS[:2]
# What follows these happens, and has not begun.
EVENTS = ("bevor", "falls", "sobald", "damit")
TENSES = ("present",) * 8 + ("past",) * 9 + ("future",) * 3
GROUP_SIZES = (1, 1, 1, 2, 2, 3)


@dataclass(slots=True, eq=False)
class Group:
    """A main clause with all that hangs on it; subject, kind and size matter to the next one."""

    main: Clause
    subject: Phrase
    kind: str
    size: int


def plan_sentence(planner: Planner, clauses: int) -> list[Group]:
    """Groups that have so many clauses together, to be joined by "and" and "but"."""
    tense = planner.pick(TENSES)
    groups: list[Group] = []
    left = clauses
    while left:
        last = groups[-1] if groups else None
        if last is not None and planner.chance(0.3) and _may_continue(last):
            groups.append(_continued(planner, last, tense))
            left -= 1
            continue
        size = min(left, planner.pick(GROUP_SIZES))
        again = pronoun_for(last.subject) if last is not None and planner.chance(0.35) else None
        if last is not None and again is not None:
            group = _group(planner, again, last.kind, tense, size, telling=True)
        else:
            subject, kind = planner.subject(opening=last is None)
            group = _group(planner, subject, kind, tense, size)
        _front(planner, group.main, first=last is None)
        groups.append(group)
        left -= size
    return groups


def _may_continue(group: Group) -> bool:
    """Whether "and sings" can follow: one plain clause about a person, its subject first."""
    main = group.main
    return (
        group.size == 1
        and group.kind == "p"
        and main.front is None
        and main.modal is None
        and main.tense in ("present", "past")
        and not main.elided
    )


def _continued(planner: Planner, last: Group, tense: str) -> Group:
    """ "... and sings", "... and reads it": the subject is left unsaid."""
    bought = last.main.object
    if (
        isinstance(bought, NounPhrase)
        and not last.main.negated
        and not bought.plural
        and bought.determiner is not EVERY
        and planner.chance(0.7)
    ):
        verbs = [
            verb
            for verb in things_done_to(bought.noun.kind)
            if verb is not last.main.verb and not hides_tense(verb, last.subject)
        ]
        it = pronoun_for(bought)
        if verbs and it is not None:
            clause = Clause(last.subject, planner.pick(verbs), tense, object=it)
            return Group(_elided(clause), last.subject, "p", 1)
    clause = planner.clause(last.subject, "p", tense, active=True)
    while clause.tense == "progressive" or clause.modal is not None:
        clause = planner.clause(last.subject, "p", tense, active=True)
    return Group(_elided(clause), last.subject, "p", 1)


def _elided(clause: Clause) -> Clause:
    clause.elided = True
    return clause


def _front(planner: Planner, main: Clause, first: bool) -> None:
    """Begin a main clause with something other than its subject: German verb and subject invert."""
    if main.before is not None or main.elided or not planner.chance(0.45):
        return
    if main.time is not None and planner.chance(0.75):
        main.front = main.time
    elif main.place is not None and planner.chance(0.75):
        main.front = main.place
    elif not first and planner.chance(0.5):
        main.front = Adverbial(planner.pick(CONNECTIVE))
    elif planner.chance(0.4):
        main.front = Adverbial(planner.pick(OPINION))


def _group(
    planner: Planner, subject: Phrase, kind: str, tense: str, size: int, telling: bool = False
) -> Group:
    if size > 1 and planner.chance(0.2):
        return _preceded(planner, subject, kind, tense, size, telling)
    main = _grown(planner, subject, kind, tense, size, telling)
    return Group(main, subject, kind, size)


def _inner(tense: str) -> str:
    return "past" if tense == "past" else "present"


def _preceded(
    planner: Planner, subject: Phrase, kind: str, tense: str, size: int, telling: bool
) -> Group:
    """ "because the man is tired , he sleeps" """
    inner = _inner(tense)
    in_front = 2 if size > 2 and planner.chance(0.4) else 1
    before = _grown(planner, subject, kind, inner, in_front, telling)
    again = pronoun_for(subject)
    if again is None or planner.chance(0.3):
        subject, kind = planner.subject(opening=False)
        main = _grown(planner, subject, kind, tense, size - in_front)
    else:
        subject = again
        main = _grown(planner, again, kind, tense, size - in_front, telling=True)
    word = planner.pick(FIRST_IN_THE_PAST if inner == "past" else MAY_COME_FIRST)
    main.before = _attached(word, before, inner)
    return Group(main, subject, kind, size)


def _attached(word: Subordinator, clause: Clause, tense: str) -> Attached:
    if word.present in EVENTS and clause.tense == "progressive":
        clause.tense, clause.time = "present", None
    if word.present in ("bevor", "sobald"):
        clause.negated = False
    return Attached(word.english, (word.past if tense == "past" else word.present,), clause)


def _grown(
    planner: Planner, subject: Phrase, kind: str, tense: str, size: int, telling: bool = False
) -> Clause:
    """A clause that has so many clauses in it, itself included, none of them before it."""
    if size == 1:
        return planner.clause(subject, kind, tense, telling=telling)
    draw = planner.rng.random()
    if (
        draw < 0.25
        and isinstance(subject, NounPhrase)
        and not subject.noun.proper
        and subject.companion is None
        and subject.relative is None
    ):
        subject.relative = _relative(planner, subject, _inner(tense))
        return _grown(planner, subject, kind, tense, size - 1, telling)
    if kind == "p" and draw < 0.85:
        if draw < 0.42:
            return _with_described_object(planner, subject, tense, size)
        if draw < 0.58:
            return _reporting(planner, subject, kind, tense, size)
        if draw < 0.72:
            return _trying(planner, subject, tense, size)
        if draw < 0.8:
            return _purposeful(planner, subject, tense, size)
    return _followed(planner, subject, kind, tense, size, telling)


def _followed(
    planner: Planner, subject: Phrase, kind: str, tense: str, size: int, telling: bool
) -> Clause:
    """A clause with a subordinate one after it."""
    main = planner.clause(subject, kind, tense, telling=telling)
    main.after = _subordinate(planner, main, subject, kind, tense, size - 1)
    return main


def _subordinate(
    planner: Planner, main: Clause, subject: Phrase, kind: str, tense: str, size: int
) -> Attached:
    inner = _inner(tense)
    thing = main.object
    if (
        size == 1
        and kind == "p"
        and isinstance(thing, NounPhrase)
        and thing.noun.kind not in "pa"
        and not main.negated
        and planner.chance(0.5)
    ):
        it = pronoun_for(thing)
        if it is not None:
            described = planner.clause(
                it, thing.noun.kind, inner, frames=("be",), telling=True, open_end=False
            )
            return _attached(planner.pick(REASONS), described, inner)
    again = pronoun_for(subject)
    if again is not None and planner.chance(0.5):
        clause = _grown(planner, again, kind, inner, size, telling=True)
    else:
        other, other_kind = planner.subject(opening=False, living=True)
        clause = _grown(planner, other, other_kind, inner, size)
    word = planner.pick(IN_THE_PAST if inner == "past" else SUBORDINATORS)
    return _attached(word, clause, inner)


def _relative(planner: Planner, head: NounPhrase, tense: str) -> Clause:
    """ "who sings", "which the woman reads", "whom we help".

    A German object clause with a feminine, neuter or plural pronoun reads like one about its
    subject: about persons and animals only "I" and "we", never objects themselves, may say it.
    """
    kind = head.noun.kind
    pronoun = RelativePronoun(head)
    if planner.chance(0.55):
        return planner.clause(pronoun, kind, tense)
    speaker: Phrase = Pronoun(planner.pick((I_FORMS, WE_FORMS)))
    if kind in "pa":
        verbs = [verb for verb in VERBS if verb.frame in ("acc", "dat") and kind in verb.objects]
    else:
        verbs = list(things_done_to(kind))
        if planner.chance(0.7):
            speaker = planner.noun_phrase("p", plain=True)
    verbs = [verb for verb in verbs if "p" in verb.subjects and not hides_tense(verb, speaker)]
    if not verbs:
        return planner.clause(pronoun, kind, tense)
    clause = Clause(speaker, planner.pick(verbs), tense, object=pronoun)
    planner.decorate(clause, "p", tense)
    return clause


def _with_described_object(planner: Planner, subject: Phrase, tense: str, size: int) -> Clause:
    """ "the man buys the book which the woman reads" """
    while True:
        main = planner.clause(
            subject, "p", tense, frames=("acc", "dat", "prep", "give"), open_end=False
        )
        found = main.object
        if isinstance(found, NounPhrase) and not found.noun.proper and found.companion is None:
            break
    found.relative = _relative(planner, found, _inner(tense))
    if size > 2:
        main.after = _subordinate(planner, main, subject, "p", tense, size - 2)
    return main


def _reporting(planner: Planner, subject: Phrase, kind: str, tense: str, size: int) -> Clause:
    """ "the man says that ...", "asks whether ..." """
    inner = _inner(tense)
    main = planner.clause(subject, kind, tense, frames=("that", "whether"), open_end=False)
    again = pronoun_for(subject)
    if again is not None and planner.chance(0.3):
        clause = _grown(planner, again, kind, inner, size - 1)
    else:
        other, other_kind = planner.subject(opening=False)
        clause = _grown(planner, other, other_kind, inner, size - 1)
    asks = main.verb.frame == "whether"
    main.after = Attached(
        ("whether",) if asks else ("that",), ("ob",) if asks else ("dass",), clause
    )
    return main


def _trying(planner: Planner, subject: Phrase, tense: str, size: int) -> Clause:
    """ "the man tries to read the book", "stops reading": an infinitive with "zu" in German."""
    main = planner.clause(subject, "p", tense, frames=("zu", "ing"), open_end=False)
    infinitive = planner.infinitive(main.verb.frame)
    extended = any(
        part is not None for part in (infinitive.object, infinitive.complement, infinitive.manner)
    )
    main.after = Attached((), (), infinitive, extended)
    if size > 2:
        infinitive.after = _subordinate(planner, infinitive, subject, "p", tense, size - 2)
    return main


def _purposeful(planner: Planner, subject: Phrase, tense: str, size: int) -> Clause:
    """ "in order to read the book", "without reading the book" """
    main = planner.clause(subject, "p", tense, active=True)
    if planner.chance(0.65):
        main.after = Attached(("in", "order"), ("um",), planner.infinitive("zu"))
    else:
        main.after = Attached(("without",), ("ohne",), planner.infinitive("ing"))
    if size > 2:
        inside = main.after.clause
        inside.after = _subordinate(planner, inside, subject, "p", tense, size - 2)
    return main


def speak(groups: list[Group], conjunctions: list[bool]) -> Sentence:
    """Both sides of the plan with its links; True joins two groups with "but", False with "and"."""
    english: list[Token] = []
    german: list[Token] = []
    for number, group in enumerate(groups):
        if number:
            node = id(group)
            comma: Token = (",", ((node, "comma"),))
            but = conjunctions[number - 1]
            if but or groups[number - 1].size > 1:
                english.append(comma)
                german.append(comma)
            english.append(("but" if but else "and", ((node, "joint"),)))
            german.append(("aber" if but else "und", ((node, "joint"),)))
        english += english_clause(group.main)
        german += german_clause(group.main)
    stop: Token = (".", ((0, "stop"),))
    return linked([*english, stop], settle_commas([*german, stop]))


def _opposes(main: Clause) -> bool:
    """Whether "but" may open it: not "but sings", "but therefore"."""
    front = main.front.expression if main.front is not None else None
    return not main.elided and front not in CONSEQUENCES


def draw_sentence(planner: Planner, clauses: int) -> Sentence:
    """One sentence of so many clauses."""
    groups = plan_sentence(planner, clauses)
    conjunctions = [_opposes(group.main) and planner.chance(0.4) for group in groups[1:]]
    return speak(groups, conjunctions)
