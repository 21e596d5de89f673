"""One update shared by two processes: each has half the batch, gradients are averaged."""

import multiprocessing
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from torch import distributed, nn

from benchmarks.rounds import Step
from benchmarks.training import CLIP
from benchmarks.workload import Workload
from course_lib.corpora.batches import make_batch
from course_lib.models import build_model
from course_lib.training.memory import keep_freed_memory
from course_lib.training.recipe import Recipe, make_optimiser


def two_processes(work: Workload) -> Step:
    """One update on batch i by this process and another, of one thread each."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    meeting = str(Path(tempfile.mkdtemp()) / "meeting")
    context.Process(target=_other, args=(theirs, work, meeting), daemon=True).start()
    half = _half(work, meeting, rank=0)

    def step(i: int) -> None:
        ours.send(i)
        half(i)

    return step


def _other(connection: Connection, work: Workload, meeting: str) -> None:
    half = _half(work, meeting, rank=1)
    while True:
        try:
            half(connection.recv())
        except EOFError:
            return


def _half(work: Workload, meeting: str, rank: int) -> Step:
    """This process's part of an update: its sentences, then the exchange."""
    torch.set_num_threads(1)
    keep_freed_memory()
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    model = build_model(work.config)
    parameters = list(model.parameters())
    optimiser = make_optimiser(parameters, Recipe())
    order = work.bucketed()

    def step(i: int) -> None:
        words = sum(len(work.pairs[j][1]) + 1 for j in order[i])
        loss, _ = model.loss(make_batch(work.pairs, order[i][rank::2]))
        (loss / words).backward()
        gradients = [p.grad for p in parameters if p.grad is not None]
        together = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(together)
        for gradient, part in zip(
            gradients, together.split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(part.view_as(gradient))
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimiser.step()
        optimiser.zero_grad()

    return step
