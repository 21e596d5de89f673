"""Tables that are one (Press and Wolf, 2017): E_y and W_o, or with one vocabulary E_x as well."""

from torch import Tensor, nn

from course_lib.models.rnnsearch import RNNsearch

TIED = {
    "none": {},
    "output": {"decoder.W_o.weight": "decoder.E.weight"},
    "all": {
        "decoder.E.weight": "encoder.E.weight",
        "decoder.W_o.weight": "encoder.E.weight",
    },
}
"""Names of weights that are another one, by the value of `tying`."""


def tie(model: RNNsearch) -> None:
    """Make the tables one that the configuration ties; a tied table is saved once."""
    if model.config.tying == "all":
        model.decoder.E.weight = model.encoder.E.weight
    if model.config.tying != "none":
        model.decoder.W_o.weight = model.decoder.E.weight
        model.register_state_dict_post_hook(_without_tied)
        model.register_load_state_dict_pre_hook(_with_tied)


def _without_tied(model: nn.Module, tensors: dict[str, Tensor], prefix: str, _: object) -> None:
    """A tied table is written once."""
    assert isinstance(model, RNNsearch)
    for name in TIED[model.config.tying]:
        tensors.pop(prefix + name, None)


def _with_tied(model: nn.Module, tensors: dict[str, Tensor], prefix: str, *_: object) -> None:
    """A tied table that was written once is read under all of its names."""
    assert isinstance(model, RNNsearch)
    for name, owner in TIED[model.config.tying].items():
        if prefix + owner in tensors:
            tensors[prefix + name] = tensors[prefix + owner]
