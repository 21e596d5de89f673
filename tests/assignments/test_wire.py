"""What judge and kernel send each other: values arrive as they are, and claims are checked."""

import struct
from typing import Any

import pytest
import torch

from course_lib.assignments import wire


def refuse(entry: Any) -> Any:
    raise AssertionError(entry)


def test_a_generator_arrives_as_it_is_and_one_that_would_read_beyond_its_numbers_does_not() -> None:
    for drawn in (0, 1, 623, 624, 700):
        generator = torch.Generator().manual_seed(drawn)
        torch.randint(0, 2**32, (drawn,), generator=generator)
        sent = wire.pack(generator, refuse)
        expected = torch.randint(0, 2**32, (1300,), generator=generator)
        arrived = wire.unpack(sent, refuse)
        assert torch.equal(torch.randint(0, 2**32, (1300,), generator=arrived), expected)
    for left, following in ((624, 624), (624, 2), (2, 624), (0, 0), (625, 0), (-1, 0), (1, 2**63)):
        state = bytearray(torch.Generator().get_state().numpy().tobytes())
        struct.pack_into("=QiiQ", state, 0, 1, left, 1, following)
        with pytest.raises(ValueError, match="no state"):
            wire.unpack(
                ["generator", ["tensor", "uint8", [len(state)], bytes(state), None]], refuse
            )


def test_a_column_arrives_whether_its_batch_has_one_row_or_many() -> None:
    """`words[:, 1]` is how many a search takes the last word of every sentence."""
    table = torch.arange(12)
    for column in (table.reshape(1, 12)[:, 1], table.reshape(4, 3)[:, 1], table[5], table[:0]):
        for sent in (column, column.to(torch.bfloat16)):
            arrived = wire.unpack(wire.pack(sent, refuse), refuse)
            assert torch.equal(arrived, sent)
            assert arrived.dtype == sent.dtype
