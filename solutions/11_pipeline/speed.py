"""Time a step of your pipeline with few and with many micro-batches, and of one process.

mpirun -np 2 python speed.py --micro-batches 1 2 4 8 16
"""

import argparse
import itertools
import sys

import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit.record import Record
from lessons.toolkit.stages import measure_gradients, measure_plan, measure_rounds, watch_step

import plan
from pipeline import Stage, build_layers, meet, place, train_step

RATE = 0.01


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--layers", type=int, default=9, help="dense layers of the network")
    parser.add_argument("--width", type=int, default=512, help="neurons of a layer")
    parser.add_argument(
        "--micro-batches", type=int, nargs="+", default=[1, 2, 4, 8, 16], help="numbers to try"
    )
    parser.add_argument(
        "--schedule", default="gpipe", choices=["gpipe", "1f1b"], help="their order"
    )
    parser.add_argument(
        "--cuts", type=int, nargs="*", default=[], help="first layers of stages, instead of split"
    )
    parser.add_argument("--watched", type=int, default=4, help="micro-batches of the steps drawn")
    parser.add_argument("--rounds", type=int, default=12, help="of all phases")
    parser.add_argument("--steps", type=int, default=1, help="of a phase")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=2048, help="images a step"
    )
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def serial_step(network, optimizer, loss_function, x, y):
    """Make the same update in one process, without micro-batches and messages."""
    optimizer.zero_grad()
    (loss_function(network(x), y) / len(x)).backward()
    optimizer.step()


def main():
    parser = command_line()
    args = parser.parse_args()
    if min(args.rounds, args.steps, *args.micro_batches) < 1:
        parser.error("--rounds, --steps and --micro-batches are at least 1")

    rank, size, local_rank, device = meet()
    tried, args.micro_batches, args.replicas = args.micro_batches, max(args.micro_batches), 1
    number, stages, links = place(rank, size, args)
    if size < 2:
        sys.exit("speed.py compares ranks: start it by mpirun or srun, with at least two")
    widths = [784, *[args.width] * (args.layers - 1), 10]
    costs = [before * after for before, after in itertools.pairwise(widths)]
    bounds = [0, *args.cuts, args.layers] if args.cuts else plan.split(costs, stages)
    mine = range(bounds[number], bounds[number + 1])
    stage = Stage(build_layers(widths, mine, args.seed).to(device), widths[mine.start], **links)
    whole = build_layers(widths, range(args.layers), args.seed).to(device)
    optimizer = torch.optim.SGD(stage.layers.parameters(), lr=RATE)
    whole_optimizer = torch.optim.SGD(whole.parameters(), lr=RATE)
    loss_function = nn.CrossEntropyLoss(reduction="sum")
    torch.manual_seed(args.seed)  # noise instead of images, which takes as long
    x = torch.rand(args.batch_size, 784).to(device)
    y = torch.randint(10, (args.batch_size,)).to(device)

    def serial():
        serial_step(whole, whole_optimizer, loss_function, x, y)

    def together(micro_batches, kind=args.schedule):
        order = plan.schedule(stages, micro_batches, kind)[number]
        return lambda: train_step(stage, optimizer, loss_function, x, y, order)

    record = Record(
        "11",
        args,
        source="speed",
        model=f"mlp{args.layers}x{args.width}",
        params=sum(parameter.numel() for parameter in whole.parameters()),
        optimizer="sgd",
        lr=RATE,
        rank=rank,
        size=size,
        local_rank=local_rank,
        scaling="strong",
        global_batch=args.batch_size,
        stages=stages,
        cuts="by hand" if args.cuts else "split",
    )
    measure_plan(record, plan)
    best = measure_rounds(
        record,
        dist,
        serial=serial,
        together={micro_batches: together(micro_batches) for micro_batches in tried},
        params=lambda: list(stage.layers.parameters()),
        rounds=args.rounds,
        steps=args.steps,
    )
    measure_gradients(record, dist, stage, whole, together(best), serial, micro_batches=best)
    for kind in ("gpipe", "1f1b"):
        watch_step(
            *(record, dist, stage, together(args.watched, kind), args.batch_size),
            schedule=kind,
            micro_batches=args.watched,
        )
    record.end(params=stage.layers.parameters())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
