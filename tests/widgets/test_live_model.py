"""The forward pass and the search in the browser against the library, with the same weights."""

import pytest
import torch
from playwright.sync_api import Browser, Page

from course_lib.models.config import ModelConfig
from course_lib.search import translate
from course_lib.training import Run
from course_lib.widgets.pack import COMPUTED
from experiments.in_hand import translate_in_hand
from tests.widgets.live_models import (
    SIZES,
    VARIANTS,
    open_worker,
    raw_logits,
    searched,
    sentences,
    small_run,
)

LOGITS = """([source, target]) => {
  const memory = model.read(source);
  let state = memory.start;
  return [BOS, ...target].map((word, i) => {
    const [step] = model.step([word], [state], memory, undefined, i + 1);
    state = step.s;
    return Array.from(step.logits);
  });
}"""


def encoded(run: Run, count: int) -> list[list[int]]:
    return [run.source_vocabulary.encode(line.split()) for line in sentences()[:count]]


def compare_logits(page: Page, run: Run, sources: list[list[int]]) -> None:
    """Along three translations, the first longer than its source."""
    for source, target in zip(sources[:3], [sources[0] * 2, *sources[-2:]], strict=True):
        expected = raw_logits(run, source, target)
        found = torch.tensor(page.evaluate(LOGITS, [source, target]))
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_every_choice_is_tried() -> None:
    configs = [ModelConfig(90, 90, **{**SIZES, **changes}) for changes in VARIANTS.values()]
    for name, values in COMPUTED.items():
        assert set(values) == {getattr(config, name) for config in configs}, name


@pytest.mark.parametrize("name", VARIANTS)
def test_logits_and_translations_are_the_librarys(browser: Browser, name: str) -> None:
    run = small_run(pieces=False, **VARIANTS[name])  # sentences of a dozen words
    page = open_worker(browser, run)
    # Long ones find no end, and in a loop many continuations are equally good.
    sources = sorted(encoded(run, 8), key=len)[:4]
    compare_logits(page, run, sources)
    for k, penalty in ((1, 1.0), (3, 0.0), (5, 1.2)):
        expected_all = translate(run.model, sources, k, penalty)
        for source, expected_one in zip(sources, expected_all, strict=True):
            found_one = searched(page, source, k=k, lengthPenalty=penalty)
            assert found_one["words"] == expected_one.tokens
            assert found_one["logProb"] == pytest.approx(expected_one.log_prob, rel=1e-4)
    page.close()


@pytest.fixture(scope="module")
def asked(browser: Browser) -> tuple[Run, Page]:
    run = small_run(pieces=False, decoder="conditional")
    return run, open_worker(browser, run)


@pytest.mark.parametrize("k", [1, 5])
def test_words_and_weights_taken_in_hand_lead_where_the_library_leads(
    asked: tuple[Run, Page], k: int
) -> None:
    run, page = asked
    changed = 0
    for source in sorted(encoded(run, 12), key=len)[:6]:
        width = len(source) + 1
        uniform, first = [1 / width] * width, [1.0] + [0.0] * (width - 1)
        plain = searched(page, source, k=k)["words"]
        for prefix, weights in (
            ([], {"every": uniform}),
            ([], {2: first}),
            ([], {1: first, "every": uniform}),
            ([*plain[:1], 7], {}),
            ([5, 6, 7], {4: uniform}),
        ):
            expected = translate_in_hand(run.model, source, prefix, weights, k)
            found = searched(page, source, prefix=prefix, weights=weights, k=k)
            assert found["words"] == expected
            assert found["words"][: len(prefix)] == prefix
            for i, row in weights.items():
                if i != "every" and i <= len(found["alpha"]):
                    assert found["alpha"][i - 1] == pytest.approx(row)
            changed += expected != plain
    assert changed > 10, "the changes must change something"


def test_a_translation_ends_at_twice_the_source_and_ten(asked: tuple[Run, Page]) -> None:
    run, page = asked
    source = encoded(run, 1)[0]
    limit = 2 * (len(source) + 1) + 10
    found = searched(page, source, prefix=[5] * 200)
    assert found["words"] == [5] * (limit - 1)


def test_the_same_batch_or_alone(asked: tuple[Run, Page]) -> None:
    run, page = asked
    source = encoded(run, 1)[0]
    both = page.evaluate(
        "(source) => { const memory = model.read(source);"
        " const alone = model.step([5], [memory.start], memory);"
        " const [, beside] = model.step([9, 5], [memory.start, memory.start], memory);"
        " return [Array.from(alone[0].logits), Array.from(beside.logits)]; }",
        source,
    )
    assert both[0] == both[1]
