"""ZeRO by hand: every rank keeps a part of the parameters, gradients and optimizer's numbers."""

import warnings

import torch
import torch.distributed as dist
from torch import nn

# The network's input, characters, has no gradient. A hook at its outputs is what stage 3 needs.
warnings.filterwarnings("ignore", message="Full backward hook is firing")
warnings.filterwarnings("ignore", message=".*_single` instead")  # names that came with PyTorch 2.13


def part_of(flat, rank, size):
    """Return a rank's part of a tensor, in memory of its own. All parts are equally long."""
    length = -(-len(flat) // size)
    filled = torch.cat([flat, flat.new_zeros(size * length - len(flat))])
    return filled[rank * length : (rank + 1) * length].clone()


class Unit:
    """Parameters that travel together: those of one block, or those that are in no block."""

    def __init__(self, params, stage, reduce_scatter):
        self.params, self.reduce_scatter = params, reduce_scatter
        rank, self.size = dist.get_rank(), dist.get_world_size()
        flat = torch.cat([param.detach().flatten() for param in params])
        part = part_of(flat, rank, self.size)
        # The parameters become views of `whole`, which can be filled and emptied under them.
        self.whole = flat.new_zeros(self.size * len(part))
        self.bytes = self.whole.untyped_storage().nbytes()
        self.whole[: len(flat)] = flat
        if stage < 3:  # whole is always there, so the part can be a piece of it
            part = self.whole.chunk(self.size)[rank]
        self.part = nn.Parameter(part)
        lengths = [param.numel() for param in params]
        for param, piece in zip(params, self.whole[: len(flat)].split(lengths), strict=True):
            param.data = piece.view_as(param)

    def gather(self):
        """Fill `whole` from the parts of all ranks."""
        self.whole.untyped_storage().resize_(self.bytes)
        raise NotImplementedError("Exercise 13.1: whole, from all ranks' parts")

    def free(self):
        """Give the memory of `whole` back. The parts stay."""
        self.whole.untyped_storage().resize_(0)

    def collect(self):
        """Turn whole gradients into this rank's part of their mean, and drop the whole ones."""
        raise NotImplementedError(
            "Exercise 13.1: this rank's part of the gradient, and nothing else"
        )

    def when_complete(self, *calls):
        """Run these calls whenever the backward pass has computed all gradients of this unit."""
        arrived = []

        def one_more(param):
            arrived.append(param)
            if len(arrived) == len(self.params):
                arrived.clear()
                for call in calls:
                    call()

        for param in self.params:
            param.register_post_accumulate_grad_hook(one_more)


def watch(module, unit, stage):
    """Register what a unit does while its module, a block or the network, computes."""
    raise NotImplementedError("Exercise 13.3: the hooks of this stage")


def clip(gradients, most):
    """Scale this rank's parts in place until the norm over all ranks is at most `most`."""
    raise NotImplementedError("Exercise 13.4: one factor, for all parts of all ranks")


class Zero:
    """A network whose state is sharded over the ranks, by stage 1, 2 or 3 of ZeRO."""

    def __init__(self, model, stage, reduce_scatter):
        self.model, self.stage, self.units = model, stage, []
        rest = {id(param): param for param in model.parameters()}
        for module in [*model.blocks, model]:
            params = [rest.pop(id(p)) for p in module.parameters() if id(p) in rest]
            unit = Unit(params, stage, reduce_scatter)
            watch(module, unit, stage)
            self.units.append(unit)
            if stage == 3:
                unit.free()

    @property
    def parts(self):
        return [unit.part for unit in self.units]

    def before_step(self, most):
        if self.stage == 1:  # only now: until here every rank holds all gradients
            for unit in self.units:
                unit.collect()
        clip([part.grad for part in self.parts], most)

    def after_step(self):
        if self.stage < 3:
            for unit in self.units:
                unit.gather()

    def whole(self):
        """Return copies of all parameters in their full size. The units stay as they are."""
        copies = {}
        for unit in self.units:
            unit.gather()
            copies |= {id(param): param.detach().clone() for param in unit.params}
            if self.stage == 3:
                unit.free()
        return [copies[id(param)] for param in self.model.parameters()]
