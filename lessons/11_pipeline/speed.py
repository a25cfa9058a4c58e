"""Time a step of your pipeline with few and with many micro-batches, and of one process.

mpirun -np 2 python speed.py --micro-batches 1 2 4 8 16

It works like the timer of lesson 02. A round times one process that has all layers, as many as
there are ranks, and the stages with each number of micro-batches. The result is the median over the
rounds. A process that never imports your code does the work of the first two phases, `alone`.
Another process on each rank does that of the others, `together`.
"""

import functools
import itertools
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, ArgumentTypeError, Namespace

from lessons.toolkit import clock
from lessons.toolkit.stages import Pipeline, watch_step, widths_of


def positive(text):
    """Return the number in this text, which is at least 1."""
    if (number := int(text)) < 1:
        raise ArgumentTypeError(f"{number} is less than 1")
    return number


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--layers", type=int, default=9, help="dense layers of the network")
    parser.add_argument("--width", type=int, default=512, help="neurons of a layer")
    parser.add_argument(
        "--micro-batches", type=positive, nargs="+", default=[1, 2, 4, 8, 16], help="numbers to try"
    )
    parser.add_argument("--schedule", default="gpipe", choices=["gpipe", "1f1b"], help="the order")
    parser.add_argument(
        "--cuts", type=int, nargs="*", default=[], help="first layers of stages, instead of split"
    )
    parser.add_argument("--watched", type=positive, default=4, help="micro-batches of steps drawn")
    parser.add_argument("--rounds", type=int, default=8, help="of all phases, at most")
    parser.add_argument("--steps", type=int, default=1, help="of a phase, on average")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=2048, help="images")
    parser.add_argument("--seed", type=int, default=1, help="where the network begins")
    return parser


def alone(job):
    """Return the work of one process that has all layers. Nothing here comes from your code."""
    import torch
    from torch import nn

    from lessons.toolkit.ranks import enough_gpus
    from lessons.toolkit.stages.speed_work import SerialWork

    enough_gpus(torch.cuda.device_count())
    layers = []
    for inputs, outputs in itertools.pairwise(widths_of(job.args)):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    network = nn.Sequential(*layers[:-1])
    if torch.cuda.is_available():
        torch.cuda.set_device(job.local_rank)
        network.cuda()
    return SerialWork(network, job.args)


def together(job):
    """Return the work of one of several stages, with your functions."""
    import torch.distributed as dist
    from torch import nn

    from lessons.toolkit.stages.speed_work import StageWork

    import plan
    from pipeline import Stage, build_layers, meet, place, train_step

    args = job.args
    *_, device = meet()
    asked = Namespace(**vars(args) | {"replicas": 1})
    asked.micro_batches = max(args.watched, *args.micro_batches)
    number, stages, links = place(job.rank, job.size, asked)
    widths = widths_of(args)
    costs = [before * after for before, after in itertools.pairwise(widths)]
    bounds = [0, *args.cuts, args.layers] if args.cuts else plan.split(costs, stages)
    mine = range(bounds[number], bounds[number + 1])
    stage = Stage(build_layers(widths, mine, args.seed).to(device), widths[mine.start], **links)
    loss_function = nn.CrossEntropyLoss(reduction="sum")
    orders = {
        (micro_batches, kind): plan.schedule(stages, micro_batches, kind)[number]
        for micro_batches in {args.watched, *args.micro_batches}
        for kind in ("gpipe", "1f1b")
    }

    def step(x, y, micro_batches, kind=args.schedule):
        train_step(stage, work.optimizer, loss_function, x, y, orders[micro_batches, kind])

    def measure(record):
        [batch] = work.batches(args.seed, 1)
        for kind in ("gpipe", "1f1b"):
            watched = functools.partial(step, *batch, args.watched, kind)
            watch_step(
                *(record, dist, stage, watched, args.batch_size),
                schedule=kind,
                micro_batches=args.watched,
            )

    work = StageWork(stage.layers, step, measure, args)
    return work


if __name__ == "__main__":
    clock.conduct(alone, together, command_line(), lesson="11", framework="torch", kind=Pipeline())
