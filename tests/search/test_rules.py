"""What a search may write: at a sentence's limit its end alone, else the best first."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.vocabulary import EOS
from course_lib.search.rules import BLOCK, end_at_limit, top_words

K = 7


@pytest.mark.parametrize("shape", [(2, K), (4, 2, K)], ids=["one each", "four each"])
def test_at_its_limit_a_sentence_can_only_end(shape) -> None:
    found = torch.randn(shape).log_softmax(dim=-1)
    given = found.clone()
    end_at_limit(found, torch.tensor([False, True]))
    others = [word for word in range(K) if word != EOS]
    assert (found[..., 1, others] == -torch.inf).all()
    assert torch.equal(found[..., 1, EOS], given[..., 1, EOS])
    assert torch.equal(found[..., 0, :], given[..., 0, :])


@settings(max_examples=100, deadline=None)
@given(data=st.data(), width=st.integers(1, 5 * BLOCK), rows=st.integers(1, 4))
def test_the_top_words_are_the_top_words(data, width, rows) -> None:
    count = data.draw(st.integers(1, min(40, width)))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    # Few different values, so that ties are common.
    values = torch.randint(0, 30, (2, rows, width), generator=generator).double()
    values[torch.rand(values.shape, generator=generator) < 0.3] = -torch.inf
    found, places = top_words(values, count)
    assert torch.equal(found, values.topk(count, dim=-1).values)
    assert torch.equal(values.gather(-1, places), found)
    assert all(len(set(row)) == count for row in places.flatten(0, 1).tolist())
