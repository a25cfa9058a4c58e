"""Train a small GPT on Python's documentation with DistributedDataParallel, and let it write.

torchrun --nproc-per-node=2 train_gpt.py
"""

import os
import signal
import socket
import textwrap
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lessons.toolkit.record import Run

from gpt import GPT, Text, evaluate, loss_of, windows, write
from ranks import who_am_i


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
    own = places[rank::size].split(args.batch_size)[:steps]
    return [windows(text.train, starts, args.length) for starts in own]


def train_step(model, optimizer, ids, following):
    """Make an update. DistributedDataParallel averages the gradients of all ranks in `backward`."""
    optimizer.zero_grad()
    loss = loss_of(model(ids), following)
    loss.backward()
    optimizer.step()
    return loss.detach()


def train_epoch(model, optimizer, schedule, batches, device):
    """Train on all batches of this rank. Return the mean loss."""
    loss_sum = 0
    for ids, following in batches:
        loss_sum += train_step(model, optimizer, ids.to(device), following.to(device))
        schedule.step()
    return loss_sum.item() / len(batches)


def show_sample(title, model, text):
    sample = textwrap.fill(write(model, text), 80, initial_indent="    ", subsequent_indent="    ")
    print(f"\n{title}\n{sample}\n", flush=True)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10, help="how often it says how far it is")
    parser.add_argument("--windows", type=int, default=800, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=32, help="characters in a window")
    parser.add_argument("--batch-size", type=int, default=8, help="windows a step, on each rank")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=128, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.005, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--kill", type=int, help="this rank is killed after the second epoch")
    return parser


def main():
    args = command_line().parse_args()

    rank, size, device = start_ranks()
    torch.manual_seed(args.seed)
    text = Text()
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    run = Run("00", args, network, dataset=text.facts | {"train_samples": args.windows})
    gpus = [device] if device.type == "cuda" else None
    model = DistributedDataParallel(network, device_ids=gpus)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.99))
    steps = args.epochs * (args.windows // (size * args.batch_size)) + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, steps, pct_start=0.1)

    if rank == 0:
        if args.kill is not None:
            print(f"This job is meant to fail: rank {args.kill} is killed after epoch 2.")
        show_sample("Before training it writes:", network, text)
    for epoch in range(1, args.epochs + 1):
        with run.epoch() as log:
            batches = batches_of(epoch, text, args, rank, size)
            loss = train_epoch(model, optimizer, schedule, batches, device)
            log(loss=loss)
        if rank == 0:
            sample = " ".join(write(network, text, length=70).split())
            print(f"  It writes: {sample}", flush=True)
        if epoch == 2 and rank == args.kill:
            os.kill(os.getpid(), signal.SIGKILL)  # as if its node had failed

    loss, accuracy = evaluate(network, text, device)
    if rank == 0:
        show_sample("After training it writes:", network, text)
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
