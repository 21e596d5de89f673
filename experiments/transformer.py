"""A Transformer of torch's own layers that the course's loop trains and its search asks.

The model is Vaswani et al. (2017) with the norm before each part (Xiong et al., 2020): all of it is
`nn.TransformerEncoder` and `nn.TransformerDecoder`, over one table of embeddings for source, target
and output. `TorchTransformer.step` writes a word from what earlier words left behind; a test holds
it to the decoder of torch on whole sentences.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor, nn
from torch.nn import functional

from course_lib.corpora.batches import Batch
from course_lib.corpora.vocabulary import PAD, Vocabulary
from course_lib.models import RNNsearch, State
from course_lib.models.precision import at_least_single
from course_lib.models.self_attention import sinusoids
from course_lib.training import RunConfig
from course_lib.training.checkpoint import load_weights
from course_lib.training.run_directory import BEST, CONFIG, VOCABULARY
from course_lib.training.vocabularies import vocabularies_of


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of the Transformer; with 3,000 pieces it has about as many numbers as RNNsearch."""

    vocabulary: int  # pieces, marks included
    size: int = 128  # d, numbers of a word
    layers: int = 3  # of the encoder, and as many of the decoder
    heads: int = 4
    feed_forward: int = 496  # units of each layer's small network
    dropout: float = 0.1

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, for a run's config.yaml."""
        return asdict(self)


class TransformerRun(RunConfig):
    """A run of the Transformer: the recipe is the preset's, the sizes are `TransformerConfig`'s."""

    def model_config(self, source_vocabulary: int, target_vocabulary: int) -> TransformerConfig:
        """The sizes for one joint vocabulary."""
        return TransformerConfig(source_vocabulary, dropout=self.changes.get("dropout", 0.1))


class TorchTransformer(RNNsearch):
    """Encoder and decoder of torch's layers, with the methods that training and search call.

    In a state, `s` has the keys and values of the L words written so far, (B, L, 2d a layer), and
    `annotations` those of the source words, (B, T_x, 2d a layer).
    """

    def __init__(self, config: TransformerConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        d = config.size
        sizes = (d, config.heads, config.feed_forward, config.dropout)
        how = {"batch_first": True, "norm_first": True}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, **how),
            config.layers,
            nn.LayerNorm(d),
            enable_nested_tensor=False,
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*sizes, **how), config.layers, nn.LayerNorm(d)
        )
        self.decoder.E = nn.Embedding(config.vocabulary, d, padding_idx=PAD)
        self.b_o = nn.Parameter(torch.zeros(config.vocabulary))
        self.dropout = nn.Dropout(config.dropout)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.decoder.E.weight, std=d**-0.5)

    def embedded(self, words: Tensor, first: int = 0) -> Tensor:
        """(..., T) words with their positions from `first` on, (..., T, d)."""
        x = self.decoder.E(words) * math.sqrt(self.config.size)
        end = first + words.shape[-1]
        position = torch.arange(first, end, dtype=torch.float32, device=words.device)
        return self.dropout(x + sinusoids(position, self.config.size).to(x.dtype))

    def encoded(self, source: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x) words and their mask to (B, T_x, d) annotations."""
        return self.encoder(self.embedded(source), src_key_padding_mask=~mask)

    def output(self, x: Tensor) -> Tensor:
        """(..., d) vectors to (..., K) logits."""
        return functional.linear(x, self.decoder.E.weight, self.b_o)

    def logits(self, batch: Batch) -> Tensor:
        """What the softmax is taken of at every real target word, (N, K)."""
        length = batch.target_in.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=batch.source.device).triu(1)
        x = self.decoder(
            self.embedded(batch.target_in),
            self.encoded(batch.source, batch.source_mask),
            tgt_mask=later,
            memory_key_padding_mask=~batch.source_mask,
        )
        return at_least_single(self.output(x.flatten(0, 1).index_select(0, batch.target_words)))

    def loss(self, batch: Batch, smoothing: float = 0.0) -> tuple[Tensor, int]:
        """Cross-entropy in nats, summed over the real target words, and how many they are."""
        y = batch.target_out.flatten().index_select(0, batch.target_words)
        loss = functional.cross_entropy(
            self.logits(batch), y, reduction="sum", label_smoothing=smoothing
        )
        return loss, len(y)

    forward = loss

    def start(self, source: Tensor, lengths: Tensor, mask: Tensor) -> State:
        """Read the sentences once: the keys and values of every decoder layer."""
        x = self.encoded(source, mask)
        looked_at = [_projected(layer.multihead_attn, x, "kv") for layer in self.decoder.layers]
        empty = x.new_zeros(len(source), 0, 2 * self.config.size * self.config.layers)
        return State(empty, x[..., :0], torch.cat(looked_at, dim=-1), mask)

    def step(self, y_prev: Tensor, state: State) -> tuple[Tensor, None, State]:
        """One step of a search: log-probabilities of the next word, no weights, the next state."""
        x = self.embedded(y_prev[..., None], state.s.shape[-2]).squeeze(-2)
        width = 2 * self.config.size
        of_layers = []
        for layer, past, source in zip(
            self.decoder.layers,
            state.s.split(width, dim=-1),
            state.annotations.split(width, dim=-1),
            strict=True,
        ):
            normed = layer.norm1(x)
            new = _projected(layer.self_attn, normed, "kv")[..., None, :]
            of_layers.append(torch.cat([past, new], dim=-2))
            x = x + _attended(layer.self_attn, normed, of_layers[-1])
            x = x + _attended(layer.multihead_attn, layer.norm2(x), source, state.mask)
            x = x + layer.linear2(torch.relu(layer.linear1(layer.norm3(x))))
        log_probs = torch.log_softmax(at_least_single(self.output(self.decoder.norm(x))), dim=-1)
        return log_probs, None, state._replace(s=torch.cat(of_layers, dim=-1))


def _projected(attention: nn.MultiheadAttention, x: Tensor, which: str) -> Tensor:
    """The queries, (..., d), or the keys and values side by side, (..., 2d), of vectors."""
    d = attention.embed_dim
    rows = slice(d) if which == "q" else slice(d, None)
    return functional.linear(x, attention.in_proj_weight[rows], attention.in_proj_bias[rows])


def _attended(
    attention: nn.MultiheadAttention, x: Tensor, kv: Tensor, mask: Tensor | None = None
) -> Tensor:
    """What (..., d) vectors find among (..., T, 2d) keys and values, of which `mask` is True."""
    heads = attention.num_heads
    q = _projected(attention, x, "q").unflatten(-1, (heads, 1, -1))
    k, v = (part.unflatten(-1, (heads, -1)).transpose(-3, -2) for part in kv.chunk(2, dim=-1))
    energies = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        energies = energies.masked_fill(~mask[:, None, None], -torch.inf)
    return attention.out_proj((torch.softmax(energies, dim=-1) @ v).flatten(-3))


def build_transformer(config: TransformerConfig, seed: int = 0) -> TorchTransformer:
    """A model with freshly drawn weights; the same seed draws the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TorchTransformer(config)


def load_transformer(path: Path) -> tuple[TorchTransformer, tuple[Vocabulary, Vocabulary]]:
    """The best model of a run directory, in evaluation mode, and its pieces."""
    record = yaml.safe_load((path / CONFIG).read_text(encoding="utf-8"))
    words = vocabularies_of(json.loads((path / VOCABULARY).read_text(encoding="utf-8")))
    model = build_transformer(TransformerConfig(**record["model_config"]))
    load_weights(path / BEST, model)
    return model.eval(), words
