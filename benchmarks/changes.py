"""Single things done otherwise than in the library, to measure what each is worth.

What paid is in the library, and a change takes it out again; what did not pay is put in.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from course_lib.corpora.batches import Batch
from course_lib.models import EncoderDecoder
from course_lib.models.contexts import AttentionContext, Memory
from course_lib.models.decoder import DecoderState, ReadoutInputs
from course_lib.models.encoder import PackedRNN
from course_lib.models.scores import AdditiveScore


class Change(NamedTuple):
    """One thing done otherwise than in the library.

    what: for the table. in_library: whether the library has it (and the change takes it out).
    model: alters a model in place.
    """

    what: str
    in_library: bool
    model: Callable[[EncoderDecoder], None] = lambda _: None


def plain_vocabulary(model: EncoderDecoder) -> None:
    """The product over the vocabulary as wide as the vocabulary, not as a multiple of 16."""
    layer = nn.Linear(model.config.readout, model.config.target_vocabulary)
    layer.load_state_dict(model.decoder.W_o.state_dict())
    model.decoder.add_module("W_o", layer.to(model.decoder.W_o.weight))


def tanh_from_sigmoid(model: EncoderDecoder) -> None:
    """tanh(x) = 2 sigma(2x) - 1 in the score: torch's sigma is the faster of the two."""
    score = attention_of(model).score
    assert isinstance(score, AdditiveScore)

    def forward(query: Tensor, keys: Tensor) -> Tensor:
        hidden = torch.sigmoid(2 * (score.W_a(query)[:, None] + keys)) * 2 - 1
        return score.v_a(hidden).squeeze(-1)

    instead(score, "forward", forward)


def both_directions_at_once(model: EncoderDecoder) -> None:
    """The encoder's two directions as one batch of two products, without packing."""
    rnn = model.encoder.rnn
    assert isinstance(rnn, PackedRNN)
    gru, n = rnn.units, model.config.hidden

    def forward(embedded: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        stacked = [
            torch.stack((getattr(gru, name), getattr(gru, f"{name}_reverse")))
            for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        ]
        W, U, b_W, b_U = stacked
        sentences, longest = mask.shape
        j = torch.arange(longest)
        # Reversed up to the last real word, so that padding comes last in both directions.
        order = torch.where(mask, lengths[:, None] - 1 - j, j)[..., None]
        words = torch.stack((embedded, embedded.gather(1, order.expand_as(embedded))))
        inputs = words.transpose(1, 2).reshape(2, longest * sentences, -1)
        products = torch.baddbmm(b_W[:, None], inputs, W.transpose(1, 2))
        state = embedded.new_zeros(2, sentences, n)
        states = []
        for product in products.view(2, longest, sentences, -1).unbind(1):
            recurrent = torch.baddbmm(b_U[:, None], state, U.transpose(1, 2))
            for_gates, for_candidate = product.split([2 * n, n], dim=-1)
            gates, last = recurrent.split([2 * n, n], dim=-1)
            r, z = torch.sigmoid(for_gates + gates).chunk(2, dim=-1)
            state = torch.lerp(torch.tanh(torch.addcmul(for_candidate, r, last)), state, z)
            states.append(state)
        forwards, backwards = torch.stack(states, dim=2).unbind(0)
        backwards = backwards.gather(1, order.expand_as(backwards))
        return torch.cat((forwards, backwards), dim=-1) * mask[..., None]

    instead(rnn, "forward", forward)


def compiled_step(model: EncoderDecoder) -> None:
    """One decoder step through torch.compile, for any length."""
    decoder, context = model.decoder, attention_of(model)

    def look_and_update(product: Tensor, s: Tensor, memory: Memory) -> tuple[Tensor, ...]:
        c, alpha = context(s, memory)
        return c, alpha, decoder.unit(product + decoder.C(c), s)

    compiled = torch.compile(look_and_update, dynamic=True)

    def advance(
        embedded: Tensor, product: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor, DecoderState]:
        c, alpha, s = compiled(product, state.s, state.memory)
        return ReadoutInputs(state.s, embedded, c), alpha, state._replace(s=s)

    instead(decoder, "advance", advance)


class ChunkedLoss(torch.autograd.Function):
    """Cross-entropy over the vocabulary, some rows at a time, gradients made on the way forward.

    The logits of all words are never there at once; backward only hands the gradients on.
    """

    ROWS = 256

    @staticmethod
    def forward(ctx: Any, t: Tensor, weight: Tensor, bias: Tensor, y: Tensor) -> Tensor:
        width, loss = len(weight), t.new_zeros(())
        d_t, d_weight, d_bias = (
            torch.empty_like(t),
            torch.zeros_like(weight),
            torch.zeros_like(bias),
        )
        room = t.new_empty(ChunkedLoss.ROWS, width + -width % 16)[:, :width]
        for i in range(0, len(t), ChunkedLoss.ROWS):
            rows, true = t[i : i + ChunkedLoss.ROWS], y[i : i + ChunkedLoss.ROWS, None]
            logits = torch.addmm(bias, rows, weight.t(), out=room[: len(rows)])
            loss -= logits.gather(1, true).sum()
            highest = logits.max(dim=1, keepdim=True).values
            total = logits.sub_(highest).exp_().sum(dim=1, keepdim=True)
            loss += (highest + total.log()).sum()
            gradient = logits.div_(total).scatter_add_(1, true, -torch.ones_like(total))
            torch.mm(gradient, weight, out=d_t[i : i + ChunkedLoss.ROWS])
            d_weight.addmm_(gradient.t(), rows)
            d_bias += gradient.sum(dim=0)
        ctx.save_for_backward(d_t, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return *(saved * gradients[0] for saved in ctx.saved_tensors), None


def chunked_loss(model: EncoderDecoder) -> None:
    """The loss through `ChunkedLoss`."""
    decoder = model.decoder

    def loss(batch: Batch) -> tuple[Tensor, Tensor]:
        start = model.start(batch.source, batch.source_lengths, batch.source_mask)
        inputs, _ = decoder.unroll(batch.target_in, start)
        t = decoder.deep_output(ReadoutInputs(*(each[batch.target_mask] for each in inputs)))
        y = batch.target_out[batch.target_mask]
        total = ChunkedLoss.apply(t, decoder.W_o.weight, decoder.W_o.bias, y)
        return total, batch.target_mask.sum()

    instead(model, "loss", loss)


def instead(module: nn.Module, name: str, function: Callable[..., Any]) -> None:
    """Give one module another method."""
    setattr(module, name, function)


def attention_of(model: EncoderDecoder) -> AttentionContext:
    """The context of a model that attends."""
    context = model.decoder.context
    assert isinstance(context, AttentionContext)
    return context


CHANGES = {
    "memory": Change("memory given back to the system after every update", in_library=True),
    "optimiser": Change("Adam not fused", in_library=True),
    "buckets": Change("batches in random order", in_library=True),
    "vocabulary": Change("vocabulary product of odd width", True, plain_vocabulary),
    "loss": Change("logits a few rows at a time, never all at once", False, chunked_loss),
    "tanh": Change("tanh of the score computed as 2 sigma(2x) - 1", False, tanh_from_sigmoid),
    "encoder": Change(
        "both encoder directions in one product, not packed", False, both_directions_at_once
    ),
    "compile": Change("torch.compile of the decoder's step", False, compiled_step),
    "length": Change("batches of one target length, as many words in each", in_library=False),
}
