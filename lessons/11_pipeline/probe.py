"""Test the stages: are the plans right, who holds what, and is a step that of one process?

torchrun --nproc-per-node=2 probe.py --micro-batches 4

Nothing here is to be filled in. Each test calls your functions on real ranks.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy

from lessons.toolkit.checks.lesson_11 import plans as checks
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import plan
import train
from pipeline import Stage, build_layers, build_stage, meet, place, train_step, widths_of
from ranks import gather

STEPS, RATE = 3, 0.5


def small_network(stages):
    """Return the inputs and outputs of a network's layers: eight, or one for each stage."""
    inner = [16, 9, 16, 8] * stages
    return [12, *inner[: max(stages, 8) - 1], 5]


def flat(params):
    return torch.cat([param.detach().flatten().cpu() for param in params])


def plans(run, args, rank, size, device):
    """Run the checks of the cuts, of both orders of work, and of the grid."""
    yield "split_excess", check_fails(checks.check_11_1, plan)
    for kind in ("gpipe", "1f1b"):
        yield f"{kind}_excess", check_fails(checks.check_schedule, plan.schedule, kind)
    yield "grid_wrong", check_fails(checks.check_grid, plan.grid)


def holdings(run, args, rank, size, device):
    """Compare the layers of all stages with those of a process that has the whole network."""
    stage = build_stage(widths_of(args), *place(rank, size, args), args.seed, device)
    held = gather((stage.replica, flat(stage.layers.parameters())))
    whole = flat(build_layers(widths_of(args), range(args.layers), args.seed).parameters())
    for of_rank, (_, params) in enumerate(held):
        run.measure("params_held", len(params), "parameters", of_rank=of_rank)
    pipelines = [[params for each, params in held if each == k] for k in range(args.replicas)]
    yield "pipeline_wrong", sum(not torch.equal(torch.cat(each), whole) for each in pipelines)


def serial_error(step, images, number, stages, links, device):
    """Return how far the stages' parameters are from those of one process, after some steps.

    step: a function of a stage, its optimizer and a batch. All numbers have double precision.
    """
    widths = small_network(stages)
    every = list(range(len(widths) - 1))
    mine = torch.tensor(every).tensor_split(stages)[number].tolist()
    layers, network = (build_layers(widths, each, seed=5).double() for each in (mine, every))
    stage = Stage(layers.to(device), widths[mine[0]], **links)
    start = flat(network.parameters())
    optimizers = [torch.optim.SGD(each.parameters(), RATE) for each in (layers, network)]
    random = torch.Generator().manual_seed(7)  # the same batches on all ranks
    for _ in range(STEPS):
        x = torch.randn(images, widths[0], generator=random, dtype=torch.float64)
        y = torch.randint(0, widths[-1], (images,), generator=random)
        step(stage, optimizers[0], x.to(device), y.to(device))
        optimizers[1].zero_grad()
        cross_entropy(network(x), y).backward()
        optimizers[1].step()
    right = flat(network.parameters())
    held = gather((stage.replica, flat(layers.parameters())))
    errors = [
        torch.cat([params for place, params in held if place == replica]) - right
        for replica in range(stage.replicas)
    ]
    return float(torch.stack(errors).norm(dim=1).max() / (right - start).norm())


def same_as_one(run, args, rank, size, device):
    """Compare steps of all stages with those of one process, in both orders of work."""
    loss_function = nn.CrossEntropyLoss(reduction="sum")
    number, stages, links = place(rank, size, args)
    for kind in ("gpipe", "1f1b"):
        order = plan.schedule(stages, args.micro_batches, kind)[number]

        def step(stage, optimizer, x, y, order=order):
            train_step(stage, optimizer, loss_function, x, y, order)

        # 23 is prime: micro-batches differ in size
        yield f"{kind}_error", serial_error(step, 23, number, stages, links, device)


def library_as_one(run, args, rank, size, device):
    """Compare steps of train_library.py with those of one process."""
    import train_library

    number, stages, links = place(rank, size, args)
    how = number, stages, args.micro_batches, args.schedule, nn.CrossEntropyLoss(), device

    def step(stage, optimizer, x, y):
        train_library.train_step(train_library.pipeline_of(stage, *how), stage, optimizer, x, y)

    images = 6 * args.micro_batches
    yield "library_error", serial_error(step, images, number, stages, links, device)


TESTS = {
    plans: ["split_excess", "gpipe_excess", "1f1b_excess", "grid_wrong"],
    holdings: ["pipeline_wrong"],
    same_as_one: ["gpipe_error", "1f1b_error"],
}


def command_line():
    parser = train.command_line()
    parser.description = __doc__
    parser.add_argument("--library", action="store_true", help="test train_library.py")
    return parser


def main():
    args = command_line().parse_args()

    rank, size, device = meet()
    run = Run("11", args, source="probe")
    tests = {library_as_one: ["library_error"]} if args.library else TESTS
    run_tests(run, tests, run, args, rank, size, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
