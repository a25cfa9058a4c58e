"""Train a small network on MNIST with PyTorch's DistributedDataParallel, on any number of devices.

torchrun --nproc-per-node=2 train.py --epochs 4 --batch-size 32
"""

import argparse
import datetime

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from lessons.toolkit import data
from lessons.toolkit.probes.data_parallel import accumulation, alone_error
from lessons.toolkit.probes.drawn_steps import DrawnSteps
from lessons.toolkit.probes.orders import orders_as_drawn
from lessons.toolkit.record import Record, param_hash

from no_sync import accumulate, step_alone
from ranks import gather, who_am_i


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


def start_ranks(rank, size, local_rank, timeout):
    """Meet the other ranks. Return this rank's device: its own GPU, or the CPU.

    timeout: a timedelta, as `init_process_group` needs it.
    """
    raise NotImplementedError(
        "Exercise 10.1: choose the device, let the ranks meet, return the device"
    )


def distribute(model, device, bucket_mb=25):
    """Return the network with rank 0's start; its gradients will be averaged over all ranks.

    DistributedDataParallel's device_ids is a list with this rank's GPU, or None on CPUs.
    """
    raise NotImplementedError(
        "Exercise 10.1: the wrapped network, with its device and size of buckets"
    )


def order_of(sampler, epoch):
    """Return the numbers of the images that this rank reads in an epoch, in this order.

    A sampler is a sequence of such numbers: list(sampler).
    """
    raise NotImplementedError(
        "Exercise 10.2: tell the sampler the epoch, then make a tensor of its numbers"
    )


def train_step(model, optimizer, loss_function, x, y, parts=1):
    """Make an update from one batch. Return the loss and the network's outputs."""
    optimizer.zero_grad()
    if parts > 1:
        loss, outputs = accumulate(model, loss_function, x, y, parts)
    else:
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
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--accumulate", type=int, default=1, help="parts of a batch, one by one")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for a rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank = who_am_i()
    device = start_ranks(rank, size, local_rank, datetime.timedelta(seconds=args.timeout))
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(args.seed + rank)  # different networks, until they are made equal
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    x = torch.tensor(mnist.x_train)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    network = build_model(args.model).to(device)
    params = list(network.parameters())
    built = param_hash(params)
    loss_function = nn.CrossEntropyLoss()
    drawn_steps = DrawnSteps(network, loss_function)
    model = distribute(network, device)
    optimizer = torch.optim.Adam(params, lr=args.lr)
    sampler = DistributedSampler(x, size, rank, seed=args.seed)
    parts = args.accumulate

    record = Record(
        "10",
        args,
        source="ddp",
        params=sum(p.numel() for p in params),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        built=built,
        accumulate=parts,
    )
    record.measure("orders_as_drawn", orders_as_drawn(order_of, args.seed), "")
    if parts > 1:
        for name, value in accumulation(accumulate, distribute, network, x, y, gather).items():
            record.measure(name, value, "")
        record.measure("alone_error", alone_error(step_alone, distribute, network, x, y), "")
    record.begin(params)
    for number in range(1, args.epochs + 1):
        loss_sum = 0
        correct = 0
        order = order_of(sampler, number)
        batches = order.split(args.batch_size)
        orders = gather(order.numpy())  # images of all ranks, for the record
        drawn_steps.draw(x, y, orders[rank], args.batch_size)  # a step to compute again
        with record.epoch(steps=len(batches)) as epoch:
            for batch in batches:
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                with drawn_steps.watch(optimizer):
                    loss, outputs = train_step(model, optimizer, loss_function, xb, yb, parts)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
            for numbers in orders:
                epoch.read(numbers)
            epoch.log(loss=loss_sum.item() / len(order), accuracy=correct.item() / len(order))
        if rank == 0:
            print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
        drawn_steps.compute_again()
    for name, value in drawn_steps.measures().items():
        record.measure(name, value, "")
    record.trained(params, gather)

    loss, accuracy = evaluate(network, loss_function, x_test.to(device), y_test.to(device))
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
