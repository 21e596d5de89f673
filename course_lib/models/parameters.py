"""Where a model's parameters lie, counted from the model itself."""

from torch import nn

ROLES_OF_WEIGHTS = {
    "encoder.E.": "source embeddings E",
    "encoder.": "encoder units",
    "decoder.E.": "target embeddings E",
    "decoder.attention.": "alignment model W_a, U_a, v_a",
    "decoder.W_s.": "initial state W_s",
    "decoder.unit.": "decoder unit W, U",
    "decoder.second.": "decoder unit after the look back",
    "decoder.C.": "context into the unit C",
    "decoder.F.": "input feeding into the unit F",
    "decoder.U_o.": "readout U_o, V_o, C_o",
    "decoder.V_o.": "readout U_o, V_o, C_o",
    "decoder.C_o.": "readout U_o, V_o, C_o",
    "decoder.W_o.": "vocabulary W_o",
}

SHARED = {True: "embeddings E and W_o, one table", False: "target embeddings E and W_o, one table"}
"""What tying makes one, with the source embeddings among them or without."""


def parameter_table(model: nn.Module) -> dict[str, int]:
    """Trainable parameters by part of the model, in the order a sentence meets them."""
    table = dict.fromkeys((*SHARED.values(), *ROLES_OF_WEIGHTS.values()), 0)
    names = dict(model.named_parameters(remove_duplicate=False))
    for name, parameter in model.named_parameters():
        both = {other for other in names if names[other] is parameter}
        if len(both) > 1:
            part = SHARED["encoder.E.weight" in both]
        else:
            part = next(
                label for prefix, label in ROLES_OF_WEIGHTS.items() if name.startswith(prefix)
            )
        table[part] += parameter.numel()
    return {part: count for part, count in table.items() if count}


def count_parameters(model: nn.Module) -> int:
    """All trainable parameters."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
