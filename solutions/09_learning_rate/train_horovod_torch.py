"""Train lesson 07's network in PyTorch with a rate for every step: rule, warm-up, decay, LARS.

mpirun -np 2 python train_horovod_torch.py --rule linear --warmup 1 --decay cosine
"""

import argparse
import os

import horovod.torch as hvd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

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


def start_horovod():
    """Meet the other ranks. Return this rank's device: its own GPU, or the CPU."""
    hvd.init()
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.cuda.set_device(hvd.local_rank())
    return torch.device("cuda", hvd.local_rank())


def train_step(model, optimizer, loss_function, x, y):
    """Make an update from one batch. Return the loss and the network's outputs."""
    optimizer.zero_grad()
    outputs = model(x)
    loss = loss_function(outputs, y)
    loss.backward()
    optimizer.step()
    return loss, outputs


def train_epoch(model, loader, optimizer, loss_function, device, first, line):
    """Train on all batches, with rates.lr_at's rates. first: number of the epoch's first step."""
    loss_sum, correct, seen = 0, 0, 0
    for step, (x, y) in enumerate(loader, first):
        x, y = x.to(device), y.to(device)
        for group in optimizer.param_groups:
            group["lr"] = rates.lr_at(step, *line)
        loss, outputs = train_step(model, optimizer, loss_function, x, y)
        loss_sum += loss.detach() * len(x)
        correct += (outputs.argmax(1) == y).sum()
        seen += len(x)
    return loss_sum.item() / seen, correct.item() / seen


@torch.no_grad()
def evaluate(model, loader, loss_function, device):
    """Return loss and accuracy with the current parameters."""
    model.eval()
    batches = [(model(x.to(device)), y.to(device)) for x, y in loader]
    model.train()
    outputs, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    return loss_function(outputs, y).item(), (outputs.argmax(1) == y).float().mean().item()


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate for one device")
    parser.add_argument("--rule", default="linear", choices=rates.RULES, help="how the rate grows")
    parser.add_argument("--warmup", type=float, default=0.0, help="epochs until the full rate")
    parser.add_argument("--decay", default="none", choices=rates.DECAYS, help="how the rate falls")
    parser.add_argument("--momentum", type=float, default=0.0, help="how much of a step stays")
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: no LARS")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = start_horovod()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(args.seed + rank)  # every rank shuffles in its own order
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    stop = len(mnist.x_train) // size * size  # as many for each rank, so all batches count equally
    x, y = mnist.x_train[rank:stop:size], mnist.y_train[rank:stop:size]
    train_set = TensorDataset(torch.tensor(x), torch.tensor(y).long())
    test_set = TensorDataset(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test).long())
    loader = DataLoader(train_set, args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=1000)

    model = build_model(args.model).to(device)
    peak, per_epoch = rates.scaled(args.lr, size, args.rule), len(loader)
    warmup = round(args.warmup * per_epoch)
    line = (args.lr, peak, warmup, args.epochs * per_epoch, args.decay)
    run = Run("09", args, model, lr=peak)
    optimizer = LARS(model.parameters(), args.lr, args.momentum, args.lars)  # 0 means plain SGD
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    loss_function = nn.CrossEntropyLoss()
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)

    for epoch in range(args.epochs):
        with run.epoch() as log:
            loss, accuracy = train_epoch(
                model, loader, optimizer, loss_function, device, epoch * per_epoch, line
            )
            log(loss=loss, accuracy=accuracy)
        if rank == 0:
            print(f"Epoch {epoch + 1}: loss {loss:.4f}, accuracy {accuracy:.4f}")

    loss, accuracy = evaluate(model, test_loader, loss_function, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
        os.makedirs("checkpoints", exist_ok=True)
        torch.save(model.state_dict(), f"checkpoints/{args.model}_{size}.pt")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
