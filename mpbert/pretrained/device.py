"""Where networks of torch run, and how exactly."""

import torch


def trained_on() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies matrices of bfloat16 faster than those of float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
