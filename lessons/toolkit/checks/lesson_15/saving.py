"""Check files (15.3), the interval between them (15.7), and copies for the background (15.8)."""

import contextlib
import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks

FILES = {
    "written": (
        "write saves the state in the file `path`",
        "Call torch.save(state, file), then os.replace(beside, path).",
    ),
    "synced": (
        "the bytes are on the disk before the file gets its name",
        "Call file.flush(), then os.fsync(file.fileno()), both before os.replace.",
    ),
    "old file kept": (
        "a process killed in the middle of a write leaves the old file intact",
        "Write to another name beside it, and call os.replace only when everything is written.",
    ),
    "newest": (
        "newest returns the state in the newest file",
        'The loop begins with the newest file: return torch.load(path, map_location="cpu").',
    ),
    "in host memory": (
        "newest loads into the CPU's memory what rank 0 saved from its GPU",
        'Otherwise every rank loads it onto rank 0\'s GPU: torch.load(path, map_location="cpu").',
    ),
    "half file skipped": (
        "if the newest file is half written, newest returns the one before",
        "try: return torch.load(…). In `except Exception as error`, print why, and go on.",
    ),
}


@exercise("15.3")
def check_15_3(atomic: ModuleType) -> str:
    """A checkpoint file is complete or absent, and a damaged one is not used."""
    from lessons.toolkit.probes.surviving import SIGHTS, files_met

    met, said, raised = files_met(atomic)
    if raised:
        raise raised
    for name, (expected, advice) in FILES.items():
        if not met[name]:
            raise CheckFailed(expected, "not here", advice)
    if "step_000010.pt" not in said:
        advice = "Print a message with path.name, so that users know which file is damaged."
        raise CheckFailed("newest reports which file it skips", "it says nothing", advice)
    hangs = "Every rank calls dist.broadcast_object_list, also if rank 0 found no checkpoint."
    for own, others, right in SIGHTS:
        for rank, step in enumerate(
            on_ranks(2, partial(seen_from, atomic, own, others), check_15_3, hangs)
        ):
            if step != right:
                what = f"rank 0 sees steps {own} (negative: damaged): all begin from {right}"
                advice = "Rank 0 calls newest and puts its step into the list that it broadcasts. "
                advice += "The others load the file of that step, path_of(folder, step)."
                raise CheckFailed(what, f"rank {rank} begins from {shown(step)}", advice)
    return "A file is complete or absent, and all ranks begin from the newest that rank 0 can read."


def seen_from(atomic: ModuleType, own: Any, others: Any, rank: int) -> int | None:
    from lessons.toolkit.probes.surviving import first_step

    with contextlib.redirect_stdout(None):
        return first_step(atomic, others if rank else own)


YEAR = 365.25 * 86400


@exercise("15.7")
def check_15_7(best_interval: Callable[..., Any]) -> str:
    """The interval is the square root of twice the write time times the job's MTBF."""
    for write_s, mtbf, nodes in ((60.0, 5 * YEAR, 1000), (10.0, YEAR, 1), (300.0, 2 * YEAR, 64)):
        right = math.sqrt(2 * write_s * mtbf / nodes)
        mistakes = {
            right * math.sqrt(nodes): "A job on n nodes fails n times as often as one node.",
            right * nodes: "More nodes have more failures, so the MTBF is shorter.",
            right / math.sqrt(2): "The 2 is missing.",
            right**2: "The square root is missing.",
            right / math.sqrt(nodes): "Divide the MTBF, not the result, by the nodes.",
        }
        what = f"best_interval({write_s:g}, {mtbf:g}, {nodes})"
        compare(number(best_interval(write_s, mtbf, nodes), what), right, what, mistakes)
    return "Save less often if a write takes longer, and more often on more nodes."


@exercise("15.8")
def check_15_8(copied: Callable[[Any], Any]) -> str:
    """A copy has the same structure and values, and does not change with the original."""
    import torch

    tensors = [torch.ones(3), torch.zeros(2), torch.ones(1)]
    original = {"a": tensors[0], "b": [tensors[1], 4], "c": {"d": (tensors[2], "word")}}
    before, copy = repr(original), copied(original)
    if repr(copy) != before:
        advice = "Recurse into dict, list and tuple; return anything else unchanged."
        raise CheckFailed(f"a copy of {before}", shown(copy), advice)
    for tensor in tensors:
        tensor.fill_(7)
    if repr(copy) != before:
        advice = 'To copy a tensor on the CPU, use .to("cpu", copy=True) or .clone().'
        raise CheckFailed(f"a copy that stays {before}", shown(copy), advice)
    if copied(torch.nn.Parameter(torch.ones(2))).requires_grad:
        raise CheckFailed("tensors without gradients", "with", "Call .detach() first.")
    return "The thread writes the state at the time of the call."
