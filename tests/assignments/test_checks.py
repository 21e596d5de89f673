"""What the test cells are written with: every kind of answer is taken, and messages say enough."""

import array
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from IPython.core.interactiveshell import InteractiveShell

from course_lib.assignments import checks
from course_lib.assignments.checks import Refused


@given(arrays(np.float64, (2, 3), elements=st.floats(-1e3, 1e3)))
def test_the_same_numbers_are_the_same_answer_whatever_holds_them(values: np.ndarray) -> None:
    plain = values.tolist()
    kinds = [
        values,
        plain,
        tuple(map(tuple, plain)),
        torch.tensor(plain, dtype=torch.float64, requires_grad=True),
        [torch.tensor(row, dtype=torch.float64) for row in plain],
        [[np.float64(number) for number in row] for row in plain],
    ]
    for kind in kinds:
        numbers = checks.numbers(kind, (2, 3), "answer")
        assert numbers == plain
        assert all(type(number) is float for row in numbers for number in row)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "still None"),
        ([1, 2], "holds 2 numbers; expected 3"),
        ([1, 367, 1, 367, 1, 810], "Decimal points, not commas"),
        (0.5, "a single number; expected 3"),
        ([[1, 2, 3]], "a table of shape (1, 3)"),
        ([1, [2, 3], 4], "ragged"),
        (["1", "2", "3"], "without quotation marks"),
        ([True, False, True], "True or False"),
        ([1, 2, math.nan], "NaN or infinity"),
        ([1, 2, math.inf], "NaN or infinity"),
        ({1, 2, 3}, "of the kind set"),
        ([1, 2, 3j], "of the kind complex"),
        ([1, None, 3], "contains None"),
        (lambda: 1, "of the kind function"),
    ],
)
def test_what_is_no_answer_is_refused_in_plain_words(answer: object, said: str) -> None:
    with pytest.raises(Refused) as refusal:
        checks.numbers(answer, (3,), "energies")
    assert said in str(refusal.value)
    assert str(refusal.value).startswith("energies")
    assert checks.numbers_or_none(lambda: answer, (3,)) is None


def test_a_wrong_shape_is_told_with_the_names_of_the_axes() -> None:
    with pytest.raises(
        Refused, match=r"alpha has the shape \(3, 2\); expected \(2, 3\) = \(B, T_x"
    ):
        checks.numbers(torch.zeros(3, 2), (2, 3), "alpha", axes=("B", "T_x"))
    with pytest.raises(Refused, match=r"loss has the shape .*; expected a single number"):
        checks.numbers(torch.ones(2), (), "loss")
    with pytest.raises(Refused, match="A decimal point, not a comma"):
        checks.numbers((0, 92), (), "at_verb")
    assert checks.numbers(torch.ones(1, 1), (), "loss") == checks.numbers([1], (), "loss") == 1.0


def test_an_earlier_answer_that_has_no_name_is_none() -> None:
    def gone() -> None:
        raise NameError("name 'energies' is not defined")

    assert checks.numbers_or_none(gone, (3,)) is None
    assert checks.numbers_or_none(lambda: (1, 2, 3), (3,)) == [1, 2, 3]


def test_a_function_that_takes_no_gradient_is_asked_without_one() -> None:
    """NumPy refuses a tensor that a gradient is asked of."""
    leaf = torch.ones(2, requires_grad=True)
    (doubled,) = checks.results(lambda x: 2 * np.asarray(x), ("doubled",), leaf)
    assert doubled.tolist() == [2, 2]
    with pytest.raises(Refused, match="changed its argument"):
        checks.results(lambda x: x.add_(1), ("x",), leaf)  # which no leaf allows


def test_the_tolerance_is_the_stated_one() -> None:
    checks.close([1.0019, 2], [1.0, 2.0], "answer", hint="")
    with pytest.raises(Refused, match="three decimals"):
        checks.close([1.0021, 2], [1.0, 2.0], "answer", hint="")
    with pytest.raises(Refused, match=r"not right \(number 1 of 2\)\. Look again"):
        checks.close([1.5, 2], [1.0, 2.0], "answer", hint="Look again.")


def test_an_answer_may_follow_from_an_earlier_one_but_not_mix_two() -> None:
    accepted = [[0.2, 0.8], [0.5, 0.5]]
    for answer in accepted:
        checks.close_to_any(answer, accepted, "weights", hint="")
    with pytest.raises(Refused):
        checks.close_to_any([0.2, 0.5], accepted, "weights", hint="")


@pytest.mark.parametrize("answer", [3, 3.0, "3", "h_3", " H3 ", [3], torch.tensor(3), np.int64(3)])
def test_a_choice_may_be_written_in_many_ways(answer: object) -> None:
    assert checks.choice(answer, (1, 2, 3), "winner") == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "still None"),
        (0, "counting begins at 1"),
        (4, "none of the choices"),
        (2.5, "none of the choices"),
        ("third", "is no number"),
        ([1, 2], "is no number"),
    ],
)
def test_what_is_no_choice_is_refused(answer: object, said: str) -> None:
    with pytest.raises(Refused, match=said):
        checks.choice(answer, (1, 2, 3), "winner")


def test_a_students_function_is_called_for_them() -> None:
    names = ("context", "alpha")

    def attend(x: int) -> object:
        return x, x + 1

    def forgets(x: int) -> object:
        return None

    def returns_one(x: int) -> object:
        return torch.zeros(2)

    def breaks(x: int) -> object:
        raise ValueError("no such axis\nand more")

    assert checks.results(attend, names, 1) == (1, 2)
    for function, said in [
        (forgets, "returned nothing: end it with `return context, alpha`"),
        (returns_one, "has to return 2 results"),
        (breaks, "breaks stopped with ValueError: no such axis"),
        (3, "keep the `def` line"),
    ]:
        with pytest.raises(Refused, match=said):
            checks.results(function, names, 1)


def test_a_notebook_shows_the_sentence_and_no_code_of_the_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell = InteractiveShell()
    shell.run_cell(
        "from course_lib.assignments import checks\nsecret = 1.3673\n"
        "checks.close([1.0], [secret], 'energies', hint='Mind the signs.')"
    )
    shown = capsys.readouterr()
    assert "Not yet: energies is not right. Mind the signs." in shown.out + shown.err
    assert "secret" not in shown.out + shown.err


def test_one_result_is_taken_as_it_is() -> None:
    for returned in (torch.zeros(2), [1.0, 2.0], (1, 2), 0.5):
        (result,) = checks.results(lambda kept: kept, ("energies",), returned)
        assert result is returned


def test_what_a_students_exception_says_is_kept_short_and_without_numbers_of_the_test() -> None:
    class E1_3673(ValueError):
        pass

    def spies() -> None:
        raise E1_3673("expected [1.3673, -.5, 2e3, 1.5e-07] of (2, 3)\nsecond line")

    def leaves() -> None:
        raise SystemExit

    with pytest.raises(Refused) as refusal:
        checks.results(spies, ("energies",))
    assert str(refusal.value) == "spies stopped with ValueError: expected […, …, 2e3, …] of (2, 3)"
    with pytest.raises(Refused, match=r"^leaves stopped with SystemExit$"):
        checks.results(leaves, ("energies",))


@pytest.mark.parametrize(
    ("argument", "harm"),
    [
        (torch.zeros(2), lambda x: x.add_(1)),
        (torch.full((2,), math.nan), lambda x: x.fill_(0)),
        (np.array([0, math.nan]), lambda x: x.fill(0)),
        ([0.0, 0.0], lambda x: x.append(1.0)),
        ((torch.zeros(2), [1]), lambda x: x[1].clear()),
        ({"row": [0.0]}, lambda x: x["row"].append(1.0)),
        ({0}, lambda x: x.add(1)),
    ],
    ids=lambda one: "" if callable(one) else repr(one),
)
def test_an_argument_that_comes_back_changed_is_refused(argument: Any, harm: Any) -> None:
    def harms(kept: Any, other: int) -> int:
        harm(kept)
        return other

    assert checks.results(lambda kept, other: other, ("one",), argument, 1) == (1,)
    with pytest.raises(Refused, match="harms changed its argument number 1"):
        checks.results(harms, ("one",), argument, 1)


def test_a_generator_may_be_drawn_from_and_a_shape_may_not_change() -> None:
    numbers = torch.Generator().manual_seed(1)
    checks.results(lambda kept: torch.rand(1, generator=kept), ("one",), numbers)
    with pytest.raises(Refused, match="argument number 1"):
        checks.results(lambda kept: kept.unsqueeze_(0), ("one",), torch.zeros(2))


def test_the_line_is_that_of_the_answers_own_cell_and_not_of_the_test() -> None:
    """What a test hands in may fail in the test's cell, because of what it was given."""
    cells: dict[str, Any] = {}
    exec(compile("\n\n\ndef step(x):\n    return 1 / x", "/tmp/ipykernel_1/2.py", "exec"), cells)
    exec(compile("def answer(f):\n    return f(0)", "/tmp/ipykernel_1/1.py", "exec"), cells)
    with pytest.raises(Refused, match=r"ZeroDivisionError \(line 2 of its cell\)"):
        checks.results(cells["answer"], ("one",), cells["step"])


@pytest.mark.parametrize(
    "mask",
    [
        torch.tensor([[True, False]]),
        np.array([[True, False]]),
        [[True, False]],
        (torch.tensor([True, False]),),
        [[np.bool_(True), torch.tensor(False)]],
    ],
)
def test_a_mask_of_any_kind_is_true_and_false(mask: object) -> None:
    assert checks.flag(mask, (1, 2), "mask") == [[True, False]]


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (None, "still None"),
        (torch.tensor([[1, 0]]), "something else than True and False"),
        ([[1.0, 0.0]], "something else than True and False"),
        ([[True, None]], "something else than True and False"),
        ([True, False], r"shape \(2,\); expected \(1, 2\) = \(B, T_x\)"),
        ([[True], [True, False]], "ragged"),
    ],
)
def test_what_is_no_mask_is_refused(mask: object, said: str) -> None:
    with pytest.raises(Refused, match=said):
        checks.flag(mask, (1, 2), "mask", axes=("B", "T_x"))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_floats_of_any_width_are_floats(dtype: torch.dtype) -> None:
    assert checks.numbers(torch.ones(2, dtype=dtype), (2,), "alpha", floats=True) == [1.0, 1.0]
    for answer in ([0.5, 0], (np.float32(0.5), 0), np.ones(2), [torch.tensor(1.0)] * 2):
        checks.numbers(answer, (2,), "alpha", floats=True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (torch.tensor([0, 1]), "int64"),
        (np.array([0, 1], dtype=np.int8), "int8"),
        (torch.tensor([True, False]), "bool"),
        ([0, 1], "whole numbers"),
        ([torch.tensor(0), torch.tensor(1)], "whole numbers"),
    ],
)
def test_whole_numbers_are_refused_where_floats_are_due(answer: object, kind: str) -> None:
    with pytest.raises(Refused, match=f"alpha is of dtype {kind}; expected floating"):
        checks.numbers(answer, (2,), "alpha", floats=True)


def test_a_right_gradient_passes_and_so_does_an_answer_without_any() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    checks.gradient(x * x, x, [2.0, 4.0], "square")
    checks.gradient((x * x).double(), x, [2.0, 4.0], "square")
    checks.gradient(x.sin(), x, None, "sine")
    for answer in ([1.0, 4.0], np.array([1.0, 4.0]), 3.0):
        checks.gradient(answer, x, [2.0, 4.0], "square")


def test_a_missing_cut_or_infinite_gradient_is_refused() -> None:
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    for answer, said in [
        ((x * x).detach(), "square carries no gradient"),
        (torch.tensor([1.0, 0.0]), "square carries no gradient"),
        (torch.tensor([1, 0]), "square carries no gradient"),
        (x * x.detach(), "cut or doubled. Look again"),
        (other * 1, "cut or doubled"),
        (x.sqrt() * torch.tensor([1.0, 0.0]), "NaN or infinite, though the value is not. Look"),
    ]:
        with pytest.raises(Refused, match=said):
            checks.gradient(answer, x, [2.0, 0.0], "square", hint="Look again.")


@pytest.mark.parametrize(
    "links",
    [
        {(0, 1), (2, 0)},
        frozenset({(2.0, 0), (np.int64(0), 1)}),
        [(2, 0), (0, 1)],
        [[0, 1], [2, 0]],
        np.array([[0, 1], [2, 0]]),
        torch.tensor([[2, 0], [0, 1]]),
    ],
)
def test_links_are_a_set_of_pairs_whatever_holds_them(links: object) -> None:
    assert checks.places(links, "links", each=2) == {(0, 1), (2, 0)}


def test_positions_are_a_set_and_nothing_is_a_set_as_well() -> None:
    assert checks.places([3, np.int64(1)], "columns") == {1, 3}
    for empty in (set(), [], np.zeros(0), np.zeros((0, 2))):
        assert checks.places(empty, "columns") == set()
        assert checks.places(empty, "links", each=2) == set()


@pytest.mark.parametrize(
    ("answer", "each", "said"),
    [
        (None, 2, "still None"),
        (3, 2, "it is of the kind int"),
        ({0: 1}, 2, "it is of the kind dict"),
        ([(0, 1), (0, 1)], 2, "has (0, 1) twice"),
        ([(0, 1, 2)], 2, "[0, 1, 2] is none"),
        ([0, 1], 2, "0 is none"),
        ([(0, -1)], 2, "[0, -1] is none"),
        ([(0, 0.5)], 2, "[0, 0.5] is none"),
        ([(0, True)], 2, "[0, True] is none"),
        ([(0, math.nan)], 2, "[0, nan] is none"),
        ([(0, math.inf)], 2, "[0, inf] is none"),
        ("0-1", 2, "it is of the kind str"),
        ({(0, 1)}, 1, "(0, 1) is none"),
        ([1, 1], 1, "has 1 twice"),
    ],
)
def test_what_is_no_set_of_places_is_refused(answer: object, each: int, said: str) -> None:
    with pytest.raises(Refused) as refusal:
        checks.places(answer, "links", each=each)
    assert said in str(refusal.value)


def test_exact_kinds_of_numbers_are_numbers() -> None:
    for answer in ([Fraction(1, 2), Decimal("0.5")], array.array("d", [0.5, 0.5])):
        checks.close(answer, [0.5, 0.5], "answer", hint="")
