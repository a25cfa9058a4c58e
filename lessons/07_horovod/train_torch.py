"""Train a small network on MNIST with PyTorch and Horovod: train.py with a visible loop.

mpirun -np 2 python train_torch.py --epochs 4 --batch-size 32
"""

import math
import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import horovod.torch as hvd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run


def build_model(name):
    """Return mlp512 (one hidden layer, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
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


def train_epoch(model, loader, optimizer, loss_function, device):
    """Train on all batches. Return the mean loss and the accuracy."""
    loss_sum, correct, seen = 0, 0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
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
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = start_horovod()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(args.seed + rank)  # every rank shuffles in its own order
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    train_set = TensorDataset(torch.tensor(mnist.x_train), torch.tensor(mnist.y_train).long())
    test_set = TensorDataset(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test).long())
    loader = DataLoader(train_set, args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=1000)

    model = build_model(args.model).to(device)
    run = Run("07", args, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr * size)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    loss_function = nn.CrossEntropyLoss()
    done, path = 0, f"checkpoints/{args.model}_{size}.pt"
    if args.resume and not os.path.exists(path):
        raise SystemExit(f"There is no checkpoint {path}: run once without --resume.")
    if args.resume:
        found = torch.load(path, map_location=device)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        done = found["epochs"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)

    os.makedirs("checkpoints", exist_ok=True)
    for epoch in range(done, math.ceil(args.epochs / size)):  # passes of all ranks, as requested
        with run.epoch() as log:
            loss, accuracy = train_epoch(model, loader, optimizer, loss_function, device)
            log(loss=loss, accuracy=accuracy)
        if rank == 0:
            print(f"Epoch {epoch + 1}: loss {loss:.4f}, accuracy {accuracy:.4f}")
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"epochs": epoch + 1}, path)

    loss, accuracy = evaluate(model, test_loader, loss_function, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
