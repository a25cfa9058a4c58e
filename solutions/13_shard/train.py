"""Train a small GPT on Python's documentation, its state copied or sharded over the ranks.

mpirun -np 2 python train.py --ways ddp zero3 fsdp
"""

import argparse
import functools
import os
import socket
import warnings

import torch
import torch.distributed as dist

from cluster.launchers import launched
from lessons.toolkit.probes import sharding
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Record

import library
import state
from gpt import GPT, Text, loss_of, windows
from ring import REDUCE_SCATTER
from saving import save
from ways import WAYS, share_out

# The network's input, characters, has no gradient. A hook at its outputs is what stage 3 needs.
warnings.filterwarnings("ignore", message="Full backward hook is firing")
warnings.filterwarnings("ignore", message=".*_single` instead")  # names that came with PyTorch 2.13


def start_ranks():
    """Meet the other ranks. Return rank, number of ranks, local rank, and this rank's device."""
    me = launched()
    rank, size, local_rank = (me.rank, me.size, me.local_rank) if me else (0, 1, 0)
    if size == 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")  # any free port
    enough_gpus(torch.cuda.device_count())
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=size)
    print(f"rank {rank} of {size}: process {os.getpid()} on {socket.gethostname()}", flush=True)
    return rank, size, local_rank, device


def gather(value):
    """Return a list of every rank's value, on all ranks."""
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def train_step(shared, ids, following, most):
    """Make an update. The gradients' norm over all ranks is clipped to `most`."""
    shared.optimizer.zero_grad()
    loss = loss_of(shared.model(ids), following)
    loss.backward()
    shared.before_step(most)
    shared.optimizer.step()
    shared.after_step()
    return loss.detach()


def starts_of(epoch, text, args):
    """Return where an epoch's windows start, all at different places, the same on all ranks."""
    generator = torch.Generator().manual_seed(1000 * args.seed + epoch)
    places = torch.randperm(len(text.train) - args.length, generator=generator)
    return places[: args.windows]


@torch.no_grad()
def evaluate(model, text, device, length):
    """Return the loss and the share of right predictions, in text that it has never read."""
    starts = torch.arange(0, len(text.test) - length, length)[:64]
    ids, following = (part.to(device) for part in windows(text.test, starts, length))
    scores = model(ids)
    accuracy = (scores.argmax(-1) == following).float().mean().item()
    return loss_of(scores, following).item(), accuracy


def next_loss(shared, text, args, rank, size, device):
    """Return the test loss after one more step, on 24 windows of all ranks together."""
    for group in shared.optimizer.param_groups:
        group["lr"] = args.lr
    starts = starts_of(args.epochs + 1, text, args)[:24]
    ids, following = windows(text.train, starts[rank::size], args.length)
    train_step(shared, ids.to(device), following.to(device), args.clip)
    return evaluate(shared.model, text, device, args.length)[0]


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS, help="one after the other")
    parser.add_argument("--epochs", type=int, default=2, help="how often it says how far it is")
    parser.add_argument("--windows", type=int, default=160, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=64, help="characters in a window")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=8, help="windows a step, on each rank"
    )
    parser.add_argument("--layers", type=int, default=4, help="blocks of the network")
    parser.add_argument("--width", type=int, default=128, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--clip", type=float, default=1.0, help="largest norm of the gradients")
    parser.add_argument(
        "--reduce-scatter", default="ring", choices=REDUCE_SCATTER, help="whose, for ZeRO"
    )
    parser.add_argument(
        "--policy", default="float32", choices=library.POLICIES, help="precision of FSDP's blocks"
    )
    parser.add_argument("--recompute", action="store_true", help="compute blocks twice, keep less")
    parser.add_argument("--save", help="folder for FSDP's checkpoint")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def train(way, args, text, rank, size, local_rank, device):
    """Train in one way, from the same start as in all others, and write its record."""
    torch.manual_seed(args.seed)
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    params = sum(p.numel() for p in network.parameters())
    record = Record(
        "13",
        args,
        source=way,
        framework="torch",
        model="gpt",
        params=params,
        optimizer="adamw",
        precision=args.policy if way == "fsdp" else "float32",
        dataset=text.facts | {"train_samples": args.windows},
        rank=rank,
        size=size,
        local_rank=local_rank,
        reduce_scatter=args.reduce_scatter if way.startswith("zero") else "library",
        saved="yes" if way == "fsdp" and args.save else "no",
        activations="recomputed" if args.recompute else "kept",
    )
    share = functools.partial(share_out, way, args=args)
    error = sharding.serial_error(share, train_step, GPT, device)
    record.measure("serial_error", max(gather(error)), "")
    shared = share(network, args.lr)
    steps = args.windows // (size * args.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        shared.optimizer, args.lr, total_steps=args.epochs * steps + 1, pct_start=0.1
    )
    record.begin(shared.whole())
    for number in range(1, args.epochs + 1):
        starts = starts_of(number, text, args)
        mine = starts[rank::size].split(args.batch_size)[:steps]
        loss_sum = 0
        before = sharding.bytes_so_far()
        with record.epoch(steps=steps) as epoch:
            for batch in mine:
                ids, following = windows(text.train, batch, args.length)
                loss_sum += train_step(shared, ids.to(device), following.to(device), args.clip)
                schedule.step()
            epoch.read(starts.numpy())
            epoch.log(loss=loss_sum.item() / steps)
        sharding.note_bytes(record, way, before, steps, params, size)
        if rank == 0:
            loss = epoch.logged["loss"]
            print(f"{way} {number}/{args.epochs}: {epoch.seconds:.1f} s, loss {loss:.3f}")
    record.trained(shared.whole(), gather)

    loss, accuracy = evaluate(shared.model, text, device, args.length)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    if way == "fsdp" and args.save:
        save(shared.model, shared.optimizer, args.save)
        sharding.note_files(record, args.save)
        record.measure("next_loss", next_loss(shared, text, args, rank, size, device), "")
    seen = sharding.watch_steps(shared, train_step, windows(text.train, starts[:1], args.length))
    sharding.note_memory(record, way, seen, state.state_bytes, params, size)
    record.end(test_loss=loss, test_accuracy=accuracy)


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank, device = start_ranks()
    if args.windows < size * args.batch_size:
        leave(rank, f"--windows {args.windows}: one step reads {size} × {args.batch_size}")
    text = Text()
    for way in args.ways:
        train(way, args, text, rank, size, local_rank, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
