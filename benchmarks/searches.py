"""Beam search: the library's, against a search per sentence and a loop over hypotheses.

Both are what tutorials write, over the same model: `model.step` computes the keys once a sentence
for all three. Ties apart, all find the same translations, which is checked with every measurement.
"""

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.machine import about
from benchmarks.rounds import Program, Step, Timing, take_turns
from benchmarks.training import MIB, RECIPE, learning, products
from benchmarks.workload import workload
from course_lib.corpora.batches import batches_in_order, make_source
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.search import beam_search, length_limit
from course_lib.search.beam import BeamStep
from course_lib.search.rules import no_marks
from experiments.in_hand import translate_in_hand

WIDTHS = (5, 12)
UPDATES = 100
"""Enough for a model to end its sentences; how good they are does not matter to the time."""

Words = list[int]
BeamSearch = Callable[[RNNsearch, list[Words], int], list[Words]]
"""Translates a batch of encoded sentences with a beam of some width."""


def loop_over_hypotheses(model: RNNsearch, sentences: list[Words], k: int) -> list[Words]:
    """One sentence after the other, and of each one hypothesis after the other: one row a step."""
    return [translate_in_hand(model, sentence, k=k) for sentence in sentences]


@torch.no_grad()
def search_per_sentence(model: RNNsearch, sentences: list[Words], k: int) -> list[Words]:
    """One sentence after the other, its hypotheses side by side in a batch of at most k rows."""
    found = []
    for sentence in sentences:
        source, lengths, mask = make_source([sentence])
        limit = int(length_limit(lengths))
        state = model.start(source, lengths, mask)
        y, totals = torch.tensor([BOS]), torch.zeros(1)
        written: list[Words] = [[]]
        finished: list[tuple[float, Words]] = []
        for number in range(1, limit + 1):
            log_probs, _, state = model.step(y, state)
            no_marks(log_probs)
            if number == limit:
                log_probs[:, :EOS] = log_probs[:, EOS + 1 :] = -torch.inf
            candidates = (totals[:, None] + log_probs).flatten()
            best, places = candidates.topk(min(k - len(finished), len(candidates)))
            rows, beam = [], []
            for total, place in zip(best.tolist(), places.tolist(), strict=True):
                row, word = divmod(place, log_probs.shape[1])
                if total == -torch.inf:
                    continue
                if word == EOS:
                    finished.append((total / number, written[row]))
                else:
                    rows.append(row)
                    beam.append((total, [*written[row], word]))
            if not beam:
                break
            totals, written = torch.tensor([total for total, _ in beam]), [w for _, w in beam]
            y, index = torch.tensor([words[-1] for words in written]), torch.tensor(rows)
            # The rows are of one sentence: what no step changes is copied with their number only.
            if len(rows) == len(state.s):
                state = state._replace(s=state.s[index])
            else:
                state = state._make(part[index] for part in state)
        found.append(max(finished, key=lambda translation: translation[0])[1])
    return found


def library_search(model: RNNsearch, sentences: list[Words], k: int) -> list[Words]:
    """The library's: all hypotheses of all sentences together."""
    return [one.tokens for one in beam_search(model, *make_source(sentences), k)]


class Decoding(NamedTuple):
    """What is decoded while it is timed: a model, and batches of encoded source sentences."""

    config: ModelConfig
    weights: dict[str, Tensor]
    batches: list[list[Words]]

    def model(self) -> RNNsearch:
        model = build_model(self.config)
        model.load_state_dict(self.weights)
        return model.eval()

    @property
    def sentences(self) -> int:
        return sum(map(len, self.batches))


def measure_decode(
    corpus: str = "multi30k",
    threads: int = 1,
    batch: int = 64,
    rounds: int = 3,
    batches: int = 4,
    updates: int = UPDATES,
    **sizes: Any,
) -> dict[str, Any]:
    """Sentences a second of the three searches, in turn after every batch of sentences.

    Args:
        corpus: multi30k or toy, a model of the course's sizes (or `sizes`) being trained on it for
            so many `updates` and its training sentences decoded.
        threads: of each program.
        batch: sentences side by side in the library's search.
        rounds: how often all of it is timed; medians are reported.
        batches: how many of the batches that the sentences are cut into, longest first, are
            decoded: evenly spaced, so that all lengths are among them.

    Returns:
        the numbers of `course bench decode`. `ratio` is against the loop over hypotheses at k = 12;
        `ratio_per_sentence` has the width as key; `limit` is what the largest matrix-product rate
        measured would allow for the products that no search can do without.
    """
    torch.set_num_threads(threads)
    work = briefly_trained(corpus, batch, batches, updates, **sizes)
    model = work.model()
    different = {
        f"{search.__name__}, k = {k}": differences(model, work, search, k)
        for search, widths in ((loop_over_hypotheses, WIDTHS[-1:]), (search_per_sentence, WIDTHS))
        for k in widths
    }
    flops = necessary_flops(model, work, WIDTHS[-1])
    timings = take_turns(programs(work, threads), items=len(work.batches), rounds=rounds, warmup=1)
    return {
        "what": "decode",
        "corpus": corpus,
        **summary(work, timings, flops, threads, rounds),
    } | {
        "different": different,
        **about(),
    }


def programs(work: Decoding, threads: int) -> dict[str, Program]:
    """Every search that is timed, and the largest matrix products."""
    timed = {
        f"loop, k = {WIDTHS[-1]}": Program(
            program, (work, threads, loop_over_hypotheses, WIDTHS[-1])
        ),
        "products": Program(products, (threads,)),
    }
    for k in WIDTHS:
        timed[f"ours, k = {k}"] = Program(program, (work, threads, library_search, k))
        timed[f"per sentence, k = {k}"] = Program(program, (work, threads, search_per_sentence, k))
    return timed


def summary(
    work: Decoding, timings: dict[str, Timing], flops: int, threads: int, rounds: int
) -> dict[str, Any]:
    """Speeds, ratios and memory from what was timed."""
    speeds = {
        name: median(work.sentences / sum(seconds) for seconds in timing.values)
        for name, timing in timings.items()
        if name != "products"
    }
    rate = max(max(values) for values in timings["products"].values)
    limit = rate / (flops / work.sentences)
    widest = WIDTHS[-1]
    ours, loop = speeds[f"ours, k = {widest}"], speeds[f"loop, k = {widest}"]
    return {
        "unit": "sentences a second",
        "threads": threads,
        "batch": max(map(len, work.batches)),
        "rounds": rounds,
        "sentences": work.sentences,
        "beam": widest,
        "ours": ours,
        "textbook": loop,
        "ratio": ours / loop,
        "ratio_per_sentence": {
            k: speeds[f"ours, k = {k}"] / speeds[f"per sentence, k = {k}"] for k in WIDTHS
        },
        "limit": limit,
        "fraction_of_limit": ours / limit,
        "mflop_a_sentence": flops / work.sentences / 1e6,
        "gflops_of_products": rate / 1e9,
        "speeds": speeds,
        "peak_mib": {name: timings[name].peak / MIB for name in speeds},
    }


def program(work: Decoding, threads: int, search: BeamSearch, k: int) -> Step:
    """A process that translates batch i."""
    torch.set_num_threads(threads)
    model = work.model()

    def step(i: int) -> None:
        search(model, work.batches[i], k)

    return step


def differences(model: RNNsearch, work: Decoding, search: BeamSearch, k: int) -> int:
    """How many sentences a search translates otherwise than the library's."""
    return sum(
        mine != other
        for batch in work.batches
        for mine, other in zip(
            library_search(model, batch, k), search(model, batch, k), strict=True
        )
    )


def necessary_flops(model: RNNsearch, work: Decoding, k: int) -> int:
    """Operations of the matrix products that a beam search of width k cannot do without.

    For RNNsearch, real words only. Once a sentence: reading it, the keys, s_0. Once a live
    hypothesis and step: the products with s_{i-1}, the energies, c_i, C c_i and C_o c_i, and the
    vocabulary. A target word's own products are left out: they can be made once and kept.
    """
    config = model.config
    n, m, hidden, wide = config.hidden, config.embedding, config.alignment, 2 * config.readout_size
    words = rows = scored = 0
    for batch in work.batches:
        source, lengths, mask = make_source(batch)
        live: list[Tensor] = []

        def count(step: BeamStep, live: list[Tensor] = live) -> None:
            live.append(step.sentence)

        beam_search(model, source, lengths, mask, k, watch=count)
        words += int(lengths.sum())
        rows += sum(map(len, live))
        scored += int(lengths[torch.cat(live)].sum())
    encoder = words * 2 * (m + n) * 3 * n
    keys = words * 2 * n * hidden
    states = work.sentences * n * n + rows * n * (hidden + 3 * n + wide)
    looks = scored * (hidden + 2 * n)
    contexts = rows * 2 * n * (3 * n + wide)
    vocabulary = rows * config.readout_size * config.target_vocabulary
    return 2 * (encoder + keys + states + looks + contexts + vocabulary)


def briefly_trained(corpus: str, batch: int, batches: int, updates: int, **sizes: Any) -> Decoding:
    """A model trained for so many updates on sentence pairs of a corpus, and their sources."""
    work = workload(corpus, batch, **sizes)
    model = build_model(work.config)
    minibatches = work.bucketed()
    update = learning(model, minibatches, RECIPE)
    for i in range(updates):
        update(i % len(minibatches))
    sentences = [source for source, _ in work.pairs]
    # Some of the batches that the library would cut the sentences into, evenly spaced.
    cut = batches_in_order([len(sentence) for sentence in sentences], batch)
    chosen = [cut[len(cut) * (2 * i + 1) // (2 * batches)] for i in range(min(batches, len(cut)))]
    return Decoding(
        model.config,
        {name: weight.detach() for name, weight in model.state_dict().items()},
        [[sentences[i] for i in index] for index in chosen],
    )
