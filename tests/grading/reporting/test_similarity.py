"""Copies are found through new names; what the task or the class explains is not."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course_lib.grading.reporting.similarity import pairs

GIVEN = '''def attention(s, hs, mask=None):
    """Returns context and weights. Mind the shapes: hs is (B, T, d), mask is (B, T)."""
'''

COPIED = """    if mask is None:
        mask = hs[..., 0] == hs[..., 0]
    energies = [[float((a * b).sum()) for b in row] for a, row in zip(s, hs)]
    for k, row in enumerate(energies):
        energies[k] = [e if keep else -1e30 for e, keep in zip(row, mask[k])]
"""

OWN = [
    "    return hs.mean(1), hs.sum(2) / hs.sum()\n",
    "    e = torch.einsum('bd,btd->bt', s, hs)\n    return torch.softmax(e, 1) @ hs, None\n",
    "    total = 0\n    while total < 3:\n        total += s.shape[0]\n    return total, hs[0]\n",
    "    import numpy\n    x = numpy.exp(hs.numpy())\n    return x / x.sum(axis=1), x.max()\n",
    "    scores = {j: (s * hs[:, j]).sum() for j in range(hs.shape[1])}\n    return scores, 1\n",
]


def renamed(code: str) -> str:
    for one, other in (("mask", "keep_these"), ("energies", "out"), ("row", "r"), ("hs", "H")):
        code = code.replace(one, other)
    return f"# all my own work\n{code}"


def answers(*codes: str) -> dict[str, dict[str, NotebookNode]]:
    return {
        f"student{place}": {"f": new_code_cell(GIVEN + code)} for place, code in enumerate(codes)
    }


def found(*codes: str) -> list[tuple[str, str]]:
    return [(pair.one, pair.other) for pair in pairs(answers(*codes), {"f": GIVEN})]


def test_a_copy_with_other_names_and_a_comment_is_found_and_nobody_else() -> None:
    assert found(COPIED, *OWN, renamed(COPIED)) == [("student0", "student6")]
    (pair,) = pairs(answers(COPIED, *OWN, renamed(COPIED)), {"f": GIVEN})
    assert pair.share > 0.95
    assert "all my own work" in pair.other_text


def test_what_was_given_out_is_no_sign() -> None:
    assert found("", "    pass\n", *OWN) == []
    given = GIVEN + COPIED
    there = {
        student: {"f": new_code_cell(f"{given}    return {code}\n")}
        for student, code in (("ada", "energies"), ("bela", "mask, hs"))
    }
    assert pairs(there, {"f": given}) == []
    assert len(pairs(there, {})) == 1


def test_what_a_third_of_the_class_wrote_is_no_sign_but_what_three_wrote_is() -> None:
    assert found(COPIED, COPIED, COPIED, COPIED, *OWN) == []
    assert len(found(COPIED, COPIED, COPIED, *OWN)) == 3


def test_a_short_answer_is_not_compared() -> None:
    assert found("    return 1\n", "    return 1\n", *OWN) == []


def test_copied_prose_is_found_whatever_its_capitals_and_stops() -> None:
    text = (
        "The third annotation wins because both of its components are larger, and the tangent"
        " only ever grows; so it wins for every state, and likeness has nothing to do with it."
    )
    other = "Nothing here is about likeness. A larger component always gives a larger energy, so"
    there = {
        "ada": {"why": new_markdown_cell(text)},
        "bela": {"why": new_markdown_cell(text.upper().replace(",", " -"))},
        "cyd": {"why": new_markdown_cell(other * 2)},
    }
    assert [(p.one, p.other) for p in pairs(there, {"why": "YOUR ANSWER"})] == [("ada", "bela")]


def test_what_was_altered_in_part_agrees_in_part() -> None:
    altered = COPIED.replace("float((a * b).sum())", "torch.dot(a, b).exp().item() - 4.25 * 3")
    [pair] = pairs(answers(COPIED, altered), {})
    assert 0.8 <= pair.share < 1
