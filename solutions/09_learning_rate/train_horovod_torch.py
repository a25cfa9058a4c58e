"""Train lesson 07's network in PyTorch with a rate for every step: rule, warm-up, decay, LARS.

mpirun -np 2 python train_horovod_torch.py --rule linear --warmup 1 --decay cosine
"""

import argparse
import math
import os

import horovod.torch as hvd
import torch
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

import rates
from lars_torch import LARS


def build_model(name):
    """Return mlp512 (784-512-10, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
    if name == "cnn":
        return nn.Sequential(
            nn.Unflatten(1, (1, 28)),
            nn.Conv2d(1, 32, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(9216, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )
    # No softmax at the end: CrossEntropyLoss contains it.
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


def train_step(model, optimizer, loss_function, x, y):
    """Make an update from one batch. Return the loss and the network's outputs."""
    optimizer.zero_grad()
    outputs = model(x)
    loss = loss_function(outputs, y)
    loss.backward()
    optimizer.step()
    return loss, outputs


@torch.no_grad()
def evaluate(model, loss_function, x, y):
    """Return loss and accuracy with the current parameters."""
    model.eval()
    outputs = torch.cat([model(part) for part in x.split(1000)])
    model.train()
    loss = loss_function(outputs, y).item()
    accuracy = (outputs.argmax(1) == y).float().mean().item()
    return loss, accuracy


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate of one rank")
    parser.add_argument(
        "--rule", default="linear", choices=["same", "sqrt", "linear"], help="how the rate grows"
    )
    parser.add_argument("--warmup", type=float, default=0.0, help="epochs until the full rate")
    parser.add_argument(
        "--decay",
        default="none",
        choices=["none", "cosine", "exponential"],
        help="how the rate falls again",
    )
    parser.add_argument(
        "--momentum", type=float, default=0.0, help="how much of the last step stays"
    )
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: no LARS")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(args.seed + rank)  # every rank shuffles in its own order
    device = "cpu"
    enough_gpus(torch.cuda.device_count())
    if torch.cuda.is_available():  # one GPU per rank of a node
        device = torch.device("cuda", hvd.local_rank())
        torch.cuda.set_device(device)
    mnist = data.load("mnist", train_samples=args.train_samples)
    stop = len(mnist.x_train) // size * size  # as many for each rank, so all batches count equally
    x = torch.tensor(mnist.x_train[rank:stop:size])
    y = torch.tensor(mnist.y_train[rank:stop:size], dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    model = build_model(args.model).to(device)
    optimizer = LARS(model.parameters(), args.lr, args.momentum, args.lars)  # 0 means plain SGD
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    loss_function = nn.CrossEntropyLoss()

    per_epoch = math.ceil(len(x) / args.batch_size)
    peak = rates.scaled(args.lr, size, args.rule)
    warmup = round(args.warmup * per_epoch)
    line = (args.lr, peak, warmup, args.epochs * per_epoch, args.decay)

    record = Record(
        "09",
        args,
        source="torch-horovod",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="lars" if args.lars else "sgd",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=hvd.local_rank(),
        samples=stop,
        shard=(rank, stop, size),
        lr=peak,
        rule=args.rule,
        warmup=args.warmup,
        decay=args.decay,
    )
    record.begin(model.parameters())
    step = 0
    for number in range(1, args.epochs + 1):
        loss_sum = 0
        correct = 0
        with record.epoch(steps=per_epoch) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size):
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                for group in optimizer.param_groups:
                    group["lr"] = rates.lr_at(step, *line)
                record.measure("lr", optimizer.param_groups[0]["lr"], "", step=step)
                loss, outputs = train_step(model, optimizer, loss_function, xb, yb)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
                step += 1
            epoch.log(loss=loss_sum.item() / len(x), accuracy=correct.item() / len(x))
        record.trained(model.parameters(), lambda rows: hvd.allgather(torch.from_numpy(rows)))
        if rank == 0:
            print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")

    loss, accuracy = evaluate(model, loss_function, x_test.to(device), y_test.to(device))
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
        os.makedirs("checkpoints", exist_ok=True)
        torch.save(model.state_dict(), f"checkpoints/{args.model}.pt")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
        files_written=1 if rank == 0 else 0,
    )


if __name__ == "__main__":
    main()
