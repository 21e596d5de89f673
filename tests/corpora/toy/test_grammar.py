"""German as a teacher would write it: sentences, links and declensions worked out by hand."""

from itertools import chain

import pytest

from course_lib.corpora.toy import lexicon
from course_lib.corpora.toy.corpus import speak
from course_lib.corpora.toy.german import DEFINITE, german_phrase
from course_lib.corpora.toy.plan import (
    Clause,
    Conjunct,
    Coordination,
    EmbeddedClause,
    FixedAdverbial,
    NounPhrase,
    Predicate,
    PrepositionalPhrase,
    Pronoun,
    RelativePronoun,
    Subject,
    pronoun_for,
)
from course_lib.corpora.toy.planner import COMPANIONS, LIFELESS_SUBJECTS, MOVABLE, SIMPLE_FRAMES

MY, HER, OUR = (lexicon.DETERMINERS[word] for word in ("my", "her", "our"))


def noun(english: str) -> lexicon.Noun:
    return next(one for one in (*lexicon.NOUNS, *lexicon.NAMES) if " ".join(one.english) == english)


def adjective(english: str) -> lexicon.Adjective:
    return next(one for one in lexicon.ADJECTIVES if one.english == english)


def verb(english: str, frame: str = "") -> lexicon.Verb:
    def name(one: lexicon.Verb) -> str:
        words = (one.english, one.english_particle, one.english_preposition)
        return " ".join(word for word in words if word)

    return next(one for one in lexicon.VERBS if name(one) == english and frame in ("", one.frame))


def modal(third_person: str) -> lexicon.Modal:
    return next(one for one in chain(*lexicon.MODALS.values()) if one.english[1] == third_person)


def phrase(
    english: str,
    determiner: lexicon.Determiner = lexicon.THE,
    *adjectives: str,
    plural: bool = False,
) -> NounPhrase:
    described_by = tuple((adjective(one), False) for one in adjectives)
    return NounPhrase(determiner, noun(english), plural, described_by)


def fixed(english: str) -> FixedAdverbial:
    return FixedAdverbial(
        next(one for one in lexicon.EXPRESSIONS if " ".join(one.english) == english)
    )


def to(english: str) -> PrepositionalPhrase:
    german = noun(english).german_to
    case = lexicon.DATIVE if german == "zu" else lexicon.ACCUSATIVE
    return PrepositionalPhrase(("to",), german, phrase(english), case)


def at(english: str, *adjectives: str) -> PrepositionalPhrase:
    place = noun(english)
    return PrepositionalPhrase(
        place.english_at, place.german_at, phrase(english, lexicon.THE, *adjectives)
    )


def fronted(clause: Clause) -> Clause:
    clause.front = clause.time or clause.place
    return clause


def because(clause: Clause) -> EmbeddedClause:
    return EmbeddedClause(("because",), ("weil",), clause)


def described(head: NounPhrase, clause: Clause) -> NounPhrase:
    head.relative = clause
    return head


def spoken(*clauses: Clause) -> tuple[str, str, str]:
    """English, German and the links of main clauses joined by "and", links as sorted `i-j`."""
    speaker = Subject(Pronoun(lexicon.I_FORMS), "person")
    english, german, links = speak([Conjunct(clause, speaker) for clause in clauses])
    return " ".join(english), " ".join(german), " ".join(f"{i}-{j}" for i, j in sorted(links))


def relative_sentence() -> Clause:
    man = phrase("man")
    pronoun = RelativePronoun(man)
    inner = Clause(Pronoun(lexicon.WE_FORMS), verb("help"), "past", object=pronoun)
    return Clause(described(man, inner), verb("sing"))


def extraposed_sentence() -> Clause:
    lamp = phrase("lamp")
    inner = Clause(RelativePronoun(lamp), lexicon.BE, predicate=Predicate(adjective("old")))
    return Clause(phrase("teacher"), verb("turn off"), object=described(lamp, inner))


SENTENCES = {
    "V2 after a fronted adverb, perfect with the participle last": (
        fronted(
            Clause(
                phrase("teacher", lexicon.THE, "old"),
                verb("visit"),
                "past",
                object=phrase("museum"),
                time=fixed("yesterday"),
            )
        ),
        "yesterday the old teacher visited the museum .",
        "gestern hat der alte lehrer das museum besucht .",
        "0-0 1-2 2-3 3-4 4-1 4-7 5-5 6-6 7-8",
    ),
    "verb-final clause, prefix joined to its verb": (
        Clause(
            phrase("woman"),
            verb("laugh", "intransitive"),
            after=because(Clause(phrase("boy"), verb("call"), object=Pronoun(lexicon.SHE_FORMS))),
        ),
        "the woman laughs because the boy calls her .",
        "die frau lacht , weil der junge sie anruft .",
        "0-0 1-1 2-2 3-4 4-5 5-6 6-8 7-7 8-9",
    ),
    "fronted clause, then the verb": (
        Clause(
            Pronoun(lexicon.HE_FORMS),
            verb("sleep"),
            before=because(
                Clause(phrase("man"), lexicon.BE, predicate=Predicate(adjective("tired")))
            ),
        ),
        "because the man is tired , he sleeps .",
        "weil der mann müde ist , schläft er .",
        "0-0 1-1 2-2 3-4 4-3 5-5 6-7 7-6 8-8",
    ),
    "separable verb": (
        Clause(phrase("peter", lexicon.BARE), verb("pick up"), object=phrase("child")),
        "peter picks up the child .",
        "peter holt das kind ab .",
        "0-0 1-1 2-4 3-2 4-3 5-5",
    ),
    "um ... zu": (
        Clause(
            Pronoun(lexicon.WE_FORMS),
            verb("work"),
            after=EmbeddedClause(
                ("in", "order"),
                ("um",),
                Clause(None, verb("buy"), "infinitive", object=phrase("car", lexicon.A)),
            ),
        ),
        "we work in order to buy a car .",
        "wir arbeiten , um ein auto zu kaufen .",
        "0-0 1-1 2-3 3-3 4-6 5-7 6-4 7-5 8-8",
    ),
    "ohne ... zu": (
        Clause(
            phrase("anna", lexicon.BARE),
            verb("drive"),
            complement=fixed("home"),
            after=EmbeddedClause(
                ("without",),
                ("ohne",),
                Clause(None, verb("wait for"), "gerund", object=phrase("uncle")),
            ),
        ),
        "anna drives home without waiting for the uncle .",
        "anna fährt nach hause , ohne auf den onkel zu warten .",
        "0-0 1-1 2-2 2-3 3-5 4-9 4-10 5-6 6-7 7-8 8-11",
    ),
    "contraction zum and compound noun": (
        Clause(Pronoun(lexicon.WE_FORMS), verb("go"), complement=to("train station")),
        "we go to the train station .",
        "wir gehen zum bahnhof .",
        "0-0 1-1 2-2 3-2 4-3 5-3 6-4",
    ),
    "contraction ins, transport by two words for one": (
        Clause(
            Pronoun(lexicon.SHE_FORMS),
            verb("drive"),
            complement=to("village"),
            manner=fixed("by train"),
        ),
        "she drives to the village by train .",
        "sie fährt mit dem zug ins dorf .",
        "0-0 1-1 2-5 3-5 4-6 5-2 5-3 6-4 7-7",
    ),
    "contractions im and am, V2 after a place": (
        fronted(
            Clause(
                phrase("child", lexicon.THE, plural=True),
                verb("play", "intransitive"),
                place=at("park", "quiet"),
            )
        ),
        "in the quiet park the children play .",
        "im ruhigen park spielen die kinder .",
        "0-0 1-0 2-1 3-2 4-4 5-5 6-3 7-6",
    ),
    "progressive": (
        Clause(
            phrase("child"),
            verb("read"),
            "progressive",
            object=phrase("book"),
            time=fixed("right now"),
        ),
        "the child is reading the book right now .",
        "das kind liest gerade das buch .",
        "0-0 1-1 2-2 3-2 4-4 5-5 6-3 7-3 8-6",
    ),
    "kein": (
        Clause(
            phrase("girl"), verb("drink"), negated=True, object=phrase("milk", lexicon.BARE, "cold")
        ),
        "the girl does not drink cold milk .",
        "das mädchen trinkt keine kalte milch .",
        "0-0 1-1 2-2 3-3 4-2 5-4 6-5 7-6",
    ),
    "nicht before a direction": (
        Clause(phrase("king"), verb("go"), negated=True, complement=to("market")),
        "the king does not go to the market .",
        "der könig geht nicht auf den markt .",
        "0-0 1-1 2-2 3-3 4-2 5-4 6-5 7-6 8-7",
    ),
    "modal with the infinitive last, dative verb, weak noun": (
        Clause(
            phrase("neighbour", OUR),
            verb("help"),
            modal=modal("wants to"),
            object=phrase("student"),
        ),
        "our neighbour wants to help the student .",
        "unser nachbar will dem studenten helfen .",
        "0-0 1-1 2-2 3-2 4-5 5-3 6-4 7-6",
    ),
    "two objects": (
        Clause(
            phrase("anna", lexicon.BARE),
            verb("give"),
            "past",
            recipient=phrase("child", MY, plural=True),
            object=phrase("novel", lexicon.A),
        ),
        "anna gave my children a novel .",
        "anna hat meinen kindern einen roman gegeben .",
        "0-0 1-1 1-6 2-2 3-3 4-4 5-5 6-7",
    ),
    "relative clause in the dative": (
        relative_sentence(),
        "the man whom we helped sings .",
        "der mann , dem wir geholfen haben , singt .",
        "0-0 1-1 2-3 3-4 4-5 4-6 5-8 6-9",
    ),
    "relative clause behind the prefix": (
        extraposed_sentence(),
        "the teacher turns off the lamp which is old .",
        "der lehrer schaltet die lampe aus , die alt ist .",
        "0-0 1-1 2-2 3-5 4-3 5-4 6-7 7-9 8-8 9-10",
    ),
    "possessive name, comparison": (
        Clause(
            phrase("dog", lexicon.DETERMINERS["anna 's"]),
            lexicon.BE,
            predicate=Predicate(adjective("beautiful"), than=phrase("horse", lexicon.THIS)),
        ),
        "anna 's dog is more beautiful than this horse .",
        "annas hund ist schöner als dieses pferd .",
        "0-0 1-0 2-1 3-2 4-3 5-3 6-4 7-5 8-6 9-7",
    ),
    "never before the participle, always before the object": (
        Clause(
            Coordination(phrase("aunt"), phrase("uncle", HER)),
            verb("visit"),
            "past",
            object=phrase("city"),
            frequency=fixed("never"),
        ),
        "the aunt and her uncle never visited the city .",
        "die tante und ihr onkel haben die stadt nie besucht .",
        "0-0 1-1 2-2 3-3 4-4 5-8 6-5 6-9 7-6 8-7 9-10",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentence_and_links_worked_out_by_hand(name: str) -> None:
    clause, english, german, links = SENTENCES[name]
    assert spoken(clause) == (english, german, links)


@pytest.mark.parametrize(
    ("thing", "german"),
    [
        ("computer", "der computer ist neu , obwohl er billig ist ."),
        ("lamp", "die lampe ist neu , obwohl sie billig ist ."),
        ("radio", "das radio ist neu , obwohl es billig ist ."),
    ],
)
def test_it_takes_the_gender_of_what_it_stands_for(thing: str, german: str) -> None:
    subject = phrase(thing)
    it = pronoun_for(subject)
    inner = Clause(it, lexicon.BE, predicate=Predicate(adjective("cheap")))
    main = Clause(subject, lexicon.BE, predicate=Predicate(adjective("new")))
    main.after = EmbeddedClause(("although",), ("obwohl",), inner)
    english, translated, _ = spoken(main)
    assert english == f"the {thing} is new although it is cheap ."
    assert translated == german


def test_unsaid_subject_and_and() -> None:
    subject = phrase("man")
    book = phrase("letter", lexicon.A)
    first = Clause(subject, verb("write"), "past", object=book)
    second = Clause(subject, verb("read"), "past", object=pronoun_for(book), elided=True)
    assert spoken(first, second) == (
        "the man wrote a letter and read it .",
        "der mann hat einen brief geschrieben und hat ihn gelesen .",
        "0-0 1-1 2-2 2-5 3-3 4-4 5-6 6-7 6-9 7-8 8-10",
    )


# From a school grammar: nominative, accusative, dative; singular, then plural.
DECLINED = {
    "teacher": ("der lehrer", "den lehrer", "dem lehrer", "die lehrer", "den lehrern"),
    "woman": ("die frau", "die frau", "der frau", "die frauen", "den frauen"),
    "child": ("das kind", "das kind", "dem kind", "die kinder", "den kindern"),
    "boy": ("der junge", "den jungen", "dem jungen", "die jungen", "den jungen"),
    "student": ("der student", "den studenten", "dem studenten", "die studenten", "den studenten"),
    "neighbour": ("der nachbar", "den nachbarn", "dem nachbarn", "die nachbarn", "den nachbarn"),
    "farmer": ("der bauer", "den bauern", "dem bauern", "die bauern", "den bauern"),
    "bear": ("der bär", "den bären", "dem bären", "die bären", "den bären"),
    "doctor": ("der arzt", "den arzt", "dem arzt", "die ärzte", "den ärzten"),
    "girl": ("das mädchen", "das mädchen", "dem mädchen", "die mädchen", "den mädchen"),
    "daughter": ("die tochter", "die tochter", "der tochter", "die töchter", "den töchtern"),
    "queen": ("die königin", "die königin", "der königin", "die königinnen", "den königinnen"),
    "car": ("das auto", "das auto", "dem auto", "die autos", "den autos"),
    "apple": ("der apfel", "den apfel", "dem apfel", "die äpfel", "den äpfeln"),
    "house": ("das haus", "das haus", "dem haus", "die häuser", "den häusern"),
    "museum": ("das museum", "das museum", "dem museum", "die museen", "den museen"),
    "newspaper": ("die zeitung", "die zeitung", "der zeitung", "die zeitungen", "den zeitungen"),
    "train": ("der zug", "den zug", "dem zug", "die züge", "den zügen"),
}


def german(described_phrase: NounPhrase, case: int) -> str:
    return " ".join(word for word, _ in german_phrase(described_phrase, case))


@pytest.mark.parametrize("english", DECLINED)
def test_nouns_and_articles_agree_in_gender_number_and_case(english: str) -> None:
    nominative, accusative, dative, plural, dative_plural = DECLINED[english]
    cases = (lexicon.NOMINATIVE, lexicon.ACCUSATIVE, lexicon.DATIVE)
    singular_forms = tuple(german(phrase(english), case) for case in cases)
    plural_forms = tuple(german(phrase(english, plural=True), case) for case in cases)
    assert singular_forms == (nominative, accusative, dative)
    assert plural_forms == (plural, plural, dative_plural)


@pytest.mark.parametrize(
    ("determiner", "english", "forms"),
    [
        ("the", "dog", "der alte hund, den alten hund, dem alten hund"),
        ("a", "dog", "ein alter hund, einen alten hund, einem alten hund"),
        ("this", "dog", "dieser alte hund, diesen alten hund, diesem alten hund"),
        ("the", "cat", "die alte katze, die alte katze, der alten katze"),
        ("a", "cat", "eine alte katze, eine alte katze, einer alten katze"),
        ("the", "horse", "das alte pferd, das alte pferd, dem alten pferd"),
        ("a", "horse", "ein altes pferd, ein altes pferd, einem alten pferd"),
        ("", "bread", "altes brot, altes brot, altem brot"),
        ("", "milk", "alte milch, alte milch, alter milch"),
        ("", "tea", "alter tee, alten tee, altem tee"),
        ("my", "dogs", "meine alten hunde, meine alten hunde, meinen alten hunden"),
        ("all", "dogs", "alle alten hunde, alle alten hunde, allen alten hunden"),
        ("", "dogs", "alte hunde, alte hunde, alten hunden"),
        ("two", "dogs", "zwei alte hunde, zwei alte hunde, zwei alten hunden"),
        ("many", "dogs", "viele alte hunde, viele alte hunde, vielen alten hunden"),
    ],
)
def test_adjectives_are_weak_mixed_or_strong(determiner: str, english: str, forms: str) -> None:
    plural = english == "dogs"
    one = phrase(
        "dog" if plural else english, lexicon.DETERMINERS[determiner], "old", plural=plural
    )
    assert (
        ", ".join(
            german(one, case) for case in (lexicon.NOMINATIVE, lexicon.ACCUSATIVE, lexicon.DATIVE)
        )
        == forms
    )


@pytest.mark.parametrize(
    ("english", "expected"),
    [("expensive", "ein teurer hund"), ("dark", "ein dunkler hund"), ("tired", "ein müder hund")],
)
def test_adjectives_that_change_before_an_ending(english: str, expected: str) -> None:
    assert german(phrase("dog", lexicon.A, english), lexicon.NOMINATIVE) == expected


def test_every_noun_has_an_article_of_its_gender_and_a_dative_plural_in_n_or_s() -> None:
    for one in lexicon.NOUNS:
        singular = NounPhrase(lexicon.THE, one)
        article = DEFINITE[lexicon.NOMINATIVE][one.gender]
        assert german(singular, lexicon.NOMINATIVE) == f"{article} {one.german}"
        if one.german_plural:
            assert german(NounPhrase(lexicon.THE, one, True), lexicon.DATIVE)[-1] in "ns"


def test_gender_follows_the_endings_that_decide_it() -> None:
    for one in lexicon.NOUNS:
        if one.german.endswith(("ung", "in", "thek", "ine")):
            assert one.gender == lexicon.FEMININE, one.german
        if one.german.endswith(("um", "mädchen", "märchen", "zimmer")):
            assert one.gender == lexicon.NEUTER, one.german


def test_the_tables_speak_of_kinds_that_nouns_have_and_of_frames_that_the_planner_knows() -> None:
    kinds = {one.kind for one in lexicon.NOUNS}
    assert {*LIFELESS_SUBJECTS, *MOVABLE, *COMPANIONS, *lexicon.PLACES} <= kinds
    for one in (*lexicon.ADJECTIVES, *lexicon.PREPOSITIONS):
        assert {*one.kinds} <= kinds, one
    for verb in lexicon.VERBS:
        assert {*verb.objects, *verb.subjects} <= kinds, verb
        assert verb.frame in (*SIMPLE_FRAMES, "that", "whether", "infinitive", "gerund"), verb
