"""Train the network of train.py with PyTorch's own pipeline: torch.distributed.pipelining.

torchrun --nproc-per-node=2 train_library.py --micro-batches 4 --schedule 1f1b
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.utils.data import DataLoader

from lessons.toolkit import data
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run

from pipeline import build_stage, meet, place, widths_of
from train import images

SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--layers", type=int, default=9, help="dense layers of the network")
    parser.add_argument("--width", type=int, default=256, help="neurons of a layer")
    parser.add_argument("--micro-batches", type=int, default=4, help="parts of a batch")
    parser.add_argument("--schedule", default="gpipe", choices=["gpipe", "1f1b"], help="the order")
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


def train_epoch(pipeline, stage, loader, optimizer, device):
    """Train on all batches. Return the mean loss, on every rank."""
    loss_sum = torch.zeros((), device=device)
    for x, y in loader:
        loss_sum += train_step(pipeline, stage, optimizer, x.to(device), y.to(device))
    dist.all_reduce(loss_sum)  # only the last stage knows it
    return loss_sum.item() / len(loader)


def main():
    args = command_line().parse_args()

    rank, size, device = meet()
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
    same = torch.Generator().manual_seed(args.seed)  # the same order of images on all ranks
    train_set = images(mnist.x_train, mnist.y_train)
    # Without a smaller last batch, because the library's shapes are fixed.
    loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True, generator=same)

    stage = build_stage(widths_of(args), number, stages, links, args.seed, device)
    sizes = {"scaling": "strong", "stages": stages, "global_batch": args.batch_size}
    run = Run("11", args, stage.layers, "library", **sizes)
    optimizer = torch.optim.Adam(stage.layers.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss()
    how = number, stages, args.micro_batches, args.schedule, loss_function, device
    pipeline = pipeline_of(stage, *how)

    for _ in range(args.epochs):
        with run.epoch() as log:
            log(loss=train_epoch(pipeline, stage, loader, optimizer, device))
    run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
