"""Cells, encoder, contexts, decoders, presets: all that lies between words and probabilities."""

from course_lib.models.config import MODELS, SIZES, ModelConfig, model_config
from course_lib.models.contexts import (
    AttentionContext,
    FixedContext,
    Memory,
    masked_softmax,
)
from course_lib.models.decoder import Decoder, DecoderState, ReadoutInputs
from course_lib.models.encoder import Encoder
from course_lib.models.parameters import count_parameters, parameter_table
from course_lib.models.scores import AdditiveScore, ConcatScore, DotScore, GeneralScore
from course_lib.models.translator import EncoderDecoder, build_model

__all__ = [
    "MODELS",
    "SIZES",
    "AdditiveScore",
    "AttentionContext",
    "ConcatScore",
    "Decoder",
    "DecoderState",
    "DotScore",
    "Encoder",
    "EncoderDecoder",
    "FixedContext",
    "GeneralScore",
    "Memory",
    "ModelConfig",
    "ReadoutInputs",
    "build_model",
    "count_parameters",
    "masked_softmax",
    "model_config",
    "parameter_table",
]
