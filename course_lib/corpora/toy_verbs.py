"""The verbs of the toy grammar, and how both languages conjugate them."""

from dataclasses import dataclass

FIRST, THIRD, THEY = range(3)
"""Rows of a conjugation: first person singular, third person singular, any plural."""

Forms = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb in both languages, and the frame that says what goes with it.

    `particle` stands next to the English verb ("picks up"), `preposition` before its object ("waits
    for"). `prefix` is the separable part of the German verb: `infinitive` and `finite` come without
    it, `participle` with it. `german_preposition` governs `case` (1 accusative, 2 dative). A
    `stative` verb has no progressive and no manner, a `lasting` one no time and no modal either.
    """

    english: str
    english_third: str
    english_past: str
    english_ing: str
    particle: str
    preposition: str
    infinitive: str
    finite: Forms
    participle: str
    prefix: str
    auxiliary: str
    frame: str
    german_preposition: str
    case: int
    objects: str
    subjects: str
    stative: bool
    lasting: bool = False
    german_past: Forms | None = None


# English, past where irregular, +particle, @preposition | German infinitive with prefix+, third
# person, participle, h(aben) or s(ein) | frame, kinds of object | kinds of subject if not persons,
# stative, lasting. Frames: intr, acc, dat, PREP+acc, PREP+dat, give (dative and accusative),
# to (direction), at (place), that, whether, zu (infinitive clause), ing (the same after "-ing").
VERB_TABLE = """
visit | besuchen besucht besucht h | acc plk
see saw | sehen sieht gesehen h | acc palktvcr | stative
read read | lesen liest gelesen h | acc r
write wrote | schreiben schreibt geschrieben h | acc r
buy bought | kaufen kauft gekauft h | acc tefdrcv
sell sold | verkaufen verkauft verkauft h | acc tefdrcv
find found | finden findet gefunden h | acc atrc | stative
love | lieben liebt geliebt h | acc palkrd | stative lasting
paint | malen malt gemalt h | acc palk
repair | reparieren repariert repariert h | acc ev
carry | tragen trägt getragen h | acc tc
wash | waschen wäscht gewaschen h | acc cv
prepare | zu+bereiten bereitet zubereitet h | acc f
eat ate | essen isst gegessen h | acc f | pa
drink drank | trinken trinkt getrunken h | acc d
open | öffnen öffnet geöffnet h | acc r
forget forgot | vergessen vergisst vergessen h | acc tcr | stative
lose lost | verlieren verliert verloren h | acc tcr | stative
need | brauchen braucht gebraucht h | acc tefdrcv | stative lasting
order | bestellen bestellt bestellt h | acc fd
look @for | suchen sucht gesucht h | acc patcr
pay paid @for | bezahlen bezahlt bezahlt h | acc fdtc
know knew | kennen kennt gekannt h | acc plkr | stative lasting
meet met | treffen trifft getroffen h | acc p
hear heard | hören hört gehört h | acc pa | stative
watch | beobachten beobachtet beobachtet h | acc pav | pa
wake woke | wecken weckt geweckt h | acc p
understand understood | verstehen versteht verstanden h | acc pr | stative lasting
describe | beschreiben beschreibt beschrieben h | acc plkr
feed fed | füttern füttert gefüttert h | acc a
admire | bewundern bewundert bewundert h | acc plkr | stative lasting
help | helfen hilft geholfen h | dat p
thank | danken dankt gedankt h | dat p
follow | folgen folgt gefolgt s | dat pav | pa
congratulate | gratulieren gratuliert gratuliert h | dat p
trust | vertrauen vertraut vertraut h | dat p | stative lasting
answer | antworten antwortet geantwortet h | dat p
listen @to | zu+hören hört zugehört h | dat p
wait @for | warten wartet gewartet h | auf+acc pv | pa
think thought @of | denken denkt gedacht h | an+acc plkr | stative
dream @of | träumen träumt geträumt h | von+dat plkcv | stative
speak spoke @with | sprechen spricht gesprochen h | mit+dat p
play @with | spielen spielt gespielt h | mit+dat pa
laugh @about | lachen lacht gelacht h | über+acc pr
give gave | geben gibt gegeben h | give tfrc
show showed | zeigen zeigt gezeigt h | give lktrcv
bring brought | bringen bringt gebracht h | give tfdrc
send sent | schicken schickt geschickt h | give rtc
sleep slept | schlafen schläft geschlafen h | intr | pa
laugh | lachen lacht gelacht h | intr
cry | weinen weint geweint h | intr
sing sang | singen singt gesungen h | intr
dance | tanzen tanzt getanzt h | intr
work | arbeiten arbeitet gearbeitet h | intr
swim swam | schwimmen schwimmt geschwommen s | intr | pa
play | spielen spielt gespielt h | intr | pa
go went | gehen geht gegangen s | to lkh
run ran | laufen läuft gelaufen s | to lkh | pa
drive drove | fahren fährt gefahren s | to lk
travel travelled | reisen reist gereist s | to k
lie lay | liegen liegt gelegen h | at uh | atrcf stative lasting
stand stood | stehen steht gestanden h | at lh | pa stative
pick +up | ab+holen holt abgeholt h | acc p
call | an+rufen ruft angerufen h | acc p
invite | ein+laden lädt eingeladen h | acc p
tidy +up | auf+räumen räumt aufgeräumt h | acc h
turn +on | ein+schalten schaltet eingeschaltet h | acc e
turn +off | aus+schalten schaltet ausgeschaltet h | acc e
try +on | an+probieren probiert anprobiert h | acc c
take took +off | aus+ziehen zieht ausgezogen h | acc c
throw threw +away | weg+werfen wirft weggeworfen h | acc tfrc
bring brought +back | zurück+bringen bringt zurückgebracht h | acc trc
look @at | an+sehen sieht angesehen h | acc prlktcv
unpack | aus+packen packt ausgepackt h | acc tc
get got +up | auf+stehen steht aufgestanden s | intr | pa
wake woke +up | auf+wachen wacht aufgewacht s | intr | pa
come came +back | zurück+kommen kommt zurückgekommen s | intr | pa
arrive | an+kommen kommt angekommen s | intr | pv
depart | ab+fahren fährt abgefahren s | intr | v
stop | an+halten hält angehalten h | intr | v
say said | sagen sagt gesagt h | that | stative
believe | glauben glaubt geglaubt h | that | stative lasting
know knew | wissen weiß gewusst h | that | stative lasting
hope | hoffen hofft gehofft h | that | stative
claim | behaupten behauptet behauptet h | that | stative
notice | bemerken bemerkt bemerkt h | that | stative
ask | fragen fragt gefragt h | whether | stative
try | versuchen versucht versucht h | zu
promise | versprechen verspricht versprochen h | zu | stative
begin began | an+fangen fängt angefangen h | zu
plan | planen plant geplant h | zu | stative
offer | an+bieten bietet angeboten h | zu | stative
stop | auf+hören hört aufgehört h | ing
"""

# The verbs that double their last letter before -ing, and before -ed where they are regular.
_DOUBLING = ("swim", "get", "run", "stop", "begin", "forget", "plan", "travel")
_IRREGULAR_FINITE: dict[str, Forms] = {"wissen": ("weiß", "weiß", "wissen")}
_IRREGULAR_PAST: dict[str, Forms] = {"wissen": ("wusste", "wusste", "wussten")}
_CASES = {"acc": 1, "dat": 2}


def _third(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _regular_past(base: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + "ed"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


def _ing(base: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


def _german_finite(infinitive: str, third: str) -> Forms:
    """The German present: "ich füttere", "ich lese"; every plural is the infinitive."""
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    return (stem + "e", third, infinitive)


def _read_verb(row: str) -> Verb:
    english, german, frame, *rest = [cell.strip() for cell in row.split("|")]
    words = english.split()
    plain = [word for word in words if word[0] not in "+@"]
    infinitive, third, participle, auxiliary = german.split()
    prefix, _, infinitive = infinitive.rpartition("+")
    kind, _, objects = frame.partition(" ")
    preposition, _, case = kind.rpartition("+")
    flags = rest[0].split() if rest else []
    subjects = [flag for flag in flags if flag not in ("stative", "lasting")]
    return Verb(
        english=plain[0],
        english_third=_third(plain[0]),
        english_past=plain[1] if len(plain) > 1 else _regular_past(plain[0]),
        english_ing=_ing(plain[0]),
        particle=next((word[1:] for word in words if word[0] == "+"), ""),
        preposition=next((word[1:] for word in words if word[0] == "@"), ""),
        infinitive=infinitive,
        finite=_IRREGULAR_FINITE.get(infinitive) or _german_finite(infinitive, third),
        participle=participle,
        prefix=prefix,
        auxiliary="sein" if auxiliary == "s" else "haben",
        frame="prep" if preposition else kind,
        german_preposition=preposition,
        case=_CASES.get(case, 1),
        objects=objects,
        subjects=subjects[0] if subjects else "p",
        stative="stative" in flags,
        lasting="lasting" in flags,
        german_past=_IRREGULAR_PAST.get(infinitive),
    )


VERBS = [_read_verb(row) for row in VERB_TABLE.strip().split("\n")]


def _auxiliary(english: str, german: str, frame: str, objects: str, past: Forms) -> Verb:
    return Verb(
        english=english,
        english_third={"be": "is", "have": "has"}[english],
        english_past={"be": "was", "have": "had"}[english],
        english_ing="",
        particle="",
        preposition="",
        infinitive=german,
        finite=GERMAN_AUXILIARIES[german],
        participle="",
        prefix="",
        auxiliary="",
        frame=frame,
        german_preposition="",
        case=1,
        objects=objects,
        subjects="p",
        stative=True,
        german_past=past,
    )


GERMAN_AUXILIARIES: dict[str, Forms] = {
    "haben": ("habe", "hat", "haben"),
    "sein": ("bin", "ist", "sind"),
    "werden": ("werde", "wird", "werden"),
}
ENGLISH_BE = {False: ("am", "is", "are"), True: ("was", "was", "were")}
BE = _auxiliary("be", "sein", "be", "", ("war", "war", "waren"))
HAVE = _auxiliary("have", "haben", "acc", "atvcr", ("hatte", "hatte", "hatten"))


@dataclass(frozen=True, eq=False)
class Modal:
    """A modal in one tense: English words by person, plain and negated, and German finite forms.

    `negated` is empty where the languages disagree ("must not" is not "muss nicht"). "not" carries
    the negation, "cannot" both.
    """

    english: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    negated: tuple[tuple[str, ...], ...]
    german: Forms
    past: bool


def _modal(english: str, negated: str, german: str, past: bool = False) -> Modal:
    def by_person(cell: str) -> tuple[tuple[str, ...], ...]:
        choices = [tuple(choice.split()) for choice in cell.split("/")]
        return tuple(choices * 3 if len(choices) == 1 else choices)

    first, third, they = by_person(english)
    one, three, many = german.split()
    return Modal(
        (first, third, they), by_person(negated) if negated else (), (one, three, many), past
    )


FUTURE = _modal("will", "will not", "werde wird werden")
MODALS = [
    _modal("can", "cannot", "kann kann können"),
    _modal("must", "", "muss muss müssen"),
    _modal("should", "should not", "sollte sollte sollten"),
    _modal("may", "may not", "darf darf dürfen"),
    _modal(
        "want to/wants to/want to",
        "do not want to/does not want to/do not want to",
        "will will wollen",
    ),
]
PAST_MODALS = [
    _modal("could", "could not", "konnte konnte konnten", past=True),
    _modal("had to", "", "musste musste mussten", past=True),
    _modal(
        "was allowed to/was allowed to/were allowed to",
        "was not allowed to/was not allowed to/were not allowed to",
        "durfte durfte durften",
        past=True,
    ),
    _modal("wanted to", "did not want to", "wollte wollte wollten", past=True),
]
