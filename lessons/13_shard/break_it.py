"""Train with fully_shard and one line wrong, in one run for each fault.

torchrun --nproc-per-node=2 break_it.py --without nothing wrap norm
"""

import datetime
import functools
import time

import torch
import torch.distributed as dist
from probe import serial_error
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.utils import clip_grad_norm_

from lessons.toolkit.probes import sharding
from lessons.toolkit.record import Run

import library
import train
from gpt import GPT, Text, evaluate, windows
from ranks import gather
from ways import Sharing

FAULTS = ("nothing", "wrap", "optimizer", "norm", "save")


def share_out(without, mesh, network, lr):
    """Do what ways.share_out does for fsdp, with one line wrong."""
    before = list(network.parameters())
    if without == "wrap":  # no wrapped blocks: the whole network is one unit
        fully_shard(network, mesh=mesh)
    else:
        library.shard(network, mesh)
    params = before if without == "optimizer" else list(network.parameters())
    optimizer = torch.optim.AdamW(params, lr, betas=(0.9, 0.99))
    parts = list(network.parameters())
    clip = local_clip if without == "norm" else clip_grad_norm_
    return Sharing(
        network,
        optimizer,
        functools.partial(clip, parts),
        lambda: None,
        lambda: library.whole(network),
    )


def local_clip(params, most):
    """Scale by a factor that comes only from the parts that this rank holds."""
    parts = [torch.nn.Parameter(param.detach().to_local()) for param in params]
    for part, param in zip(parts, params, strict=True):
        part.grad = param.grad.to_local()  # the same memory
    clip_grad_norm_(parts, most)


def one_run(without, args, text, rank, size, device):
    """Train with one line wrong. Record how far a small network is from one process, and memory."""
    if without == "save":  # NCCL would raise no error: its watchdog ends the process
        device = torch.device("cpu")
        patience = datetime.timedelta(seconds=args.timeout)
        group = dist.new_group(backend="gloo", timeout=patience)
        # Meshes that differ only in their groups are equal to PyTorch, which then uses the first's.
        mesh = DeviceMesh.from_group(group, "cpu", mesh_dim_names=("impatient",))
    else:
        mesh = init_device_mesh(device.type, (size,))
    torch.manual_seed(args.seed)
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    data = text.facts | {"train_samples": args.windows}
    run = Run("13", args, network, source="broken", dataset=data, without=without)
    share = functools.partial(share_out, without, mesh)
    run.measure("serial_error", max(gather(serial_error(share, device))))
    shared = share(network, args.lr)
    for epoch in range(1, 1 + (0 if without == "save" else args.epochs)):
        with run.epoch() as log:
            losses = [
                train.train_step(shared, ids.to(device), following.to(device), args.clip)
                for ids, following in train.batches_of(epoch, text, args, rank, size)
            ]
            log(loss=torch.stack(losses).mean().item())
    loss, accuracy = evaluate(network, text, device)
    if without == "save":
        save_alone(run, rank, shared, args.timeout)
    else:
        pieces = windows(text.train, torch.tensor([0]), args.length)
        pieces = [each.to(device) for each in pieces]
        seen = sharding.watch_steps(shared, train.train_step, pieces)
        run.measure("peak_kb", round(max(seen["line"]) / 1000), "kB")
    run.end(test_loss=loss, test_accuracy=accuracy)


def save_alone(run, rank, shared, timeout):
    """Ask for all parameters in their full size on rank 0 only. The other ranks sleep."""
    dist.barrier()
    began = time.perf_counter()
    reason = "all parameters are there"
    if rank == 0:
        try:
            torch.save(shared.whole(), "alone.pt")
        except RuntimeError as error:
            reason = str(error).splitlines()[0][:200]
        print(f"rank 0 alone, after {time.perf_counter() - began:.1f} s: {reason}", flush=True)
    else:
        time.sleep(timeout + 2)
    run.measure("waited_s", time.perf_counter() - began, "s", reason=reason)


def command_line():
    parser = train.command_line()
    parser.description = __doc__
    parser.set_defaults(windows=96)
    parser.add_argument(
        "--without", nargs="+", default=FAULTS, choices=FAULTS, help="what to break; save: last"
    )
    parser.add_argument("--timeout", type=float, default=5, help="seconds to wait for a rank")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, device = train.start_ranks()
    if "save" in args.without[:-1]:
        parser.error("save comes last: after it, ranks no longer wait for each other")
    text = Text()
    for without in args.without:
        one_run(without, args, text, rank, size, device)
    if args.without[-1] != "save":  # otherwise the group is broken
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
