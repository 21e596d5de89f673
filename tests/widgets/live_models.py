"""Small models for the live translator, and the page in which its JavaScript is asked."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Browser, Page

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.languages import unspaced
from course_lib.corpora.splitting import Splitting
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.forced import logits
from course_lib.models import build_model
from course_lib.models.config import ModelConfig
from course_lib.models.quantised import dequantised, quantised
from course_lib.training import Run, RunConfig
from course_lib.widgets.modules import worker_script
from course_lib.widgets.pack import pack_run

SIZES: dict[str, Any] = {"embedding": 6, "hidden": 5, "alignment": 7, "readout": 4}
TIED: dict[str, Any] = {"tying": "all"}
VARIANTS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "torch's unit": {"unit": "torch"},
    "the conditional unit": {"unit": "torch", "decoder": "conditional", **TIED},
    "RNNencdec": {"context": "fixed"},
    "conditional RNNencdec": {
        **{"unit": "torch", "context": "fixed", "decoder": "conditional"},
        **TIED,
    },
}
"""What a page computes, each as what it sets against RNNsearch."""


def sentences(count: int = 40) -> list[str]:
    """Texts of the toy corpus."""
    corpus = load_corpus("toy", "en-de", train=count, val=2, test=2)
    return [" ".join(words) for words in corpus.splits["train"].source]


def small_run(path: Path = Path("small"), pieces: bool = True, **changes: Any) -> Run:
    """A model with drawn weights, large enough that it is sure of its words, in 8 bits."""
    options = {"train": 60, "val": 2, "test": 2}
    corpus = load_corpus("toy", "en-de", **options).splits["train"]
    text = [*corpus.source, *corpus.target]
    words: Vocabulary = Pieces.learn(text, 90) if pieces else Vocabulary.from_sentences(text)
    config = ModelConfig(len(words), len(words), **{**SIZES, **changes})
    model = build_model(config, seed=3).eval()
    for parameter in model.parameters():
        parameter.data *= 2
    model.load_state_dict(dequantised(quantised(model.state_dict())))
    name = "rnnencdec" if config.context == "fixed" else "rnnsearch"
    changes = {f"corpus.{key}": value for key, value in options.items()}
    return Run(path, RunConfig(name, "toy", preset="smoke", changes=changes), model, words, words)


def own_run(folder: Path, pair: str, lines: Sequence[tuple[str, str]], pieces: int) -> Run:
    """A model with drawn weights for a text of one's own, which is written into the folder."""
    how, codes = Splitting(lowercase=True), pair.split("-")
    tokens = []
    for side, language in enumerate(codes):
        texts = [line[side] for line in lines]
        (folder / f"train.{language}").write_text("".join(f"{one}\n" for one in texts), "utf-8")
        tokens += [how.tokens(text, language) for text in texts]
    words = Pieces.learn(tokens, pieces, unspaced=any(map(unspaced, codes)))
    model = build_model(ModelConfig(len(words), len(words), **SIZES), seed=3).eval()
    config = RunConfig("rnnsearch", str(folder), pair, preset="smoke")
    return Run(folder, config, model, words, words, how)


def open_worker(browser: Browser, run: Run) -> Page:
    """A page that has the run's model as `model` and its text as `text`."""
    page = browser.new_page()
    page.set_content(f"<!doctype html><meta charset=utf-8><script>{worker_script()}</script>")
    data = base64.b64encode(pack_run(run).data).decode()
    page.evaluate("(data) => take({ parts: [data] })", data)
    return page


SEARCH = """([words, options]) => {
  const searching = search(model, words, options);
  let step = searching.next();
  while (!step.done) step = searching.next();
  const steps = path(step.value);
  return {
    words: steps.slice(0, -1).map((one) => one.word),
    logProb: step.value.logProb,
    alpha: steps.map((one) => one.step.alpha && Array.from(one.step.alpha)),
  };
}"""


def searched(page: Page, words: Sequence[int], **options: Any) -> dict[str, Any]:
    """What the page's search finds: words, logProb and alpha."""
    found: dict[str, Any] = page.evaluate(SEARCH, [list(words), options])
    return found


def raw_logits(run: Run, source: Sequence[int], target: Sequence[int]) -> torch.Tensor:
    """The library's logits before each target word and the end mark, (T_y, K_y)."""
    with torch.no_grad():
        return logits(run.model, make_batch([(list(source), list(target))], [0]))[0]
