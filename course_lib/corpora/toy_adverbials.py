"""The fixed adverbials of the toy grammar: when, how often, how, and what opens a sentence."""

from dataclasses import dataclass

from course_lib.corpora.toy_lexicon import columns, lower_cased


@dataclass(frozen=True, eq=False)
class Expression:
    """A fixed adverbial in both languages, with its own word links."""

    english: tuple[str, ...]
    german: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


# English | German [| links]: without links, word for word, or all to the other side's one word.
TIMES = {
    "past": """
        yesterday | gestern
        last week | letzte Woche
        last year | letztes Jahr
        two days ago | vor zwei Tagen | 0-1 1-2 2-0
        three weeks ago | vor drei Wochen | 0-1 1-2 2-0
    """,
    "present": """
        today | heute
        every day | jeden Tag
        every week | jede Woche
    """,
    "future": """
        tomorrow | morgen
        next week | nächste Woche
        next year | nächstes Jahr
        soon | bald
    """,
    "progressive": """
        now | jetzt
        right now | gerade
        at the moment | im Moment | 0-0 1-0 2-1
    """,
    "any": """
        on Monday | am Montag
        on Friday | am Freitag
        on Sunday | am Sonntag
        in the evening | am Abend | 0-0 1-0 2-1
        in the afternoon | am Nachmittag | 0-0 1-0 2-1
        in the summer | im Sommer | 0-0 1-0 2-1
        at the weekend | am Wochenende | 0-0 1-0 2-1
        at night | in der Nacht | 0-0 0-1 1-2
    """,
}
FREQUENCIES = """
    always | immer
    often | oft
    never | nie
    sometimes | manchmal
    rarely | selten
    usually | meistens
"""
MANNERS = """
    quickly | schnell
    slowly | langsam
    carefully | vorsichtig
    quietly | leise
    alone | allein
    patiently | geduldig
    secretly | heimlich
    gladly | gern
"""
OPINIONS = """
    perhaps | vielleicht
    unfortunately | leider
    fortunately | zum Glück
    probably | wahrscheinlich
    of course | natürlich
"""
JOINED = """
    then | dann
    therefore | deshalb
    nevertheless | trotzdem
"""
TRANSPORT = """
    by train | mit dem Zug | 0-0 0-1 1-2
    by bus | mit dem Bus | 0-0 0-1 1-2
    by car | mit dem Auto | 0-0 0-1 1-2
    by bicycle | mit dem Fahrrad | 0-0 0-1 1-2
"""
AT_HOME = "at home | zu Hause"
HOME = "home | nach Hause"


def _read_expressions(table: str) -> list[Expression]:
    expressions = []
    for row in columns(table):
        english = tuple(lower_cased(row[0], "en").split())
        german = tuple(lower_cased(row[1], "de").split())
        if len(row) > 2:
            pairs = [link.split("-") for link in row[2].split()]
            links = tuple((int(i), int(j)) for i, j in pairs)
        elif len(english) == len(german):
            links = tuple((i, i) for i in range(len(english)))
        else:
            links = tuple((i, j) for i in range(len(english)) for j in range(len(german)))
        expressions.append(Expression(english, german, links))
    return expressions


TIME = {tense: _read_expressions(table) for tense, table in TIMES.items()}
FREQUENCY = _read_expressions(FREQUENCIES)
NEVER = next(word for word in FREQUENCY if word.english == ("never",))
EVERY_TIME = [word for word in TIME["present"] if word.english[0] == "every"]
MANNER = _read_expressions(MANNERS)
OPINION = _read_expressions(OPINIONS)
CONNECTIVE = _read_expressions(JOINED)
BY_VEHICLE = _read_expressions(TRANSPORT)
LOCATED_AT_HOME = _read_expressions(AT_HOME)[0]
TOWARDS_HOME = _read_expressions(HOME)[0]
CONSEQUENCES = [word for word in CONNECTIVE if word.english[0] in ("then", "therefore")]
