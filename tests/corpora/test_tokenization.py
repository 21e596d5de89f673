"""The data set's own protocol on sentences of our own, and plain rules for every other language."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora.tokenization import LANGUAGES, MOSES, UNSPACED, detokenize, tokenize


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "A T-shirt, please.", "a t-shirt , please ."),
        ("en", "The dog's bowl isn't full.", "the dog &apos;s bowl isn &apos;t full ."),
        (
            "en",
            "A sign says “Stop” & [go].",
            "a sign says &quot; stop &quot; &amp; &#91; go &#93; .",
        ),
        ("en", "1 < 2, but 3 | 4 > 2 …", "1 &lt; 2 , but 3 &#124; 4 &gt; 2 ..."),
        ("en", "It costs 1,000.50 dollars.", "it costs 1,000.50 dollars ."),
        (
            "de",
            "Ein Mädchen läuft über Österreichs Straße.",
            "ein mädchen läuft über österreichs straße .",
        ),
        ("de", "„Halt“, ruft er – zu spät.", "&quot; halt &quot; , ruft er - zu spät ."),
        ("de", "Oma's Hund", "oma &apos; s hund"),
        ("fr", "L'homme s'arrête aujourd'hui.", "l&apos; homme s&apos; arrête aujourd&apos; hui ."),
        ("fr", "Il lit « Le Monde » !", "il lit &quot; le monde &quot; !"),
        ("en", "  two   spaces\tand a tab ", "two spaces and a tab"),
        ("en", "", ""),
    ],
)
def test_tokens_are_those_of_the_published_protocol(language: str, text: str, tokens: str) -> None:
    assert " ".join(tokenize(text, language)) == tokens


def test_case_is_kept_on_request() -> None:
    assert tokenize("Der Hund bellt.", "de", lowercase=False) == ["Der", "Hund", "bellt", "."]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the dog's bowl isn't full, is it?"),
        ("en", 'a sign says "stop" & [go].'),
        ("de", "ein mann, der wartet, sitzt da."),
        ("fr", "l'homme s'arrête, puis repart."),
    ],
)
def test_detokenising_gives_the_text_back(language: str, text: str) -> None:
    assert detokenize(tokenize(text, language), language) == text


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_no_token_is_empty_or_holds_space(language: str) -> None:
    text = "a\u00a0b \u2009 c\u0085d \u3000e ' \" .. ... … '' `` -- — ´ ‚x’ (y) 5 % nº\u00a0"
    tokens = tokenize(text, language)
    assert tokens == " ".join(tokens).split()


def test_languages_never_share_state() -> None:
    alone = tokenize("l'eau d'ici", "fr")
    tokenize("it's", "en")
    assert tokenize("l'eau d'ici", "fr") == alone == ["l&apos;", "eau", "d&apos;", "ici"]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("ar", "مرحبا، كيف حالك؟ (جيد).", "مرحبا ، كيف حالك ؟ ( جيد ) ."),
        ("fa", "می\u200cخواهم بروم.", "می\u200cخواهم بروم ."),
        ("he", "שלום, מה שלומך?", "שלום , מה שלומך ?"),
        ("hi", "हिन्दी में लिखा है।", "हिन्दी में लिखा है ।"),
        ("ja", "私は「学生」です。", "私 は 「 学 生 」 で す 。"),
        ("ko", "나는 학생입니다.", "나는 학생입니다 ."),
        ("th", "ที่นี่", "ที่ นี่"),
        ("tr", "Ankara'da 1.000,50 lira, e-posta!", "ankara'da 1.000,50 lira , e-posta !"),
        ("uk", "П'ять і «шість».", "п'ять і « шість » ."),
        ("vi", 'Tôi là "sinh viên".', 'tôi là " sinh viên " .'),
        ("zh", "我是学生。", "我 是 学 生 。"),
    ],
)
def test_plain_rules_split_any_script_and_give_it_back(
    language: str, text: str, tokens: str
) -> None:
    assert " ".join(tokenize(text, language)) == tokens
    assert detokenize(tokens.split(), language) == text.lower()


@given(text=st.text())
def test_plain_rules_lose_nothing_that_is_seen(text: str) -> None:
    tokens = tokenize(text, "xx", lowercase=False)
    assert tokens == " ".join(tokens).split()
    seen = [c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc")]
    kept = [c for c in "".join(tokens) if unicodedata.category(c) not in ("Cf", "Cc")]
    assert kept == seen


def test_the_languages_with_rules_are_those_of_the_library() -> None:
    import sacremoses

    theirs = set(sacremoses.corpus.NonbreakingPrefixes().available_langs.values())
    assert theirs > MOSES
    assert not MOSES & UNSPACED
    assert set(LANGUAGES) < MOSES
