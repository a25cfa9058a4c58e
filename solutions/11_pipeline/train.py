"""Train a network on MNIST whose layers are on several ranks, so that no rank has all of it.

torchrun --nproc-per-node=2 train.py --micro-batches 4 --schedule gpipe
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.record import Run

import plan
from pipeline import build_stage, evaluate, meet, place, train_step, widths_of


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--layers", type=int, default=9, help="dense layers of the network")
    parser.add_argument("--width", type=int, default=256, help="neurons of a layer")
    parser.add_argument("--micro-batches", type=int, default=4, help="parts of a batch")
    parser.add_argument("--schedule", default="gpipe", choices=["gpipe", "1f1b"], help="the order")
    parser.add_argument("--replicas", type=int, default=1, help="copies of the whole pipeline")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=128, help="images a step")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def images(x, y):
    """Return images as rows of pixels, with their labels."""
    return TensorDataset(torch.tensor(x).flatten(1), torch.tensor(y, dtype=torch.long))


def train_epoch(stage, loader, optimizer, loss_function, order, device):
    """Train on all batches. Return the mean loss and the accuracy, on every rank."""
    sums = torch.zeros(2, device=device)
    for x, y in loader:
        sums += train_step(stage, optimizer, loss_function, x.to(device), y.to(device), order)
    dist.all_reduce(sums)  # only the last stages know them
    return (sums / len(loader.dataset)).tolist()


def main():
    args = command_line().parse_args()

    rank, size, device = meet()
    number, stages, links = place(rank, size, args)
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    # All ranks draw the same order of images, and a batch is the same on any number of ranks.
    same = torch.Generator().manual_seed(args.seed)
    train_set = images(mnist.x_train, mnist.y_train)
    loader = DataLoader(train_set, args.batch_size, shuffle=True, generator=same)
    test_loader = DataLoader(images(mnist.x_test, mnist.y_test), 1000)

    stage = build_stage(widths_of(args), number, stages, links, args.seed, device)
    sizes = {"scaling": "strong", "stages": stages, "global_batch": args.batch_size}
    run = Run("11", args, stage.layers, "pipeline", **sizes)
    optimizer = torch.optim.Adam(stage.layers.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss(reduction="sum")
    order = plan.schedule(stages, args.micro_batches, args.schedule)[number]

    for _ in range(args.epochs):
        with run.epoch() as log:
            loss, accuracy = train_epoch(stage, loader, optimizer, loss_function, order, device)
            log(loss=loss, accuracy=accuracy)

    loss, accuracy = evaluate(stage, test_loader, loss_function, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
