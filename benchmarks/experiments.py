"""What was tried to train and translate faster, each against the library as it is.

`benchmarks/changes.py` has the changes to the model; the others are here.
"""

from contextlib import nullcontext
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.changes import CHANGES
from benchmarks.machine import about
from benchmarks.parallel import two_processes
from benchmarks.rounds import Program, Step, take_turns
from benchmarks.searches import Decoding, briefly_trained
from benchmarks.training import update
from benchmarks.workload import Workload, workload
from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.vocabulary import BOS
from course_lib.models import EncoderDecoder, build_model
from course_lib.training.memory import keep_freed_memory
from course_lib.training.recipe import Recipe, make_optimiser

BEAM, WORDS = 12, 12


def measure_experiments(
    corpus: str = "multi30k", batch: int = 64, rounds: int = 5, batches: int = 20, **sizes: Any
) -> dict[str, Any]:
    """Speed with each change as a share of the library's, everything in turns."""
    work = workload(corpus, batch, batches, **sizes)
    names = ["library", *CHANGES]
    training = _shares(
        {name: Program(changed, (work, name)) for name in names}, len(work.shuffled()), rounds
    )
    threads = _shares(
        {
            "library": Program(changed, (work, "library", 2)),
            "two processes": Program(two_processes, (work,)),
        },
        len(work.shuffled()),
        rounds,
    )
    found = briefly_trained(corpus, batch, min(4, batches), 150, **sizes)
    decoding = _shares(
        {
            "library": Program(stepping, (found, False)),
            "bf16": Program(stepping, (found, True)),
        },
        len(found.batches),
        rounds,
    )
    tried = {name: (change.what, change.in_library) for name, change in CHANGES.items()}
    rows = [
        {
            "what": what,
            "in_library": in_library,
            "against": "training, 1 thread",
            "share": training[name],
        }
        for name, (what, in_library) in tried.items()
    ]
    rows.append(
        {
            "what": "two processes of one thread, gradients averaged",
            "in_library": False,
            "against": "training, 2 threads",
            "share": threads["two processes"],
        }
    )
    rows.append(
        {
            "what": f"the steps of a search in bf16: {different(found)} of {found.sentences} "
            "translations become others",
            "in_library": False,
            "against": "search, 1 thread",
            "share": decoding["bf16"],
        }
    )
    return {
        "what": "experiments",
        "corpus": corpus,
        "batch": batch,
        "rounds": rounds,
        "rows": rows,
        **about(),
    }


def _shares(programs: dict[str, Program], items: int, rounds: int) -> dict[str, float]:
    """Each program's speed, as a share of that of `library`."""
    timings = take_turns(programs, items=items, rounds=rounds, warmup=items)
    seconds = {name: median(map(sum, timing.values)) for name, timing in timings.items()}
    return {name: seconds["library"] / each for name, each in seconds.items()}


def changed(work: Workload, name: str, threads: int = 1) -> Step:
    """One update of the library's model on batch i, with one change."""
    torch.set_num_threads(threads)
    if name != "memory":
        keep_freed_memory()
    model = build_model(work.config)
    if name in CHANGES:
        CHANGES[name].model(model)
    optimiser = make_optimiser(model.parameters(), Recipe())
    if name == "optimiser":
        optimiser = torch.optim.Adam(model.parameters())
    order = work.bucketed()
    if name == "buckets":
        order = work.shuffled()
    elif name == "length":
        order = batches_of_one_length(work)

    def loss_of(i: int) -> Tensor:
        loss, count = model.loss(make_batch(work.pairs, order[i]))
        return loss / count

    return update(model, optimiser, loss_of, bf16=False)


def batches_of_one_length(work: Workload) -> list[list[int]]:
    """As many batches, each of about as many target words: more sentences where they are short."""
    order = sorted(range(len(work.pairs)), key=lambda i: tuple(map(len, work.pairs[i][::-1])))
    number = len(work.bucketed())
    batches: list[list[int]] = [[] for _ in range(number)]
    words = 0
    for i in order:
        batches[words * number // work.target_tokens].append(i)
        words += len(work.pairs[i][1]) + 1
    return [batch or [order[0]] for batch in batches]


def stepping(work: Decoding, bf16: bool) -> Step:
    """The steps of a search over batch i, without the search's own work."""
    torch.set_num_threads(1)
    model = work.model()

    def step(i: int) -> None:
        greedily(model, work.batches[i], bf16)

    return step


@torch.no_grad()
def greedily(model: EncoderDecoder, sentences: list[list[int]], bf16: bool) -> list[list[int]]:
    """The likeliest next word, `WORDS` times, for `BEAM` rows a sentence; a row of each."""
    with torch.autocast("cpu", torch.bfloat16) if bf16 else nullcontext():
        state = model.start(*make_source(sentences))
        state = state.select(torch.arange(len(sentences)).repeat_interleave(BEAM))
        y = torch.full((len(state.s),), BOS)
        written = []
        for _ in range(WORDS):
            log_probs, _, state = model.step(y, state)
            y = log_probs.argmax(dim=-1)
            written.append(y[::BEAM])
    return torch.stack(written, dim=1).tolist()


def different(work: Decoding) -> int:
    """Of how many sentences the words are others in bf16."""
    model = work.model()
    return sum(
        fp32 != bf16
        for batch in work.batches
        for fp32, bf16 in zip(
            greedily(model, batch, False), greedily(model, batch, True), strict=True
        )
    )
