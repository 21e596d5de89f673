"""Encoder and decoder put together."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.corpora.batches import Batch
from course_lib.models.config import ModelConfig
from course_lib.models.decoder import DecoderState, ReadoutInputs
from course_lib.models.encoder import Encoder
from course_lib.models.initialisation import initialise
from course_lib.models.relatives import DECODERS
from course_lib.models.unrolling import unroll, unroll_sampled


class EncoderDecoder(nn.Module):
    """RNNsearch, RNNencdec or a relative of theirs, as the configuration says."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = DECODERS[config.decoder](config)
        if config.tying == "all":
            self.decoder.E.weight = self.encoder.E.weight
        if config.tying != "none":
            self.decoder.W_o.weight = self.decoder.E.weight
        self.register_state_dict_post_hook(_without_tied)
        self.register_load_state_dict_pre_hook(_with_tied)

    def start(self, source: Tensor, lengths: Tensor, mask: Tensor) -> DecoderState:
        """Read the sentences once: (B, T_x) word numbers to the state before the first word."""
        annotations, summary = self.encoder(source, lengths, mask)
        return self.decoder.start(annotations, summary, mask)

    def step(
        self, y_prev: Tensor, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """One search step; see `Decoder.step`."""
        return self.decoder.step(y_prev, state)

    def forward(
        self, batch: Batch, label_smoothing: float = 0.0, given: float | None = None
    ) -> tuple[Tensor, Tensor]:
        """What training calls, through whatever precision wraps the model."""
        return self.loss(batch, label_smoothing, given)

    def logits(self, batch: Batch, given: float | None = None) -> Tensor:
        """What the softmax is taken of at every real target position, (positions, K_y).

        Padded positions are dropped before the readout, so no product over the vocabulary is spent
        on them. `given` is the share of true words among those the decoder is given, the rest being
        its own (see `unroll_sampled`); None is teacher forcing by the fast path.
        """
        start = self.start(batch.source, batch.source_lengths, batch.source_mask)
        if given is None:
            inputs, _ = unroll(self.decoder, batch.target_in, start)
        else:
            inputs, _ = unroll_sampled(self.decoder, batch.target_in, start, given)
        logits = self.decoder.readout(
            ReadoutInputs(*(values[batch.target_mask] for values in inputs))
        )
        # In half precision the sum over the vocabulary would lose the small probabilities.
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def loss(
        self, batch: Batch, label_smoothing: float = 0.0, given: float | None = None
    ) -> tuple[Tensor, Tensor]:
        """Summed cross-entropy in nats over the real target positions, and their number.

        `given` is as for `logits`.
        """
        loss = functional.cross_entropy(
            self.logits(batch, given),
            batch.target_out[batch.target_mask],
            label_smoothing=label_smoothing,
            reduction="sum",
        )
        return loss, batch.target_mask.sum()

    @torch.no_grad()
    def sentence_log_probs(self, batch: Batch) -> Tensor:
        """log p(target | source) of each pair, (B,), in nats, the end mark included."""
        start = self.start(batch.source, batch.source_lengths, batch.source_mask)
        inputs, _ = unroll(self.decoder, batch.target_in, start)
        log_probs = torch.log_softmax(self.decoder.readout(inputs), dim=-1)
        chosen = log_probs.gather(-1, batch.target_out[..., None]).squeeze(-1)
        return (chosen * batch.target_mask).sum(dim=1)

    @torch.no_grad()
    def alpha(self, batch: Batch) -> Tensor | None:
        """Where the model looks while the true target words are given (forced decoding).

        Returns:
            (B, T_y, T_x) weights, a row for each target word and the
            end mark, zero at padding; None for a model without
            attention.
        """
        start = self.start(batch.source, batch.source_lengths, batch.source_mask)
        _, alpha = unroll(self.decoder, batch.target_in, start)
        return None if alpha is None else alpha * batch.target_mask[..., None]


TIED = {
    "none": {},
    "output": {"decoder.W_o.weight": "decoder.E.weight"},
    "all": {
        "decoder.E.weight": "encoder.E.weight",
        "decoder.W_o.weight": "encoder.E.weight",
    },
}
"""Names of weights that are another one: three-way weight tying is Press and Wolf (2017)."""


def _without_tied(model: nn.Module, tensors: dict[str, Tensor], prefix: str, _: object) -> None:
    """A tied table is written once."""
    assert isinstance(model, EncoderDecoder)
    for name in TIED[model.config.tying]:
        tensors.pop(prefix + name, None)


def _with_tied(model: nn.Module, tensors: dict[str, Tensor], prefix: str, *_: object) -> None:
    """A tied table that was written once is read under all of its names."""
    assert isinstance(model, EncoderDecoder)
    for name, owner in TIED[model.config.tying].items():
        if prefix + owner in tensors:
            tensors[prefix + name] = tensors[prefix + owner]


def build_model(config: ModelConfig, seed: int = 0) -> EncoderDecoder:
    """A model with freshly drawn weights; the same seed draws the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = EncoderDecoder(config)
        initialise(model, config.initialisation)
    return model
