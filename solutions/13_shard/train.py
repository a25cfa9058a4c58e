"""Train a small GPT on Python's documentation, its state copied or sharded over the ranks.

torchrun --nproc-per-node=2 train.py --ways ddp zero3 fsdp
"""

import os
import socket
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist

from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run

from gpt import GPT, Text, evaluate, loss_of, windows
from library import POLICIES
from ranks import who_am_i
from ring import REDUCE_SCATTER
from ways import ON_A_NODE, WAYS, share_out


def start_ranks():
    """Meet the other ranks. Return rank, number of ranks, and this rank's device."""
    rank, size, local_rank = who_am_i()
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=size)
    print(f"rank {rank} of {size}: process {os.getpid()} on {socket.gethostname()}", flush=True)
    return rank, size, device


def batches_of(epoch, text, args, rank, size):
    """Return this rank's batches of an epoch, each with the characters that follow.

    All ranks draw the same places in the text. Each takes every size-th.
    """
    generator = torch.Generator().manual_seed(1000 * args.seed + epoch)
    places = torch.randperm(len(text.train) - args.length, generator=generator)[: args.windows]
    steps = args.windows // (size * args.batch_size)
    if steps == 0:
        leave(rank, f"--windows {args.windows}: one step reads {size} × {args.batch_size}")
    own = places[rank::size].split(args.batch_size)[:steps]
    return [windows(text.train, starts, args.length) for starts in own]


def train_step(shared, ids, following, most):
    """Make an update. The gradients' norm over all ranks is clipped to `most`."""
    shared.optimizer.zero_grad()
    loss = loss_of(shared.model(ids), following)
    loss.backward()
    shared.before_step(most)
    shared.optimizer.step()
    shared.after_step()
    return loss.detach()


def train_epoch(shared, schedule, batches, device, most):
    """Train on all batches of this rank. Return the mean loss."""
    loss_sum = 0
    for ids, following in batches:
        loss_sum += train_step(shared, ids.to(device), following.to(device), most)
        schedule.step()
    return loss_sum.item() / len(batches)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--ways", nargs="+", default=ON_A_NODE, choices=WAYS, help="in this order")
    parser.add_argument("--epochs", type=int, default=2, help="how often it says how far it is")
    parser.add_argument("--windows", type=int, default=160, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=64, help="characters in a window")
    parser.add_argument("--batch-size", type=int, default=8, help="windows a step, on each rank")
    parser.add_argument("--layers", type=int, default=4, help="blocks of the network")
    parser.add_argument("--width", type=int, default=128, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--clip", type=float, default=1.0, help="largest norm of the gradients")
    parser.add_argument("--reduce-scatter", default="ring", choices=REDUCE_SCATTER, help="of ZeRO")
    parser.add_argument("--policy", default="float32", choices=POLICIES, help="FSDP's precision")
    parser.add_argument("--recompute", action="store_true", help="compute blocks twice, keep less")
    parser.add_argument("--nodes", type=int, default=1, help="of HSDP's ranks, each with a copy")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    rank, size, device = start_ranks()
    text = Text()
    for way in args.ways:
        train(way, args, text, rank, size, device)
    dist.destroy_process_group()


def train(way, args, text, rank, size, device):
    """Train in one way, from the same start as in all others."""
    torch.manual_seed(args.seed)
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    run = Run("13", args, network, source=way, dataset=text.facts | {"train_samples": args.windows})
    shared = share_out(way, network, args.lr, args)
    steps = args.epochs * (args.windows // (size * args.batch_size)) + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(shared.optimizer, args.lr, steps, pct_start=0.1)

    if rank == 0:
        print(f"{way}:", flush=True)
    for epoch in range(1, args.epochs + 1):
        with run.epoch() as log:
            batches = batches_of(epoch, text, args, rank, size)
            loss = train_epoch(shared, schedule, batches, device, args.clip)
            log(loss=loss)

    loss, accuracy = evaluate(network, text, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
