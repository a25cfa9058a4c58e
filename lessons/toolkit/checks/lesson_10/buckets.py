"""Check of buckets by hand (10.3), beside one other rank that is simulated."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, shown


class Other:
    """Stands for a message that another rank answers. Its gradients are three times this rank's."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.got = tensor, False  # until `wait`, the tensor is not the sum

    def wait(self) -> Any:
        self.tensor.mul_(1 if self.got else 4)
        self.got = True
        return [self.tensor]

    def get_future(self) -> Any:
        return self


@contextlib.contextmanager
def beside_another_rank(program: Any, network: Any) -> Iterator[list[tuple[int, int]]]:
    """Replace torch.distributed by one other rank. Yield its messages' sizes.

    Beside each size is the number of gradients that are not computed yet.
    """
    import torch
    from torch.distributed import ReduceOp

    sent: list[tuple[int, int]] = []

    def all_reduce(
        tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
    ) -> Any:
        if op != ReduceOp.SUM:
            advice = "Gloo can add up, but takes no mean: do the division yourself, once."
            raise CheckFailed("all_reduce adds the ranks' tensors up", f"op={shown(op)}", advice)
        missing = sum(each.grad is None for each in network.parameters())
        sent.append((tensor.numel(), missing))
        message = Other(tensor)
        if async_op:
            return message
        advice = "This call waits for the bucket, so the backward pass stands still meanwhile. "
        advice += "Which argument of all_reduce lets it go on?"
        raise CheckFailed("all_reduce returns at once", "it waits", advice)

    def broadcast(tensor: Any, src: int | None = None, *_: Any, **named: Any) -> Any:
        sender = named.get("group_src") if src is None else src
        if sender == 0:
            tensor.fill_(0.25)
        return Other(tensor.new_empty(0)) if named.get("async_op") else None

    replaced: dict[str, Any] = {
        "all_reduce": all_reduce,
        "broadcast": broadcast,
        "get_world_size": lambda *_: 2,
        "get_rank": lambda *_: 1,
    }

    imported = {
        name: new
        for name, new in replaced.items()
        if vars(program).get(name) is getattr(torch.distributed, name)
    }
    with (
        mock.patch.multiple(torch.distributed, **replaced),
        mock.patch.dict(vars(program), imported),
    ):
        yield sent


@exercise("10.3")
def check_10_3(program: Any) -> str:
    """Each bucket leaves as soon as it is full, and every gradient becomes the ranks' mean."""
    import torch

    network: Any = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(4)))
    twin, x = copy.deepcopy(network), torch.rand(3, 4)
    with beside_another_rank(program, network) as sent:
        program.distribute(network, torch.device("cpu"), 0.00016)  # 40 numbers: two layers
        if any((each != 0.25).any() for each in network.parameters()):
            advice = "Rank 0's numbers have to arrive in every parameter of this network, before "
            advice += "the first step."
            raise CheckFailed("the parameters of rank 0 on every rank", "this rank's own", advice)
        twin.load_state_dict(network.state_dict())
        for number in ("first", "second"):
            sent.clear()
            twin.zero_grad()
            network.zero_grad()
            twin(x).square().sum().backward()
            network(x).square().sum().backward()
            when = f"in the {number} backward pass"
            if [size for size, _ in sent] != [40, 40]:
                advice = "A bucket leaves once per backward pass, in one piece. Is everything that "
                advice += "counts as at the start when the second pass begins?"
                raise CheckFailed(f"two messages of 40 numbers {when}", shown(sent), advice)
            if sent[0][1] != 4:
                advice = "A full bucket leaves at once, in the call that has filled it."
                found = f"{sent[0][1]} gradients are missing as the first bucket leaves"
                raise CheckFailed(f"4 are missing {when}", found, advice)
            ratio = (network[0].weight.grad / twin[0].weight.grad).mean().item()
            mistakes = {
                4: "That is the ranks' sum.",
                1: "That is this rank's own gradient, as if nothing had arrived.",
                0.5: "That is half of this rank's own gradient: has the message arrived?",
            }
            what = f"gradient of the first layer {when}, if the other rank's is 3 times as long"
            compare(ratio, 2.0, what, mistakes, "The mean of 1 and 3 is 2.")
            if not all(
                torch.allclose(a.grad, 2 * b.grad)
                for a, b in zip(network.parameters(), twin.parameters(), strict=True)
            ):
                advice = "Does every number go back to where it came from?"
                raise CheckFailed("the mean of every gradient", "others", advice)
    return "Two messages in each backward pass, the first while half of the gradients are missing."
