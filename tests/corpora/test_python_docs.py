"""The corpus from small archives of the published layout: found, fetched, read, cleaned, split."""

import hashlib
import io
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.corpora import python_docs as module
from course_lib.corpora import splitting
from course_lib.corpora.near_copies import nearness
from course_lib.corpora.python_docs import (
    ARCHIVE,
    CHECKSUMS,
    MOST_WORDS,
    NEAR,
    TextPair,
    fetch,
    locate,
    made,
    part_of,
    prepare,
    python_docs,
    sample_pairs,
    split_into_sentences,
    verify,
)
from course_lib.corpora.restructured_text import CODE_SIGN, Plain, restored
from course_lib.corpora.tokenization import tokenize
from course_lib.errors import CourseError

Entry = tuple[str, str]


def words(*numbers: int) -> Entry:
    """A made-up paragraph whose words depend on these numbers, and its translation."""
    english = " ".join(f"word{number}" for number in numbers)
    spanish = " ".join(f"palabra{number}" for number in numbers)
    return f"The {english} is.", f"El {spanish} es."


def entries(*pairs: Entry) -> bytes:
    return "".join(f'\nmsgid "{a}"\nmsgstr "{b}"\n' for a, b in pairs).encode()


def catalogue(*pairs: Entry, extra: str = "") -> bytes:
    header = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    return header + entries(*pairs) + extra.encode()


def archive(texts: dict[str, bytes]) -> bytes:
    """As GitHub packs a commit: a folder at the top, other files among the catalogues."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        for name, content in {"README.md": b"not read", **texts}.items():
            member = tarfile.TarInfo(f"python-docs-es-{module.COMMIT}/{name}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return file.getvalue()


TEXTS = {
    f"library/part{part}.po": catalogue(
        *(words(*(10_000 * part + 100 * i + k for k in range(6 + i))) for i in range(0, 54, 3))
    )
    for part in range(8)
}


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No copy at hand, an empty cache, no network; the texts above are what is published."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("course_lib.corpora.download.time.sleep", lambda seconds: None)
    monkeypatch.setattr(module, "URL", "http://127.0.0.1:1/archive.tar.gz")
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in TEXTS.items()}
    monkeypatch.setattr(module, "CHECKSUMS", sums)
    monkeypatch.setattr(module, "TEST", 2)
    monkeypatch.setattr(module, "VAL", 1)


@pytest.fixture
def data(offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive in $COURSE_DATA/python-docs-es."""
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    path = tmp_path / "data" / "python-docs-es" / ARCHIVE
    path.parent.mkdir(parents=True)
    path.write_bytes(archive(TEXTS))
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Counter[str]]:
    """Counts what is made of the entries of a catalogue, all of it to train on."""
    monkeypatch.setattr(module, "TEST", 0)
    monkeypatch.setattr(module, "VAL", 0)

    def count(*pairs: Entry, extra: str = "") -> Counter[str]:
        prepared = made({"a.po": catalogue(*pairs, extra=extra)})
        assert len(prepared.splits["train"]) == prepared.counts.get("left", 0)
        return Counter(prepared.counts)

    return count


def test_table_names_every_catalogue_of_the_commit() -> None:
    assert len(CHECKSUMS) == 512
    assert all(name.endswith(".po") and len(sha256) == 64 for name, sha256 in CHECKSUMS.items())
    assert "library/os.po" in CHECKSUMS


@pytest.mark.parametrize("pair", module.PAIRS)
def test_both_directions_have_the_same_pairs_in_the_same_splits(pair: str, data: Path) -> None:
    corpus = python_docs(pair)
    assert (corpus.name, corpus.pair, corpus.lowercased) == ("python-docs", pair, True)
    assert list(corpus.splits) == ["train", "val", "test"]
    prepared = prepare()
    for name, split in corpus.splits.items():
        english = [one.english.text for one in prepared.splits[name]]
        spanish = [one.spanish.text for one in prepared.splits[name]]
        assert split.reference == (spanish if pair == "en-es" else english)
        assert [" ".join(s) for s in split.source] == [
            " ".join(tokenize(text, pair[:2])) for text in (english if pair == "en-es" else spanish)
        ]
        assert len(split) == len(split.target) > 0
    assert corpus.sha256 == python_docs("en-es").sha256
    assert set(corpus.sha256) == {f"{s}.{x}" for s in corpus.splits for x in ("en", "es")}


def test_a_part_is_in_one_split_and_no_pair_twice(data: Path) -> None:
    splits = prepare().splits
    parts = {name: {part_of(one.catalogue) for one in pairs} for name, pairs in splits.items()}
    for one in parts:
        for other in parts:
            assert one == other or not parts[one] & parts[other]
    texts = [one.english.text for pairs in splits.values() for one in pairs]
    assert len(texts) == len(set(texts)) == sum(len(pairs) for pairs in splits.values())
    for split, least in (("test", 2), ("val", 1)):
        tens = Counter((len(tokenize(one.english.text, "en")) - 1) // 10 for one in splits[split])
        assert all(tens[ten] >= least for ten in range(6))


def test_a_part_is_a_folder_and_the_first_word_of_a_name() -> None:
    assert part_of("library/asyncio-task.po") == part_of("library/asyncio.po") == "library/asyncio"
    assert part_of("whatsnew/3.11.po") == "whatsnew/3"
    assert part_of("c-api/init_config.po") == "c-api/init"
    assert part_of("library/os.path.po") != part_of("howto/os.po")


@pytest.mark.parametrize("side", [0, 1])
def test_what_is_near_to_a_held_out_paragraph_in_either_language_is_not_trained_on(
    side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TEST", 1)
    monkeypatch.setattr(module, "VAL", 1)
    first = made(TEXTS)
    assert not first.counts["near"]
    copied = next(one for one in first.splits["test"] if len(one[1 + side].text.split()) > 30)
    near = copied[1 + side].text.replace(" is.", " was.").replace(" es.", " fue.")
    new = " ".join(f"new{i}" for i in range(len(near.split())))
    other = first.splits["train"][0].catalogue
    entry = (new, near) if side else (near, new)
    longer = {**TEXTS, other: TEXTS[other] + entries(entry)}
    second = made(longer)
    assert second.counts["near"] == 1
    assert len(second.splits["train"]) == len(first.splits["train"])
    assert second.splits["test"] == first.splits["test"]
    for number in (1, 2):
        texts = {name: [one[number].text for one in p] for name, p in second.splits.items()}
        assert all((row < NEAR).all() for row in nearness(texts["test"], texts["train"]))


def test_entries_left_out_are_counted_by_reason(small: Callable[..., Counter[str]]) -> None:
    fine = words(1, 2, 3)
    counts = small(
        fine,
        ("Not yet translated at all.", ""),
        ("Exceptions", "Excepciones"),
        (":mod:`os.path` ``a.b``", ":mod:`os.path` ``a.b``"),
        ("Read the ``a.b`` twice now.", "Lee la cosa dos veces."),
        ("Read the `broken text now.", "Lee el `texto roto ahora."),
        ("Sunday Monday Tuesday Friday", "Sunday, Monday, Tuesday, Friday"),
        ("Greg Ward and Anna Smith", "Greg Ward y Anna Smith"),
        ("Return the value.", "Retorna" + " todo el valor de esta cosa" * 4 + "."),
        (fine[0].upper(), fine[1] + " Sí."),
        extra='\n#, fuzzy\nmsgid "Something was here before."\nmsgstr "Algo estaba aquí antes."\n'
        '\n#~ msgid "Gone for years."\n#~ msgstr "Desaparecido hace años."\n',
    )
    assert counts == {
        "entries": 11,
        "left": 1,
        "untranslated": 1,
        "fuzzy": 1,
        "trivial": 2,
        "markup": 2,
        "kept": 2,
        "length": 1,
        "repeat": 1,
        "near": 0,
    }


def test_whole_up_to_the_limit_and_sentences_beyond(small: Callable[..., Counter[str]]) -> None:
    whole = words(*range(MOST_WORDS - 3))  # with "The", "is" and the full stop: exactly the limit
    assert small(whole) == {"entries": 1, "left": 1, "near": 0}
    longer = words(*range(MOST_WORDS - 2))
    assert small(longer) == {"entries": 1, "long": 1, "near": 0}
    first, second = words(*range(40)), words(*range(100, 130))
    both = (f"{first[0]} {second[0]}", f"{first[1]} {second[1]}")
    expected = {"entries": 1, "split": 1, "sentences": 2, "left": 2, "near": 0}
    assert small(both) == expected
    uneven = (both[0], both[1] + " Y más.")
    assert small(uneven) == {"entries": 1, "long": 1, "near": 0}


def test_sentences_keep_their_code_and_must_fit_each_other() -> None:
    english = Plain(
        f"Use {CODE_SIGN} (see it!) here. Then {CODE_SIGN}? {CODE_SIGN} is last.",
        ["a()", "b()", "c()"],
    )
    spanish = Plain(
        f"Usa {CODE_SIGN} (¡míralo!) aquí. ¿Luego {CODE_SIGN}? {CODE_SIGN} es último.",
        ["A", "B", "C"],
    )
    assert split_into_sentences(TextPair("x.po", english, spanish)) == [
        TextPair(
            "x.po",
            Plain(f"Use {CODE_SIGN} (see it!) here.", ["a()"]),
            Plain(f"Usa {CODE_SIGN} (¡míralo!) aquí.", ["A"]),
        ),
        TextPair(
            "x.po", Plain(f"Then {CODE_SIGN}?", ["b()"]), Plain(f"¿Luego {CODE_SIGN}?", ["B"])
        ),
        TextPair(
            "x.po", Plain(f"{CODE_SIGN} is last.", ["c()"]), Plain(f"{CODE_SIGN} es último.", ["C"])
        ),
    ]
    shifted = Plain(
        f"Usa {CODE_SIGN} y {CODE_SIGN} aquí. ¿Luego? {CODE_SIGN} es último.", ["A", "B", "C"]
    )
    assert split_into_sentences(TextPair("x.po", english, shifted)) == []
    one = Plain("Only one, e.g. this.", [])
    assert split_into_sentences(TextPair("x.po", one, one)) == []


def test_a_seed_draws_training_pairs_and_the_test_set_is_spread_over_lengths(data: Path) -> None:
    whole, part = python_docs(), python_docs(train=5, test=6, seed=1)
    other = python_docs("es-en", train=5, test=6, seed=2)
    assert part.splits["val"] == whole.splits["val"]
    assert other.splits["train"].target != part.splits["train"].source
    assert other.splits["test"].target == part.splits["test"].source
    assert python_docs(train=5, test=6, seed=1).sha256 == part.sha256
    assert all(
        part.sha256[f"{split}.en"] != whole.sha256[f"{split}.en"] for split in ("train", "test")
    )
    assert other.sha256["test.en"] == part.sha256["test.en"]
    for split, size in (("train", 5), ("test", 6)):
        taken, rest = part.splits[split], iter(enumerate(whole.splits[split].source))
        assert len(taken) == size
        for place, source in enumerate(taken.source):  # in their order, each with its translation
            found = next(number for number, one in rest if one == source)
            assert taken.target[place] == whole.splits[split].target[found]
            assert taken.reference[place] == whole.splits[split].reference[found]
    tens = [(len(source) - 1) // 10 for source in part.splits["test"].source]
    assert sorted(tens) == list(range(6))


def test_second_load_reads_no_catalogue_and_tokenises_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = python_docs()
    data.unlink()
    monkeypatch.setattr(splitting, "tokenize", None)
    second = python_docs()
    assert second.splits == first.splits
    assert second.notes == first.notes


def test_other_rules_never_meet_old_pairs(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare()
    monkeypatch.setattr(module, "PROTOCOL", "another")
    monkeypatch.setattr(module, "LARGEST", 10**6)
    made_again: list[int] = []
    monkeypatch.setattr(module, "made", lambda texts: made_again.append(1) or made(texts))
    prepare()
    assert made_again


def test_downloaded_once_and_then_found_offline(
    offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as online:
        online.setattr("urllib.request.urlopen", lambda url, timeout: io.BytesIO(archive(TEXTS)))
        (path,) = fetch()
    assert path == tmp_path / "cache" / ARCHIVE == locate()
    assert fetch() == [path]
    assert python_docs().splits["test"]


@pytest.mark.parametrize("lost", [None, *list(TEXTS)[:1]])
def test_an_archive_that_arrives_broken_is_not_kept(
    lost: str | None, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = archive({name: text for name, text in TEXTS.items() if name != lost})
    sent = sent if lost else sent[:-200]
    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: io.BytesIO(sent))
    with pytest.raises(CourseError, match="other bytes than those published"):
        fetch()
    assert locate() is None


def test_offline_the_error_says_what_goes_where(offline: None, tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        python_docs()
    text = str(caught.value)
    assert "\n" not in text
    for part in (module.URL, ARCHIVE, str(tmp_path / "cache"), "$COURSE_DATA/python-docs-es"):
        assert part in text


def test_a_browsers_name_for_the_archive_is_known(data: Path) -> None:
    data.rename(data.with_name(f"python-docs-es-{module.COMMIT}.tar.gz"))
    assert [entry.state for entry in verify()] == ["ok"]


@pytest.mark.parametrize("keep", [slice(0, -200), slice(0, 0), slice(1, None)])
def test_a_damaged_archive_is_refused_and_the_users_copy_left_alone(
    keep: slice, data: Path, tmp_path: Path
) -> None:
    data.write_bytes(data.read_bytes()[keep])
    left = data.read_bytes()
    assert [entry.state for entry in verify()] == ["damaged"]
    with pytest.raises(CourseError, match="Delete or replace it"):
        python_docs()
    assert data.read_bytes() == left
    assert not (tmp_path / "cache").exists()


def test_an_altered_catalogue_is_noticed(data: Path) -> None:
    name = next(iter(TEXTS))
    data.write_bytes(archive({**TEXTS, name: TEXTS[name].replace(b"palabra", b"vocablo")}))
    assert [entry.state for entry in verify()] == ["damaged"]


def test_missing_archive_is_said_to_be_missing(offline: None) -> None:
    assert [(entry.state, entry.path, entry.required) for entry in verify()] == [
        ("missing", None, True)
    ]


def test_sample_has_twenty_attributed_paragraphs_of_every_length() -> None:
    pairs = sample_pairs()
    assert len(pairs) == 20
    assert {one.catalogue for one in pairs} <= CHECKSUMS.keys()
    lengths = [len(tokenize(one.english.text, "en")) for one in pairs]
    assert {(length - 1) // 10 for length in lengths} == set(range(6))
    for one in pairs:
        assert len(one.english.code) == len(one.spanish.code)
        assert CODE_SIGN not in restored(one.english.text, one.english.code)
    header = Path(module.__file__).with_name("python_docs_sample.po").read_text(encoding="utf-8")
    assert "Python Software Foundation" in header
    assert "CC0" in header
