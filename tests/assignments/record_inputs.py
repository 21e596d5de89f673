"""Writes `inputs.json` of the assignment `build_rnnsearch`: right inputs for each of its parts.

A small RNNsearch without biases reads two sentences and writes two, step by step, by the equations
in `tests.reference` and in float64. Each part of the assignment starts from what stands at its
place in such a pass, and each part from another step, so that no part's inputs hold the answer to
another. Run it after a change of what is stored:

    python -m tests.assignments.record_inputs
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.reference.cells import Array
from tests.reference.translator import BOS, Choices, decode, encode, start

FILE = Path(__file__).parents[2] / "solutions" / "build_rnnsearch" / "inputs.json"
SEED = 1409
WORDS = 8  # K, of the target
PAD, EOS = 0, 2
# word numbers; the end mark is among those of the sources, as in the library's batches
LOOKED_UP = ([[4, 5, 6, 3, EOS], [6, 4, EOS]], [[4, 7, 5, 6, EOS], [5, 5, 3, 4, EOS]])
WRITTEN = ([[5, 4, EOS], [3, 6, 6, EOS]], [[6, 4, 7, EOS], [3, EOS]])

Stored = dict[str, dict[str, list]]


def stored_inputs() -> Stored:
    """What stands in the file: part -> argument -> numbers."""
    p = _parameters()
    annotations, mask, steps = _steps(p, *LOOKED_UP)
    attention = {"s_prev": _each(steps, 1, "s_prev"), "annotations": annotations, "mask": mask}
    alignment = {name: p[name] for name in ("W_a", "U_a", "v_a")}
    unit = {f"{letter}{gate}": p[f"dec.{letter}{gate}"] for gate in GATES for letter in "WUC"}
    readout = {name: p[name] for name in ("U_o", "V_o", "C_o", "W_o")}
    _, _, written = _steps(p, *WRITTEN)
    target, target_mask = _padded([[BOS, *words] for words in WRITTEN[1]])
    loss = {
        "logits": [[step.t @ p["W_o"].T for step in sentence] for sentence in written],
        "target": target,
        "mask": target_mask,
    }
    parts = {
        "mask": {"lengths": [5, 3, 1], "width": 6},
        "attention": attention | alignment,
        "unit": _three(p, steps, 2) | unit,
        "readout": _three(p, steps, 4) | readout,
        "loss": loss,
    }
    return {
        part: {name: _plain(value) for name, value in arguments.items()}
        for part, arguments in parts.items()
    }


GATES = ("", "_z", "_r")


@dataclass(frozen=True)
class Step:
    """What one step of the decoder starts from, and its context and readout."""

    s_prev: Array
    y_prev: int
    context: Array
    t: Array


def _parameters() -> dict[str, Array]:
    """Weights from N(0, 0.8^2) with two decimals, and biases of zero."""
    m, n, aligned, l2 = 4, 3, 5, 4
    shapes: dict[str, tuple[int, ...]] = {"E_x": (7, m), "E_y": (WORDS, m)}
    for of in ("fwd", "bwd", "dec"):
        for gate in GATES:
            shapes |= {f"{of}.W{gate}": (n, m), f"{of}.U{gate}": (n, n)}
            if of == "dec":
                shapes[f"{of}.C{gate}"] = (n, 2 * n)
    shapes |= {"W_s": (n, n), "W_a": (aligned, n), "U_a": (aligned, 2 * n), "v_a": (aligned,)}
    shapes |= {"U_o": (l2, n), "V_o": (l2, m), "C_o": (l2, 2 * n), "W_o": (WORDS, l2 // 2)}
    rng = np.random.default_rng(SEED)
    drawn = {name: rng.normal(0.0, 0.8, shape).round(2) for name, shape in shapes.items()}
    return drawn | {"b_s": np.zeros(n), "b_o": np.zeros(l2), "b_y": np.zeros(WORDS)}


def _steps(
    p: dict[str, Array], sources: list[list[int]], targets: list[list[int]]
) -> tuple[Array, list[list[bool]], list[list[Step]]]:
    """Padded annotations, their mask, and every step of every sentence; PAD follows the end."""
    model = Choices()
    encoded = [encode(p, source, model) for source in sources]
    width = max(map(len, sources))
    annotations = np.stack(
        [
            np.pad(sentence.annotations, [(0, width - len(sentence.annotations)), (0, 0)])
            for sentence in encoded
        ]
    )
    _, mask = _padded(sources)
    padded, _ = _padded(targets)
    steps = []
    for source, sentence, words in zip(sources, encoded, padded, strict=True):
        made = decode(p, source, words, model)
        states = [start(p, sentence, model), *(step.states for step in made)]
        steps.append(
            [
                Step(states[i][-1].h, y_prev, step.context, step.t)
                for i, (y_prev, step) in enumerate(zip([BOS, *words[:-1]], made, strict=True))
            ]
        )
    return annotations, mask, steps


def _padded(sentences: list[list[int]]) -> tuple[list[list[int]], list[list[bool]]]:
    width = max(map(len, sentences))
    words = [[*sentence, *[PAD] * (width - len(sentence))] for sentence in sentences]
    return words, [[j < len(sentence) for j in range(width)] for sentence in sentences]


def _each(steps: list[list[Step]], i: int, name: str) -> Array:
    return np.stack([getattr(sentence[i], name) for sentence in steps])


def _three(p: dict[str, Array], steps: list[list[Step]], i: int) -> dict[str, Array]:
    """The three things that unit and readout are made from, at the step with index i."""
    words = np.stack([p["E_y"][sentence[i].y_prev] for sentence in steps])
    return {"s_prev": _each(steps, i, "s_prev"), "Ey": words, "c": _each(steps, i, "context")}


def _plain(value: object) -> list:
    numbers = np.asarray(value)
    return numbers.round(6).tolist() if numbers.dtype.kind == "f" else numbers.tolist()


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    parts = [
        f'  "{part}": {{\n'
        + ",\n".join(f'    "{name}": {json.dumps(value)}' for name, value in arguments.items())
        + "\n  }"
        for part, arguments in stored_inputs().items()
    ]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
