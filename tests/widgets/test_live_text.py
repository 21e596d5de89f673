"""Text in the browser is treated as the library treats it, token by token and piece by piece."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from course_lib.corpora.tokenization import MOSES, PLAIN, detokenize, tokenize
from course_lib.training import Run, load_run
from course_lib.widgets.live import SENTENCE
from course_lib.widgets.modules import worker_script
from course_lib.widgets.pack import character_class, tokenisation_rules
from tests.widgets.live_models import open_worker, own_run, sentences, small_run

ODD = (
    *("", " ", "\t\n", "''", ",,,", "...", "?!", ". ' .'", "x.' ", "\\ / ~ ^ _ * + = #tag"),
    '"Hello," she said.',
    "it's the dogs' ball, isn't it? rock 'n' roll, '90s, 'tis",
    "„Gänsefüßchen“ und ‚einfache‘ ``x'' `y'",
    "« guillemets » et «\u00a0espaces\u00a0», l'homme d'aujourd'hui qu'il a vu !",
    "a - b – c — d-e, co-operate well-known",
    "Ärger Öl Übel Straße ẞ İstanbul ΟΔΟΣ ﬁ Ⅷ ⅷ Ⓐ",
    "🐕 👩‍👩‍👧 a🐕b ☺️ 𝒳 𐐀𐐨",
    "漢字 かな カナ 한국어 Привет, мир! مرحبا नमस्ते दुनिया שלום",
    "x² ½ ٣ ４ 5,300 1.000 3,14 2 % 50\u00a0% ,5 5, a ,b",
    "U.S. e.g. etc. No. 5 Mr. Smith vs. him. z.b. a.b.c. d. no. 3.",
    "wait... what.. no . . . DOTMULTI DOTDOTMULTI THISISPROTECTED000",
    "http://example.org/a?b=c&d me@example.org",
    "<b>bold</b> & |pipe| [brackets] {braces} (paren )( x ) &amp; @-@ a @-@ b",
    "$5 €6 £7 ¥8 100°C 20ºC nº\u00a05",
    "tab\tseparated\u2003wide\u00a0nbsp\u200bzero \ufeffbom soft\u00adhyphen",
    "▁ ▁▁a a▁b \x00\x01\x1c\x1f\x7f\x85 a\u0301 é",
    "word " * 100,
    "a" * 300,
)

TREATED = """({language, lines, tokens, rules}) => {
  const clean = cleanOf(rules.plain);
  const plain = plainRules(rules.plain);
  const words = rules.tokens ? mosesOf(language, rules) : plain.words;
  const joined = rules.tokens ? detokenizerOf(language, rules.text) : plain.joined;
  return lines.map((line, k) => [words(clean(line).toLowerCase()), joined(tokens[k])]);
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<!doctype html><meta charset=utf-8><script>{worker_script()}</script>")
    yield page
    page.close()


@pytest.mark.parametrize("language", [*MOSES, PLAIN])
def test_tokens_and_text_are_the_librarys(page: Page, language: str) -> None:
    lines = [*ODD, SENTENCE, *sentences()]
    tokens = [tokenize(line, language) for line in lines]
    expected = [[words, detokenize(words, language)] for words in tokens]
    found = page.evaluate(
        TREATED,
        {
            "language": language,
            "lines": lines,
            "tokens": tokens,
            "rules": tokenisation_rules(MOSES if language in MOSES else ()),
        },
    )
    assert found == expected


ENCODED = "(lines) => lines.map((line) => text.encode(line).flatMap((word) => word.numbers))"


@pytest.fixture(scope="module", params=["published", "pieces", "words"])
def reading(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Run, Page]]:
    run = (
        load_run("multi30k-en-de-laptop", "cpu")
        if request.param == "published"
        else small_run(pieces=request.param == "pieces")
    )
    page = open_worker(browser, run)
    yield run, page
    page.close()


def test_numbers_are_the_librarys(reading: tuple[Run, Page]) -> None:
    run, page = reading
    lines = [*ODD, SENTENCE, *sentences()]
    expected = [run.source_vocabulary.encode(tokenize(line, "en")) for line in lines]
    assert page.evaluate(ENCODED, lines) == expected


def test_numbers_become_text_again(reading: tuple[Run, Page]) -> None:
    run, page = reading
    size = len(run.target_vocabulary)
    written = [[(7 * i * i + 13 * k) % size for i in range(12)] for k in range(40)]
    written = [[number for number in one if number != 2] for one in written]
    expected = [detokenize(run.target_vocabulary.decode(one), "de") for one in written]
    assert page.evaluate("(all) => all.map((one) => text.decode(one))", written) == expected


JAPANESE = [
    ("the cat sleeps .", "猫は眠ります。"),
    ("fonts of a document", "ドキュメントのフォント"),
    ("14 standard fonts", "標準 14 フォント"),
    ("open the document", "ドキュメントを開きます"),
]


@pytest.mark.parametrize("pair", ["en-ja", "ja-en"])
def test_pieces_of_letters_without_spaces_are_the_librarys(
    browser: Browser, tmp_path: Path, pair: str
) -> None:
    lines = JAPANESE if pair == "en-ja" else [(y, x) for x, y in JAPANESE]
    run = own_run(tmp_path, pair, lines, 70)
    page = open_worker(browser, run)
    read = [*ODD, *(x for x, _ in lines), "PDFドキュメント 猫 とdog、犬犬"]
    words = run.source_vocabulary
    expected = [words.encode(run.how.tokens(line, run.config.languages[0])) for line in read]
    assert page.evaluate(ENCODED, read) == expected
    size = len(words)
    written = [[(7 * i * i + 13 * k) % size for i in range(12)] for k in range(40)]
    written = [[number for number in one if number != 2] for one in written]
    texts = [run.how.text(words.decode(one), run.config.languages[1]) for one in written]
    assert page.evaluate("(all) => all.map((one) => text.decode(one))", written) == texts
    page.close()


def test_characters_become_ranges() -> None:
    assert character_class("cabZé𐐀") == "\\u{5a}\\u{61}-\\u{63}\\u{e9}\\u{10400}"
