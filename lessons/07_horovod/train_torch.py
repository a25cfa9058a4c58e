"""Train a small network on MNIST with PyTorch and Horovod: train.py with a visible loop.

mpirun -np 2 python train_torch.py --epochs 4 --batch-size 32
"""

import argparse
import functools
import math
import os

import horovod.torch as hvd
import torch
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

import checkpoint


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
    parser.add_argument("--epochs", type=int, default=4, help="passes of all ranks together")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(args.seed + rank)
    device = "cpu"
    enough_gpus(torch.cuda.device_count())
    if torch.cuda.is_available():  # one GPU per rank of a node
        device = torch.device("cuda", hvd.local_rank())
        torch.cuda.set_device(device)
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    x = torch.tensor(mnist.x_train)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    model = build_model(args.model).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr * size)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    os.makedirs("checkpoints", exist_ok=True)
    path = f"checkpoints/{args.model}.pt"
    new = "checkpoints/new.pt"
    done = 0
    if args.resume:
        load = functools.partial(torch.load, map_location="cpu")  # not onto rank 0's GPU
        found = checkpoint.read(path, load, hvd, hvd.broadcast_object)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        done = found["epochs"]
        args.seed = found["seed"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    loss_function = nn.CrossEntropyLoss()

    record = Record(
        "07",
        args,
        source="torch-horovod",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=hvd.local_rank(),
        lr=args.lr * size,
    )
    record.begin(model.parameters())
    epochs = math.ceil(args.epochs / size)  # all ranks together make the requested passes
    record.epochs = done
    files = 0
    for number in range(done + 1, epochs + 1):
        torch.manual_seed(args.seed + rank + size * number)  # in its own order
        loss_sum = 0
        correct = 0
        with record.epoch(steps=math.ceil(len(x) / args.batch_size)) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size):
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                loss, outputs = train_step(model, optimizer, loss_function, xb, yb)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
            epoch.log(loss=loss_sum.item() / len(x), accuracy=correct.item() / len(x))
        record.trained(model.parameters(), lambda rows: hvd.allgather(torch.from_numpy(rows)))
        if rank == 0:
            print(f"Epoch {number}/{epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
            content = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "epochs": number,
                "seed": args.seed,
                "ranks": size,
            }
            torch.save(content, new)
            checkpoint.finish(new, path)
            files = 1

    loss, accuracy = evaluate(model, loss_function, x_test.to(device), y_test.to(device))
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
        files_written=files,
    )


if __name__ == "__main__":
    main()
