"""Where models are computed."""

import torch


def best_device() -> torch.device:
    """This machine's graphics card, NVIDIA's or Apple's, that PyTorch can use; else the CPU."""
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
