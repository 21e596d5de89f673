"""A model from its configuration: RNNsearch, with those parts replaced that it names."""

import torch

from course_lib.models.conditional import ConditionalDecoder
from course_lib.models.config import ModelConfig
from course_lib.models.encoders import build_encoder
from course_lib.models.initialisation import initialise
from course_lib.models.local_attention import LocalAttention
from course_lib.models.luong import LuongDecoder
from course_lib.models.rnnsearch import Attention, Context, Decoder, RNNsearch
from course_lib.models.scores import build_attention
from course_lib.models.sutskever import SutskeverDecoder
from course_lib.models.tying import tie
from course_lib.models.units import build_unit, show_last

DECODERS: dict[str, type[Decoder]] = {
    "paper": Decoder,
    "luong": LuongDecoder,
    "conditional": ConditionalDecoder,
    "sutskever": SutskeverDecoder,
}
"""The decoders by the value of `decoder`."""


def assemble(config: ModelConfig) -> RNNsearch:
    """A model with torch's own first weights."""
    n = config.hidden
    attention: Context = build_attention(config)
    if config.window:
        assert isinstance(attention, Attention)
        attention = LocalAttention(attention, n, config.window)
    unit = build_unit(config, config.embedding)
    decoder = DECODERS[config.decoder](config, attention, unit)
    if config.state_size > n:
        show_last(attention, n)
        show_last(decoder.U_o, n)
    model = RNNsearch(config, build_encoder(config), decoder)
    tie(model)
    return model


def build_model(config: ModelConfig, seed: int = 0) -> RNNsearch:
    """A model with freshly drawn weights; the same seed draws the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = assemble(config)
        initialise(model, config.initialisation)
    return model
