"""The words of the toy grammar that are not verbs: nouns, names, adjectives.

German is written with its capitals here and lower-cased when the tables are read: the capitals are
kept for `cased_words`, so that sentences can be shown to people with their nouns capitalised.

The kinds of a noun say what it can do in a sentence: p person, a animal, r something to read,
t thing, e device that is switched on, f food, d drink, c clothing, v vehicle, l building or street,
k place in the country or town, h room, u furniture.
"""

from dataclasses import dataclass

MASCULINE, FEMININE, NEUTER, PLURAL = range(4)
"""Columns of every German declension table: three genders, and the plural, which has none."""


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun in both languages. `oblique` is the German singular in accusative and dative."""

    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    german: str
    gender: int
    german_plural: str
    german_dative_plural: str
    oblique: str
    kind: str
    proper: bool = False
    english_at: str = "in"
    german_at: str = "in"
    german_to: str = "zu"


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective: `stem` carries the German endings, `german` is the predicative form.

    `comparative` and `german_comparative` are empty where the grammar makes no comparison.
    """

    english: str
    german: str
    stem: str
    kinds: str
    comparative: tuple[str, ...] = ()
    german_comparative: str = ""


# English[/irregular plural] | German, gender (* for the weak declension), plural | kind
# [| English "at", German "at", German "to"]
NOUN_TABLE = """
man/men | Mann m Männer | p
woman/women | Frau f Frauen | p
child/children | Kind n Kinder | p
boy | Junge m* Jungen | p
girl | Mädchen n Mädchen | p
teacher | Lehrer m Lehrer | p
doctor | Arzt m Ärzte | p
student | Student m* Studenten | p
neighbour | Nachbar m* Nachbarn | p
friend | Freund m Freunde | p
brother | Bruder m Brüder | p
sister | Schwester f Schwestern | p
mother | Mutter f Mütter | p
father | Vater m Väter | p
son | Sohn m Söhne | p
daughter | Tochter f Töchter | p
uncle | Onkel m Onkel | p
aunt | Tante f Tanten | p
grandmother | Großmutter f Großmütter | p
farmer | Bauer m* Bauern | p
king | König m Könige | p
queen | Königin f Königinnen | p
actress/actresses | Schauspielerin f Schauspielerinnen | p
painter | Maler m Maler | p
colleague | Kollege m* Kollegen | p
guest | Gast m Gäste | p
bus driver | Busfahrer m Busfahrer | p
dog | Hund m Hunde | a
cat | Katze f Katzen | a
horse | Pferd n Pferde | a
bird | Vogel m Vögel | a
cow | Kuh f Kühe | a
mouse/mice | Maus f Mäuse | a
bear | Bär m* Bären | a
book | Buch n Bücher | r
letter | Brief m Briefe | r
newspaper | Zeitung f Zeitungen | r
novel | Roman m Romane | r
poem | Gedicht n Gedichte | r
story/stories | Geschichte f Geschichten | r
love letter | Liebesbrief m Liebesbriefe | r
fairy tale | Märchen n Märchen | r
bag | Tasche f Taschen | t
cup | Tasse f Tassen | t
bottle | Flasche f Flaschen | t
ball | Ball m Bälle | t
knife/knives | Messer n Messer | t
suitcase | Koffer m Koffer | t
umbrella | Regenschirm m Regenschirme | t
picture | Bild n Bilder | t
coffee cup | Kaffeetasse f Kaffeetassen | t
house key | Hausschlüssel m Hausschlüssel | t
wine glass/glasses | Weinglas n Weingläser | t
birthday present | Geburtstagsgeschenk n Geburtstagsgeschenke | t
lamp | Lampe f Lampen | e
computer | Computer m Computer | e
radio | Radio n Radios | e
washing machine | Waschmaschine f Waschmaschinen | e
apple | Apfel m Äpfel | f
cake | Kuchen m Kuchen | f
egg | Ei n Eier | f
soup | Suppe f Suppen | f
potato/potatoes | Kartoffel f Kartoffeln | f
bread/- | Brot n - | f
cheese/- | Käse m - | f
apple cake | Apfelkuchen m Apfelkuchen | f
vegetable soup | Gemüsesuppe f Gemüsesuppen | f
milk/- | Milch f - | d
water/- | Wasser n - | d
coffee/- | Kaffee m - | d
tea/- | Tee m - | d
orange juice/- | Orangensaft m - | d
coat | Mantel m Mäntel | c
dress/dresses | Kleid n Kleider | c
hat | Hut m Hüte | c
shirt | Hemd n Hemden | c
jacket | Jacke f Jacken | c
shoe | Schuh m Schuhe | c
summer dress/dresses | Sommerkleid n Sommerkleider | c
car | Auto n Autos | v
train | Zug m Züge | v
bus/buses | Bus m Busse | v
ship | Schiff n Schiffe | v
bicycle | Fahrrad n Fahrräder | v
truck | Lastwagen m Lastwagen | v
park | Park m Parks | l | in in in
museum | Museum n Museen | l | in in in
school | Schule f Schulen | l | at in zu
church/churches | Kirche f Kirchen | l | in in in
market | Markt m Märkte | l | at auf auf
city/cities | Stadt f Städte | k | in in in
village | Dorf n Dörfer | k | in in in
beach/beaches | Strand m Strände | k | on an an
lake | See m Seen | k | at an an
forest | Wald m Wälder | k | in in in
street | Straße f Straßen | l | on auf auf
bridge | Brücke f Brücken | l | on auf auf
mountain | Berg m Berge | k | on auf auf
hotel | Hotel n Hotels | l | in in zu
restaurant | Restaurant n Restaurants | l | in in in
hospital | Krankenhaus n Krankenhäuser | l | in in in
library/libraries | Bibliothek f Bibliotheken | l | in in zu
theatre | Theater n Theater | l | in in in
shop | Geschäft n Geschäfte | l | in in zu
train station | Bahnhof m Bahnhöfe | l | at an zu
swimming pool | Schwimmbad n Schwimmbäder | l | in in in
town hall | Rathaus n Rathäuser | l | in in zu
house | Haus n Häuser | l | in in in
garden | Garten m Gärten | h | in in in
kitchen | Küche f Küchen | h | in in in
office | Büro n Büros | h | in in in
living room | Wohnzimmer n Wohnzimmer | h | in in in
table | Tisch m Tische | u | on auf auf
sofa | Sofa n Sofas | u | on auf auf
bed | Bett n Betten | u | on auf auf
chair | Stuhl m Stühle | u | on auf auf
"""

MALE_NAMES = ("Peter", "Paul", "Karl", "Otto")
FEMALE_NAMES = ("Anna", "Maria", "Lena", "Julia", "Eva")

# English | German [stem where the endings change it] | kinds [| comparatives]
ADJECTIVE_TABLE = """
old | alt | palktevcrlhu | older älter
big | groß | alktevclhu | bigger größer
small | klein | palktevclhu | smaller kleiner
beautiful | schön | palkcthrv | more-beautiful schöner
tired | müde müd | pa
hungry | hungrig | pa
friendly | freundlich | pa | friendlier freundlicher
clever | klug | pa | cleverer klüger
rich | reich | p | richer reicher
poor | arm | p | poorer ärmer
sick | krank | pa
strong | stark | pa | stronger stärker
lazy | faul | pa | lazier fauler
brave | mutig | p | braver mutiger
happy | glücklich | p | happier glücklicher
sad | traurig | p
famous | berühmt | p
polite | höflich | p | politer höflicher
curious | neugierig | pa
new | neu | tevcrlhu | newer neuer
expensive | teuer teur | tevcrdf | more-expensive teurer
cheap | billig | tevcrdf | cheaper billiger
heavy | schwer | teu | heavier schwerer
broken | kaputt | evu
modern | modern | elhv
dirty | schmutzig | tcvlhu
clean | sauber | tcvlhu
useful | nützlich | ter
red | rot | ctvu
blue | blau | ctvu
green | grün | ctvu
black | schwarz | ctvua
yellow | gelb | ctvu
brown | braun | ctua
quiet | ruhig | lkh | quieter ruhiger
dark | dunkel dunkl | lkh | darker dunkler
cold | kalt | dlkhf | colder kälter
fresh | frisch | df
sweet | süß | df | sweeter süßer
hot | heiß | df
long | lang | rc | longer länger
short | kurz | rc | shorter kürzer
interesting | interessant | rlk | more-interesting interessanter
boring | langweilig | rlk
funny | lustig | r
fast | schnell | v | faster schneller
slow | langsam | v | slower langsamer
"""
# Who can be somebody's: "my brother", not "my man"; nobody has two mothers here.
RELATIONS = [
    "teacher",
    "doctor",
    "neighbour",
    "friend",
    "brother",
    "sister",
    "mother",
    "father",
    "son",
    "daughter",
    "uncle",
    "aunt",
    "grandmother",
    "colleague",
    "guest",
]
UNIQUE_RELATIONS = ("mother", "father")
COLOURS = ("red", "blue", "green", "black", "yellow", "brown")

_cased: dict[str, dict[str, str]] = {"en": {"i": "I"}, "de": {}}


def lower_cased(text: str, language: str) -> str:
    """The text in lower case, with its capitals remembered for people."""
    for word in text.split():
        if word != word.lower():
            _cased[language][word.lower()] = word
    return text.lower()


def cased_words(language: str) -> dict[str, str]:
    """The words written with a capital inside a sentence: lower-cased form to form for people."""
    return _cased[language]


def columns(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in table.split("\n") if row.strip()]


def _english_plural(word: str) -> str:
    return word + "s"


def _dative_plural(plural: str) -> str:
    """The dative plural adds -n, except to a plural in -n or -s."""
    return plural if plural.endswith(("n", "s")) else plural + "n"


def _read_noun(row: list[str]) -> Noun:
    english, _, irregular = row[0].partition("/")
    words = tuple(english.split())
    plural = () if irregular == "-" else (*words[:-1], irregular or _english_plural(words[-1]))
    cased_german, gender, cased_plural = row[1].split()
    german, german_plural = lower_cased(cased_german, "de"), lower_cased(cased_plural, "de")
    has_plural = german_plural != "-"
    places = row[3].split() if len(row) > 3 else ["in", "in", "zu"]
    return Noun(
        english=words,
        english_plural=plural,
        german=german,
        gender="mfn".index(gender[0]),
        german_plural=german_plural if has_plural else "",
        german_dative_plural=lower_cased(_dative_plural(cased_plural), "de") if has_plural else "",
        # A weak noun takes in the singular's oblique cases the form that is also its plural.
        oblique=german_plural if gender.endswith("*") else german,
        kind=row[2],
        english_at=places[0],
        german_at=places[1],
        german_to=places[2],
    )


def _read_name(name: str, gender: int) -> Noun:
    german, english = lower_cased(name, "de"), lower_cased(name, "en")
    lower_cased(name + "s", "de")
    return Noun((english,), (), german, gender, "", "", german, "p", proper=True)


def _read_adjective(row: list[str]) -> Adjective:
    german, _, stem = row[1].partition(" ")
    english_more, german_more = row[3].split() if len(row) > 3 else ("", "")
    comparative = tuple(word for word in english_more.split("-") if word)
    return Adjective(row[0], german, stem or german, row[2], comparative, german_more)


NOUNS = [_read_noun(row) for row in columns(NOUN_TABLE)]
NAMES = [_read_name(name, MASCULINE) for name in MALE_NAMES] + [
    _read_name(name, FEMININE) for name in FEMALE_NAMES
]
ADJECTIVES = [_read_adjective(row) for row in columns(ADJECTIVE_TABLE)]
