"""Train a small network on MNIST with DistributedDataParallel, in one of three kinds of scaling.

torchrun --nproc-per-node=2 train.py --scaling strong --epochs 3 --batch-size 64
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

from ranks import who_am_i

KINDS = ["strong", "epoch", "weak"]


def plan(mode, sizes, batch, samples):
    """Return (batch of each rank, images of all ranks) for each size, from one rank's values."""
    ### BEGIN SOLUTION Exercise 12.1: return a list of (local batch, images of all ranks)
    if mode == "strong":
        return [(batch // size, samples) for size in sizes]
    if mode == "epoch":
        return [(batch, samples) for size in sizes]
    return [(batch, samples * size) for size in sizes]
    ### END SOLUTION


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
    if torch.cuda.is_available():
        device, backend = torch.device("cuda", local_rank), "nccl"
        torch.cuda.set_device(device)
    else:
        device, backend = torch.device("cpu"), "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)
    return device


def distribute(model, device):
    """Return the network with rank 0's start; its gradients will be averaged over all ranks."""
    gpus = [device] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=gpus)


def make_loader(images, batch_size, seed):
    """Return batches of this rank's share of the images; the seed draws how they are shuffled."""
    gpu = torch.cuda.is_available()  # only pinned memory is copied while a GPU computes
    sampler = DistributedSampler(images, seed=seed)
    return DataLoader(images, batch_size, sampler=sampler, pin_memory=gpu)


def train_epoch(model, loader, optimizer, loss_function, device, epoch):
    """Train on this rank's share. Return its mean loss and accuracy; the Run prints rank 0's."""
    loader.sampler.set_epoch(epoch)
    loss_sum, right = 0, 0
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        outputs = model(x)
        loss = loss_function(outputs, y)
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(y)
        right += (outputs.argmax(1) == y).sum()
    return loss_sum.item() / len(loader.sampler), right.item() / len(loader.sampler)


@torch.no_grad()
def evaluate(model, loader, loss_function, device):
    """Return the mean loss and the accuracy with the current parameters."""
    model.eval()
    sums = torch.zeros(2, device=device)  # of the losses, and of the right answers
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        outputs = model(x)
        sums += torch.stack([loss_function(outputs, y) * len(y), (outputs.argmax(1) == y).sum()])
    model.train()
    dist.all_reduce(sums)  # each rank has tested its share of the images
    return (sums / len(loader.dataset)).tolist()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="cnn", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--scaling", default="epoch", choices=KINDS, help="what stays as it is")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=64, help="images per step of one rank")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--train-samples", type=int, default=60000, help="images of one rank")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    rank, size, local_rank = who_am_i()
    [(batch, samples)] = plan(args.scaling, [size], args.batch_size, args.train_samples)
    if batch < 1:
        raise SystemExit(f"A batch of {args.batch_size} cannot be divided among {size} ranks.")
    device = start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    torch.manual_seed(args.seed + rank)  # different networks, until they are made equal
    mnist = data.load("mnist", samples, args.test_samples)
    train_set = TensorDataset(torch.tensor(mnist.x_train), torch.tensor(mnist.y_train))
    test_set = TensorDataset(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test))
    loader = make_loader(train_set, batch, args.seed)
    test_loader = DataLoader(test_set, 1000, sampler=range(rank, len(test_set), size))

    network = build_model(args.model).to(device)
    run = Run("12", args, network, local_batch=batch)
    model = distribute(network, device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr * batch * size / args.batch_size)
    loss_function = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        with run.epoch() as log:
            trained = train_epoch(model, loader, optimizer, loss_function, device, epoch)
        loss, accuracy = evaluate(network, test_loader, loss_function, device)
        log(loss=trained[0], accuracy=trained[1], val_loss=loss, val_accuracy=accuracy)

    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
