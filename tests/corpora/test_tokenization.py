"""The data set's own protocol on sentences of our own, and plain rules for every other language."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora.languages import unspaced
from course_lib.corpora.tokenization import MOSES, PLAIN, detokenize, tokenize, uniform
from course_lib.evaluation.bleu import bleu_detok, bleu_tok


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
    ("text", "tokens"),
    [
        ("مرحبا، كيف حالك؟ (جيد).", "مرحبا ، كيف حالك ؟ ( جيد ) ."),
        ("می\u200cخواهم بروم.", "می\u200cخواهم بروم ."),
        ('שלום, מה שלומך? צה"ל', 'שלום , מה שלומך ? צה"ל'),
        ("हिन्दी में लिखा है।", "हिन्दी में लिखा है ।"),
        ("私は「学生」です。", "私 は 「 学 生 」 で す 。"),
        ("나는 학생입니다.", "나는 학생입니다 ."),
        ("ที่นี่", "ที่ นี่"),
        ("Ankara'da 1.000,50 lira, e-posta!", "ankara'da 1.000,50 lira , e-posta !"),
        ("П'ять і «шість».", "п'ять і « шість » ."),
        ('Tôi là "sinh viên".', 'tôi là " sinh viên " .'),
        ("我是学生。", "我 是 学 生 。"),
        ("L'home d’aquí, col·legi.", "l'home d’aquí , col·legi ."),
        ("EU:n z.B. 12:30", "eu:n z.b . 12:30"),
        ("Il lit « Le Monde » !", "il lit « ‿le monde ‿» ‿!"),
        ("--help a/b", "- ‿- ‿help a ‿/ ‿b"),
        ("Python 是", "python ‿是"),
        ("🐕👩‍👩‍👧 ☺️ 🇪🇸", "🐕 ‿👩‍👩‍👧 ☺️ 🇪🇸"),
        ("‿ ‿‿", "‿ ‿ ‿‿"),
    ],
)
def test_plain_rules_split_any_script_and_give_it_back(text: str, tokens: str) -> None:
    assert " ".join(tokenize(text, PLAIN)) == tokens
    assert detokenize(tokens.split(" "), PLAIN) == uniform(text).lower()


OWN_SENTENCES = {
    "ca": "L'home d'aquí no s'ha d'anar al col·legi; són les 12:30!",
    "cs": "Řekl: „Už jdu,“ a šel např. domů (v 5.30).",
    "da": "Han sagde: »Kom!« – kl. 12.30, f.eks. i går.",
    "de": "Geht's z.B. um 12:30 Uhr? „Ja“, sagte Oma's Hund – 'so'.",
    "el": "Τι είν' αυτό; Είπε: «Έλα», π.χ. στις 12:30·",
    "en": "The dogs' ball isn't John's, e.g. at 12:30; \"and/or\" rock 'n' roll…",
    "es": "¿Qué? ¡Ven! Dijo: «Sr. Ruiz», p. ej. a las 12:30.",
    "et": "Ta ütles: „Tule!“ – nt kell 12.30, 's.",
    "eu": "Esan zuen: «Zatoz!», adib. 12:30ean.",
    "fi": "EU:n ja WSOY:n, esim. klo 12.30: ”tule!” raa'an",
    "fr": "L'homme dit : « Viens ! », p. ex. à 12:30 aujourd'hui ?",
    "ga": "D'ith sé an t-úll, m.sh. 'anois' b'fhéidir.",
    "hu": "Azt mondta: „Gyere!” – pl. 12:30-kor, 's jött.",
    "is": "Hann sagði: „Komdu!“ t.d. kl. 12:30.",
    "it": "Un po' d'acqua all'Elba, dell'800; es. alle 12:30.",
    "lt": "Jis tarė: „Ateik!“ – pvz., 12:30 val.",
    "lv": "Viņš teica: “Nāc!” – piem., plkst. 12:30.",
    "mt": "Ta' l-ktieb, x'għandek f'idejk?",
    "nl": "'s Avonds zei hij: ‘Kom!’ – foto's, bijv. om 12:30.",
    "pl": "Powiedział: „Chodź!” – np. o 12:30, Joe'go.",
    "pt": "Um copo d'água, p. ex. às 12h30: “vem!”",
    "ro": "A zis: „Vino!” – ex. la 12:30, într-o zi.",
    "ru": "Он сказал: «Иди!» – напр. в 12:30, за\u0301мок, О'Нил.",
    "sk": "Povedal: „Poď!“ – napr. o 12:30.",
    "sl": "Rekel je: »Pridi!« – npr. ob 12:30.",
    "sv": "Han sa: ”Kom!” – t.ex. kl. 12:30, EU:s.",
    "tdt": "Ha'u nia naran maka João, la'ós?",
    "tr": "Ankara'da dedi: “Gel!” – örn. 12:30'da İstanbul.",
    "uk": "П'ять; сказав: «Йди!» – напр. о 12:30.",
    "uz": "O‘zbekiston so‘zi – masalan, 12:30 da.",
    "vi": "Anh ấy nói: “Đến đây!” – v.d. 12:30.",
    "ar": "قال: «تعال!» – مثلًا 12:30، أليس كذلك؟",
    "fa": "گفت: «بیا!»؛ می\u200cخواهم ۱۲:۳۰ بروم.",
    "he": 'אמר: "בוא!" – צה"ל, ב-12:30.',
    "hi": "उसने कहा: “आओ!” – जैसे 12:30 पर।",
    "ka": "თქვა: „მოდი!“ – მაგ. 12:30-ზე.",
    "ko": "그는 말했다: “와!” – 예: 12:30에.",
    "ja": "彼は「来い!」と言った。12:30 に Python 3 で。",
    "zh": "他说：“来！”比如 12:30，用 Python。",
    "yue": "佢話：「嚟啦！」",
    "th": "เขาพูดว่า “มา!” เช่น 12:30 น.",
    "lo": "ລາວ ເວົ້າ ວ່າ: “ມາ!”",
    "km": "គាត់និយាយថា៖ «មក!»",
    "my": "သူပြောသည်- “လာ!”။",
    "bo": "ཁོས་ཟེར། “ཤོག”",
    "dz": "ཁོ་གིས་ “ཤོག”",
}
"""Apostrophes, colons, abbreviations, quotation marks, in each language's own sentences."""


@pytest.mark.parametrize("language", OWN_SENTENCES)
def test_a_perfect_translation_scores_100_in_every_language(language: str) -> None:
    line = OWN_SENTENCES[language]
    tokens = tokenize(line, PLAIN)
    assert detokenize(tokens, PLAIN) == uniform(line).lower()
    assert bleu_tok([tokens], [tokens]).score == pytest.approx(100)
    again = bleu_detok([detokenize(tokens, PLAIN)], [uniform(line)], True, language)
    assert again.score == pytest.approx(100)
    assert ("tok:13a" in again.signature) == (not unspaced(language))


SIGNS = st.sampled_from("ab.,'\"‿ ()«»是学\u0301\u200d☺️🇪🇸12-：:\ufeff\u00ad")


@given(text=st.text(alphabet=st.one_of(st.characters(), SIGNS)))
def test_plain_rules_give_every_text_back(text: str) -> None:
    tokens = tokenize(text, PLAIN, lowercase=False)
    assert tokens == " ".join(tokens).split(" ") or not tokens
    assert detokenize(tokens, PLAIN) == uniform(text) == uniform(uniform(text))
    assert tokenize(uniform(text), PLAIN, lowercase=False) == tokens


@given(text=st.text())
def test_nothing_that_is_seen_is_lost(text: str) -> None:
    fillers = "\u115f\u1160\u3164\uffa0"  # letters of no width

    def kept(line: str) -> list[str]:
        return [c for c in line if unicodedata.category(c)[0] in "LNPS" and c not in fillers]

    assert kept(unicodedata.normalize("NFC", text)) == kept(uniform(text))


@pytest.mark.parametrize("language", [*MOSES, PLAIN])
@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("cafe\u0301 u\u0308ber", "caf\u00e9 \u00fcber"),
        ("ab\u00adcd e\u200bf \ufeffgh\u2060 i\u200ej\x7f", "abcd ef gh ij"),
    ],
)
def test_one_text_in_two_forms_is_the_same_tokens(language: str, text: str, same: str) -> None:
    assert tokenize(text, language) == tokenize(same, language)


@pytest.mark.parametrize("language", [*MOSES, PLAIN])
def test_marks_stay_on_their_letter_and_emoji_are_whole(language: str) -> None:
    for word in ("за\u0301мок", "m\u0303", "👩‍👩‍👧", "☺️", "🇪🇸", "1️⃣", "👍🏽"):
        assert tokenize(f"a {word} b", language) == ["a", word, "b"]
