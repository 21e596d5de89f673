"""Record that the translators in the page are the library's: what their page reads.

text: the captions of every file of Multi30k, in the browser and in Python: tokens, and text again.
Each published model in headless Chromium against the library with the same 8-bit weights: logits,
greedy and beam-5 translations of the whole test set, and both searches with a sample taken in hand;
and BLEU on `val` with these weights and with those that are published. Needs Chromium.
"""

import base64
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page
from tqdm import tqdm

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.evaluation.forced import logits
from course_lib.evaluation.score import score_split
from course_lib.models.quantised import dequantised, quantised
from course_lib.pretrained import small
from course_lib.search import Hypothesis, translate
from course_lib.training import Run, load_run
from course_lib.widgets.modules import worker_script
from course_lib.widgets.pack import pack_run, tokenisation_rules
from experiments.browser import chromium
from experiments.in_hand import EVERY, translate_in_hand
from experiments.recording import Part, Read, Records, captions

LANGUAGES = ("en", "de", "fr")
"""Of the captions."""
SPLITS = ("train", "val", "test_2016_flickr")
TEST = SPLITS[-1]
TOLERANCE = 1e-3
WIDTHS = (1, 5)
IN_HAND = 25
"""Sentences that are taken in hand."""

TREATED = """({language, lines, tokens, rules}) => {
  const clean = cleanOf(rules.plain);
  const plain = plainRules(rules.plain);
  const words = rules.tokens ? mosesOf(language, rules) : plain.words;
  const joined = rules.tokens ? detokenizerOf(language, rules.text) : plain.joined;
  return lines.map((line, k) => [words(clean(line).toLowerCase()), joined(tokens[k])]);
}"""
LOAD = "(data) => take({ parts: [data] })"
SEARCHED = """([lines, options]) => lines.map((line, k) => {
  const words = Array.isArray(line) ? line : text.encode(line).flatMap((word) => word.numbers);
  const searching = search(model, words, options[k] ?? options[0]);
  let step = searching.next();
  while (!step.done) step = searching.next();
  return path(step.value).slice(0, -1).map((one) => one.word);
})"""
LOGITS = """([source, target]) => {
  const memory = model.read(source);
  let state = memory.start;
  const all = [BOS, ...target].flatMap((word) => {
    const [step] = model.step([word], [state], memory, undefined, 1);
    state = step.s;
    return [step.logits];
  });
  let text = "";
  for (const byte of all.flatMap((one) => [...new Uint8Array(one.buffer)])) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}"""


@contextmanager
def browser_page() -> Iterator[tuple[Page, str]]:
    """A page that knows what the worker knows, and the browser's version."""
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(f"<!doctype html><meta charset=utf-8><script>{worker_script()}</script>")
        yield page, browser.version


def when(version: str) -> dict[str, str]:
    """What every record here begins with."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "chromium": version}


def record_text() -> Records:
    """All captions of all files, token by token."""
    rows = []
    with browser_page() as (page, version):
        for language in LANGUAGES:
            for split in SPLITS:
                lines = captions(split, language)
                rows.append({"language": language, "split": split, "captions": len(lines)})
                rows[-1]["different"] = sum(
                    different(page, language, lines[at : at + 1000])
                    for at in tqdm(range(0, len(lines), 1000), f"{split}.{language}")
                )
    yield "translator-text", {**when(version), "files": rows}


def different(page: Page, language: str, lines: list[str]) -> int:
    """How many lines the page treats otherwise: their tokens, or these joined again."""
    tokens = [tokenize(line, language) for line in lines]
    asked = {
        "language": language,
        "lines": lines,
        "tokens": tokens,
        "rules": tokenisation_rules(LANGUAGES),
    }
    expected = [[words, detokenize(words, language)] for words in tokens]
    return sum(a != b for a, b in zip(page.evaluate(TREATED, asked), expected, strict=True))


def record_model(name: str) -> Records:
    """One published model with its 8-bit weights, in the browser and in Python: translations, what
    8 bits cost, logits, and what comes of them in hand."""
    run = load_run(name, "cpu")
    corpus = load_corpus(run.config.corpus, run.config.pair)
    published = bleu(run, corpus)
    run.model.load_state_dict(dequantised(quantised(run.model.state_dict())))
    made, sources = pack_run(run), sources_of(run, corpus)
    with browser_page() as (page, version):
        page.evaluate(LOAD, base64.b64encode(made.data).decode())
        about = {**when(version), "model": name, "bytes": len(made.data)}
        lines = captions(TEST, run.config.pair.split("-")[0])
        otherwise = {
            f"different_beam_{k}": searched_otherwise(page, run, lines, sources, k) for k in WIDTHS
        }
        val = {"published": published, "eight_bits": bleu(run, corpus)}
        yield f"translator-{name}", {**about, "sentences": len(lines), **otherwise, "val": val}
        logits = compared_logits(page, run, sources)
        in_hand = compared_in_hand(page, run, sources[:IN_HAND])
    yield f"in-hand-{name}", {**about, "logits": logits, "in_hand": in_hand}


def sources_of(run: Run, corpus: Corpus) -> list[list[int]]:
    """The test set as the model reads it."""
    return [run.source_vocabulary.encode(words) for words in corpus.splits[TEST].source]


def bleu(run: Run, corpus: Corpus) -> float:
    """Tokenised BLEU on `val` with beam 12."""
    penalty = run.config.recipe.length_penalty
    scores, _ = score_split(run.model, run.words, corpus, "val", 12, penalty)
    return float(scores["bleu_tok"])


def searched_otherwise(
    page: Page, run: Run, lines: list[str], sources: list[list[int]], k: int
) -> list[int]:
    """The places of the sentences, as typed, that the page translates otherwise with width k."""
    penalty = run.config.recipe.length_penalty
    expected = [found.tokens for found in translate(run.model, sources, k, penalty)]
    options = [{"k": k, "lengthPenalty": penalty}]
    found: list[list[int]] = []
    for at in tqdm(range(0, len(lines), 20), f"beam {k}"):
        found += page.evaluate(SEARCHED, [lines[at : at + 20], options])
    return [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]


def compared_logits(page: Page, run: Run, sources: list[list[int]]) -> dict[str, Any]:
    """Every logit along greedy translations; relative to the logit, or to 1 where that is less."""
    worst, count = 0.0, 0
    greedy = translate(run.model, sources, 1)
    for source, hypothesis in zip(tqdm(sources, "logits"), greedy, strict=True):
        with torch.no_grad():
            expected = logits(run.model, make_batch([(source, hypothesis.tokens)], [0]))[0].numpy()
        data = base64.b64decode(page.evaluate(LOGITS, [source, hypothesis.tokens]))
        found = np.frombuffer(data, dtype=np.float32).reshape(expected.shape)
        off = np.abs(found - expected) / np.maximum(np.abs(expected), 1)
        worst, count = max(worst, float(off.max())), count + off.size
    compared = {"sentences": len(sources), "compared": count}
    return {**compared, "largest_relative_difference": worst, "tolerance": TOLERANCE}


def compared_in_hand(page: Page, run: Run, sources: list[list[int]]) -> dict[str, Any]:
    """All that a hand can do, drawn at random, in both searches: how much comes out otherwise."""
    drawn = random.Random(0)
    asked: list[tuple[list[int], dict[str, Any]]] = []
    for source, plain in zip(sources, translate(run.model, sources, 1), strict=True):
        changes = list(changes_by_hand(run, source, plain, drawn))
        asked += [(words, {**change, "k": k}) for k in WIDTHS for words, change in changes]
    different = 0
    for words, options in tqdm(asked, "in hand"):
        (found,) = page.evaluate(SEARCHED, [[words], [options]])
        different += found != translate_in_hand(run.model, words, **options)
    return {"sentences": len(sources), "compared": len(asked), "different": different}


def changes_by_hand(
    run: Run, source: list[int], plain: Hypothesis, drawn: random.Random
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """What is read and changed: another word, a word left out, rows held for a word or for all."""
    at = drawn.randrange(len(plain.tokens))
    kept = plain.tokens[:at]
    with torch.no_grad():
        scored = logits(run.model, make_batch([(source, plain.tokens)], [0]))[0]
    _, *others = scored[at].topk(5).indices.tolist()
    yield source, {"prefix": [*kept, drawn.choice(others)]}
    out = drawn.randrange(len(source))
    yield [*source[:out], *source[out + 1 :]], {}
    if plain.alpha is None:
        return
    alike = [1 / (len(source) + 1)] * (len(source) + 1)
    all_on_one = [0.0] * len(source) + [1.0]
    drawn.shuffle(all_on_one)
    shares = [drawn.random() for _ in alike]
    dragged = [share / sum(shares) for share in shares]
    anothers = plain.alpha[drawn.randrange(len(plain.alpha))].tolist()
    for row in (alike, all_on_one, dragged, anothers):
        yield source, {"weights": {EVERY: row}}
        yield source, {"prefix": kept, "weights": {at + 1: row}}


def check(read: Read) -> None:
    """The page says that nothing differs, and that 8 bits cost less than a tenth of a point."""
    files = read("translator-text")["files"]
    assert {(row["language"], row["split"]) for row in files} == {
        (language, split) for language in LANGUAGES for split in SPLITS
    }
    assert not any(row["different"] for row in files)
    for name in small():
        one, inside = read(f"translator-{name}"), read(f"in-hand-{name}")
        assert abs(one["val"]["published"] - one["val"]["eight_bits"]) < 0.1
        assert one["different_beam_1"] == one["different_beam_5"] == []
        assert inside["logits"]["sentences"] == one["sentences"]
        assert inside["logits"]["largest_relative_difference"] < TOLERANCE
        assert inside["in_hand"]["different"] == 0


PARTS = {
    "text": Part(record_text, "five minutes"),
    **{name: Part(partial(record_model, name), "half an hour") for name in small()},
}
