"""Train a small network on MNIST with PyTorch's DistributedDataParallel, on any number of devices.

torchrun --nproc-per-node=2 train.py --epochs 4 --batch-size 32
"""

import datetime
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.record import Run

from no_sync import step_in_parts
from own_ddp import INSTEAD  # what --average can put in the place of DDP
from ranks import who_am_i


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


def start_ranks(rank, size, local_rank, timeout):
    """Meet the other ranks within timeout, a timedelta. Return this rank's own GPU, or the CPU."""
    raise NotImplementedError(
        "Exercise 10.1: choose the device, let the ranks meet, return the device"
    )


def distribute(model, device, bucket_mb=25):  # other programs of the lesson try smaller buckets
    """Wrap the network in DDP. Its device_ids is a list with this rank's GPU, or None on CPUs."""
    raise NotImplementedError(
        "Exercise 10.1: the wrapped network, with its device and size of buckets"
    )


def make_loader(images, batch_size, seed):
    """Return batches of this rank's share of the images, which all ranks shuffle with one seed."""
    gpu = torch.cuda.is_available()  # only pinned memory is copied while a GPU computes
    raise NotImplementedError("Exercise 10.2: the batches of this rank's share")


def train_step(model, optimizer, loss_function, x, y, parts=1):
    """Make an update from one batch. Return the loss and the network's outputs."""
    if parts > 1:
        return step_in_parts(model, optimizer, loss_function, x, y, parts)
    optimizer.zero_grad()
    outputs = model(x)
    loss = loss_function(outputs, y)
    loss.backward()
    optimizer.step()
    return loss, outputs


def train_epoch(model, loader, optimizer, loss_function, device, epoch, parts=1):
    """Train on this rank's share. Return its mean loss and accuracy; the Run prints rank 0's."""
    raise NotImplementedError("Exercise 10.2: an order of its own for this epoch")
    loss_sum, right = 0, 0
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss, outputs = train_step(model, optimizer, loss_function, x, y, parts)
        loss_sum += loss.detach() * len(y)
        right += (outputs.argmax(1) == y).sum()
    return loss_sum.item() / len(loader.sampler), right.item() / len(loader.sampler)


@torch.no_grad()
def evaluate(model, loader, loss_function, device):
    """Return the mean loss and accuracy over all ranks, which all call it with the bare network."""
    model.eval()
    sums = torch.zeros(2, device=device)  # of the losses, and of the right answers
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        outputs = model(x)
        sums += torch.stack([loss_function(outputs, y) * len(y), (outputs.argmax(1) == y).sum()])
    model.train()
    dist.all_reduce(sums)  # of the ranks' own shares: each image is in one
    return (sums / len(loader.dataset)).tolist()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images a step, on each rank")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--accumulate", type=int, default=1, help="parts that make up a batch")
    parser.add_argument("--average", default="ddp", choices=["ddp", *INSTEAD], help="who averages")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    rank, size, local_rank = who_am_i()
    device = start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    torch.manual_seed(args.seed + rank)  # as dropout would need; DDP copies rank 0's network
    mnist = data.load("mnist", args.train_samples)
    train_set = TensorDataset(torch.tensor(mnist.x_train), torch.tensor(mnist.y_train))
    test_set = TensorDataset(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test))
    loader = make_loader(train_set, args.batch_size, args.seed)
    test_loader = DataLoader(test_set, 1000, sampler=range(rank, len(test_set), size))

    network = build_model(args.model).to(device)
    run = Run("10", args, network)
    model = INSTEAD.get(args.average, distribute)(network, device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        with run.epoch() as log:
            loss, accuracy = train_epoch(
                model, loader, optimizer, loss_function, device, epoch, args.accumulate
            )
            log(loss=loss, accuracy=accuracy)

    loss, accuracy = evaluate(network, test_loader, loss_function, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
