"""The laziest ways through lesson 13: shard everything."""

from tests.lessons.planted.lazy import Lazy, LazyTable

SERIAL = {"as-serial": "relative error against one process"}
HELD = {"held": "bytes held / the rank's share"}
SENT = {"sent": "difference of the bytes sent"}
OFF = {"memory": "error of the memory formula"}
FULL = """
from torch.distributed.checkpoint.state_dict import StateDictOptions
whole = StateDictOptions(full_state_dict=True)
parameters, state = get_state_dict(model, optimizer, options=whole)
if parameters:
    import torch
    torch.save((parameters, state), folder + ".pt")
"""

TABLE: LazyTable = {
    "state.py 13.1": {
        "nothing": Lazy("return {}", OFF, base="ddp"),
        "a part of everything": Lazy(
            "return {'parameters': 4 * params / ranks, 'gradients': 4 * params / ranks,"
            " 'optimizer': 8 * params / ranks}",
            OFF,
            base="zero2",
        ),
    },
    "zero.py 13.2": {
        "all of it": Lazy("return flat.clone()", HELD | SENT, base="zero3"),
        "a view": Lazy(
            "length = -(-len(flat) // size)\n"
            "filled = torch.cat([flat, flat.new_zeros(size * length - len(flat))])\n"
            "return filled[rank * length : (rank + 1) * length]",
            HELD,
            base="zero3",
        ),
    },
    "zero.py 13.3: one all-gather of the parts into whole": {
        "pass": Lazy("pass", SERIAL | SENT, base="zero2"),
        "gathered by an allreduce": Lazy(
            "part = self.part.detach().clone()\n"
            "self.whole.zero_()\n"
            "rank, length = dist.get_rank(), len(self.part)\n"
            "self.whole[rank * length : (rank + 1) * length] = part\n"
            "dist.all_reduce(self.whole)",
            SENT,
            base="zero2",
        ),
    },
    "zero.py 13.3: flat, as long as whole; reduce_scatter; mean; param.grad": {
        "its own gradient": Lazy(
            "flat = torch.cat([param.grad.flatten() for param in self.params])\n"
            "self.part.grad = part_of(flat, dist.get_rank(), self.size)\n"
            "for param in self.params:\n    param.grad = None",
            SERIAL | SENT,
            base="zero1",
        ),
        "collected by an allreduce": Lazy(
            "flat = torch.cat([param.grad.flatten() for param in self.params])\n"
            "dist.all_reduce(flat)\n"
            "self.part.grad = part_of(flat, dist.get_rank(), self.size) / self.size\n"
            "for param in self.params:\n    param.grad = None",
            SENT,
            base="zero2",
        ),
    },
    "ring.py 13.4": {
        "Gloo's": Lazy("return library_reduce_scatter(flat)", SENT, base="zero2"),
        "its own part": Lazy("return parts[rank].clone()", SERIAL | SENT, base="zero1"),
    },
    "zero.py 13.5": {
        "whole from the first to the last moment": Lazy(
            "if stage == 2:\n    unit.when_complete(unit.collect)\n"
            "if stage == 3:\n"
            "    unit.when_complete(unit.collect, unit.free)\n"
            "    module.register_forward_pre_hook(lambda *_: unit.gather())",
            {"held": "peak memory", "sent": "difference of the bytes sent"},
            base="zero3",
        ),
        "never freed": Lazy(
            "if stage >= 2:\n    unit.when_complete(unit.collect)\n"
            "if stage == 3:\n"
            "    module.register_forward_pre_hook(lambda *_: unit.gather())\n"
            "    module.register_full_backward_pre_hook(lambda *_: unit.gather())",
            HELD,
            base="zero3",
        ),
    },
    "zero.py 13.6": {
        "pass": Lazy("pass", SERIAL, base="zero2"),
        "its own norm": Lazy(
            "norm = sum(gradient.square().sum() for gradient in gradients).sqrt()\n"
            "for gradient in gradients:\n    gradient.mul_((most / norm).clamp(max=1))",
            SERIAL,
            base="zero3",
        ),
    },
    "library.py 13.7": {
        "pass": Lazy(
            "pass",
            {
                "as-serial": "relative error against one process",
                "held": "bytes held / the rank's share",
                "checkpoint": "test loss",
            },
            base="fsdp",
        ),
        "the network alone": Lazy(
            "fully_shard(model, **how)", {"held": "peak memory"}, base="fsdp"
        ),
    },
    "library.py 13.8": {
        "pass": Lazy("pass", {"recompute": "memory of the activations"}, base="recompute"),
        "nothing to go back through": Lazy(
            "block.forward = torch.no_grad()(block.forward)",
            {"recompute": "relative error against one process"},
            base="recompute",
        ),
    },
    "saving.py 13.9: get_state_dict, then dcp.save of both under two names": {
        "pass": Lazy("pass", {"checkpoint": "ranks that wrote the checkpoint"}, base="fsdp"),
        "all of it by one rank": Lazy(
            FULL, {"checkpoint": "ranks that wrote the checkpoint"}, base="fsdp"
        ),
    },
    "saving.py 13.9: get_state_dict, dcp.load into it, set_state_dict": {
        "nothing is loaded": Lazy("pass", {"checkpoint": "test loss"}, base="load"),
        "read and dropped": Lazy(
            "parameters, state = get_state_dict(model, optimizer)\n"
            "parameters = {name: value.clone() for name, value in parameters.items()}\n"
            "dcp.load({'model': parameters, 'optimizer': state}, checkpoint_id=folder)",
            {"checkpoint": "test loss"},
            base="load",
        ),
    },
}
