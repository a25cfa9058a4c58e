"""Check complete files (15.3), and copies made for writing in the background (15.8)."""

import contextlib
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks

FILES = {
    "written": (
        "write saves the state in the file `path`",
        "the file cannot be read, or contains something else",
        "Call torch.save(state, file), then os.replace(beside, path).",
    ),
    "synced": (
        "the bytes are on the disk before the file gets its name",
        "no os.fsync before os.replace",
        "Call file.flush(), then os.fsync(file.fileno()), both before os.replace.",
    ),
    "old file kept": (
        "a process killed in the middle of a write leaves the old file intact",
        "the old file is damaged",
        "Write to another name beside it, and call os.replace only when everything is written.",
    ),
    "newest": (
        "newest returns the state in the newest file",
        "another state",
        'The loop begins with the newest file: return torch.load(path, map_location="cpu").',
    ),
    "in host memory": (
        "newest loads into the CPU's memory what rank 0 saved from its GPU",
        "every rank would load it onto rank 0's GPU",
        'Call torch.load(path, map_location="cpu").',
    ),
    "half file skipped": (
        "if the newest file is half written, newest returns the one before",
        "it does not",
        "try: return torch.load(…). In `except Exception as error`, print why, and go on.",
    ),
}


@exercise("15.3")
def check_15_3(atomic: ModuleType) -> str:
    """A checkpoint file is complete or absent, and a damaged one is not used."""
    from lessons.toolkit.probes.surviving import files_met

    met, said, raised = files_met(atomic)
    if raised:
        raise raised
    for name, (expected, found, advice) in FILES.items():
        if not met[name]:
            raise CheckFailed(expected, found, advice)
    if "step_000010.pt" not in said:
        advice = "Print a message with path.name, so that users know which file is damaged."
        raise CheckFailed("newest reports which file it skips", "it says nothing", advice)
    check_agreed(atomic, 2)
    return "A file is complete or absent, and all ranks begin from the newest that rank 0 can read."


def check_agreed(atomic: ModuleType, size: int) -> None:
    """Compare the checkpoints of ranks with the one that rank 0 can read."""
    from lessons.toolkit.probes.surviving import SIGHTS

    hangs = "Every rank calls dist.broadcast_object_list, also if rank 0 found no checkpoint."
    for own, others, right in SIGHTS:
        found = on_ranks(size, partial(seen_from, atomic, own, others), check_15_3, hangs)
        for rank, step in enumerate(found):
            if step != right:
                raise CheckFailed(
                    f"rank 0 sees steps {shown(own)} (negative: damaged): all begin from {right}",
                    f"rank {rank} of {size} begins from {shown(step)}",
                    "Rank 0 calls newest and puts its step into the list that it broadcasts. The "
                    "others load the file of that step, path_of(folder, step), whatever they see.",
                )


def seen_from(atomic: ModuleType, own: Any, others: Any, rank: int) -> int | None:
    from lessons.toolkit.probes.surviving import first_step

    with contextlib.redirect_stdout(None):
        return first_step(atomic, others if rank else own)


@exercise("15.8")
def check_15_8(copied: Callable[[Any], Any]) -> str:
    """A copy has the same structure and values, and does not change with the original."""
    import torch

    shared = torch.ones(3)
    original = {"a": shared, "b": [torch.zeros(2), 4], "c": {"d": (torch.ones(1), "word")}}
    copy = copied(original)
    compare_kinds(copy, original, "the copy")
    shared.fill_(7)
    original["b"][0].fill_(7)  # type: ignore[index]
    original["c"]["d"][0].fill_(7)  # type: ignore[index]
    places = {
        "a tensor in the dictionary": (copy["a"], 1),
        "a tensor in a list": (copy["b"][0], 0),
        "a tensor in a tuple": (copy["c"]["d"][0], 1),
    }
    for where, (tensor, value) in places.items():
        if not bool((tensor == value).all()):
            advice = 'To copy a tensor on the CPU, use .to("cpu", copy=True) or .clone().'
            raise CheckFailed(f"{where} keeps its values", "it changes with training", advice)
    weight = torch.nn.Parameter(torch.ones(2))
    if getattr(copied(weight), "requires_grad", False):
        raise CheckFailed("tensors without gradients", "with", "Call .detach() first.")
    return "The thread writes the state at the time of the call."


def compare_kinds(copy: Any, original: Any, where: str) -> None:
    import torch

    if isinstance(original, torch.Tensor):
        right = isinstance(copy, torch.Tensor) and copy.shape == original.shape
    elif isinstance(original, dict | list | tuple):
        right = type(copy) is type(original) and len(copy) == len(original)
    else:
        right = copy == original
    if not right:
        advice = "Recurse into dict, list and tuple; return anything else unchanged."
        raise CheckFailed(f"{where} is like the original: {shown(original)}", shown(copy), advice)
    if isinstance(original, dict):
        for key in original:
            if key not in copy:
                raise CheckFailed(f"{where} has {key!r}", shown(list(copy)), "Keep all keys.")
            compare_kinds(copy[key], original[key], f"{where}[{key!r}]")
    elif isinstance(original, list | tuple):
        for place, each in enumerate(original):
            compare_kinds(copy[place], each, f"{where}[{place}]")
