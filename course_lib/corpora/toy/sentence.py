"""The random choices that make a toy sentence of a given number of clauses.

A third-person pronoun takes up the subject of the clause before it, with two exceptions that nobody
can misread: "because it is expensive" and "and sells it" after a person has bought a thing. Nothing
that could belong to the main clause follows a relative clause or a reported one.
"""

from collections.abc import Sequence

from course_lib.corpora.toy import lexicon
from course_lib.corpora.toy.plan import (
    Clause,
    Conjunct,
    EmbeddedClause,
    FixedAdverbial,
    NounPhrase,
    Phrase,
    Pronoun,
    RelativePronoun,
    Subject,
    Tense,
    pronoun_for,
)
from course_lib.corpora.toy.planner import Planner, hides_tense

TENSE_SHARES: dict[Tense, int] = {"present": 8, "past": 9, "future": 3}
TENSES = [tense for tense, share in TENSE_SHARES.items() for _ in range(share)]
WITH_OBJECT = ("accusative", "dative")
CONJUNCT_SIZES = (1, 1, 1, 2, 2, 3)
REASONS = lexicon.CONJUNCTIONS[:2]
"""Because and although."""
FIRST = [conjunction for conjunction in lexicon.CONJUNCTIONS if conjunction.may_come_first]
"""Those whose clause may stand before its main clause."""


def draw_plan(planner: Planner, clauses: int) -> list[Conjunct]:
    """The plan of one sentence of so many clauses, to be joined by "and" and "but"."""
    tense = planner.pick(TENSES)
    conjuncts: list[Conjunct] = []
    left = clauses
    while left:
        last = conjuncts[-1] if conjuncts else None
        conjunct = _conjunct(planner, last, tense, left)
        conjuncts.append(conjunct)
        left -= conjunct.clauses
    for conjunct in conjuncts[1:]:
        conjunct.opposed = _can_be_opposed(conjunct.main) and planner.chance(0.4)
    return conjuncts


def _conjunct(planner: Planner, last: Conjunct | None, tense: Tense, left: int) -> Conjunct:
    """The next conjunct, of at most `left` clauses."""
    if last is not None and planner.chance(0.3) and _may_share_its_subject(last):
        return _with_elided_subject(planner, last, tense)
    size = min(left, planner.pick(CONJUNCT_SIZES))
    subject = last.subject.again() if last is not None and planner.chance(0.35) else None
    if subject is None:
        subject = planner.subject(opening=last is None)
    if size > 1 and planner.chance(0.2):
        conjunct = _with_clause_before(planner, subject, tense, size)
    else:
        conjunct = Conjunct(_clause(planner, subject, tense, size), subject, size)
    _choose_front(planner, conjunct.main, first=last is None)
    return conjunct


def _can_be_opposed(main: Clause) -> bool:
    """Whether "but" may open it: not "but sings", "but therefore"."""
    front = main.front.expression.english if isinstance(main.front, FixedAdverbial) else ()
    return not main.elided and front not in (("then",), ("therefore",))


def _may_share_its_subject(conjunct: Conjunct) -> bool:
    """Whether "and sings" can follow: one plain clause about a person, its subject first."""
    main = conjunct.main
    return (
        conjunct.clauses == 1
        and conjunct.subject.kind == "person"
        and main.front is None
        and main.modal is None
        and main.tense in ("present", "past")
        and not main.elided
    )


def _with_elided_subject(planner: Planner, last: Conjunct, tense: Tense) -> Conjunct:
    """ "... and sings", "... and reads it": the subject is left out."""
    subject, bought = last.subject, last.main.object
    clause: Clause | None = None
    if (
        isinstance(bought, NounPhrase)
        and not last.main.negated
        and not bought.plural
        and bought.determiner is not lexicon.EVERY
        and planner.chance(0.7)
    ):
        verbs = [
            verb
            for verb in _verbs_for_things(bought.noun.kind)
            if verb is not last.main.verb and not hides_tense(verb, subject.phrase)
        ]
        it = pronoun_for(bought)
        if verbs and it is not None:
            clause = Clause(subject.phrase, planner.pick(verbs), tense, object=it)
    while clause is None or clause.tense == "progressive" or clause.modal is not None:
        clause = planner.clause(subject, tense, dynamic=True)
    clause.elided = True
    return Conjunct(clause, subject)


def _choose_front(planner: Planner, main: Clause, first: bool) -> None:
    """Begin a main clause with something other than its subject: German verb and subject invert."""
    if main.before is not None or not planner.chance(0.45):
        return
    if main.time is not None and planner.chance(0.75):
        main.front = main.time
    elif main.place is not None and planner.chance(0.75):
        main.front = main.place
    elif not first and planner.chance(0.5):
        main.front = planner.adverbial("connective")
    elif planner.chance(0.4):
        main.front = planner.adverbial("opinion")


def _embedded_tense(tense: Tense) -> Tense:
    return "past" if tense == "past" else "present"


def _subordinated(
    planner: Planner, conjunctions: Sequence[lexicon.Conjunction], clause: Clause, tense: Tense
) -> EmbeddedClause:
    """A clause behind one of these conjunctions, without what does not go with that."""
    conjunction = planner.pick([one for one in conjunctions if one.german_past or tense != "past"])
    if conjunction.event and clause.tense == "progressive":
        clause.tense, clause.time = "present", None
    if conjunction.english in (("before",), ("as", "soon", "as")):
        clause.negated = False
    german = conjunction.german_past if tense == "past" else conjunction.german
    return EmbeddedClause(conjunction.english, (german,), clause)


def _with_clause_before(planner: Planner, subject: Subject, tense: Tense, size: int) -> Conjunct:
    """ "because the man is tired , he sleeps" """
    inner = _embedded_tense(tense)
    size_before = 2 if size > 2 and planner.chance(0.4) else 1
    before = _clause(planner, subject, inner, size_before)
    again = subject.again()
    if again is None or planner.chance(0.3):
        again = planner.subject(opening=False)
    main = _clause(planner, again, tense, size - size_before)
    main.before = _subordinated(planner, FIRST, before, inner)
    return Conjunct(main, again, size)


def _clause(planner: Planner, subject: Subject, tense: Tense, size: int) -> Clause:
    """A clause that consists of so many clauses, itself included, none of them before it."""
    if size == 1:
        return planner.clause(subject, tense)
    draw = planner.rng.random()
    phrase = subject.phrase
    if draw < 0.25 and isinstance(phrase, NounPhrase) and _can_be_described(phrase):
        phrase.relative = _relative_clause(planner, phrase, _embedded_tense(tense))
        return _clause(planner, subject, tense, size - 1)
    if subject.kind == "person" and draw < 0.85:
        if draw < 0.42:
            return _with_described_object(planner, subject, tense, size)
        if draw < 0.58:
            return _reporting(planner, subject, tense, size)
        if draw < 0.72:
            return _trying(planner, subject, tense, size)
        if draw < 0.8:
            return _with_purpose(planner, subject, tense, size)
    main = planner.clause(subject, tense)
    main.after = _clause_after(planner, main, subject, tense, size - 1)
    return main


def _can_be_described(phrase: NounPhrase) -> bool:
    """Whether a relative clause may follow, and is about its noun and no other."""
    return not phrase.noun.proper and phrase.companion is None and phrase.relative is None


def _clause_after(
    planner: Planner, main: Clause, subject: Subject, tense: Tense, size: int
) -> EmbeddedClause:
    """A subordinate clause that follows a main clause with this subject."""
    inner = _embedded_tense(tense)
    thing = main.object
    if (
        size == 1
        and subject.kind == "person"
        and isinstance(thing, NounPhrase)
        and thing.noun.kind not in lexicon.LIVING
        and not main.negated
        and planner.chance(0.5)
    ):
        it = Subject(thing, thing.noun.kind).again()
        if it is not None:
            reason = planner.clause(it, inner, frames=("copula",), adverbials=False)
            return _subordinated(planner, REASONS, reason, inner)
    again = subject.again()
    if again is None or not planner.chance(0.5):
        again = planner.subject(opening=False, living=True)
    clause = _clause(planner, again, inner, size)
    return _subordinated(planner, lexicon.CONJUNCTIONS, clause, inner)


def _verbs_for_things(kind: str) -> list[lexicon.Verb]:
    """What a person can do to a thing of this kind, and to nobody living."""
    verbs = [one for one in lexicon.VERBS if one.frame == "accusative" and kind in one.objects]
    return [one for one in verbs if {*lexicon.LIVING}.isdisjoint(one.objects)]


def _relative_clause(planner: Planner, head: NounPhrase, tense: Tense) -> Clause:
    """ "who sings", "which the woman reads", "whom we help".

    A German object clause with a feminine, neuter or plural pronoun reads like one about its
    subject: about persons and animals only "I" and "we", never objects themselves, may say it.
    """
    kind = head.noun.kind
    pronoun = RelativePronoun(head)
    if planner.chance(0.55):
        return planner.clause(Subject(pronoun, kind), tense)
    speaker: Phrase = Pronoun(planner.pick(lexicon.SPEAKERS))
    if kind in lexicon.LIVING:
        verbs = [v for v in lexicon.VERBS if v.frame in WITH_OBJECT and kind in v.objects]
    else:
        verbs = _verbs_for_things(kind)
        if planner.chance(0.7):
            speaker = planner.noun_phrase("person", plain=True)
    verbs = [v for v in verbs if "person" in v.subjects and not hides_tense(v, speaker)]
    if not verbs:
        return planner.clause(Subject(pronoun, kind), tense)
    clause = Clause(speaker, planner.pick(verbs), tense, object=pronoun)
    planner.decorate(clause, "person")
    return clause


def _with_described_object(planner: Planner, subject: Subject, tense: Tense, size: int) -> Clause:
    """ "the man buys the book which the woman reads" """
    frames = (*WITH_OBJECT, "prepositional", "ditransitive")
    while True:
        main = planner.clause(subject, tense, frames=frames, adverbials=False)
        thing = main.object
        if isinstance(thing, NounPhrase) and _can_be_described(thing):
            break
    thing.relative = _relative_clause(planner, thing, _embedded_tense(tense))
    if size > 2:
        main.after = _clause_after(planner, main, subject, tense, size - 2)
    return main


def _reporting(planner: Planner, subject: Subject, tense: Tense, size: int) -> Clause:
    """ "the man says that ...", "asks whether ..." """
    main = planner.clause(subject, tense, frames=("that", "whether"), adverbials=False)
    again = subject.again()
    if again is None or not planner.chance(0.3):
        again = planner.subject(opening=False)
    # Only persons report, so whatever is said of one fits its pronoun.
    again = again._replace(anaphoric=False)
    clause = _clause(planner, again, _embedded_tense(tense), size - 1)
    if main.verb.frame == "whether":
        main.after = EmbeddedClause(("whether",), ("ob",), clause)
    else:
        main.after = EmbeddedClause(("that",), ("dass",), clause)
    return main


def _trying(planner: Planner, subject: Subject, tense: Tense, size: int) -> Clause:
    """ "the man tries to read the book", "stops reading": an infinitive with "zu" in German."""
    main = planner.clause(subject, tense, frames=("infinitive", "gerund"), adverbials=False)
    inside = planner.infinitive("gerund" if main.verb.frame == "gerund" else "infinitive")
    alone = inside.object is None and inside.complement is None and inside.manner is None
    main.after = EmbeddedClause((), (), inside, commas=not alone)
    if size > 2:
        inside.after = _clause_after(planner, inside, subject, tense, size - 2)
    return main


def _with_purpose(planner: Planner, subject: Subject, tense: Tense, size: int) -> Clause:
    """ "in order to read the book", "without reading the book" """
    main = planner.clause(subject, tense, dynamic=True)
    if planner.chance(0.65):
        main.after = EmbeddedClause(("in", "order"), ("um",), planner.infinitive("infinitive"))
    else:
        main.after = EmbeddedClause(("without",), ("ohne",), planner.infinitive("gerund"))
    if size > 2:
        inside = main.after.clause
        inside.after = _clause_after(planner, inside, subject, tense, size - 2)
    return main
