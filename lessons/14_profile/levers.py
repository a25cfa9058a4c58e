"""Three levers that GPUs are built for. The same code runs on a CPU.

A name such as bfloat16+compile pulls two of them.
"""

import torch

LEVERS = ("tf32", "bfloat16", "compile")


def lever(name):
    """Return the name, if it is made of levers that exist."""
    if not set(name.split("+")) <= set(LEVERS):
        raise ValueError
    return name


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


def warm_up(trainings, some_steps):
    """Make a few steps of each training, in which a compiled network generates its code.

    It needs a compiler. Without one, the lever is left out.
    """
    for name in list(trainings):
        set_products(name)
        try:
            some_steps(trainings[name])
        except RuntimeError as error:
            if "compile" not in name:
                raise
            print(f"The lever {name} is left out: {' '.join(str(error).split())[:200]}", flush=True)
            del trainings[name]
