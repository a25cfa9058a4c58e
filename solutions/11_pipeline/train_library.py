"""Train the network of train.py with PyTorch's own pipeline: torch.distributed.pipelining.

mpirun -np 2 python train_library.py --micro-batches 4 --schedule 1f1b
"""

import argparse
import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

from lessons.toolkit import data
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Record
from lessons.toolkit.stages import measure_holdings, measure_serial

import plan
from pipeline import Stage, build_layers, meet, place

SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


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
    parser.add_argument("--epochs", type=int, default=3, help="passes over the training images")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=128, help="images a step")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def pipeline_of(stage, number, stages, micro_batches, kind, loss_function, device):
    """Return what replaces forward, backward, the order and the messages of train.py."""
    return SCHEDULES[kind](
        PipelineStage(stage.layers, number, stages, device),
        n_microbatches=micro_batches,
        loss_fn=loss_function,
        scale_grads=True,  # the loss is a mean over a micro-batch: the sum of m of them / m
    )


def train_step(pipeline, stage, optimizer, x, y):
    """Make an update from one batch. Only the last stage knows the losses of micro-batches."""
    optimizer.zero_grad()
    losses = []
    if stage.before is None and stage.after is None:
        pipeline.step(x, target=y, losses=losses)
    elif stage.before is None:
        pipeline.step(x)
    elif stage.after is None:
        pipeline.step(target=y, losses=losses)
    else:
        pipeline.step()
    optimizer.step()
    return torch.stack(losses).mean().detach() if losses else torch.zeros((), device=x.device)


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank, device = meet()
    args.replicas = 1
    number, stages, links = place(rank, size, args)
    wrong = None
    if args.batch_size % args.micro_batches:
        wrong = "the library wants micro-batches of one size: --batch-size is no multiple of them"
    elif args.schedule == "1f1b" and args.micro_batches < stages:
        wrong = f"the library's 1F1B wants at least {stages} micro-batches, one for each stage"
    if wrong:
        leave(rank, wrong)
    mnist = data.load("mnist", args.train_samples, test_samples=1)
    x = torch.tensor(mnist.x_train).flatten(1)
    y = torch.tensor(mnist.y_train, dtype=torch.long)

    widths = [784, *[args.width] * (args.layers - 1), 10]
    bounds = plan.split([before * after for before, after in itertools.pairwise(widths)], stages)
    mine = range(bounds[number], bounds[number + 1])
    layers = build_layers(widths, mine, args.seed).to(device)
    stage = Stage(layers, widths[mine.start], **links)
    optimizer = torch.optim.Adam(layers.parameters(), lr=args.lr)
    how = (number, stages, args.micro_batches, args.schedule, nn.CrossEntropyLoss(), device)
    pipeline = pipeline_of(stage, *how)

    steps = len(x) // args.batch_size  # without a smaller last batch, because shapes are fixed
    record = Record(
        "11",
        args,
        source="library",
        framework="torch",
        model=f"mlp{args.layers}x{args.width}",
        params=sum(before * after + after for before, after in itertools.pairwise(widths)),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        scaling="strong",
        global_batch=args.batch_size,
        stages=stages,
    )
    record.begin(layers.parameters())
    torch.manual_seed(args.seed)  # the same order of images on all ranks
    for epoch_number in range(1, args.epochs + 1):
        loss_sum = torch.zeros((), device=device)
        seen = steps * args.batch_size
        with record.epoch(steps=steps, samples=seen) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size)[:steps]:
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                loss_sum += train_step(pipeline, stage, optimizer, xb, yb)
            dist.all_reduce(loss_sum)
            epoch.log(loss=loss_sum.item() / steps)
        if rank == 0:
            print(f"Epoch {epoch_number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
    record.trained(layers.parameters())

    def one_step(small, small_optimizer, _, x, y, __):
        """Make a step with other layers and another batch, to compare it with one process."""
        train_step(pipeline_of(small, *how), small, small_optimizer, x, y)

    order = plan.schedule(stages, args.micro_batches, args.schedule)[number]
    measure_holdings(record, dist, stage, mine)
    images = 6 * args.micro_batches
    measure_serial(record, dist, stage, one_step, order, images, schedule=args.schedule)
    record.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
