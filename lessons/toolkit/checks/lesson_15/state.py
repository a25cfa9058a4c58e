"""Check the sampler (15.1), the warning (15.4), sharded checkpoints (15.7) and pieces (15.8)."""

import io
import itertools
import tempfile
from functools import partial
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks

SAMPLES, BATCH, SEED = 12, 4, 3


def stored(saved: Any) -> Any:
    """Return `saved` after saving and loading it, or fail the check if loading fails."""
    import torch

    file = io.BytesIO()
    torch.save(saved, file)
    file.seek(0)
    try:
        return torch.load(file)
    except Exception as error:
        advice = "Save state_dict()s, numbers and tensors, not the objects themselves."
        raise CheckFailed("a state that torch.load reads", type(error).__name__, advice) from None


@exercise("15.1")
def check_15_1(sampler: ModuleType) -> str:
    """A new sampler that loads a state gives exactly the batches that the old one would."""
    import torch

    torch.save(sampler.Sampler(20_000, SEED).state(), file := io.BytesIO())
    if file.tell() > 20_000:  # bytes; the generator's state needs 5,056 of them
        advice = "The generator can shuffle again."
        raise CheckFailed("a small state of a large sampler", "thousands of numbers", advice)
    for taken in (2, 3, 5):  # within an epoch, after its end, and in the second one
        old, new = sampler.Sampler(SAMPLES, SEED), sampler.Sampler(SAMPLES, SEED + 1)
        for _ in range(taken):
            old.next_batch(BATCH)
        state = stored(old.state())
        new.load(state)
        right, found = ([each.next_batch(BATCH).tolist() for _ in range(5)] for each in (old, new))
        if found != right:
            advice = "The new sampler has to shuffle exactly as the old one did in this epoch. "
            advice += "What did the generator look like then, and what else does shuffle() change?"
            raise CheckFailed(f"after {taken} batches: {right}", f"{found}", advice)
    return "No sample is read twice, and none is left out."


@exercise("15.4")
def check_15_4(signals: ModuleType) -> str:
    """All ranks return True if any of them has received a signal, and False if none has."""
    hangs = "Every rank calls all_reduce, whether it was warned or not."
    for who in (None, 0, 1):
        on_ranks(2, partial(try_warning, signals, who), check_15_4, hangs)
    return "All ranks save after the same step."


def try_warning(signals: ModuleType, who: int | None, rank: int, device: Any = "cpu") -> None:
    """Warn rank `who`, or no rank if it is None, and ask this rank."""
    signals.warnings[:] = [10] if rank == who else []
    answer, right = signals.anyone_warned(device), who is not None
    signals.warnings.clear()
    if answer is not right:
        advice = "Return True or False, the same on all ranks. Nobody was warned, or one was."
        if answer is False:
            advice = "Otherwise one rank saves and ends while the others wait for its gradients. "
            advice += "Which collective tells all ranks what one of them knows?"
        case = "no rank is warned" if who is None else f"rank {who} is warned"
        expected, found = f"{case}: {right} on every rank", f"{shown(answer)} on rank {rank}"
        raise CheckFailed(expected, found, advice)


@exercise("15.7")
def check_15_7(sharded: ModuleType) -> str:
    """A sharded checkpoint is written in the background, and is complete or not the newest."""
    from lessons.toolkit.checks.lesson_15.shards import try_shards

    hangs = "Every rank calls the same collectives, and waits for its own threads."
    with tempfile.TemporaryDirectory() as folder:
        on_ranks(2, lambda rank: try_shards(sharded, folder), check_15_7, hangs)
    return "All ranks write their parts while training goes on, and one of them names the folder."


@exercise("15.8")
def check_15_8(add_gradients: Any) -> str:
    """The gradients of all ranks and pieces add up to the whole batch's gradient."""
    for size, most in ((2, 6), (1, 5), (2, 4), (3, 3)):
        try_pieces(add_gradients, size, most)
    return "The gradient is the same on 1, 2 and 3 ranks, and no piece is too large."


def try_pieces(add_gradients: Any, size: int, most: int) -> None:
    import torch

    inputs = torch.linspace(-1, 2, 36, dtype=torch.float64).view(12, 3) ** 3
    batch = torch.tensor([7, 2, 9, 4, 0, 11, 5, 1, 10, 3, 8, 6])
    weights = torch.ones(3, dtype=torch.float64, requires_grad=True)
    seen: list[list[int]] = []

    def loss_of(places: Any) -> Any:
        seen.append(places.tolist())
        return (inputs[places] @ weights).square().mean()

    whole = loss_of(batch)
    [right] = torch.autograd.grad(whole, [weights])
    seen.clear()
    losses = [add_gradients(loss_of, batch, rank, size, most) for rank in range(size)]
    case = f"ranks: {size}, pieces of at most {most}"
    if sorted(itertools.chain(*seen)) != sorted(batch.tolist()):
        advice = "This rank's part is batch[rank::size], and its last piece may be shorter."
        raise CheckFailed(f"{case}: every sample of the batch is read once", seen, advice)
    if max(map(len, seen)) > most:
        advice = "This rank's part has to be split into pieces that are short enough."
        raise CheckFailed(case, seen, advice)
    if weights.grad is None or not torch.allclose(weights.grad, right):
        advice = "A piece's loss is a mean over the piece. What is its share of the batch's mean?"
        raise CheckFailed(f"{case}: the gradient is {right}", shown(weights.grad), advice)
    what, advice = f"{case}: the losses' sum", "Add up the weighted losses of the pieces."
    compare(sum(number(loss, what) for loss in losses), whole.item(), what, {}, advice)
    if any(getattr(loss, "requires_grad", False) for loss in losses):
        advice = "With its history, a loss keeps the activations of its piece in memory."
        raise CheckFailed("a loss without gradient", "one with gradient", advice)
