"""Bytes that a device holds while it trains: by arithmetic, and as PyTorch really holds them.

python memory.py --width 512 --depth 16 --batch-size 512
"""

import argparse
import itertools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

from lessons.toolkit.probes.held import bytes_of, saved_for_backward, share_off
from lessons.toolkit.record import Record

# optimizer, precision, and after how many layers there is a checkpoint (0: none)
CASES = [
    ("sgd", "float32", 0),
    ("momentum", "float32", 0),
    ("adam", "float32", 0),
    ("adam", "float32", 4),
    ("adam", "mixed", 0),
    ("momentum", "mixed", 2),
]


def activations(sizes, batch, itemsize, every=0):
    """Bytes kept for the backward pass of dense layers. sizes: of the input and of every output.

    every: after how many layers there is a checkpoint. Then only what goes into each such part is
    kept; what is inside a part is computed once more when its backward pass begins.
    """
    layers = len(sizes) - 1
    every = every or layers
    begins, most = 0, 0
    for first in range(0, layers, every):
        begins += sizes[first]
        most = max(most, begins + sum(sizes[first + 1 : first + every + 1]))
    return batch * itemsize * most


def memory(params, optimizer, activations, precision="float32"):
    """Bytes on one device: a dictionary of parameters, gradients, optimizer and activations.

    params: how many. optimizer: "sgd", "momentum" or "adam". activations: bytes. precision:
    "float32", or "mixed": bfloat16 parameters and gradients, float32 copies in the optimizer.
    """
    ### BEGIN SOLUTION Exercise 11.8: bytes of each part; momentum keeps a number for each, Adam two
    itemsize = {"float32": 4, "mixed": 2}[precision]
    numbers = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] + (precision == "mixed")
    return {
        "parameters": itemsize * params,
        "gradients": itemsize * params,
        "optimizer": 4 * numbers * params,
        "activations": activations,
    }
    ### END SOLUTION


def make_optimizer(name, params):
    if name == "adam":
        return torch.optim.Adam(params, lr=0.001)
    return torch.optim.SGD(params, lr=0.1, momentum=0.9 if name == "momentum" else 0)


def network(sizes, device, dtype):
    """Dense layers, each with its relu, but for the last."""
    pairs = list(itertools.pairwise(sizes))
    layers = [nn.Sequential(nn.Linear(i, o), nn.ReLU()) for i, o in pairs[:-1]]
    return nn.Sequential(*layers, nn.Linear(*pairs[-1])).to(device, dtype)


def hold(sizes, batch, case, device):
    """One real training step: bytes that are there at its end, and kept by its forward pass."""
    optimizer, precision, every = case
    dtype = torch.float32 if precision == "float32" else torch.bfloat16
    model = network(sizes, device, dtype)
    params = list(model.parameters())
    copies = [p.detach().float().requires_grad_() for p in params] if precision == "mixed" else []
    optimizer = make_optimizer(optimizer, copies or params)
    x = torch.randn(batch, sizes[0], device=device, dtype=dtype, requires_grad=True)
    labels = torch.randint(0, sizes[-1], (batch,), device=device)
    parts = -(-len(model) // every) if every else 1

    with saved_for_backward(params) as kept:
        outputs = model(x) if parts == 1 else checkpoint_sequential(model, parts, x, True)
        nn.functional.cross_entropy(outputs, labels).backward()
    for copy, param in zip(copies, params, strict=False):
        copy.grad = param.grad.float()
    optimizer.step()
    for copy, param in zip(copies, params, strict=False):
        param.data.copy_(copy)
        copy.grad = None
    states = [value for state in optimizer.state.values() for value in state.values()]
    return {
        "parameters": bytes_of(params),
        "gradients": bytes_of(param.grad for param in params),
        "optimizer": bytes_of([*copies, *(s for s in states if torch.is_tensor(s))]),
        "activations": kept["most"],
    }


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--width", type=int, default=512, help="numbers between two layers")
    parser.add_argument("--depth", type=int, default=16, help="layers, a multiple of 4")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=512, help="images a step")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.depth < 4 or args.depth % 4 or min(args.width, args.batch_size) < 1:
        parser.error("--depth is a multiple of 4, --width and --batch-size are at least 1")
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sizes = [784] + [args.width] * (args.depth - 1) + [10]
    params = sum((i + 1) * o for i, o in itertools.pairwise(sizes))
    record = Record("11", args, source="memory", framework="torch", params=params)

    off = []
    for case in CASES:
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        held = hold(sizes, args.batch_size, case, device)
        point = dict(zip(("optimizer", "precision", "checkpoint_every"), case, strict=True))
        kept = activations(sizes, args.batch_size, 4 if case[1] == "float32" else 2, case[2])
        told = memory(params, case[0], kept, case[1]) or {}
        record.measure(
            "bytes_held",
            sum(held.values()),
            "bytes",
            **point,
            **{f"{part}_bytes": much for part, much in held.items()},
        )
        off.append(share_off(told, held))
        print(", ".join(map(str, case)))
        for part, much in held.items():
            print(f"  {part:12} {much:14,} bytes held, by arithmetic {told.get(part)}")
        if device.type == "cuda":
            peak = torch.cuda.max_memory_allocated() / sum(held.values())
            record.measure("peak_over_held", peak, "", **point)
    record.measure("memory_error", max(off), "", cases=len(CASES))
    record.end()


if __name__ == "__main__":
    main()
