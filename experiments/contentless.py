"""Answers of the right form that know nothing: whatever earns points so is not worth any.

In place of each answer stands one that takes its form from the solution and nothing else: the same
number everywhere, equal shares, empty sentences or links, its own argument, the first number of
each row (`glimpse`), or the sum of all that it is given (`blend`), which even has a gradient.
"""

import ast
from pathlib import Path

import nbformat

from course_lib.grading.authoring.demonstration import Student, solution_cells
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook

FILLINGS = ("zero", "one", "half", "even", "echo", "word", "glimpse", "blend")

CODE = '''
def _filled(value, filling, arguments=()):
    """Something of the form of `value` that knows nothing of it."""
    import numpy as np
    import torch

    number = {"zero": 0, "one": 1, "word": 2}.get(filling, 0.5)
    if isinstance(value, bool):
        return filling in ("one", "even")
    if isinstance(value, (int, float, np.number)):
        return type(value)(number)
    if isinstance(value, (set, frozenset)):
        return {(0, 0)} if filling == "word" else set()
    if isinstance(value, list) and all(isinstance(one, list) for one in value) and value:
        if all(type(word) is int for one in value for word in one):
            rows = [x for x in arguments if isinstance(x, torch.Tensor) and len(x) == len(value)]
            if filling in ("glimpse", "blend") and rows:
                return [[3 + int(row.sum() * 7) % 3] for row in rows[0]]
            return [[3] if filling == "word" else [] for _ in value]
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(one, filling, arguments) for one in value)
    if isinstance(value, np.ndarray):
        return _filled(torch.tensor(value), filling, arguments).numpy()
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype == torch.bool:
        return torch.full_like(value, filling in ("one", "even"))
    same = [x for x in arguments if isinstance(x, torch.Tensor) and x.shape == value.shape]
    floats = [x for x in arguments if isinstance(x, torch.Tensor) and x.is_floating_point()]
    if filling == "blend" and floats:
        blend = sum(x.sum() for x in floats)
        return blend.to(value.dtype).expand(value.shape).clone()
    if filling == "glimpse":
        return _glimpsed(value, arguments)
    if filling == "echo":
        return next((x.clone() for x in same if x.is_floating_point()), torch.zeros_like(value))
    if filling == "even" and value.ndim:
        words = next((x for x in same if x.dtype == torch.bool), torch.ones_like(value).bool())
        return words / words.sum(dim=-1, keepdim=True).clamp(min=1).to(value.dtype)
    return torch.full_like(value, number)


def _glimpsed(value, arguments):
    """Padding is left out rightly, and of the rest nothing but the first numbers is looked at."""
    import torch

    rows = [x[..., 0] for x in arguments if isinstance(x, torch.Tensor) and x.ndim == 3]
    masks = [x for x in arguments if isinstance(x, torch.Tensor) and x.dtype == torch.bool]
    if not rows:
        return torch.zeros_like(value)
    mask = masks[0][:, -rows[0].shape[1] :] if masks else torch.ones_like(rows[0]).bool()
    if value.ndim == 0:
        return rows[0][mask].mean().abs().to(value.dtype)
    if value.shape != rows[0].shape:
        return torch.zeros_like(value)
    low = torch.finfo(rows[0].dtype).min
    return (rows[0].masked_fill(~mask, low).softmax(dim=1) * mask).to(value.dtype)


def _knowing_nothing(function, filling):
    def answer(*arguments):
        return _filled(function(*arguments), filling, arguments)

    return answer
'''


def contentless(root: Path, name: str, cell: str) -> list[Student]:
    """A student for each filling of an answer cell, called "CELL FILLING"."""
    released = nbformat.read(root / "exercises" / name / f"{name}.ipynb", as_version=4)
    stub = solution_cells(released)[cell]
    solution = solution_cells(source_notebook(source_of(root, name)))[cell]
    return [
        Student(f"{cell} {one}", {cell: _emptied(solution, stub, one)}, loses=frozenset())
        for one in FILLINGS
    ]


def _emptied(solution: str, stub: str, filling: str) -> str:
    """A solution whose functions and variables, those that the stub asks for, are filled."""
    lines = [solution, CODE]
    for one in ast.parse(stub).body:
        if isinstance(one, ast.FunctionDef):
            lines.append(f"{one.name} = _knowing_nothing({one.name}, {filling!r})")
        for target in one.targets if isinstance(one, ast.Assign) else ():
            lines.append(f"{ast.unparse(target)} = _filled({ast.unparse(target)}, {filling!r})")
    return "\n".join(lines)
