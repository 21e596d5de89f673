"""The English of a toy sentence: the plan's parts, one after the other."""

from course_lib.corpora.toy import plan
from course_lib.corpora.toy.lexicon import BE, FUTURE, THIRD, A
from course_lib.corpora.toy.plan import Key, Token, joined, token

PRESENT_OF_BE = ("am", "is", "are")
PAST_OF_BE = ("was", "was", "were")


def english_sentence(conjuncts: list[plan.Conjunct]) -> list[Token]:
    """The English words of a plan, with a comma before "but" and after an embedded clause."""
    return joined(conjuncts, english_clause, "and", "but")


def english_clause(clause: plan.Clause) -> list[Token]:
    """The English words of a clause, without a full stop."""
    words: list[Token] = []
    if clause.before is not None:
        words += _embedded(clause.before)
        words.append(token(",", (clause, "comma")))
    if clause.front is not None:
        words += english_adverbial(clause.front)
    if isinstance(clause.object, plan.RelativePronoun):
        words += english_phrase(clause.object, as_object=True)
    if clause.subject is not None and not clause.elided:
        words += english_phrase(clause.subject)
    auxiliaries, verb = _verb(clause)
    words += auxiliaries
    if clause.frequency is not None:
        words += english_adverbial(clause.frequency)
    words += verb
    words += _objects(clause)
    if clause.predicate is not None:
        words += _predicate(clause.predicate)
    for adverbial in (clause.complement, clause.manner, clause.place, clause.time):
        if adverbial is not None and adverbial is not clause.front:
            words += english_adverbial(adverbial)
    if clause.after is not None:
        words += _embedded(clause.after)
    return words


def _embedded(embedded: plan.EmbeddedClause) -> list[Token]:
    introduction = [token(word, (embedded, "introduction")) for word in embedded.english]
    return introduction + english_clause(embedded.clause)


def _verb(clause: plan.Clause) -> tuple[list[Token], list[Token]]:
    """What stands before and after an adverb of frequency: "does not", "visit"."""
    verb, person = clause.verb, clause.person
    auxiliary, negation, to = (clause, "auxiliary"), (clause, "not"), (clause, "to")
    lexical: tuple[Key, ...] = ((clause, "verb"), (clause, "prefix"))
    if verb.english_particle or (verb.english_preposition and not verb.german_preposition):
        # "up" in "picks up" is the prefix of "holt ... ab"; "calls" alone is "ruft ... an".
        lexical = ((clause, "verb"),)
    base = token(verb.english, *lexical)
    if clause.tense == "infinitive":
        return [token("to", to)], [base]
    if clause.tense == "gerund":
        return [], [token(verb.english_ing, *lexical, to)]
    modal = FUTURE if clause.tense == "future" else clause.modal
    if modal is not None:
        forms = (modal.english_negated if clause.negated else None) or modal.english
        keys = {"not": (negation,), "cannot": (auxiliary, negation)}
        words = [token(word, *keys.get(word, (auxiliary,))) for word in forms[person].split()]
        return words, [base]
    past, third = clause.tense == "past", person is THIRD
    denial = [token("not", negation)] if clause.negated else []
    if verb is BE:
        form = (PAST_OF_BE if past else PRESENT_OF_BE)[person]
        return [token(form, auxiliary, *lexical), *denial], []
    if clause.tense == "progressive":
        form = PRESENT_OF_BE[person]
        return [token(form, auxiliary), *denial], [token(verb.english_ing, *lexical)]
    if clause.negated:
        form = "did" if past else "does" if third else "do"
        return [token(form, auxiliary), *denial], [base]
    form = verb.english_past if past else verb.english_third if third else verb.english
    return [], [token(form, auxiliary, *lexical)]


def _objects(clause: plan.Clause) -> list[Token]:
    """Recipient and object, with the particle or the preposition of the verb."""
    verb = clause.verb
    words: list[Token] = []
    if clause.recipient is not None:
        words += english_phrase(clause.recipient, as_object=True)
    second_half = (clause, "prefix" if verb.german_prefix else "verb")
    particle = [token(verb.english_particle, second_half)] if verb.english_particle else []
    # "picks up the child", but "picks her up".
    particle_last = isinstance(clause.object, plan.Pronoun)
    if not particle_last:
        words += particle
    if verb.english_preposition:
        key = (clause, "preposition") if verb.german_preposition else second_half
        words.append(token(verb.english_preposition, key))
    if clause.object is not None and not isinstance(clause.object, plan.RelativePronoun):
        words += english_phrase(clause.object, as_object=True)
    return words + particle if particle_last else words


def _predicate(predicate: plan.Predicate) -> list[Token]:
    adjective = predicate.adjective
    if predicate.than is not None:
        words = [token(word, (predicate, "adjective")) for word in adjective.english_comparative]
        return [*words, token("than", (predicate, "than")), *_noun_phrase(predicate.than)]
    degree = [token(predicate.degree, (predicate, "degree"))] if predicate.degree else []
    return [*degree, token(adjective.english, (predicate, "adjective"))]


def english_phrase(phrase: plan.Phrase, as_object: bool = False) -> list[Token]:
    """The English words of a phrase, its relative clause included."""
    if isinstance(phrase, plan.NounPhrase):
        return _noun_phrase(phrase)
    if isinstance(phrase, plan.Pronoun):
        forms = phrase.forms
        return [token(forms.english_object if as_object else forms.english, (phrase, "pronoun"))]
    if isinstance(phrase, plan.RelativePronoun):
        who = "whom" if as_object else "who"
        return [token(who if phrase.head.noun.kind == "person" else "which", (phrase, "pronoun"))]
    joint = token("and", (phrase, "and"))
    return [*_noun_phrase(phrase.first), joint, *_noun_phrase(phrase.second)]


def _noun_phrase(phrase: plan.NounPhrase) -> list[Token]:
    determiner, noun = phrase.determiner, phrase.noun
    words = determiner.english_plural if phrase.plural else determiner.english
    tokens = [token(word, (phrase, "determiner")) for word in words]
    for number, (adjective, very) in enumerate(phrase.adjectives):
        if very:
            tokens.append(token("very", (phrase, "very", number)))
        tokens.append(token(adjective.english, (phrase, "adjective", number)))
    for word in noun.english_plural if phrase.plural else noun.english:
        tokens.append(token(word, (phrase, "noun")))
    if determiner is A and tokens[1][0][0] in "aeiou" and not tokens[1][0].startswith("us"):
        tokens[0] = token("an", (phrase, "determiner"))
    if phrase.companion is not None:
        tokens.append(token("with", (phrase, "with")))
        tokens += _noun_phrase(phrase.companion)
    if phrase.relative is not None:
        tokens += english_clause(phrase.relative)
    return tokens


def english_adverbial(adverbial: plan.Adverbial) -> list[Token]:
    """The English words of an adverbial."""
    if isinstance(adverbial, plan.FixedAdverbial):
        expression = adverbial.expression
        return [
            token(word, *[(adverbial, i, j) for i, j in expression.links if i == position])
            for position, word in enumerate(expression.english)
        ]
    preposition = [token(word, (adverbial, "preposition")) for word in adverbial.english]
    return preposition + _noun_phrase(adverbial.phrase)
