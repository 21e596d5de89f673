"""Each kind of fault in a text of one's own is named with its line, and a copy is without it."""

from pathlib import Path

import pytest

from course_lib.corpora import text_checker as module
from course_lib.corpora.own_text import OwnText
from course_lib.corpora.text_checker import TextChecker, ask, check, write_cleaned
from course_lib.errors import CourseError

ANIMALS = {"dog": "perro", "cat": "gato", "horse": "caballo", "bird": "pájaro", "wolf": "lobo"}
PLACES = {"house": "casa", "forest": "selva", "kitchen": "cocina", "church": "iglesia"}
GOOD = [
    (f"The {a} number {n} sleeps in the {p}.", f"El {b} número {n} duerme en la {q}.")
    for n in range(4)
    for a, b in ANIMALS.items()
    for p, q in PLACES.items()
]
Pairs = list[tuple[str, str]]


def write(folder: Path, **splits: Pairs) -> OwnText:
    folder.mkdir(exist_ok=True)
    for split, pairs in splits.items():
        for side, language in enumerate(("en", "es")):
            lines = "".join(pair[side] + "\n" for pair in pairs)
            (folder / f"{split}.{language}").write_bytes(lines.encode("utf-8", "surrogateescape"))
    return OwnText.find(folder, "en-es")


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_a_good_text_has_no_fault(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD, test=[("A mouse is here.", "Un ratón está aquí.")])
    assert check(TextChecker(text)) == []


LONG = " ".join(["word"] * 101), " ".join(["palabra"] * 101)


@pytest.mark.parametrize(
    ("pair", "fault"),
    [
        (("The dog sleeps.", "  "), "empty"),
        (("", "El perro duerme."), "empty"),
        (("\u200b\ufeff", "Duerme."), "empty"),
        (("Here.", "\x01"), "empty"),
        (("The cat sleeps in the house.", "The cat sleeps in the house."), "language"),
        (("El gato duerme en la casa.", "The cat sleeps in the house."), "language"),
        (("The dog sleeps.", "El perro duerme en la casa " * 5), "proportion"),
        (("The dog sleeps in the house and in the church " * 3, "El perro"), "proportion"),
    ],
)
def test_each_kind_of_bad_line_is_named_and_left_out(
    tmp_path: Path, pair: tuple[str, str], fault: str
) -> None:
    pairs = [*GOOD[:17], pair, *GOOD[17:]]
    checker = TextChecker(write(tmp_path / "mine", train=pairs))
    assert check(checker) == [f"train line 18: {module.MESSAGES[fault]}"]
    copy, without = write_cleaned(checker)
    assert (copy, without) == (tmp_path / "mine-clean", 1)
    assert lines(copy / "train.en") == [source for source, _ in GOOD]
    assert lines(copy / "train.es") == [target for _, target in GOOD]
    assert check(TextChecker(OwnText.find(copy, "en-es"))) == []


NAMES = [
    "Tom Hanks plays Forrest Gump.",
    "Angela Merkel met Emmanuel Macron.",
    "Barcelona beat Real Madrid.",
]


def test_names_that_stay_the_same_are_no_fault(tmp_path: Path) -> None:
    right = [(x, x.replace("plays", "es").replace("met", "vio a")) for x in NAMES]
    code = (
        "Report bugs to: %s",
        "Comuniquen los errores a %s. " + "Los de la traducción, a Ana." * 3,
    )
    planted = ("The horse sleeps in the church.", "The horse sleeps in the church.")
    checker = TextChecker(write(tmp_path / "mine", train=[*GOOD, *right, code, planted]))
    assert check(checker) == ["train line 85: " + module.MESSAGES["language"]]


def test_another_encoding_is_named_and_converted_on_request(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD)
    spanish = (tmp_path / "mine/train.es").read_text(encoding="utf-8")
    (tmp_path / "mine/train.es").write_text(spanish, encoding="cp1252")
    checker = TextChecker(text)
    assert "not UTF-8" in check(checker)[0]
    with pytest.raises(CourseError, match=r"80 lines are not UTF-8.*perhaps cp125"):
        write_cleaned(checker)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    checker = TextChecker(OwnText.find(tmp_path / "mine", "en-es", "cp1252"))
    assert check(checker) == []
    assert (write_cleaned(checker)[0] / "train.es").read_text(encoding="utf-8") == spanish


def test_a_half_that_nobody_translated_is_no_language_of_its_own(tmp_path: Path) -> None:
    other = [
        (f"The key {n} is in the {p}.", f"Maria says {n} to the {p}.")
        for n in range(5)
        for p in PLACES
    ]
    left = [(x, x) for pair in other for x in pair] + [(f"Key {n}", f"Key {n}") for n in range(30)]
    checker = TextChecker(write(tmp_path / "mine", train=GOOD + left))
    numbers = range(len(GOOD) + 1, len(GOOD) + 9)
    assert check(checker) == [
        f"train lines {', '.join(map(str, numbers))} and 32 more: {module.MESSAGES['language']}"
    ]
    assert ask(checker) == [
        "train: 30 of its 150 pairs are the same on both sides. Are they translated?"
    ]
    checker = TextChecker(write(tmp_path / "none", train=[(x, x) for x, _ in GOOD]))
    assert "train: both sides seem to be in the same language" in check(checker)


JAPANESE = ["犬が家で眠る。", "猫は森へ行きました。", "鳥が教会の上を飛んでいる。"]
RUSSIAN = ["Собака спит в доме.", "Кошка ушла в лес.", "Птица летит над церковью."]
SPANISH = ["El niño duerme aquí.", "¿Quién comió el jamón?", "Mañana será otro día."]
POLISH = ["Pies śpi w domu, gęś też.", "Źrebię poszło w las.", "Ptak łatwo leci nad kościołem."]


@pytest.mark.parametrize(
    ("language", "text", "encoding"),
    [
        *(("ja", JAPANESE, name) for name in ("euc_jp", "cp932", "iso2022_jp")),
        *(("ru", RUSSIAN, name) for name in ("koi8_r", "cp1251", "cp866", "iso8859_5")),
        ("he", ["הכלב ישן בבית.", "החתול הלך ליער."], "cp1255"),
        ("th", ["สุนัขนอนในบ้าน", "แมวไปป่า"], "cp874"),
        ("es", SPANISH, "cp1252"),
        ("pl", POLISH, "cp1250"),
    ],
)
def test_an_encoding_is_told_by_the_language(
    tmp_path: Path, language: str, text: list[str], encoding: str
) -> None:
    lines = [f"{line} {n}" for n in range(10) for line in text]
    (tmp_path / f"train.{language}").write_bytes("\n".join(lines).encode(encoding))
    (tmp_path / "train.en").write_text("".join(f"Line {n}.\n" for n in range(len(lines))))
    own = OwnText.find(tmp_path, f"en-{language}")
    assert module.encoding_of(own) == (len(lines), encoding)
    # Of a language nothing is said from lines that cannot be read.
    assert not [fault for fault in check(TextChecker(own)) if "language" in fault]
    read = [
        line for _, _, line in OwnText.find(tmp_path, f"en-{language}", encoding).lines("train")
    ]
    assert read == lines


@pytest.mark.parametrize(
    ("pair", "question"),
    [
        (LONG, "long"),
        (("Say &quot;hi&quot; now.", "Di &quot;hola&quot; ya."), "entity"),
        (("ga@@ to runs", "ga@@ ta corre"), "piece"),
        (("▁the ▁cat", "▁el ▁gato"), "piece"),
    ],
)
def test_what_may_be_right_is_asked_about_and_kept(
    tmp_path: Path, pair: tuple[str, str], question: str
) -> None:
    checker = TextChecker(write(tmp_path / "mine", train=[*GOOD[:17], pair, *GOOD[17:]]))
    assert check(checker) == []
    assert ask(checker) == [f"train line 18: {module.QUESTIONS[question]}"]


def test_a_spreadsheets_quotes_and_heading_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = ["English\tSpanish", '"He said ""now""."\tDijo ya.', *(f"{x}\t{y}" for x, y in GOOD)]
    path.write_text("\n".join(rows), encoding="utf-8")
    checker = TextChecker(OwnText(path, ("und", "und")))
    assert check(checker) == []
    assert ask(checker) == [
        f"train line 2: {module.QUESTIONS['quoted']}",
        f"train line 1: {module.QUESTIONS['header']}",
    ]


def test_a_tables_heading_names_its_languages_in_the_copy_too(tmp_path: Path) -> None:
    rows = ["es\ten", *(f"{y}\t{x}" for x, y in GOOD), "\tNothing."]
    (tmp_path / "mine.tsv").write_text("\n".join(rows), encoding="utf-8")
    checker = TextChecker(OwnText.find(tmp_path / "mine.tsv", "en-es"))
    assert ask(checker) == []
    copy, _ = write_cleaned(checker)
    assert lines(copy)[:2] == ["en\tes", "\t".join(GOOD[0])]
    found = [list(OwnText.find(copy, pair).pairs("train")) for pair in ("en-es", "es-en")]
    assert found == [GOOD, [pair[::-1] for pair in GOOD]]


def test_sources_in_training_are_counted(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD, test=[(GOOD[0][0].upper(), "Otra."), ("X y", "Z")])
    assert ask(TextChecker(text))[0].startswith("test: 1 of its 2 sources, or near copies of them,")


def test_a_pair_in_two_splits_stays_in_the_last(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD, val=GOOD[5:8], test=GOOD[6:9])
    checker = TextChecker(text)
    assert check(checker) == [
        "train lines 6, 7, 8, 9: the same pair is in another split too",
        "val lines 2, 3: the same pair is in another split too",
    ]
    copy, _ = write_cleaned(checker)
    assert [len(lines(copy / f"{split}.en")) for split in ("train", "val", "test")] == [76, 1, 3]


def test_gold_links_go_with_their_lines(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD, test=[GOOD[0], ("", "Nada."), GOOD[2]])
    (tmp_path / "mine" / "test.links").write_text("0-0\n1-1\n2-2\n")
    assert (write_cleaned(TextChecker(text))[0] / "test.links").read_text() == "0-0\n2-2\n"


def test_unequal_numbers_of_lines_are_named_and_not_mended(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=GOOD)
    with (tmp_path / "mine" / "train.es").open("a") as side:
        side.write("Uno más.\n" * 12)
    checker = TextChecker(text)
    message = "train lines 81, 82, 83, 84, 85, 86, 87, 88 and 4 more: " + module.MESSAGES["unequal"]
    assert check(checker) == [message]
    with pytest.raises(CourseError, match="before line 81"):
        write_cleaned(checker)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_split_without_a_pair_in_order_is_named_and_not_copied(tmp_path: Path) -> None:
    """Training would refuse it."""
    for name, val in (("none", []), ("bad", [("", "Nada."), ("Nothing.", "")])):
        checker = TextChecker(write(tmp_path / name, train=GOOD, val=val))
        assert check(checker)[-1].startswith("val: not one pair is in order")
        with pytest.raises(CourseError, match="no pair of val would be left"):
            write_cleaned(checker)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "none"]


def test_two_sides_in_one_language_are_noticed(tmp_path: Path) -> None:
    swapped = [(source, GOOD[-i][0]) for i, (source, _) in enumerate(GOOD)]
    faults = check(TextChecker(write(tmp_path / "mine", train=swapped)))
    assert "train: both sides seem to be in the same language" in faults


def test_a_table_is_checked_and_copied(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = [f"{x}\t{y}\tby somebody" for x, y in GOOD]
    path.write_text("\n".join([*rows[:3], "no tab", *rows[3:]]), encoding="utf-8")
    checker = TextChecker(OwnText(path, ("und", "und")))
    assert check(checker) == ["train line 4: no tab, so no second column"]
    copy, _ = write_cleaned(checker)
    assert copy == tmp_path / "pairs-clean.tsv"
    assert lines(copy) == [f"{x}\t{y}" for x, y in GOOD]


def test_the_text_is_untouched_and_no_copy_is_overwritten(tmp_path: Path) -> None:
    text = write(tmp_path / "mine", train=[("", ""), *GOOD])
    before = {path: path.read_bytes() for path in text.path.iterdir()}
    write_cleaned(TextChecker(text))
    with pytest.raises(CourseError, match="is there already"):
        write_cleaned(TextChecker(text))
    assert before == {path: path.read_bytes() for path in text.path.iterdir()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "mine-clean"]
    left_out = (tmp_path / "mine-clean" / module.LEFT_OUT).read_text(encoding="utf-8")
    assert left_out == "train\t1\ta side is empty\t\t\n"


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = TextChecker(write(tmp_path / "mine", train=GOOD))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_cleaned(checker)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("language", ["ja", "ar"])
def test_other_scripts_are_judged_the_same(tmp_path: Path, language: str) -> None:
    words = {
        "ja": ["犬が家で寝る。", "猫が庭で走る。"],
        "ar": ["ينام الكلب في البيت.", "يركض القط في الحديقة."],
    }
    english = ["The dog sleeps in the house.", "The cat runs in the garden."]
    pairs = list(zip(english, words[language], strict=True)) * 10
    folder = tmp_path / "mine"
    folder.mkdir()
    for side, name in enumerate(("en", language)):
        text = "".join(pair[side] + "\n" for pair in [*pairs, (english[0], english[1])])
        (folder / f"train.{name}").write_text(text, encoding="utf-8")
    checker = TextChecker(OwnText.find(folder, f"en-{language}"))
    assert check(checker) == ["train line 21: " + module.MESSAGES["language"]]
