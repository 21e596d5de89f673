"""RNNsearch in one file, and its relatives, each of which replaces a part of it."""

from course_lib.models.build import assemble, build_model
from course_lib.models.config import MODELS, SIZES, ModelConfig, model_config
from course_lib.models.parameters import count_parameters, parameter_table
from course_lib.models.rnnsearch import (
    Attention,
    Decoder,
    Encoder,
    FixedContext,
    GatedUnit,
    RNNsearch,
    State,
    masked_softmax,
)

__all__ = [
    "MODELS",
    "SIZES",
    "Attention",
    "Decoder",
    "Encoder",
    "FixedContext",
    "GatedUnit",
    "ModelConfig",
    "RNNsearch",
    "State",
    "assemble",
    "build_model",
    "count_parameters",
    "masked_softmax",
    "model_config",
    "parameter_table",
]
