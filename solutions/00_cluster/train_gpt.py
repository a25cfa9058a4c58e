"""Train a small GPT on Python's documentation with DistributedDataParallel, and let it write.

mpirun -np 2 python train_gpt.py
"""

import argparse
import os
import signal
import socket
import textwrap

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from cluster.launchers import launched
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

from gpt import GPT, Text, loss_of, windows, write


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


def train_step(model, optimizer, ids, following):
    """Make an update. DistributedDataParallel averages the gradients of all ranks in `backward`."""
    optimizer.zero_grad()
    loss = loss_of(model(ids), following)
    loss.backward()
    optimizer.step()
    return loss.detach()


def starts_of(epoch, text, args):
    """Return where an epoch's windows start, all at different places, the same on all ranks."""
    generator = torch.Generator().manual_seed(1000 * args.seed + epoch)
    places = torch.randperm(len(text.train) - args.length, generator=generator)
    return places[: args.windows]


@torch.no_grad()
def evaluate(model, text, device):
    """Return the loss and the share of right predictions, in text that it has never read."""
    length = model.length
    starts = torch.arange(0, len(text.test) - length, length)[:256]
    ids, following = (part.to(device) for part in windows(text.test, starts, length))
    scores = model(ids)
    accuracy = (scores.argmax(-1) == following).float().mean().item()
    return loss_of(scores, following).item(), accuracy


def show_sample(title, model, text):
    sample = textwrap.fill(write(model, text), 80, initial_indent="    ", subsequent_indent="    ")
    print(f"\n{title}\n{sample}\n", flush=True)


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--epochs", type=int, default=10, help="how often it says how far it is")
    parser.add_argument("--windows", type=int, default=800, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=32, help="characters in a window")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=8, help="windows a step, on each rank"
    )
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=128, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.005, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--kill", type=int, help="this rank is killed after the second epoch")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank, device = start_ranks()
    torch.manual_seed(args.seed)
    text = Text()
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    gpus = [device] if device.type == "cuda" else None
    model = DistributedDataParallel(network, device_ids=gpus)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.99))
    steps = args.windows // (size * args.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, args.lr, total_steps=args.epochs * steps + 1, pct_start=0.1
    )

    record = Record(
        "00",
        args,
        source="gpt",
        framework="torch",
        model="gpt",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="adamw",
        dataset=text.facts | {"train_samples": args.windows},
        rank=rank,
        size=size,
        local_rank=local_rank,
    )
    if rank == 0:
        if args.kill is not None:
            print(f"This job is meant to fail: rank {args.kill} is killed after epoch 2.")
        show_sample("Before training it writes:", network, text)
    record.begin(model.parameters())
    for number in range(1, args.epochs + 1):
        starts = starts_of(number, text, args)
        mine = starts[rank::size].split(args.batch_size)[:steps]
        loss_sum = 0
        with record.epoch(steps=steps) as epoch:
            for batch in mine:
                ids, following = windows(text.train, batch, args.length)
                loss_sum += train_step(model, optimizer, ids.to(device), following.to(device))
                schedule.step()
            epoch.read(starts.numpy())
            epoch.log(loss=loss_sum.item() / steps)
        if rank == 0:
            loss = epoch.logged["loss"]
            sample = " ".join(write(network, text, length=70).split())
            print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.1f} s, loss {loss:.3f}")
            print(f"  It writes: {sample}", flush=True)
        if number == 2 and rank == args.kill:
            os.kill(os.getpid(), signal.SIGKILL)  # as if its node had failed
    record.trained(model.parameters(), gather)

    loss, accuracy = evaluate(network, text, device)
    if rank == 0:
        show_sample("After training it writes:", network, text)
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
