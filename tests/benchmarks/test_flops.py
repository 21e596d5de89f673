"""Operations counted from shapes are those that torch counts while it runs."""

from torch.utils.flop_counter import FlopCounterMode

from benchmarks.workload import Workload
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.models import ModelConfig, build_model

CONFIG = ModelConfig(20, 30, embedding=12, hidden=8, alignment=10, readout=6)
# Without padding: 5 and 4 words a sentence, end marks to be added.
PAIRS: list[EncodedPair] = [([4, 5, 6, 7, 8], [9, 10, 11, 12])] * 3


def flops(pairs: list[EncodedPair], config: ModelConfig = CONFIG) -> float:
    return Workload(pairs, len(pairs), config).flops


def counted() -> int:
    with FlopCounterMode(display=False) as counter:
        build_model(CONFIG).loss(make_batch(PAIRS, range(len(PAIRS))))[0].backward()
    return int(counter.get_total_flops())


def test_backward_costs_twice_the_forward_pass() -> None:
    # Less the gradients that nobody wants: with respect to the encoder's first states, which are
    # zeros (but of r o 0 with respect to r), and through the decoder's last update, whose state
    # nothing reads: the products with s_{i-1} and with c_i.
    n, sentences = CONFIG.hidden, len(PAIRS)
    first_states = 2 * 2 * sentences * n * 2 * n
    last_update = 2 * 2 * sentences * (n + 2 * n) * 3 * n
    assert flops(PAIRS) - first_states - last_update == counted()


def test_padding_is_no_work() -> None:
    one, other = PAIRS[0], ([4], [5])
    apart = [flops([pair]) for pair in (one, other)]
    assert flops([one, other]) == sum(apart)


def test_at_the_sizes_of_the_course_a_target_word_costs_26_million_operations() -> None:
    # Multi30k's mean lengths and vocabularies, embedding and hidden 256.
    pairs: list[EncodedPair] = [([4] * 13, [4] * 12)]
    assert round(flops(pairs, ModelConfig(5921, 7859)) / 13 / 1e6) == 26
