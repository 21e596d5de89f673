"""What the grader runs inside a submission's kernel, around each test.

Tests and student code share one process, and what student code can reach it can change. So nothing
of this is left lying there: the text of this module is sent anew with every graded cell, and runs
in a namespace of its own. It speaks to the grader by raising an error whose name was drawn for
this cell: a test whose errors are swallowed, wherever that happens, has not been passed.
"""

import base64
import inspect
import json
import sys
import zlib
from types import FunctionType
from typing import Any

TRUSTED = (
    "course_lib.assignments.checks",
    "course_lib.assignments.instances",
    "course_lib.assignments.owner",
    "course_lib.assignments.own_work",
    "course_lib.assignments.inspection",
    "course_lib.assignments.steps",
    "base64",
    "json",
    "json.decoder",
    "json.encoder",
    "json.scanner",
    "math",
    "numpy",
    "numpy.testing",
    "random",
    "torch",
    "torch.nn.functional",
    "torch.testing",
    "zlib",
)
"""Modules whose functions tests may call: loaded before the student's code, and watched."""

OPENING = "(lambda own: own.exec("
"""How each of the grader's own cells begins."""
SIGNALS = ("SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2")


def message(call: str, **arguments: Any) -> str:
    """The source of a cell that runs one of this module's functions in the kernel.

    Packed, so that nobody reads a hidden test by accident in `In`, in a traceback or in a frame.
    """
    module = inspect.getsource(sys.modules[__name__])
    text = f"{module}\n{call}(student, **{arguments!r})\n"
    packed = base64.b85encode(zlib.compress(text.encode())).decode()
    # a notebook may have variables called exec or globals
    return (
        f"{OPENING}"
        f'own.__import__("zlib").decompress(own.__import__("base64").b85decode("{packed}")),'
        ' {"__name__": "<grader>", "student": own.globals()}))(__import__("builtins"))'
    )


def begin(student: dict[str, Any], name: str) -> None:
    """Before any code of the student's: load what tests use, and say how everything is now."""
    import importlib.util
    import os

    for module in TRUSTED:
        # some assignments have no use for some of them
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module)
    _say(name, state=_state(student), folder=os.getcwd(), inode=os.stat(".").st_ino)


def sit(
    student: dict[str, Any],
    name: str,
    source: str,
    shared: list[str],
    folder: str,
    inode: int,
) -> None:
    """Run one test and say how it ended.

    It runs beside the student's names, not among them: a variable called `sum` breaks no test, and
    what a hidden test computes is not there for the cells that follow.

    Args:
        student: the notebook's namespace.
        name: of the error that carries the verdict.
        source: the test.
        shared: names that the visible part of the test gives to the cells after it, as it does in
            the student's own notebook.
        folder: where the notebook began. Files that tests read lie there, wherever the student's
            code has gone; it goes on from where it was.
        inode: of that folder, since another one could have been put in its place.
    """
    import builtins
    import contextlib
    import os

    _forget()
    usual = vars(builtins)
    namespace = {key: value for key, value in student.items() if key not in usual}
    here = folder
    with contextlib.suppress(OSError):  # it may have been deleted
        here = os.getcwd()
    os.chdir(folder)
    if os.stat(".").st_ino != inode:
        said = "The folder that the notebook began in is another one: leave it where it is."
        _say(name, passed=False, kind="Refused", said=said)
    try:
        exec(compile(source, "<test>", "exec"), namespace)
    except BaseException as error:
        try:
            said = str(error)
        except BaseException:
            said = "an error that cannot be put into words"
        _say(name, passed=False, kind=type(error).__name__, said=said[:4000])
    finally:
        with contextlib.suppress(OSError):
            os.chdir(here)
    for key in shared:
        if key in namespace:
            student[key] = namespace[key]
    _say(name, passed=True)


def prove(student: dict[str, Any], name: str) -> None:
    """Say whether known-wrong answers are still refused, and how everything is now."""
    _forget()
    state = _state(student)  # first: what is called next could still put things back
    from course_lib.assignments import checks

    refused = 0
    for wrong in (
        lambda: checks.that(False, ""),
        lambda: checks.close([0.0], [1.0], "", hint=""),
        lambda: checks.numbers([1.0], (2,), ""),
        lambda: checks.numbers([float("nan")], (1,), ""),
        lambda: checks.choice(2, (1, 3), ""),
        lambda: checks.results(lambda: None, ("",)),
    ):
        try:
            wrong()
        except checks.Refused:
            refused += 1
    _say(name, refused=refused == 6, state=state)


def _forget() -> None:
    """Take the grader's own cells out of where Python keeps sources for tracebacks."""
    import linecache

    for file, entry in list(linecache.cache.items()):
        if len(entry) == 4 and any(line.startswith(OPENING) for line in entry[2][:1]):
            del linecache.cache[file]


def _say(name: str, **what: Any) -> None:
    """Raise the error that tells the grader."""
    raise type(name, (Exception,), {"_render_traceback_": lambda self: [""]})(
        json.dumps(what)
    ) from None


def _state(student: dict[str, Any]) -> dict[str, str]:
    """What tests and their verdicts rest on, as one comparable text for each thing."""
    import builtins
    import gc
    import json
    import os
    import signal
    import threading

    state: dict[str, str] = {
        f"builtins.{key}": str(id(value))
        for key, value in vars(builtins).items()
        # the kernel itself gives every cell an `input` of its own
        if key != "input" and (not key.startswith("_") or key in {"__import__", "__build_class__"})
    }
    for module in TRUSTED:
        if module in sys.modules:
            state[module] = str(id(sys.modules[module]))
            state |= _functions(module, sys.modules[module])
            if module.startswith("course_lib."):
                # a name put there would come before Python's own
                state |= _values(module, sys.modules[module])
    state |= _functions("torch.Tensor", sys.modules["torch"].Tensor)
    state |= _functions("json.JSONDecoder", json.JSONDecoder)
    decoder = vars(json)["_default_decoder"]
    state["json's decoder"] = str({key: id(one) for key, one in vars(decoder).items()})
    state["os.chdir"] = str([id(one) for one in (os, os.chdir, os.getcwd, os.stat)])
    state |= _functions("Refused", sys.modules["course_lib.assignments.checks"].Refused)

    shell = student["get_ipython"]()
    replaced = []
    for part in (shell, shell.kernel, shell.kernel.session, shell.displayhook, shell.display_pub):
        for kind in type(part).__mro__[:-1]:
            if kind.__module__.startswith(("IPython", "ipykernel", "jupyter_client")):
                state |= _functions(kind.__name__, kind)
        replaced += [
            f"{type(part).__name__}.{key}"
            for key, value in vars(part).items()
            if hasattr(type(part), key) and callable(value) and _homemade(value)
        ]
    state["methods of IPython"] = str(replaced)
    lists: dict[str, Any] = {
        "ast_transformers": shell.ast_transformers,
        "input_transformers_cleanup": shell.input_transformer_manager.cleanup_transforms,
        "input_transformers_post": shell.input_transformers_post,
        "input_transformers": shell.input_transformer_manager.line_transforms,
        "custom_exceptions": shell.custom_exceptions,
        "sys.meta_path": sys.meta_path,
        "sys.path_hooks": sys.path_hooks,
        "gc.callbacks": gc.callbacks,
        **{f"IPython event {name}": found for name, found in shell.events.callbacks.items()},
    }
    for name, found in lists.items():
        state[name] = str([id(one) for one in found if _homemade(one)])
    state["the notebook's namespace"] = str((id(shell.user_ns), type(shell.user_ns) is dict))
    state["sys.settrace"] = str(sys.gettrace())
    state["sys.setprofile"] = str(sys.getprofile())
    for name in SIGNALS:
        state[f"signal {name}"] = str(signal.getsignal(getattr(signal, name)))
    state["threads"] = str(
        [
            thread.ident
            for thread in threading.enumerate()
            if _homemade(thread) or _homemade(getattr(thread, "_target", None))
        ]
    )
    return state


def _functions(name: str, holder: Any) -> dict[str, str]:
    """Each function of a module or class: which object it is, and which code it runs."""
    found = {}
    for key, value in list(vars(holder).items()):
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType):
            rest = id(function.__code__), id(function.__defaults__), id(function.__kwdefaults__)
            found[f"{name}.{key}"] = str((id(function), *rest))
        elif callable(value):
            found[f"{name}.{key}"] = str(id(value))
    return found


def _values(name: str, module: Any) -> dict[str, str]:
    """Everything else a module's functions look up in it."""
    plain = (str, int, float, bool, tuple, type(None))
    names = sorted(set(vars(module)) - {"__warningregistry__"})  # Python's own book-keeping
    found = {
        f"{name}.{key}": repr(value) if isinstance(value, plain) else str(id(value))
        for key, value in vars(module).items()
        if key in names and not callable(value)
    }
    return {f"the names in {name}": str(names), **found}


def _homemade(thing: Any) -> bool:
    """Whether something comes from a cell of the notebook and not from a library."""
    function = getattr(thing, "__func__", thing)
    if isinstance(function, FunctionType):
        code = function.__code__.co_filename
        return "ipykernel_" in code or code.startswith("<")
    return (thing if isinstance(thing, type) else type(thing)).__module__ == "__main__"
