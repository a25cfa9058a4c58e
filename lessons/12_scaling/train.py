"""Train a small network on MNIST with DistributedDataParallel, in one of three kinds of scaling.

torchrun --nproc-per-node=2 train.py --scaling strong --epochs 3 --batch-size 64
"""

import argparse
import datetime
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from lessons.toolkit import data
from lessons.toolkit.probes.drawn_steps import DrawnSteps
from lessons.toolkit.record import Record

from ranks import gather, who_am_i

KINDS = ["strong", "epoch", "weak"]


def plan(mode, sizes, batch, samples):
    """Return a pair for each number of ranks in sizes: images per step on each rank, and images
    per epoch on all ranks together. batch and samples are those of one rank alone.
    """
    raise NotImplementedError("Exercise 12.1: return a list of (local batch, images of all ranks)")


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
    """Meet the other ranks. Return this rank's device: its own GPU, or the CPU."""
    if torch.cuda.is_available():
        device, backend = torch.device("cuda", local_rank), "nccl"
        torch.cuda.set_device(device)
    else:
        device, backend = torch.device("cpu"), "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)
    return device


def distribute(model, device, group=None):
    """Return the network with rank 0's start; its gradients will be averaged over all ranks."""
    gpus = [device] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=gpus, process_group=group)


def order_of(sampler, epoch):
    """Return the numbers of the images that this rank reads in an epoch, in this order."""
    sampler.set_epoch(epoch)
    return torch.tensor(list(sampler))


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
    outputs = torch.cat([model(part) for part in x.split(100)])  # what fits into a CPU's cache
    model.train()
    loss = loss_function(outputs, y).item()
    accuracy = (outputs.argmax(1) == y).float().mean().item()
    return loss, accuracy


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="cnn", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--scaling", default="epoch", choices=KINDS, help="what stays as it is")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=64, help="images a step of one rank alone"
    )
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank alone")
    parser.add_argument("--train-samples", type=int, default=60000, help="images of one rank alone")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for a rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank = who_am_i()
    [(local_batch, samples)] = plan(args.scaling, [size], args.batch_size, args.train_samples)
    if local_batch < 1:
        sys.exit(f"A batch of {args.batch_size} images cannot be divided among {size} ranks.")
    device = start_ranks(rank, size, local_rank, datetime.timedelta(seconds=args.timeout))
    torch.manual_seed(args.seed)
    mnist = data.load("mnist", samples, args.test_samples)
    x = torch.tensor(mnist.x_train)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    network = build_model(args.model).to(device)
    params = list(network.parameters())
    loss_function = nn.CrossEntropyLoss()
    drawn_steps = DrawnSteps(network, loss_function)
    model = distribute(network, device)
    lr = args.lr * local_batch * size / args.batch_size  # grows with the global batch
    optimizer = torch.optim.Adam(params, lr=lr)
    sampler = DistributedSampler(x, size, rank, seed=args.seed)

    record = Record(
        "12",
        args,
        source="ddp",
        params=sum(p.numel() for p in params),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        local_batch=local_batch,
        lr=lr,
    )
    record.begin(params)
    for number in range(1, args.epochs + 1):
        loss_sum = 0
        correct = 0
        order = order_of(sampler, number)
        batches = order.split(local_batch)
        orders = gather(order.numpy())  # images of all ranks, for the record
        drawn_steps.draw(x, y, orders[rank], local_batch)  # a step to compute again
        with record.epoch(steps=len(batches)) as epoch:
            for batch in batches:
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                with drawn_steps.watch(optimizer):
                    loss, outputs = train_step(model, optimizer, loss_function, xb, yb)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
            for numbers in orders:
                epoch.read(numbers)
            epoch.log(loss=loss_sum.item() / len(order), accuracy=correct.item() / len(order))
        drawn_steps.compute_again()
        record.trained(params, gather)
        loss, accuracy = evaluate(network, loss_function, x_test.to(device), y_test.to(device))
        record.evaluated(accuracy, loss=loss, samples=len(x_test), epoch=number)
        if rank == 0:
            print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
    for name, value in drawn_steps.measures().items():
        record.measure(name, value, "")

    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
