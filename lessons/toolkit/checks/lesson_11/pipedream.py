"""PipeDream's stale weights (11.9): what is right is what a small pipeline does."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, pair
from lessons.toolkit.ranks.schedules import versions


@exercise("11.9")
def check_11_9(seen: Callable[..., Any]) -> str:
    """On 4 stages, micro-batch 5 sees on stage 0 version 2 forward and 5 backward."""
    for stages in (4, 1, 2, 5):
        played = sorted(versions(stages, 12).items(), key=lambda one: one[0] != (5, 1))
        for (micro_batch, stage), (forward, backward) in played:
            for stashing in (False, True):
                right = (forward, forward if stashing else backward)
                name = f"seen({micro_batch}, {stage}, {stages}, {stashing})"
                found = pair(
                    seen(micro_batch, stage, stages, stashing), name, ("forward", "backward")
                )
                if found != right:
                    advice = wrong_version(found, right, micro_batch, stage, stages, stashing)
                    shown = f"({found[0]:g}, {found[1]:g})"
                    raise CheckFailed(f"{name} = {right}", shown, advice)
    return "As a pipeline that never waits does it, with and without stashing."


def wrong_version(
    found: tuple[float, float],
    right: tuple[int, int],
    micro_batch: int,
    stage: int,
    stages: int,
    stashing: bool,
) -> str:
    if min(found) < 0:
        return "There is no version before 0: the first micro-batches all see the start, max(0, …)."
    if stashing and found == (right[0], micro_batch):
        return "Stashing keeps the forward pass's weights for the backward pass: the same version."
    if not stashing and found == (right[0], right[0]):
        return (
            "Without stashing the backward pass takes the weights as they are then: as many "
            "updates were made as micro-batches have gone back before."
        )
    if found[0] == max(0, micro_batch - stage):
        return "Turn it round: the first stage runs furthest ahead, the last one waits for nothing."
    if found[0] == max(0, micro_batch - (stages - stage)):
        return (
            "On the last stage nothing is stale: F 0, B 0, F 1, B 1: micro-batch k sees k updates."
        )
    if found[0] == micro_batch:
        return (
            "That would be no pipeline: stage s begins stages - s micro-batches before one is back."
        )
    return (
        "Draw 1F1B for this stage. A version is the number of backward passes that this stage has "
        "done before; it runs stages - 1 - stage micro-batches further ahead than the last one."
    )
