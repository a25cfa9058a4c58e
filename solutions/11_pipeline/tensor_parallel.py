"""Train dense layers that are cut over the ranks, and copies that share the batch.

mpirun -np 2 python tensor_parallel.py --width 256 --batch-sizes 32 1024
"""

import os
import statistics
import sys
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy

from lessons.toolkit import data
from lessons.toolkit.checks.lesson_11.tensor import check_11_7
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes.tensors import bytes_off
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.ranks.wire import received_during
from lessons.toolkit.record import Run

import dense
from ranks import gather, who_am_i
from tensor_layers import block, bytes_a_step, cut, summed


def tensor_gradients(layers, x, labels):
    """Return the gradients if every rank has the whole batch and a part of each layer."""
    for first in range(0, len(layers), 2):
        x = block(torch.relu(x) if first else x, layers[first], layers[first + 1])
    return dense.gradients_of(cross_entropy(x, labels), layers)


def data_gradients(layers, x, labels):
    """Return the gradients if every rank has all layers and a part of the batch."""
    rank, size = dist.get_rank(), dist.get_world_size()
    own = x.tensor_split(size)[rank], labels.tensor_split(size)[rank]
    loss = dense.loss_sum(layers, *own) / len(x)
    return [summed(gradient) for gradient in dense.gradients_of(loss, layers)]


def serial_gradients(layers, x, labels):
    """Return the gradients if one rank has everything."""
    return dense.gradients_of(dense.loss_sum(layers, x, labels) / len(x), layers)


WAYS = {"serial": serial_gradients, "data": data_gradients, "tensor": tensor_gradients}


def cut_all(layers, rank, size):
    """Cut each layer, alternating the way so that two layers need one exchange."""
    ways = ["column", "row"] * (len(layers) // 2)
    return [cut(layer, way, rank, size) for layer, way in zip(layers, ways, strict=True)]


def joined(layers):
    """Return the whole layers from the parts of all ranks."""
    whole = []
    for number, layer in enumerate(layers):
        parts = gather([tensor.detach().cpu() for tensor in layer])
        weights, biases = zip(*parts, strict=True)
        row = number % 2
        whole.append((torch.cat(weights, row), biases[0] if row else torch.cat(biases)))
    return whole


def train(way, layers, batches, lr):
    """Train. Return this rank's median seconds per step, and the bytes received in each step."""
    if way != "serial":
        summed(layers[0][1].detach()[:1])  # a barrier

    def step(x, labels):
        began = time.perf_counter()
        dense.update(layers, WAYS[way](layers, x, labels), lr)
        if x.is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    seconds, came = received_during(lambda: [step(*batch) for batch in batches])
    if way != "serial":
        summed(layers[0][1].detach()[:1])  # a barrier
    return statistics.median(seconds), came and came / len(batches)


def compare(run, whole, batches, lr):
    """Train in three ways from one start. Return this rank's trained, cut layers, their difference
    from the serial run once joined, and the error of the received bytes."""
    batch, serial = len(batches[0][0]), dense.trainable(whole)
    sizes = [whole[0][0].shape[1], *(len(weight) for weight, _ in whole)]
    shape = (sizes, batch, run.size, whole[0][0].element_size())
    seconds, _ = train("serial", serial, batches, lr) if run.rank == 0 else (0.0, None)
    run.measure("step_s", seconds, "s", way="serial", batch=batch)
    run.measure("moved", dense.difference(serial, whole))
    parts = dense.trainable(cut_all(whole, run.rank, run.size))
    for way, layers in {"data": dense.trainable(whole), "tensor": parts}.items():
        seconds, came = train(way, layers, batches, lr)
        found = dense.difference(joined(layers) if way == "tensor" else layers, serial)
        point = {"way": way, "batch": batch, "bytes": came and round(came), "difference": found}
        run.measure("step_s", seconds, "s", **point)
        if run.rank == 0:
            print(f"{way:6} batch {batch:5}: {point['bytes']} bytes and {seconds:.4f} s a step")
    return parts, found, bytes_off(came, *shape)


def meet(backend, seconds):
    """Meet the other ranks in one group. Return rank, size and device."""
    # A job sets both. Otherwise the ranks of a launcher meet at a place of their own.
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(20000 + os.getppid() % 20000))
    rank, size, local_rank = who_am_i()
    if size < 2:
        sys.exit("tensor_parallel.py cuts layers over ranks: start at least two, by mpirun or srun")
    wait = timedelta(seconds=seconds)
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=wait)
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
    return rank, size, device


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--width", type=int, default=256, help="numbers between two layers")
    parser.add_argument("--depth", type=int, default=8, help="layers, an even number")
    parser.add_argument(
        "--batch-sizes", type=int, nargs="+", default=[32, 1024], help="images a step, of all ranks"
    )
    parser.add_argument("--steps", type=int, default=5, help="for each batch size and way")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument(
        "--precision", default="float64", choices=["float32", "float64"], help="type of all numbers"
    )
    parser.add_argument(
        "--backend",
        default="gloo",
        choices=["gloo", "nccl"],
        help="nccl: faster, bytes not counted",
    )
    parser.add_argument("--patience", type=int, default=60, help="seconds to wait for other ranks")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.depth < 2 or args.depth % 2:
        parser.error("--depth is an even number, for layers are cut in pairs")
    if min(args.steps, *args.batch_sizes) < 1:
        parser.error("--steps and --batch-sizes are at least 1")
    rank, size, device = meet(args.backend, args.patience)
    if args.width < size:
        leave(rank, f"--width {args.width} cannot be cut into {size} parts")
    precision = getattr(torch, args.precision)
    needed = min(60000, args.steps * max(args.batch_sizes))
    mnist = data.load("mnist", train_samples=needed, test_samples=1)
    whole = dense.start(dense.sizes_of(args.width, args.depth), args.seed, precision, device)

    facts = {"params": dense.count(whole), "optimizer": "sgd", "dataset": mnist.facts}
    sizes = {"scaling": "strong", "global_batch": max(args.batch_sizes)}
    run = Run("11", args, source="tensor", **facts, **sizes)
    differences, offs = [], []
    for batch in args.batch_sizes:
        batches = dense.batches_of(mnist, batch, args.steps, precision, device)
        parts, difference, off = compare(run, whole, batches, args.lr)
        differences.append(difference)
        offs.append(off)
    held = torch.tensor(dense.count(parts), device=device)
    dist.all_reduce(held, dist.ReduceOp.MAX)
    run.measure("held_over_part", held.item() * size / dense.count(whole), "", held=held.item())
    run.measure("difference_to_serial", max(differences), "")
    if None not in offs:
        run.measure("bytes_off", max(offs), "")
    run.measure("bytes_error", check_fails(check_11_7, bytes_a_step), "")
    run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
