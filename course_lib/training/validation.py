"""How well a model does on sentences that it is not trained on."""

import math
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object

from course_lib.corpora.batches import EncodedPair, batches_in_order, make_batch
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.models import RNNsearch
from course_lib.search import translate
from course_lib.training.checkpoint import save_weights
from course_lib.training.memory import enough_memory
from course_lib.training.minibatches import encode_pairs
from course_lib.training.progress import Progress
from course_lib.training.run_directory import BEST


def validate(
    accelerator: Accelerator,
    model: RNNsearch,
    split: Split,
    words: tuple[Vocabulary, Vocabulary],
    out: Path,
    progress: Progress,
) -> None:
    """Loss and greedy BLEU on the validation split; keeps the weights if the loss is best.

    Each process takes its share of the sentences, and all come to the same numbers.
    """
    remedy = "Close other programs, or train a smaller model. --resume goes on from the checkpoint."
    pairs = encode_pairs(split, words)
    with accelerator.split_between_processes(pairs) as mine, enough_memory(remedy):
        sums = [summed_loss(model, mine)]
        translations = translate(model, [source for source, _ in mine], k=1)
    hypotheses = [words[1].decode(h.tokens) for h in translations]
    if accelerator.num_processes > 1:
        sums, hypotheses = gather_object(sums), gather_object(hypotheses)
    val_loss = math.fsum(loss for loss, _ in sums) / sum(count for _, count in sums)
    score = bleu_tok(hypotheses, split.target).score
    progress.metrics.append(
        {
            "epoch": progress.epoch + 1,
            "step": progress.step,
            "seconds": round(progress.seconds, 2),
            "train_loss": progress.loss / progress.words,
            "val_loss": val_loss,
            "val_bleu": score,
        }
    )
    progress.since_best += 1
    if val_loss < progress.best:
        progress.best, progress.since_best = val_loss, 0
        if accelerator.is_main_process:
            save_weights(out / BEST, model)


def mean_loss(model: RNNsearch, pairs: list[EncodedPair]) -> float:
    """Cross-entropy in nats a word, end marks included, without smoothing or dropout."""
    loss, count = summed_loss(model, pairs)
    return loss / count


@torch.no_grad()
def summed_loss(
    model: RNNsearch, pairs: list[EncodedPair], batch_size: int = 64
) -> tuple[float, int]:
    """Cross-entropy in nats, summed over all target words, and their number."""
    model.eval()
    device = next(model.parameters()).device
    loss, count = 0.0, 0
    for index in batches_in_order([len(target) for _, target in pairs], batch_size):
        batch_loss, batch_count = model.loss(make_batch(pairs, index).to(device))
        loss += float(batch_loss)
        count += int(batch_count)
    return loss, count
