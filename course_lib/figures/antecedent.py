"""Which word the last word of a sentence looks at, and the pronouns' probabilities, on paper."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.style import BODY, INK, MUTED, ROLES, SHADE, VALUE, CourseFigure, styled

PRONOUNS = ("er", "sie", "es")
LEFT, RIGHT, MIDDLE = 146, 238, 4.5  # where the lines begin and end
LEAST = 0.05  # a smaller weight's number is left out


def sentence_of(animal: str, thing: str, adjective: str, thing_first: bool) -> str:
    """The sentence with these words."""
    first, second = (thing, animal) if thing_first else (animal, thing)
    return f"the {first} stayed beside the {second} because it was {adjective}"


@styled()
def word_looked_at(
    readings: Mapping[str, Mapping[str, Any]],
    animals: Mapping[str, str],
    things: Mapping[str, str],
    animal: str,
    thing: str,
    adjective: str,
    thing_first: bool,
    **_: Any,
) -> Figure:
    """The arguments are the traits of `course_lib.widgets.Antecedent`."""
    sentence = sentence_of(animal, thing, adjective, thing_first)
    words, reading = sentence.split(), readings[sentence]
    at, right = reading["antecedent"], reading["right"]
    figure = CourseFigure(figsize=(6.4, 3.2))
    axes = figure.add_axes((0.01, 0.01, 0.57, 0.98))
    axes.set(xlim=(0, 330), ylim=(9.7, -1.6))
    bars = figure.add_axes((0.64, 0.42, 0.34, 0.32))
    bars.set(xlim=(-0.3, 1.35), ylim=(2.5, -0.5))
    for one in (axes, bars):
        one.axis("off")
    look: Any = {"va": "center", "fontsize": BODY}
    quiet: Any = {"va": "center", "fontsize": VALUE, "color": MUTED}
    for x, y, head in ((14, -1.1, "word"), (94, -1.1, "weight"), (RIGHT, 3.5, "asks")):
        axes.text(x, y, head, **quiet)
    for j, (word, weight) in enumerate(zip(words, reading["weights"], strict=True)):
        seen = weight >= LEAST
        line: Any = {"color": ROLES["weight"].fill, "solid_capstyle": "round"}
        width, alpha = 0.8 + 10 * weight, 0.35 + 0.65 * weight
        axes.plot((LEFT, RIGHT), (j, MIDDLE), linewidth=width, alpha=alpha, **line)
        axes.text(14, j, word, weight="bold" if seen else None, **look)
        if seen:
            text = ROLES["weight"].text
            axes.text(94, j, f"{weight:.2f}", weight="bold", color=text, **look)
    axes.add_patch(Rectangle((5, at - 0.46), 82, 0.92, fill=False, ec=INK, lw=1.6))
    axes.add_patch(Rectangle((RIGHT, MIDDLE - 0.6), 84, 1.2, fc=SHADE, ec=INK, lw=1, zorder=3))
    axes.text(RIGHT + 42, MIDDLE, adjective, weight="bold", ha="center", zorder=4, **look)
    for k, (word, p) in enumerate(zip(PRONOUNS, reading["probabilities"], strict=True)):
        best = p == max(reading["probabilities"])
        lit: Any = {**look, "color": ROLES["word"].text if best else INK}
        lit["weight"] = "bold" if best else None
        bars.barh(k, 1, 0.6, color=SHADE)
        bars.barh(k, p, 0.6, color=ROLES["word"].text)
        bars.text(-0.3, k, f"{word} ✓" if word == right else word, **lit)
        bars.text(1.35, k, f"{p:.2f}", ha="right", **lit)
    figure.text(0.64, 0.8, "“it” in German", weight="bold", fontsize=BODY)
    noun = words[at]
    german = {**animals, **things}[noun]
    was = "Held out" if reading["held_out"] else "Not held out"
    figure.text(0.64, 0.34, "✓ marks the right one: “it” is", fontsize=VALUE)
    figure.text(0.64, 0.27, f"the {noun} (outlined), {german}.", fontsize=VALUE)
    figure.text(0.64, 0.18, f"{was}: {animal} and {thing}.", fontsize=VALUE)
    return figure
