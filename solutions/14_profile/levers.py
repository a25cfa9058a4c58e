"""Three levers that GPUs are built for. The same code runs on a CPU.

A name such as bfloat16+compile pulls two of them.
"""

import torch

LEVERS = ("tf32", "bfloat16", "compile")


def pull(name, model, device):
    """Let the network compute in bfloat16, or compile it, or both."""
    if "bfloat16" in name:
        plain = model.forward

        def forward(ids):
            with torch.autocast(device.type, torch.bfloat16):
                scores = plain(ids)
            return scores.float()  # the loss needs more than three digits

        model.forward = forward
    if "compile" in name:
        model.compile()


def set_products(name):
    """Choose how float32 matrices are multiplied. PyTorch sets this for the whole process."""
    torch.set_float32_matmul_precision("high" if "tf32" in name else "highest")
