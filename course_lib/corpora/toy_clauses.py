"""Clauses of the toy grammar: one plan, said in English and in German.

The German side is built from its topological fields: first position, finite verb, middle field,
right bracket (participle, infinitive, separated prefix, or the whole verb in a subordinate clause),
and what follows the bracket.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.corpora.toy_adverbials import NEVER
from course_lib.corpora.toy_lexicon import Adjective
from course_lib.corpora.toy_phrases import (
    ACCUSATIVE,
    BARE,
    DATIVE,
    NOMINATIVE,
    A,
    Adverbial,
    Key,
    NounPhrase,
    Phrase,
    Pronoun,
    RelativePronoun,
    Token,
    english_adverbial,
    english_phrase,
    german_adverbial,
    german_phrase,
    person,
)
from course_lib.corpora.toy_verbs import (
    BE,
    ENGLISH_BE,
    FUTURE,
    GERMAN_AUXILIARIES,
    THIRD,
    Modal,
    Verb,
)

COMMA: Token = (",", ())
"""A comma that German wants and English has not: it stays without a link."""

# Where a constituent stands in the German middle field, from left to right.
SUBJECT, PRONOUN, TIME, FREQUENCY, RECIPIENT, DEFINITE = range(6)
NEGATION, MANNER, PLACE, INDEFINITE, LAST = range(6, 11)


@dataclass(slots=True, eq=False)
class Predicate:
    """What follows "is": an adjective, with "very" or "too", or compared with another one."""

    adjective: Adjective
    degree: str = ""
    than: NounPhrase | None = None


@dataclass(slots=True, eq=False)
class Attached:
    """A clause inside another one with the words that introduce it.

    `extended`: whether an infinitive clause has more than its verb and is set off by commas.
    """

    english: tuple[str, ...]
    german: tuple[str, ...]
    clause: Clause
    extended: bool = True


@dataclass(slots=True, eq=False)
class Clause:
    """One clause. `tense` is present, progressive, past, future, zu (infinitive) or ing.

    `front` is the one of its adverbials that stands first; `before` a subordinate clause that does;
    `after` one that follows. An `elided` subject is known from the clause before and left unsaid.
    """

    subject: Phrase | None
    verb: Verb
    tense: str = "present"
    modal: Modal | None = None
    negated: bool = False
    object: Phrase | None = None
    recipient: Phrase | None = None
    predicate: Predicate | None = None
    time: Adverbial | None = None
    frequency: Adverbial | None = None
    manner: Adverbial | None = None
    place: Adverbial | None = None
    complement: Adverbial | None = None
    front: Adverbial | None = None
    before: Attached | None = None
    after: Attached | None = None
    elided: bool = False

    def english_words(self) -> list[Token]:
        """The English words, the clauses inside it included."""
        return english_clause(self)


def _verb_person(clause: Clause) -> int:
    return THIRD if clause.subject is None else person(clause.subject)


def english_clause(clause: Clause) -> list[Token]:
    """The English words of a clause, without a full stop."""
    node = id(clause)
    words: list[Token] = []
    if clause.before is not None:
        words += _english_attached(clause.before)
        words.append((",", ((node, "comma"),)))
    if clause.front is not None:
        words += english_adverbial(clause.front)
    relative_object = isinstance(clause.object, RelativePronoun)
    if clause.object is not None and relative_object:
        words += english_phrase(clause.object, as_object=True)
    if clause.subject is not None and not clause.elided:
        words += english_phrase(clause.subject)
    auxiliaries, main = _english_verb(clause)
    words += auxiliaries
    if clause.frequency is not None:
        words += english_adverbial(clause.frequency)
    words += main
    verb = clause.verb
    small: list[Token] = []
    if verb.particle:
        small.append((verb.particle, ((node, "prefix" if verb.prefix else "verb"),)))
    if clause.recipient is not None:
        words += english_phrase(clause.recipient, as_object=True)
    # "picks up the child", but "picks her up".
    late = small if isinstance(clause.object, Pronoun) else []
    words += small if not late else []
    if verb.preposition:
        part = "preposition" if verb.german_preposition else "prefix" if verb.prefix else "verb"
        words.append((verb.preposition, ((node, part),)))
    if clause.object is not None and not relative_object:
        words += english_phrase(clause.object, as_object=True)
    words += late
    if clause.predicate is not None:
        words += _english_predicate(clause.predicate)
    for adverbial in (clause.complement, clause.manner, clause.place, clause.time):
        if adverbial is not None and adverbial is not clause.front:
            words += english_adverbial(adverbial)
    if clause.after is not None:
        words += _english_attached(clause.after)
    return words


def _english_verb(clause: Clause) -> tuple[list[Token], list[Token]]:
    """What stands before and after a frequency adverb: "does not", "visit"."""
    node, verb, row = id(clause), clause.verb, _verb_person(clause)
    auxiliary, negation, to = (node, "auxiliary"), (node, "not"), (node, "to")
    # A verb of one English word carries the German prefix too: "calls" is "ruft ... an".
    separate = bool(verb.particle) or (bool(verb.preposition) and not verb.german_preposition)
    lexical: tuple[Key, ...] = ((node, "verb"),) if separate else ((node, "verb"), (node, "prefix"))
    if clause.tense == "zu":
        return [("to", (to,))], [(verb.english, lexical)]
    if clause.tense == "ing":
        return [], [(verb.english_ing, (*lexical, to))]
    modal = FUTURE if clause.tense == "future" else clause.modal
    if modal is not None:
        said = (modal.negated if clause.negated else modal.english)[row]
        carried = {"not": (negation,), "cannot": (auxiliary, negation)}
        words: list[Token] = [(word, carried.get(word, (auxiliary,))) for word in said]
        return words, [(verb.english, lexical)]
    past = clause.tense == "past"
    denial: list[Token] = [("not", (negation,))] if clause.negated else []
    if verb is BE:
        return [(ENGLISH_BE[past][row], (auxiliary, *lexical)), *denial], []
    if clause.tense == "progressive":
        form = ENGLISH_BE[False][row]
        return [(form, (auxiliary,)), *denial], [(verb.english_ing, lexical)]
    if clause.negated:
        do = "did" if past else "does" if row == THIRD else "do"
        return [(do, (auxiliary,)), *denial], [(verb.english, lexical)]
    form = verb.english_past if past else verb.english_third if row == THIRD else verb.english
    return [], [(form, (auxiliary, *lexical))]


def _english_predicate(predicate: Predicate) -> list[Token]:
    node, adjective = id(predicate), predicate.adjective
    if predicate.than is not None:
        words: list[Token] = [(word, ((node, "adjective"),)) for word in adjective.comparative]
        return [*words, ("than", ((node, "than"),)), *english_phrase(predicate.than)]
    degree: list[Token] = [(predicate.degree, ((node, "degree"),))] if predicate.degree else []
    return [*degree, (adjective.english, ((node, "adjective"),))]


def _english_attached(attached: Attached) -> list[Token]:
    introduction: list[Token] = [(word, ((id(attached), "word"),)) for word in attached.english]
    return introduction + english_clause(attached.clause)


def german_clause(clause: Clause, verb_final: bool = False) -> list[Token]:
    """The German words of a clause, with doubled or closing commas still in place."""
    first = _german_first(clause, verb_final)
    middle, open_relative = _german_middle(clause)
    finite, bracket = _german_verb(clause, verb_final)
    words = [*first, *finite, *middle]
    words += bracket
    if open_relative is not None:
        # From the end of the middle field it moves behind the verbs: "schaltet die lampe ein , die"
        words += [COMMA, *german_clause(open_relative, verb_final=True), COMMA]
    if clause.after is not None:
        words += _german_attached(clause.after)
    return words


def _german_first(clause: Clause, verb_final: bool) -> list[Token]:
    """The words before the finite verb of a main clause, or before the middle field of another."""
    if isinstance(clause.object, RelativePronoun):
        return _german_object(clause, clause.object)
    if clause.subject is None or clause.elided:
        return []
    if verb_final:
        return _german_subject(clause.subject)
    if clause.before is not None:
        comma: Token = (",", ((id(clause), "comma"),))
        # No comma before it: the clause opens the sentence or follows "und".
        return [*_german_attached(clause.before)[1:], comma]
    if clause.front is not None:
        return german_adverbial(clause.front)
    return _german_subject(clause.subject)


def _german_subject(subject: Phrase) -> list[Token]:
    words = german_phrase(subject, NOMINATIVE)
    if isinstance(subject, NounPhrase) and subject.relative is not None:
        words += [COMMA, *german_clause(subject.relative, verb_final=True), COMMA]
    return words


def _german_object(clause: Clause, phrase: Phrase) -> list[Token]:
    verb = clause.verb
    if verb.german_preposition:
        preposition = (verb.german_preposition, ((id(clause), "preposition"),))
        return german_phrase(phrase, verb.case, preposition)
    case = DATIVE if verb.frame == "dat" else ACCUSATIVE
    negation = (id(clause), "not") if clause.negated and _takes_kein(clause) else None
    return german_phrase(phrase, case, negation=negation)


def _takes_kein(clause: Clause) -> bool:
    """ "not a" is one word in German, "kein", where the object has no preposition."""
    phrase = clause.object
    return (
        isinstance(phrase, NounPhrase)
        and phrase.determiner in (A, BARE)
        and not phrase.noun.proper
        and not clause.verb.german_preposition
    )


def _object_rank(clause: Clause, phrase: Phrase) -> int:
    if clause.verb.german_preposition:
        return LAST
    if isinstance(phrase, Pronoun):
        return PRONOUN
    definite = isinstance(phrase, NounPhrase) and (phrase.determiner.definite or phrase.noun.proper)
    return DEFINITE if definite else INDEFINITE


def _frequency_rank(clause: Clause) -> int:
    """ "nie" stands where "nicht" would, the others before the object."""
    never = clause.frequency is not None and clause.frequency.expression is NEVER
    return NEGATION if never else FREQUENCY


def _german_middle(clause: Clause) -> tuple[list[Token], Clause | None]:
    """The words between the verbs, and the relative clause of the last of them if it has one."""
    fields: list[tuple[int, list[Token]]] = []
    described: tuple[int, Clause] | None = None
    subject_first = clause.before is None and clause.front is None
    relative_object = isinstance(clause.object, RelativePronoun)
    if clause.subject is not None and not clause.elided and (relative_object or not subject_first):
        fields.append((SUBJECT, _german_subject(clause.subject)))
    if clause.object is not None and not relative_object:
        rank = _object_rank(clause, clause.object)
        fields.append((rank, _german_object(clause, clause.object)))
        if isinstance(clause.object, NounPhrase) and clause.object.relative is not None:
            described = (rank, clause.object.relative)
    if clause.recipient is not None:
        rank = PRONOUN if isinstance(clause.recipient, Pronoun) else RECIPIENT
        fields.append((rank, german_phrase(clause.recipient, DATIVE)))
    for rank, adverbial in (
        (TIME, clause.time),
        (_frequency_rank(clause), clause.frequency),
        (MANNER, clause.manner),
        (PLACE, clause.place),
        (LAST, clause.complement),
    ):
        if adverbial is not None and adverbial is not clause.front:
            fields.append((rank, german_adverbial(adverbial)))
    if clause.predicate is not None:
        fields.append((LAST, _german_predicate(clause.predicate)))
    if clause.negated and not _takes_kein(clause):
        fields.append((NEGATION, [("nicht", ((id(clause), "not"),))]))
    fields.sort(key=lambda field: field[0])
    words: list[Token] = []
    for rank, tokens in fields:
        words += tokens
        if described is not None and rank == described[0] and rank != fields[-1][0]:
            words += [COMMA, *german_clause(described[1], verb_final=True), COMMA]
            described = None
    return words, described[1] if described is not None else None


def _german_predicate(predicate: Predicate) -> list[Token]:
    node, adjective = id(predicate), predicate.adjective
    if predicate.than is not None:
        words: list[Token] = [(adjective.german_comparative, ((node, "adjective"),))]
        return [*words, ("als", ((node, "than"),)), *german_phrase(predicate.than, NOMINATIVE)]
    german = {"very": "sehr", "too": "zu"}
    degree: list[Token] = (
        [(german[predicate.degree], ((node, "degree"),))] if predicate.degree else []
    )
    return [*degree, (adjective.german, ((node, "adjective"),))]


def _german_verb(clause: Clause, verb_final: bool) -> tuple[list[Token], list[Token]]:
    """The finite verb in second position, and the right bracket, which has it when verb-final."""
    node, verb, row = id(clause), clause.verb, _verb_person(clause)
    auxiliary, lexical = (node, "auxiliary"), (node, "verb")
    prefix, to = (node, "prefix"), (node, "to")
    if clause.tense in ("zu", "ing"):
        if verb.prefix:
            return [], [(f"{verb.prefix}zu{verb.infinitive}", (to, lexical, prefix))]
        return [], [("zu", (to,)), (verb.infinitive, (lexical,))]
    modal = FUTURE if clause.tense == "future" else clause.modal
    bracket: list[Token]
    if modal is not None:
        finite: Token = (modal.german[row], (auxiliary,))
        bracket = [(verb.prefix + verb.infinitive, (lexical, prefix))]
    elif clause.tense == "past" and verb.german_past is None:
        finite = (GERMAN_AUXILIARIES[verb.auxiliary][row], (auxiliary,))
        bracket = [(verb.participle, (lexical, prefix))]
    else:
        past = verb.german_past if clause.tense == "past" else None
        form = (past or verb.finite)[row]
        if verb_final:
            return [], [(verb.prefix + form, (auxiliary, lexical, prefix))]
        separated: list[Token] = [(verb.prefix, (prefix,))] if verb.prefix else []
        return [(form, (auxiliary, lexical))], separated
    return ([], [*bracket, finite]) if verb_final else ([finite], bracket)


def _german_attached(attached: Attached) -> list[Token]:
    introduction: list[Token] = [(word, ((id(attached), "word"),)) for word in attached.german]
    words = introduction + german_clause(attached.clause, verb_final=True)
    return [COMMA, *words, COMMA] if attached.extended else words
