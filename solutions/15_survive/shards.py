"""Train a sharded network that is killed while it saves, and continue it on other ranks.

torchrun --nproc-per-node=2 shards.py --folder here --kill-writing 8

Nothing here is to be filled in. Texts are drawn, and numbers have double precision, so that the
result can be compared with that of one process that was never killed.
"""

import copy
import os
import signal
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lessons.toolkit.record import Run

import sharded
import train
from gpt import GPT, loss_of

STEPS, CHARACTERS, LENGTH, RATE = 12, 11, 8, 0.01
TEXTS = 48  # of all ranks in a step: of 1, 2, 3, 4, 6, 8, 12 or 16


def optimizer_of(network):
    return torch.optim.AdamW(network.parameters(), RATE, betas=(0.9, 0.99))


def step(network, optimizer, number, rank=0, size=1):
    """Make an update with this rank's texts of a step."""
    generator = torch.Generator().manual_seed(number)
    texts = torch.randint(0, CHARACTERS, (TEXTS, LENGTH + 1), generator=generator)
    own = texts.chunk(size)[rank].to(next(network.parameters()).device)
    optimizer.zero_grad()
    loss_of(network(own[:, :-1]), own[:, 1:]).backward()
    optimizer.step()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--folder", default="shards", help="where checkpoints are")
    parser.add_argument("--every", type=int, default=4, help="steps between two checkpoints")
    parser.add_argument("--kill-writing", type=int, help="step whose checkpoint kills a rank")
    return parser


def main():
    args = command_line().parse_args()

    rank, device = train.start_ranks()
    size = dist.get_world_size()
    torch.manual_seed(1)
    network = GPT(CHARACTERS, LENGTH, layers=2, width=16, heads=2).double().to(device)
    alone = copy.deepcopy(network)
    run = Run("15", args, network, source="shards")
    mesh = init_device_mesh(device.type, (size,))
    for unit in [*network.blocks, network]:
        fully_shard(unit, mesh=mesh)
    optimizer, saver, began = optimizer_of(network), sharded.Saver(), 0
    if newest := sharded.newest(args.folder):
        sharded.load(network, optimizer, newest)
        began = int(newest.name.removeprefix("step_"))
    if rank == 0:
        print(f"{size} ranks begin after step {began} of {STEPS}", flush=True)
    for number in range(began + 1, STEPS + 1):
        step(network, optimizer, number, rank, size)
        if number == args.kill_writing:
            saver.finish()  # or the kill could meet the checkpoint before, on a slow disk
            if rank == size - 1:
                os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # half of it is written
        if number % args.every == 0:
            saver.save(network, optimizer, args.folder, number)
    saver.finish()

    serial = optimizer_of(alone)
    for number in range(1, STEPS + 1):
        step(alone, serial, number)
    pairs = zip(network.parameters(), alone.parameters(), strict=True)
    apart = max(float((a.full_tensor() - b).detach().abs().max()) for a, b in pairs)
    if rank == 0:
        print(f"{apart:.0e} from one process that was never killed", flush=True)
    run.measure("resumed_from", began, "steps")
    run.measure("from_one", apart)
    run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
