"""The library's training beside that of JoeyNMT 2.3, each as its own loop runs it.

JoeyNMT wants an environment of its own, in which the library is installed as well:

    python3 -m venv .venv-joeynmt
    .venv-joeynmt/bin/pip install -c requirements.lock -r benchmarks/joeynmt.txt -e .
    .venv-joeynmt/bin/python -m benchmarks.joeynmt

which writes benchmarks/results/joeynmt.json; `python -m benchmarks.record` shows it in the README.
Both have the same pairs, words, sizes, dropout, optimiser and clipping. What differs is how each
works: JoeyNMT's batches are not sorted by length, and its decoder is Luong's with additive scores
and input feeding, so that the models have the same sizes and are not the same.
"""

import json
import tempfile
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from benchmarks.machine import about
from benchmarks.rounds import Program, Step, take_turns
from benchmarks.textbook import collate
from benchmarks.training import CLIP, RECIPE, Minibatches, ours
from benchmarks.workload import workload
from course_lib.corpora.batches import EncodedPair
from course_lib.corpora.vocabulary import BOS, EOS, PAD, UNK
from course_lib.files import write_atomically
from course_lib.models import ModelConfig

RESULT = Path(__file__).parent / "results/joeynmt.json"
DROPOUT = 0.2
THEIR_NUMBERS = {UNK: 0, PAD: 1, BOS: 2, EOS: 3}
"""JoeyNMT's numbers of the marks; all other words keep theirs."""


def measure_joeynmt(threads: int = 1, batch: int = 64, rounds: int = 3) -> dict[str, Any]:
    """Target words a second of training, in fp32 and in bf16."""
    work = workload("multi30k", batch, dropout=DROPOUT)
    bucketed, shuffled = work.bucketed(), work.shuffled()
    programs = {}
    for name, bf16 in (("fp32", False), ("bf16", True)):
        programs[f"ours, {name}"] = Program(ours, (work.config, bucketed, threads, RECIPE, bf16))
        programs[f"joeynmt, {name}"] = Program(theirs, (work.config, shuffled, threads, bf16))
    timings = take_turns(programs, items=len(shuffled), rounds=rounds)
    speeds = {
        name: median(work.target_tokens / sum(seconds) for seconds in timing.values)
        for name, timing in timings.items()
    }
    return {
        "what": "joeynmt",
        "corpus": "multi30k",
        "unit": "target tokens a second",
        "batch": batch,
        "threads": threads,
        "rounds": rounds,
        "speeds": speeds,
        **about(),
    }


def theirs(config: ModelConfig, batches: Minibatches, threads: int, bf16: bool) -> Step:
    """One update of JoeyNMT's model on minibatch i."""
    torch.set_num_threads(threads)
    manager = their_trainer(config, len(batches[0]), bf16)
    return lambda i: update(manager, batches[i])


def update(manager: Any, pairs: list[EncodedPair]) -> None:
    """What `TrainManager.train_and_validate` does with a minibatch."""
    manager._train_step(their_batch(*collate(pairs)))
    manager.clip_grad_fun(parameters=manager.model.parameters())
    manager.optimizer.step()
    manager.model.zero_grad()


def their_trainer(config: ModelConfig, batch: int, bf16: bool) -> Any:
    """JoeyNMT's `TrainManager` of a fresh model with these sizes."""
    from joeynmt.config import parse_train_args
    from joeynmt.training import TrainManager

    settings = {
        "optimizer": "adam",
        "learning_rate": RECIPE.learning_rate,
        "clip_grad_norm": CLIP,
        "normalization": "tokens",
        "batch_size": batch,
        # It wants some schedule; this one would change the rate between epochs only.
        "scheduling": "exponential",
    }
    return TrainManager(
        rank=0,
        model=their_model(config),
        model_dir=Path(tempfile.mkdtemp()),
        device=torch.device("cpu"),
        autocast={"device_type": "cpu", "enabled": bf16},
        train_args=parse_train_args(settings),
    )


def their_model(config: ModelConfig) -> Any:
    """JoeyNMT's recurrent model with these sizes."""
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    marks = SimpleNamespace(
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        sep_token=None,
        unk_id=THEIR_NUMBERS[UNK],
        pad_id=THEIR_NUMBERS[PAD],
        bos_id=THEIR_NUMBERS[BOS],
        eos_id=THEIR_NUMBERS[EOS],
        sep_id=None,
        lang_tags=[],
    )
    words = [
        Vocabulary([str(number) for number in range(len(THEIR_NUMBERS), size)], marks)
        for size in (config.source_vocabulary, config.target_vocabulary)
    ]
    side = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": config.embedding, "dropout": config.dropout},
        "hidden_size": config.hidden,
        "dropout": config.dropout,
    }
    decoder = {"hidden_dropout": config.dropout, "attention": "bahdanau"}
    model = build_model({"encoder": side, "decoder": side | decoder}, *words)
    model.loss_function = ("crossentropy", 0.0)
    return model


def their_batch(source: Tensor, target: Tensor) -> Any:
    """Padded sentences of ours, (B, T), as a batch of JoeyNMT's."""
    from joeynmt.batch import Batch

    return Batch(
        src=renumbered(source),
        src_length=(source != PAD).sum(dim=1),
        src_prompt_mask=None,
        trg=renumbered(target),
        trg_prompt_mask=None,
        indices=torch.arange(len(source)),
        device=source.device,
        pad_index=THEIR_NUMBERS[PAD],
        eos_index=THEIR_NUMBERS[EOS],
    )


def renumbered(words: Tensor) -> Tensor:
    """Word numbers with the marks that JoeyNMT has for them."""
    marks = torch.tensor([THEIR_NUMBERS[mark] for mark in sorted(THEIR_NUMBERS)])
    return torch.where(words < len(marks), marks[words.clamp(max=len(marks) - 1)], words)


if __name__ == "__main__":
    write_atomically(RESULT, json.dumps(measure_joeynmt(), indent=1) + "\n")
