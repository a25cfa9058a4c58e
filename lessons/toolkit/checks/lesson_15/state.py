"""Check what is saved (15.1), the sampler (15.2), and the agreement on a warning (15.4)."""

import itertools
from collections.abc import Mapping
from functools import partial
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks

SAMPLES, BATCH, SEED = 12, 4, 3


class Steps:
    """A replacement for the student's sampler that only counts its batches."""

    def __init__(self) -> None:
        self.number = 0

    def state(self) -> int:
        return self.number

    def load(self, state: int) -> None:
        self.number = state


def small_training(snapshot: ModuleType) -> Any:
    import torch

    torch.manual_seed(SEED)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 1))
    optimizer = torch.optim.AdamW(network.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    return snapshot.Training(network, optimizer, schedule, Steps())


def make_step(training: Any) -> None:
    import torch

    training.optimizer.zero_grad()
    training.network(torch.rand(5, 4)).square().sum().backward()
    training.optimizer.step()
    training.schedule.step()
    training.sampler.number += 1


def parts_of(training: Any) -> dict[str, Any]:
    """Return the parts of a training run that must be restored, under the names used in advice."""
    import torch

    numbers = [value for each in training.optimizer.state.values() for value in each.values()]
    return {
        "parameters": [p.detach().clone() for p in training.network.parameters()],
        "optimizer": [torch.as_tensor(value).clone() for value in numbers],
        "schedule": [torch.tensor([training.schedule.last_epoch])],
        "sampler": [torch.tensor([training.sampler.number])],
        "random": [torch.get_rng_state()],
    }


ADVICE = {
    "parameters": "Call network.state_dict() in capture, and network.load_state_dict in restore.",
    "optimizer": "Adam's running means and its count of steps are in optimizer.state_dict().",
    "schedule": "The schedule counts its steps, too: save schedule.state_dict().",
    "sampler": "Call sampler.state() in capture, and sampler.load(…) in restore.",
    "random": "Call torch.get_rng_state() in capture, and torch.set_rng_state(…) in restore.",
}


@exercise("15.1")
def check_15_1(snapshot: ModuleType) -> str:
    """A restored run takes the same steps as the one that was captured."""
    import torch

    before = torch.get_rng_state()
    try:
        training = small_training(snapshot)
        for _ in range(3):
            make_step(training)
        saved = snapshot.capture(training)
        if not isinstance(saved, Mapping):
            raise CheckFailed("capture returns a dictionary", shown(saved), "Return it.")
        on_disk = stored(saved)
        right = parts_of(training)
        torch.manual_seed(SEED + 1)
        fresh = small_training(snapshot)
        torch.manual_seed(SEED + 2)
        snapshot.restore(fresh, on_disk)
        found = parts_of(fresh)
    finally:
        torch.set_rng_state(before)
    for name, values in right.items():
        same = len(found[name]) == len(values) and all(map(torch.equal, found[name], values))
        if not same:
            raise CheckFailed(f"after restore: the same {name} as before", "others", ADVICE[name])
    return "Parameters, optimizer, schedule, sampler and random state come back."


def stored(saved: Any) -> Any:
    """Return `saved` after saving and loading it, or fail the check if loading fails."""
    import io

    import torch

    file = io.BytesIO()
    torch.save(saved, file)
    file.seek(0)
    try:
        return torch.load(file)
    except Exception as error:
        advice = "Save state_dict()s, numbers and tensors, not the objects themselves."
        raise CheckFailed("a state that torch.load reads", type(error).__name__, advice) from None


@exercise("15.2")
def check_15_2(sampler: ModuleType) -> str:
    """A new sampler that loads a state gives exactly the batches that the old one would."""
    for taken in (2, 1, 3, 5):  # within an epoch, after its end, and in the second one
        old = sampler.Sampler(SAMPLES, SEED)
        for _ in range(taken):
            old.next_batch(BATCH)
        state = stored(old.state())
        if not isinstance(state, Mapping):
            raise CheckFailed("state returns a dictionary", shown(state), "Return it.")
        if sum(getattr(value, "numel", lambda: 1)() for value in state.values()) > 10_000:
            raise CheckFailed(
                "a small state", "thousands of numbers", "The generator can shuffle again."
            )
        right = [old.next_batch(BATCH).tolist() for _ in range(5)]
        new = sampler.Sampler(SAMPLES, SEED + 1)
        new.load(state)
        compare_batches([new.next_batch(BATCH).tolist() for _ in range(5)], right, taken)
    return "No sample is read twice, and none is left out."


def compare_batches(found: list[list[int]], right: list[list[int]], taken: int) -> None:
    if found == right:
        return
    left = SAMPLES // BATCH - taken % (SAMPLES // BATCH)  # batches of this epoch that are left
    rest, other_rest = (sorted(itertools.chain(*each[:left])) for each in (right, found))
    if taken % (SAMPLES // BATCH) and rest != other_rest:
        advice = (
            "Save the generator as it was before this epoch's shuffle (self.before), and in load: "
            "set it, shuffle, then set the position. shuffle() sets the position to 0."
        )
        raise CheckFailed(f"after {taken} batches, then: {right[0]}", f"{found[0]}", advice)
    advice = (
        "The next epoch has a different order: its shuffle depends on the generator. "
        "Restore self.generator, and shuffle exactly once."
    )
    raise CheckFailed(f"after {taken} batches, later: {right[-1]}", f"{found[-1]}", advice)


@exercise("15.4")
def check_15_4(signals: ModuleType) -> str:
    """All ranks return True if any of them has received a signal, and False if none has."""
    for size, who in ((2, None), (2, 0), (2, 1)):
        hangs = "Every rank calls all_reduce, whether it was warned or not."
        answers = on_ranks(size, partial(answer_of, signals, who), check_15_4, hangs)
        for rank, answer in enumerate(answers):
            if not isinstance(answer, bool):
                raise CheckFailed("True or False", shown(answer), "Return bool(flag).")
            if answer is not (who is not None):
                advice = (
                    "Otherwise rank 0 saves and ends while the others wait for its gradients."
                    if answer is False
                    else "The tensor is 0 on a rank without a signal."
                )
                case = "no rank is warned" if who is None else f"rank {who} of {size} is warned"
                raise CheckFailed(f"{case}: {who is not None} on every rank",
                                  f"{answer} on rank {rank}", advice)  # fmt: skip
    return "All ranks save after the same step."


def answer_of(signals: ModuleType, who: int | None, rank: int) -> Any:
    """Return this rank's answer after rank `who` was warned, or no rank if `who` is None."""
    signals.warnings[:] = [10] if rank == who else []
    return signals.anyone_warned("cpu")
