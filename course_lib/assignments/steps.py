"""Small models to search in: what the assignment `decoding` hands to a student's functions.

Every model is a function of one kind, whatever is inside it:

    log_probs, state = step(state, words)

`state` is a tensor with a row for each of R beginnings, `words` their R last words; `log_probs` is
(R, V), the next word's, and the new state has the same rows again. Rows are chosen by indexing.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from course_lib.assignments import checks
from course_lib.corpora.vocabulary import BOS, EOS, PAD
from course_lib.errors import CourseError

START, END = BOS, EOS
NEVER = (PAD, START)
"""What no model writes."""

Step = Callable[[Tensor, Any], tuple[Tensor, Tensor]]


class Model(NamedTuple):
    """A step, and a row of its state for each sentence, before the first word."""

    step: Step
    state: Tensor


class Translator(NamedTuple):
    """A trained decoder, with what its encoder made of some sentences, and their texts."""

    step: Step
    state: Tensor
    words: list[str]
    sources: list[str]
    references: list[str]


def from_table(table: Tensor) -> Model:
    """The model that (S, V, V, V) log-probabilities describe: of S sentences, each after two words.

    The state's rows are (sentence, the word before last).
    """

    def step(state: Tensor, words: Any) -> tuple[Tensor, Tensor]:
        last = _one_word_a_row(state, words)
        sentence, before = state.unbind(1)
        return table[sentence, before, last], torch.stack([sentence, last], dim=1)

    sentences = torch.arange(len(table))
    return Model(step, torch.stack([sentences, torch.full_like(sentences, PAD)], dim=1))


def random_table(
    seed: int, sentences: int = 1, words: int = 3, end: float = 0.0, spread: float = 1.5
) -> Tensor:
    """A table for `from_table`, of so many words and the marks; `end` favours the end mark."""
    size = END + 1 + words
    numbers = torch.Generator().manual_seed(seed)
    logits = spread * torch.randn(
        sentences, size, size, size, generator=numbers, dtype=torch.float64
    )
    logits[..., END] += end
    logits[..., list(NEVER)] = -torch.inf
    return logits.log_softmax(dim=-1)


def bigrams(words: list[str], follows: Mapping[str, Mapping[str, float]]) -> Tensor:
    """A table for `from_table`: one sentence, the next word depends on the last one only.

    Args:
        words: all words, the marks `<pad>`, `<s>`, `</s>` first.
        follows: the probabilities of what can follow a word; after all others comes the end.
    """
    size = len(words)
    table = torch.zeros(size, size, dtype=torch.float64)
    for last, word in enumerate(words):
        for after, probability in follows.get(word, {"</s>": 1.0}).items():
            table[last, words.index(after)] = probability
    return table.log()[None, None].expand(1, size, size, size)


def load_translator(path: Path | str = "translator.safetensors") -> Translator:
    """A GRU that writes from one vector for each sentence; in double precision.

    Raises:
        CourseError: there is no such file, or it is damaged.
    """
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            tensors = {name: file.get_tensor(name).double() for name in names}
            texts = {name: json.loads(text) for name, text in file.metadata().items()}
    except (OSError, SafetensorError) as error:
        raise CourseError(
            f"{path} is missing or damaged. Copy it from the folder of the assignment to where the"
            " notebook is."
        ) from error
    E, W_o, bias = tensors["E"], tensors["W_o.weight"], tensors["W_o.bias"]
    cell = nn.GRUCell(E.shape[1], W_o.shape[1], dtype=torch.float64).requires_grad_(False)
    cell.load_state_dict(
        {name.removeprefix("cell."): t for name, t in tensors.items() if name.startswith("cell.")}
    )
    impossible = torch.zeros(len(W_o), dtype=torch.float64)
    impossible[list(NEVER)] = -torch.inf

    def step(state: Tensor, words: Any) -> tuple[Tensor, Tensor]:
        s = cell(E[_one_word_a_row(state, words)], state)
        return torch.log_softmax(s @ W_o.T + bias + impossible, dim=-1), s

    return Translator(step, tensors["s_0"], texts["words"], texts["sources"], texts["references"])


def log_prob(model: Model | Translator, row: int, sentence: list[int]) -> float:
    """What the model itself gives a sentence, its end mark included, from one row's state."""
    state, total = model.state[row : row + 1], 0.0
    for last, word in zip([START, *sentence], [*sentence, END], strict=True):
        log_probs, state = model.step(state, [last])
        total += float(log_probs[0, word])
    return total


def sentences(answer: Any, count: int, name: str) -> list[list[int]]:
    """A student's sentences as lists of word numbers, without marks.

    Raises:
        checks.Refused: it is not so many lists of word numbers.
    """
    checks.that(answer is not None, f"{name} is None: return a list of sentences.")
    listed = checks.listed(answer)
    kind = "a list with a list of word numbers for each sentence of the batch"
    checks.that(
        isinstance(listed, list) and all(isinstance(one, list) for one in listed),
        f"{name} has to be {kind}.",
    )
    checks.that(
        len(listed) == count, f"{name} holds {len(listed)} sentences; the batch has {count}."
    )
    for one in listed:
        checks.that(
            all(isinstance(word, int) and not isinstance(word, bool) for word in one),
            f"{name} has to be {kind}: something in it is no whole number.",
        )
        checks.that(
            END not in one,
            f"A sentence in {name} has the end mark in it: return the words before it alone.",
        )
        checks.that(
            not set(one) & set(NEVER),
            f"A sentence in {name} has padding or a start mark in it: return its words alone.",
        )
    return listed


def _one_word_a_row(state: Tensor, words: Any) -> Tensor:
    last = torch.as_tensor(words, dtype=torch.long)
    if last.shape != (len(state),):
        raise ValueError(
            f"step needs one word for each row of the state: it was given words of the shape"
            f" {tuple(last.shape)} and {len(state)} rows"
        )
    return last
