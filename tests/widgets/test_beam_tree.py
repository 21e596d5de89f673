"""The beam tree: every step of every recorded search on the screen; searches of own models."""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from course_lib.corpora import load_corpus
from course_lib.models import ModelConfig, build_model
from course_lib.search import translate
from course_lib.training import Run, RunConfig
from course_lib.training.vocabularies import make_vocabularies
from course_lib.widgets import BeamTree
from course_lib.widgets.beam_tree import recorded_search
from tests.widgets.conftest import Open, values_of

CHAPTER = Path(__file__).resolve().parents[2] / "book" / "06-choosing-and-judging.md"


@pytest.fixture(scope="module")
def figure() -> dict[str, Any]:
    return values_of("beam_tree")


READ = """() => {
  const figure = document.querySelector('.beam');
  const [, forward] = figure.querySelectorAll('button');
  const slider = figure.querySelector('input');
  const cards = () => [...figure.querySelectorAll('.beam-card')].filter(c => c.offsetParent)
    .map(c => [c.getAttribute('aria-label'), c.classList.contains('wins')]);
  const steps = [cards()];
  while (slider.value !== slider.max) { forward.click(); steps.push(cards()); }
  return steps;
}"""
"""Steps from the beginning to the end; of each step what every card to be seen says, and whether
it wins."""


def expected(search: dict[str, Any], step: int) -> set[str]:
    """What the cards of a search say after `step` words."""
    fates = ("kept", "finished", "dropped")
    names = set()
    for _, at, word, log_prob, fate in search["nodes"]:
        if at == 0:
            names.add(f"{word}, the beginning")
        elif (at < step and fate < 2) or at == step:
            # as a browser rounds: exact ties away from zero
            number = Decimal(log_prob).quantize(Decimal("0.01"), ROUND_HALF_UP)
            names.add(f"{word}, log p {number}, {fates[fate]}".replace("p -", "p −"))
    return names


def test_every_step_of_every_search_is_on_the_screen(
    open_figure: Open, figure: dict[str, Any]
) -> None:
    page = open_figure("beam_tree")
    for search in figure["searches"]:
        page.get_by_label("beam width k").select_option(str(search["k"]))
        page.get_by_label("length penalty λ").select_option(f"{search['length_penalty']:.1f}")
        page.get_by_role("region", name="The search").press("Home")
        steps = page.evaluate(READ)
        assert len(steps) == 1 + max(node[1] for node in search["nodes"])
        for step, cards in enumerate(steps):
            assert {name for name, _ in cards} == expected(search, step)
        won = {name.rsplit(", ", 2)[0] for name, wins in steps[-1] if wins}
        assert won == {search["nodes"][k][2] for k in search["best"]}
        whole = page.get_by_label("What is kept, in full").locator("li").all_inner_texts()
        at_last = [n for n in search["nodes"] if n[1] == len(steps) - 1 and n[4] < 2]
        assert len(whole) == len(at_last)
        assert all(line.endswith("</s>" + line[line.rindex(" (") :]) for line in whole)
        log_prob, length = search["nodes"][search["best"][-1]][3], last_step(search)
        reading = page.locator(".beam-reading").inner_text().replace("−", "-")
        assert f"= {log_prob / length ** search['length_penalty']:.3f}; finished" in reading


def last_step(search: dict[str, Any]) -> int:
    step: int = search["nodes"][search["best"][-1]][1]
    return step


@pytest.mark.parametrize("fonts", ["sans-serif", "DejaVu Sans", "monospace"])
def test_every_word_is_whole_as_wide_as_the_page_is(
    open_figure: Open, figure: dict[str, Any], fonts: str
) -> None:
    page = open_figure("beam_tree")
    page.add_style_tag(content=f":root {{ --sans: {fonts}; }}")
    page.set_viewport_size({"width": 703, "height": 900})  # 663 pixels for it, as at 1200
    cut = """() => {
      const [scroll, field] = ['.beam-scroll', '.beam-field'].map(n => document.querySelector(n));
      const squeeze = b => Number(b.style.transform.slice("scaleX(".length, -1) || 1);
      const whole = b => b.scrollWidth * squeeze(b) <= b.parentElement.clientWidth;
      const words = [...field.querySelectorAll('.beam-card:not(.dropped) b')];
      return [scroll.scrollWidth - scroll.clientWidth,
              ...words.filter(b => !whole(b)).map(b => b.textContent)];
    }"""
    for search in figure["searches"]:
        page.get_by_label("beam width k").select_option(str(search["k"]))
        page.get_by_role("region", name="The search").press("End")
        assert page.evaluate(cut) == [0]


def test_settings_and_keys_move_it(open_figure: Open, figure: dict[str, Any]) -> None:
    page = open_figure("beam_tree")
    page.get_by_label("beam width k").select_option("5")
    page.get_by_label("length penalty λ").select_option("0.0")
    region = page.get_by_role("region", name="The search")
    wanted = next(
        s
        for s in figure["searches"]
        if (s["source"], s["k"], s["length_penalty"]) == (figure["source"], 5, 0.0)
    )
    words = " ".join(wanted["nodes"][k][2] for k in wanted["best"])
    reading = page.locator(".beam-reading")
    assert reading.inner_text().startswith(words)
    assert "It wins." in reading.inner_text()
    region.press("Home")
    assert page.get_by_role("slider", name="step").input_value() == "0"
    region.press("ArrowRight")
    page.locator(".beam-card:visible").nth(1).hover()
    assert "log p = " in reading.inner_text()


def test_the_chapter_says_what_was_recorded(figure: dict[str, Any]) -> None:
    def search(k: int, penalty: float) -> dict[str, Any]:
        wanted = (figure["source"], k, penalty)
        return next(
            s for s in figure["searches"] if (s["source"], s["k"], s["length_penalty"]) == wanted
        )

    def found(k: int, penalty: float) -> tuple[str, list[float]]:
        """The words that win, and the log-probability of each of their beginnings."""
        one = search(k, penalty)
        path = [one["nodes"][number] for number in one["best"]]
        return " ".join(node[2] for node in path), [node[3] for node in path]

    text = CHAPTER.read_text(encoding="utf-8").replace("−", "-")
    (greedy, himself), (second, _), (third, food) = (found(k, 1.0) for k in (1, 2, 3))
    (short, nine), (long, ten) = (found(5, penalty) for penalty in (0.0, 1.0))
    assert greedy == second
    assert [found(k, 0.0)[0] for k in (1, 2, 3)] == [greedy, second, third]
    assert "restaurant , der sich isst ." in greedy
    assert "restaurant , das essen isst ." in third
    at = greedy.split().index("der")
    assert food[at] < himself[at]
    assert food[at + 1] > himself[at + 1]
    assert (figure["k"], figure["step"]) == (3, at + 2)  # it opens where *das* overtakes
    kept = sorted(node[3] for node in search(5, 0.0)["nodes"] if node[1] == 7 and node[4] == 0)
    assert kept.index(nine[short.split().index("essen")]) == 0  # the fifth of five
    assert len(kept) == 5
    fates = [(node[1], node[4]) for node in search(3, 0.0)["nodes"]]
    assert (fates.count((11, 1)), fates.count((12, 0)) + fates.count((12, 1))) == (2, 1)
    assert short.endswith("hat essen . </s>")
    assert long.endswith("hat essen zu . </s>")
    assert (len(nine), len(ten)) == (9, 10)
    assert f"with a log-probability of {nine[-1]:.2f}. With $k = 3$ the restaurant eats" in text
    assert f"the restaurant eats ({food[-1]:.2f}), and with 1 and 2" in text
    assert f"the man eats himself ({himself[-1]:.2f})" in text
    assert nine[-1] / 9 < ten[-1] / 10


def test_a_search_of_an_own_model_is_what_translate_finds() -> None:
    config = RunConfig("rnnsearch", "toy")
    corpus = load_corpus("toy", "en-de", train=50, val=2, test=2)
    source, target = make_vocabularies(config, corpus)
    sizes = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}
    words = {"source_vocabulary": len(source), "target_vocabulary": len(target)}
    model = build_model(ModelConfig(**words, **sizes), seed=3)
    run = Run(Path("unused"), config, model, source, target)
    sentence = corpus.splits["test"].source[0]
    for k in (1, 3):
        search = recorded_search(run, sentence, k, 1.0)
        found = translate(model, [source.encode(sentence)], k=k)[0]
        written = [search["nodes"][number][2] for number in search["best"]][:-1]
        assert written == [target.tokens[word] for word in found.tokens]
        assert search["nodes"][search["best"][-1]][3] == pytest.approx(found.log_prob, abs=2e-3)
    tree = BeamTree.of(run, sentence, widths=(1, 2))
    assert [(s["k"], s["length_penalty"]) for s in tree.searches] == [
        (1, 0.0),
        (1, 1.0),
        (2, 0.0),
        (2, 1.0),
    ]
