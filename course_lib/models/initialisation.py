"""How weights are drawn before training."""

from torch import Tensor, nn

RECURRENT = (".U_gates.weight", ".U.weight")
ALIGNMENT = (".W_a.weight", ".U_a.weight")


def initialise(model: nn.Module, scheme: str) -> None:
    """Draw all weights of a model in place.

    `paper` (Appendix B.1): recurrent matrices U orthogonal, W_a and U_a from N(0, 0.001^2), v_a and
    all biases 0, everything else from N(0, 0.01^2). `modern`: recurrent matrices orthogonal, the
    others Glorot uniform, biases 0, embeddings from N(0, 0.1^2). The padding row stays 0, and layer
    norms stay as they are.
    """
    norms = {id(p) for m in model.modules() if isinstance(m, nn.LayerNorm) for p in m.parameters()}
    for name, parameter in model.named_parameters():
        if id(parameter) in norms:
            continue
        if name.endswith(RECURRENT) or ".weight_hh_l" in name:
            _orthogonal_blocks(parameter)
        elif parameter.dim() == 1:
            nn.init.zeros_(parameter)
        elif scheme == "paper":
            if name.endswith(".v_a.weight"):
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=0.001 if name.endswith(ALIGNMENT) else 0.01)
        elif name.endswith(".E.weight"):
            nn.init.normal_(parameter, std=0.1)
        else:
            nn.init.xavier_uniform_(parameter)
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx].detach())


def _orthogonal_blocks(weight: Tensor) -> None:
    """Stacked square matrices, each orthogonal on its own: (k n, n)."""
    for block in weight.detach().split(weight.shape[1]):
        nn.init.orthogonal_(block)
