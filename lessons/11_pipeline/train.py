"""Train a network on MNIST whose layers are on several ranks, so that no rank has all of it.

mpirun -np 2 python train.py --micro-batches 4 --schedule gpipe
"""

import argparse
import itertools
import math

import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.record import Record
from lessons.toolkit.stages import measure_holdings, measure_plan, measure_serial

import plan
from pipeline import Stage, build_layers, evaluate, meet, place, train_step


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--layers", type=int, default=9, help="dense layers of the network")
    parser.add_argument("--width", type=int, default=256, help="neurons of a layer")
    parser.add_argument("--micro-batches", type=int, default=4, help="parts of a batch")
    parser.add_argument(
        "--schedule", default="gpipe", choices=["gpipe", "1f1b"], help="their order"
    )
    parser.add_argument("--replicas", type=int, default=1, help="copies of the whole pipeline")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the training images")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=128, help="images a step")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument(
        "--precision", default="float32", choices=["float32", "float64"], help="of all numbers"
    )
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    torch.set_default_dtype(getattr(torch, args.precision))
    rank, size, local_rank, device = meet()
    number, stages, links = place(rank, size, args)
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    x = torch.tensor(mnist.x_train, dtype=torch.get_default_dtype()).flatten(1)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test, dtype=torch.get_default_dtype()).flatten(1)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    widths = [784, *[args.width] * (args.layers - 1), 10]
    costs = [before * after for before, after in itertools.pairwise(widths)]
    bounds = plan.split(costs, stages)
    mine = range(bounds[number], bounds[number + 1])
    layers = build_layers(widths, mine, args.seed).to(device)
    stage = Stage(layers, widths[mine.start], **links)
    optimizer = torch.optim.Adam(layers.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss(reduction="sum")
    order = plan.schedule(stages, args.micro_batches, args.schedule)[number]

    record = Record(
        "11",
        args,
        source="pipeline",
        model=f"mlp{args.layers}x{args.width}",
        params=sum(before * after + after for before, after in itertools.pairwise(widths)),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        scaling="strong",  # a batch is the same on any number of ranks
        global_batch=args.batch_size,
        stages=stages,
        pipelines=args.replicas,
    )
    record.begin(layers.parameters())
    torch.manual_seed(args.seed)  # the same order of images on all ranks
    for epoch_number in range(1, args.epochs + 1):
        sums = torch.zeros(2, device=device)
        with record.epoch(steps=math.ceil(len(x) / args.batch_size)) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size):
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                sums += train_step(stage, optimizer, loss_function, xb, yb, order)
            dist.all_reduce(sums)  # the last stages know them; rank 0 prints them
            loss, accuracy = (sums / len(x)).tolist()
            epoch.log(loss=loss, accuracy=accuracy)
        if rank == 0:
            print(f"Epoch {epoch_number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
    record.trained(layers.parameters())

    loss, accuracy = evaluate(stage, loss_function, x_test.to(device), y_test.to(device))
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    # Record who holds what, and whether steps equal those of one process.
    measure_plan(record, plan)
    measure_holdings(record, dist, stage, mine)
    for kind in ("gpipe", "1f1b"):
        order = plan.schedule(stages, args.micro_batches, kind)[number]
        measure_serial(record, dist, stage, train_step, order, schedule=kind)
    record.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
