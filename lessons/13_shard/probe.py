"""Test the ways of train.py: do N ranks train like one process, and what do they hold and send?

torchrun --nproc-per-node=2 probe.py --ways zero3 fsdp

Nothing here is to be filled in. Each test calls your functions on real ranks.
"""

import copy
import statistics
import time
from functools import partial, update_wrapper

import torch
import torch.distributed as dist
from torch.nn.utils import clip_grad_norm_

from lessons.toolkit.probes import sharding
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import traffic
import train
from gpt import GPT, Text, loss_of, windows
from ranks import gather
from ways import share_out

CHARACTERS, LENGTH, TEXTS, RATE = 11, 8, 2, 0.01  # texts: of each rank in a step
# Largest norm of the gradients in each step. The second and fourth are clipped, the others are not:
# Adam would not notice if all gradients were too large by one factor.
MOST = (1e3, 0.05, 1e3, 0.05)


def start(device, seed=1000):
    """Return a small network in double precision, and the texts of all ranks in each step."""
    torch.manual_seed(seed)
    network = GPT(CHARACTERS, LENGTH, layers=2, width=16, heads=2).double().to(device)
    shape = len(MOST), TEXTS * dist.get_world_size(), LENGTH + 1
    return network, torch.randint(0, CHARACTERS, shape).to(device)


def step(shared, texts, most):
    """Make one step of train.py with this rank's share of the texts."""
    own = texts.chunk(dist.get_world_size())[dist.get_rank()]
    train.train_step(shared, own[:, :-1], own[:, 1:], most)


def apart(found, right):
    """Return the largest difference between two lists of parameters."""
    pairs = zip(found, right, strict=True)
    return max(float((one - other).detach().abs().max()) for one, other in pairs)


def serial_error(share, device):
    """Return how far the ranks' parameters are from those of one process that reads all texts."""
    network, steps = start(device)
    twin = copy.deepcopy(network)
    shared = share(network=network, lr=RATE)
    optimizer = torch.optim.AdamW(twin.parameters(), RATE, betas=(0.9, 0.99))
    for texts, most in zip(steps, MOST, strict=True):
        step(shared, texts, most)
        optimizer.zero_grad()
        loss_of(twin(texts[:, :-1]), texts[:, 1:]).backward()
        clip_grad_norm_(twin.parameters(), most)
        optimizer.step()
    return apart(shared.whole(), twin.parameters())


def same_as_one(run, way, args, device):
    """Compare four steps of all ranks with those of one process."""
    share = partial(share_out, way, args=args)
    yield "serial_error", serial_error(share, device)


def held_and_sent(run, way, args, device):
    """Count the tensors and the messages of train.py's network, in three steps with one text."""
    text = Text()
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    params = sum(p.numel() for p in network.parameters())
    shared = share_out(way, network, args.lr, args)
    pieces = windows(text.train, torch.tensor([0]), args.length)
    seen = sharding.watch_steps(shared, train.train_step, [each.to(device) for each in pieces])
    yield from sharding.sizes(seen, way, params, args.nodes if way == "hsdp" else 1)
    for phase, line in sharding.staircase(seen).items():
        run.measure("staircase", max(line), phase=phase, line_kb=line)


def between_nodes(run, way, args, device):
    """Count what a node receives, and time the same computing without messages."""
    network = GPT(len(Text().characters), args.length, args.layers, args.width).to(device)
    size = sum(p.nbytes for p in network.parameters())
    pieces = torch.zeros(args.batch_size, args.length, dtype=torch.long, device=device)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        loss_of(network(pieces), pieces).backward()
        seconds.append(time.perf_counter() - began)
    alone = gather(statistics.median(seconds))
    compute = sum(alone) / len(alone)
    shared = share_out(way, network, args.lr, args)
    came = sharding.into_node(args.nodes, lambda: train.train_step(shared, pieces, pieces, 1.0))
    yield "node_mb", came / 1e6
    yield "compute_s", compute
    predicted = traffic.into_node(size, args.nodes, dist.get_world_size() // args.nodes, way)
    yield "predicted_off", abs(predicted / came - 1)


def tests_of(way, args):
    """Return the tests of a way, with the measures that fail if they fail."""
    held = ["state_bytes", "held_over_share", "peak_bytes", "activation_bytes"]
    counted = dist.get_backend() == "gloo" and dist.get_world_size() > 1
    yield same_as_one, ["serial_error"]
    yield held_and_sent, held + (["bytes_off"] if counted else [])
    size, nodes = dist.get_world_size(), args.nodes
    if counted and 1 < nodes < size and size % nodes == 0:
        yield between_nodes, ["node_mb", "compute_s", "predicted_off"]


def command_line():
    return train.command_line()  # the job starts both programs with the same options


def main():
    args = command_line().parse_args()

    rank, _, device = train.start_ranks()
    for way in args.ways:
        if rank == 0:
            print(f"{way}:")
        run = Run("13", args, source="probe", way=way)
        tests = {
            update_wrapper(partial(test, run, way, args, device), test): names
            for test, names in tests_of(way, args)
        }
        run_tests(run, tests, patience=60)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
