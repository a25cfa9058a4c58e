"""Check fully_shard (13.7), recomputing (13.8) and saving (13.9), in one process."""

import contextlib
import copy
import tempfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise
from lessons.toolkit.checks.shared.one_rank import one_rank
from lessons.toolkit.probes.held import saved_for_backward

Function = Callable[..., Any]
WIDTH = 6


def small_network() -> Any:
    """Return a network whose blocks record the type of their weights when they compute."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = torch.nn.Linear(WIDTH, 24), torch.nn.Linear(24, WIDTH)
            self.types: list[Any] = []

        def forward(self, x: Any) -> Any:
            self.types.append(self.inner.weight.dtype)
            return x + self.outer(torch.relu(self.inner(x)))

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.Sequential(Block(), Block(), Block())
            self.last = torch.nn.Linear(WIDTH, 2)

        def forward(self, x: Any) -> Any:
            return self.last(self.blocks(x))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return Network()


@exercise("13.7")
def check_13_7(library: ModuleType) -> str:
    """Each block and the whole network are units; the policy sets the type of gathered blocks."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FSDPModule

    for policy, dtype in (("float32", torch.float32), ("mixed", torch.bfloat16)):
        network = small_network()
        with one_rank():
            library.shard(network, init_device_mesh("cpu", (1,)), policy)
            units = [isinstance(each, FSDPModule) for each in (*network.blocks, network)]
            if not all(units):
                found = f"{sum(units[:3])} of the blocks, the network: {units[3]}"
                advice = "End with fully_shard(model, **how), for everything outside the blocks."
                if not all(units[:3]):
                    advice = "Call fully_shard for each block in model.blocks first: otherwise all "
                    advice += "parameters are gathered at the same time."
                raise CheckFailed("3 blocks and the network are units", found, advice)
            with contextlib.suppress(RuntimeError):  # of precisions that do not fit: see below
                network(torch.ones(2, WIDTH)).sum().backward()
        types = network.blocks[0].types
        if types != [dtype]:
            advice = "In the call for every block, not only for the network, pass **how."
            raise CheckFailed(f'policy "{policy}": blocks compute in [{dtype}]', types, advice)
    return "Units are gathered one at a time, in the policy's precision."


@exercise("13.8")
def check_13_8(recompute: Function) -> str:
    """The block keeps only its input, and gives the same outputs and gradients."""
    import torch

    block = small_network().blocks[0].double()
    right = copy.deepcopy(block)
    x = torch.linspace(-1, 1, 8 * WIDTH, dtype=torch.float64).view(8, WIDTH)
    wanted = right(x)
    wanted.square().sum().backward()
    recompute(block)
    with saved_for_backward(list(block.parameters())) as kept:
        found = block(x)
        during = kept["now"]
        if not torch.equal(found, wanted):
            advice = "checkpoint must call the old block.forward with the block's input."
            raise CheckFailed("the block computes what it did", "something else", advice)
        if found.requires_grad:
            found.square().sum().backward()
    for one, other in zip(block.parameters(), right.parameters(), strict=True):
        if one.grad is None or not torch.allclose(one.grad, other.grad):
            advice = "Set use_reentrant=False: then weights get gradients for any input."
            raise CheckFailed("the same gradients as before", "other ones, or none", advice)
    if len(block.types) != 2 or during > x.nbytes:
        advice = "Set block.forward to a function that calls checkpoint with the old block.forward."
        expected = f"the block computes twice, and keeps at most {x.nbytes} bytes"
        raise CheckFailed(expected, f"{len(block.types)} times, {during} bytes", advice)
    return "Only the input is kept, at the cost of one more forward pass."


@exercise("13.9")
def check_13_9(saving: ModuleType) -> str:
    """A fresh network continues from the files exactly as the old one does."""
    import torch

    def step(network: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        network(torch.ones(2, WIDTH)).square().sum().backward()
        optimizer.step()

    def difference() -> float:
        pairs = zip(old.parameters(), new.parameters(), strict=True)
        return max(float((a - b).detach().abs().max()) for a, b in pairs)

    old, new = small_network(), small_network()
    with torch.no_grad():
        for param in new.parameters():
            param += 1
    first, second = (torch.optim.AdamW(each.parameters(), 0.01) for each in (old, new))
    for _ in range(3):
        step(old, first)
    with tempfile.TemporaryDirectory() as folder, one_rank():
        saving.save(old, first, f"{folder}/checkpoint")
        saving.load(new, second, f"{folder}/checkpoint")
    if difference() > 0:
        advice = "dcp.load only fills the dictionaries; set_state_dict loads them into the network."
        raise CheckFailed("the parameters of the old network", "other ones", advice)
    step(old, first)
    step(new, second)
    if difference() > 1e-7:
        advice = "Adam's running means belong in the checkpoint, too: get_state_dict returns both."
        raise CheckFailed("the next step is the same", "another step", advice)
    return "Parameters and Adam's numbers are the same as before."
