"""Check fully_shard (13.7), recomputing (13.8) and saving (13.9), in one process."""

import contextlib
import copy
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise
from lessons.toolkit.probes.held import saved_for_backward

Function = Callable[..., Any]
WIDTH, BLOCKS = 6, 3


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
            self.blocks = torch.nn.Sequential(*(Block() for _ in range(BLOCKS)))
            self.last = torch.nn.Linear(WIDTH, 2)

        def forward(self, x: Any) -> Any:
            return self.last(self.blocks(x))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return Network()


@contextlib.contextmanager
def one_rank() -> Iterator[Any]:
    """Provide a device mesh for a process group that has only this process."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    own = not dist.is_initialized()
    if own:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield init_device_mesh("cpu", (1,))
    finally:
        if own:
            dist.destroy_process_group()


def wraps(module: Any) -> bool:
    """Return whether `fully_shard` has made the module an FSDP unit."""
    from torch.distributed.fsdp import FSDPModule

    return isinstance(module, FSDPModule)


@exercise("13.7")
def check_13_7(library: ModuleType) -> str:
    """Each block and the whole network are units; the policy sets the type of gathered blocks."""
    import torch

    for policy, dtype in (("float32", torch.float32), ("mixed", torch.bfloat16)):
        network = small_network()
        with one_rank() as mesh:
            library.shard(network, mesh, policy)
            blocks = [wraps(block) for block in network.blocks]
            if not any(blocks):
                found = "the network alone" if wraps(network) else "none"
                advice = (
                    "Call fully_shard for each block in model.blocks first: otherwise all "
                    "parameters are gathered at the same time."
                )
                raise CheckFailed(f"{BLOCKS} blocks and the network are units", found, advice)
            if not all(blocks):
                raise CheckFailed(
                    f"{BLOCKS} blocks are units",
                    f"{sum(blocks)} of them",
                    "Loop over model.blocks.",
                )
            if not wraps(network):
                advice = "End with fully_shard(model, **how), for everything outside the blocks."
                raise CheckFailed("the network is also a unit", "only its blocks are", advice)
            with contextlib.suppress(RuntimeError):  # of precisions that do not fit: see below
                network(torch.ones(2, WIDTH)).sum().backward()
        types = network.blocks[0].types
        if types != [dtype]:
            raise CheckFailed(
                f'policy "{policy}": blocks compute in {dtype}',
                f"{types[0] if types else 'they do not compute'}",
                "Pass **how to fully_shard in the call for every block, not only for the network.",
            )
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
        if not isinstance(found, torch.Tensor) or not torch.equal(found, wanted):
            advice = "checkpoint must call the old block.forward with the block's input."
            raise CheckFailed("the block computes what it did", "something else", advice)
        if not found.requires_grad:
            advice = (
                "The block's input needs no gradient here, but its weights do: pass "
                "use_reentrant=False."
            )
            raise CheckFailed("the block's weights get gradients", "no gradient at all", advice)
        found.square().sum().backward()
    if len(block.types) != 2:
        raise CheckFailed(
            "the block computes twice: in the forward pass and again in the backward pass",
            f"{len(block.types)} times",
            "Set block.forward to a function that calls checkpoint with the old block.forward.",
        )
    for one, other in zip(block.parameters(), right.parameters(), strict=True):
        if one.grad is None or not torch.allclose(one.grad, other.grad):
            advice = "Set use_reentrant=False: then weights get gradients for any input."
            raise CheckFailed("the same gradients as before", "other ones", advice)
    if during > 8 * WIDTH * 8:
        advice = "The forward pass of the block has to run inside checkpoint."
        raise CheckFailed(f"at most {8 * WIDTH * 8} bytes are kept", f"{during} bytes", advice)
    return "Only the input is kept, at the cost of one more forward pass."


@exercise("13.9")
def check_13_9(saving: ModuleType) -> str:
    """A fresh network continues from the files exactly as the old one does."""
    import torch

    def optimizer_of(network: Any) -> Any:
        return torch.optim.AdamW(network.parameters(), 0.01)

    def step(network: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        network(torch.ones(2, WIDTH)).square().sum().backward()
        optimizer.step()

    old, new = small_network(), small_network()
    with torch.no_grad():
        for param in new.parameters():
            param += 1
    first, second = optimizer_of(old), optimizer_of(new)
    for _ in range(3):
        step(old, first)
    with tempfile.TemporaryDirectory() as folder, one_rank():
        saving.save(old, first, f"{folder}/checkpoint")
        saving.load(new, second, f"{folder}/checkpoint")
    if apart(old, new) > 0:
        advice = "dcp.load only fills the dictionaries; set_state_dict loads them into the network."
        raise CheckFailed("the parameters of the old network", "other ones", advice)
    step(old, first)
    step(new, second)
    if apart(old, new) > 1e-7:
        advice = "Adam's running means belong in the checkpoint, too: get_state_dict returns both."
        raise CheckFailed("the next step is the same", "another step", advice)
    return "Parameters and Adam's numbers are the same as before."


def apart(one: Any, other: Any) -> float:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return max(float((a - b).detach().abs().max()) for a, b in pairs)
