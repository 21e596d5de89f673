"""The German of a toy sentence.

A clause is built from its topological fields: the first position, the finite verb, the middle
field, the right bracket (participle, infinitive, separated prefix, or the whole verb in an embedded
clause), and what follows the bracket.
"""

from operator import itemgetter

from course_lib.corpora.toy import lexicon, plan
from course_lib.corpora.toy.plan import Token, joined, token

COMMA: Token = (",", ())
"""A comma that German wants and English has not: it stays without a link."""

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
DEGREES = {"very": "sehr", "too": "zu"}

# Where a constituent stands in the middle field, from left to right.
SUBJECT, PRONOUN, TIME, FREQUENCY, RECIPIENT, DEFINITE_OBJECT = range(6)
NEGATION, MANNER, LOCATION, INDEFINITE_OBJECT, LAST = range(6, 11)


def german_sentence(conjuncts: list[plan.Conjunct]) -> list[Token]:
    """The German words of a plan, with a comma before "aber" and around embedded clauses."""
    return _settle_commas(joined(conjuncts, german_clause, "und", "aber"))


def _settle_commas(tokens: list[Token]) -> list[Token]:
    """One comma where two clauses end at once, none before the full stop."""
    settled: list[Token] = []
    for word in tokens:
        if word[0] in (",", ".") and settled and settled[-1][0] == ",":
            comma = settled.pop()
            if word[0] == ",":
                word = token(",", *comma[1], *word[1])
        settled.append(word)
    return settled


def german_clause(clause: plan.Clause, verb_final: bool = False) -> list[Token]:
    """The German words of a clause; commas may still be doubled, or stand at its end."""
    words = _first_position(clause, verb_final)
    finite, bracket = _verb(clause, verb_final)
    middle, relative = _middle_field(clause)
    words += finite + middle + bracket
    if relative is not None:
        # From the end of the middle field it moves behind the verb: "schaltet die lampe ein , die".
        words += _relative_clause(relative)
    if clause.after is not None:
        words += _embedded(clause.after)
    return words


def _embedded(embedded: plan.EmbeddedClause) -> list[Token]:
    introduction = [token(word, (embedded, "introduction")) for word in embedded.german]
    words = introduction + german_clause(embedded.clause, verb_final=True)
    return [COMMA, *words, COMMA] if embedded.commas else words


def _relative_clause(clause: plan.Clause) -> list[Token]:
    return [COMMA, *german_clause(clause, verb_final=True), COMMA]


def _first_position(clause: plan.Clause, verb_final: bool) -> list[Token]:
    """The words before the finite verb of a main clause, or before the middle field of another."""
    if isinstance(clause.object, plan.RelativePronoun):
        return _object(clause, clause.object)
    if clause.subject is None or clause.elided:
        return []
    if not verb_final and clause.before is not None:
        # No comma before it: the clause opens the sentence or follows "und".
        return [*_embedded(clause.before)[1:], token(",", (clause, "comma"))]
    if not verb_final and clause.front is not None:
        return german_adverbial(clause.front)
    return _subject(clause.subject)


def _verb(clause: plan.Clause, verb_final: bool) -> tuple[list[Token], list[Token]]:
    """The finite verb in second position, and the right bracket, which has it when verb-final."""
    verb, person = clause.verb, clause.person
    auxiliary, lexical = (clause, "auxiliary"), (clause, "verb")
    prefix, to = (clause, "prefix"), (clause, "to")
    if clause.tense in ("infinitive", "gerund"):
        if verb.german_prefix:
            return [], [token(f"{verb.german_prefix}zu{verb.german}", to, lexical, prefix)]
        return [], [token("zu", to), token(verb.german, lexical)]
    modal = lexicon.FUTURE if clause.tense == "future" else clause.modal
    if modal is not None:
        finite = token(modal.german[person], auxiliary)
        bracket = [token(verb.german_prefix + verb.german, lexical, prefix)]
    elif clause.tense == "past" and verb.german_past is None:
        finite = token(lexicon.AUXILIARIES[verb.german_auxiliary][person], auxiliary)
        bracket = [token(verb.german_participle, lexical, prefix)]
    else:
        past = verb.german_past if clause.tense == "past" else None
        form = (past or verb.german_present)[person]
        if verb_final:
            return [], [token(verb.german_prefix + form, auxiliary, lexical, prefix)]
        finite = token(form, auxiliary, lexical)
        bracket = [token(verb.german_prefix, prefix)] if verb.german_prefix else []
    return ([], [*bracket, finite]) if verb_final else ([finite], bracket)


def _middle_field(clause: plan.Clause) -> tuple[list[Token], plan.Clause | None]:
    """The words between the verbs; the relative clause of an object that stands last, apart."""
    constituents = _constituents(clause)
    thing = clause.object
    relative = thing.relative if isinstance(thing, plan.NounPhrase) else None
    if thing is not None and relative is not None:
        place = _place_of_object(clause, thing)
        if place < max(constituents, key=itemgetter(0))[0]:
            constituents.append((place, _relative_clause(relative)))
            relative = None
    constituents.sort(key=itemgetter(0))
    return [word for _, words in constituents for word in words], relative


def _constituents(clause: plan.Clause) -> list[tuple[int, list[Token]]]:
    """What stands between the verbs, each with its place."""
    constituents = []
    object_first = isinstance(clause.object, plan.RelativePronoun)
    subject_first = not object_first and clause.before is None and clause.front is None
    if clause.subject is not None and not clause.elided and not subject_first:
        constituents.append((SUBJECT, _subject(clause.subject)))
    if clause.object is not None and not object_first:
        place = _place_of_object(clause, clause.object)
        constituents.append((place, _object(clause, clause.object)))
    if clause.recipient is not None:
        place = PRONOUN if isinstance(clause.recipient, plan.Pronoun) else RECIPIENT
        constituents.append((place, german_phrase(clause.recipient, lexicon.DATIVE)))
    for place, adverbial in (
        (TIME, clause.time),
        (_place_of_frequency(clause), clause.frequency),
        (MANNER, clause.manner),
        (LOCATION, clause.place),
        (LAST, clause.complement),
    ):
        if adverbial is not None and adverbial is not clause.front:
            constituents.append((place, german_adverbial(adverbial)))
    if clause.predicate is not None:
        constituents.append((LAST, _predicate(clause.predicate)))
    if clause.negated and not _takes_kein(clause):
        constituents.append((NEGATION, [token("nicht", (clause, "not"))]))
    return constituents


def _place_of_object(clause: plan.Clause, phrase: plan.Phrase) -> int:
    if clause.verb.german_preposition:
        return LAST
    if isinstance(phrase, plan.Pronoun):
        return PRONOUN
    if isinstance(phrase, plan.NounPhrase) and (phrase.determiner.definite or phrase.noun.proper):
        return DEFINITE_OBJECT
    return INDEFINITE_OBJECT


def _place_of_frequency(clause: plan.Clause) -> int:
    """ "nie" stands where "nicht" would, the others before the object."""
    never = clause.frequency is not None and clause.frequency.expression.german == ("nie",)
    return NEGATION if never else FREQUENCY


def _subject(phrase: plan.Phrase) -> list[Token]:
    words = german_phrase(phrase, lexicon.NOMINATIVE)
    if isinstance(phrase, plan.NounPhrase) and phrase.relative is not None:
        words += _relative_clause(phrase.relative)
    return words


def _object(clause: plan.Clause, phrase: plan.Phrase) -> list[Token]:
    verb = clause.verb
    if verb.german_preposition:
        preposition = token(verb.german_preposition, (clause, "preposition"))
        return german_phrase(phrase, verb.german_case, preposition)
    negation = token("nicht", (clause, "not")) if clause.negated and _takes_kein(clause) else None
    return german_phrase(phrase, verb.german_case, negation=negation)


def _takes_kein(clause: plan.Clause) -> bool:
    """ "not a" is one word in German, "kein", where the object has no preposition."""
    phrase = clause.object
    return (
        isinstance(phrase, plan.NounPhrase)
        and phrase.determiner in (lexicon.A, lexicon.BARE)
        and not phrase.noun.proper
        and not clause.verb.german_preposition
    )


def _predicate(predicate: plan.Predicate) -> list[Token]:
    adjective = predicate.adjective
    if predicate.than is not None:
        comparative = token(adjective.german_comparative, (predicate, "adjective"))
        than = german_phrase(predicate.than, lexicon.NOMINATIVE)
        return [comparative, token("als", (predicate, "than")), *than]
    degree = [token(DEGREES[predicate.degree], (predicate, "degree"))] if predicate.degree else []
    return [*degree, token(adjective.german, (predicate, "adjective"))]


def german_phrase(
    phrase: plan.Phrase,
    case: lexicon.Case,
    preposition: Token | None = None,
    negation: Token | None = None,
) -> list[Token]:
    """The German words of a phrase in a case, without its relative clause.

    A `preposition` runs together with the plain article where German does so ("zum", "im"), and
    the `negation` "nicht" with "ein" or no article ("kein").
    """
    if isinstance(phrase, plan.NounPhrase):
        return _noun_phrase(phrase, case, preposition, negation)
    if isinstance(phrase, plan.Coordination):
        first, second = german_phrase(phrase.first, case), german_phrase(phrase.second, case)
        return [*first, token("und", (phrase, "and")), *second]
    if isinstance(phrase, plan.Pronoun):
        forms = phrase.forms
        word = (forms.german, forms.german_accusative, forms.german_dative)[case]
    else:
        word = RELATIVE[case][phrase.head.gender]
    pronoun = token(word, (phrase, "pronoun"))
    return [pronoun] if preposition is None else [preposition, pronoun]


def _noun_phrase(
    phrase: plan.NounPhrase, case: lexicon.Case, preposition: Token | None, negation: Token | None
) -> list[Token]:
    gender = phrase.gender
    declension = "mixed" if negation is not None else phrase.determiner.adjectives
    endings = ADJECTIVE_ENDINGS[declension][case]
    tokens = _determiner(phrase, case, preposition, negation)
    for number, (adjective, very) in enumerate(phrase.adjectives):
        if very:
            tokens.append(token("sehr", (phrase, "very", number)))
        tokens.append(token(adjective.german_stem + endings[gender], (phrase, "adjective", number)))
    tokens.append(token(_noun(phrase, case), (phrase, "noun")))
    if phrase.companion is not None:
        tokens += german_phrase(phrase.companion, lexicon.DATIVE, token("mit", (phrase, "with")))
    return tokens


def _determiner(
    phrase: plan.NounPhrase, case: lexicon.Case, preposition: Token | None, negation: Token | None
) -> list[Token]:
    """Preposition and determiner, perhaps in one word."""
    determiner, gender = phrase.determiner, phrase.gender
    key = (phrase, "determiner")
    if negation is not None:
        return [token("kein" + EIN_ENDINGS[case][gender], *negation[1], key)]
    word = determiner.german
    if determiner.declension == "der":
        word = DEFINITE[case][gender]
    elif determiner.declension == "dieser":
        word += DIESER_ENDINGS[case][gender]
    elif determiner.declension == "ein":
        word += EIN_ENDINGS[case][gender]
    own = [token(word, key)] if word else []
    if preposition is None:
        return own
    contraction = CONTRACTIONS.get((preposition[0], word)) if determiner is lexicon.THE else None
    return [token(contraction, *preposition[1], key)] if contraction else [preposition, *own]


def _noun(phrase: plan.NounPhrase, case: lexicon.Case) -> str:
    noun = phrase.noun
    if phrase.plural:
        return noun.german_dative_plural if case is lexicon.DATIVE else noun.german_plural
    return noun.german if case is lexicon.NOMINATIVE else noun.german_oblique


def german_adverbial(adverbial: plan.Adverbial) -> list[Token]:
    """The German words of an adverbial."""
    if isinstance(adverbial, plan.FixedAdverbial):
        expression = adverbial.expression
        return [
            token(word, *[(adverbial, i, j) for i, j in expression.links if j == position])
            for position, word in enumerate(expression.german)
        ]
    preposition = token(adverbial.german, (adverbial, "preposition"))
    return german_phrase(adverbial.phrase, adverbial.case, preposition)
