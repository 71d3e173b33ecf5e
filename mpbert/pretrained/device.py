"""Where networks of torch run."""

import torch


def trained_on() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
