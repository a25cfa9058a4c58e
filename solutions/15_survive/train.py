"""Train a small GPT in a job that may die at any moment. Started again, it continues.

torchrun --nproc-per-node=2 train.py --folder here
"""

import signals  # the first import: it listens for a warning while the others load

# isort: split

import os
import sys
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from datetime import timedelta

import torch
import torch.distributed as dist

from lessons.toolkit.record import Run

import accidents
import atomic
import background
import snapshot
import step
from gpt import Text, evaluate
from journal import Journal
from ranks import who_am_i

AGAIN = 75  # exit code of a job that wants to be started again (EX_TEMPFAIL in sysexits.h)
PATIENCE = timedelta(minutes=2)  # with a rank that does not answer: NCCL may not notice its death


def start_ranks(timeout=PATIENCE):
    """Meet the other ranks. Return this rank's number and its device."""
    rank, size, local_rank = who_am_i()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the next line needs it on GPUs
    torch.use_deterministic_algorithms(True)  # sums in the same order in every run
    device = torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)
    return rank, device


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    folder = f"checkpoints/{os.environ.get('SLURM_JOB_ID', 'by_hand')}"
    parser.add_argument("--folder", default=folder, help="where checkpoints are, new for each job")
    parser.add_argument("--every", type=int, default=5, help="steps between checkpoints; 0: none")
    parser.add_argument("--ask", type=int, default=2, help="steps until ranks ask who was warned")
    parser.add_argument("--background", action="store_true", help="write while training goes on")
    parser.add_argument("--pace", type=float, default=0, help="seconds of a step, at least")
    accidents.add_options(parser)
    step.add_options(parser)
    return parser


def some_steps(training, text, args, device, number, journal, write):
    """Train until the end of the epoch, or until a warning. Return the steps done and the loss."""
    losses, warned, last = [], False, step.steps_of(args)
    while not warned and (not losses or number % (args.windows // args.global_batch)):
        until = time.monotonic() + args.pace
        accidents.happen(args, journal.life, number)
        batch = training.sampler.next_batch(args.global_batch)
        loss_of_piece = step.reader(training, text, batch, args, device, journal, number)
        losses.append(step.train_step(training, loss_of_piece, len(batch), args.most))
        number += 1
        journal.write(done=number, loss=round(losses[-1], 4))
        warned = args.every and number % args.ask == 0 and signals.anyone_warned(device)
        if args.every and (warned or number % args.every == 0 or number == last):
            began = time.perf_counter()
            if dist.get_rank() == 0:
                write(snapshot.capture(training) | {"step": number}, args.folder, number)
            journal.write(saved=number, seconds=time.perf_counter() - began)
        time.sleep(max(0, until - time.monotonic()))
    return number, sum(losses) / len(losses), warned and number < last


def train(args, text, device):
    """Train from the newest checkpoint on. Return whether the training is complete."""
    rank, steps = dist.get_rank(), step.steps_of(args)
    training, number = step.build(text, args, device), 0
    if saved := atomic.agreed(args.folder) if args.every else None:
        snapshot.restore(training, saved)
        number = saved["step"]
    del saved  # three times the memory of the parameters
    if number == steps:
        if rank == 0:
            print(f"The training in {args.folder} is complete. For another, use another --folder.")
        return True
    journal = Journal(args.folder, rank)
    run = Run(
        "15",
        args,
        training.network,
        source="elastic" if args.fatal_for == "others" else "train" if args.every else "unsaved",
        dataset=text.facts | {"train_samples": args.windows},
        global_batch=args.global_batch,
        life="later" if journal.life else "first",
    )
    if rank == 0:
        print(f"Life {journal.life + 1} begins after step {number} of {steps}", flush=True)
    journal.write(begin=number)
    write = background.Background(atomic.save) if args.background else atomic.save
    warned = False
    while number < steps and not warned:
        with run.epoch() as log:
            number, loss, warned = some_steps(training, text, args, device, number, journal, write)
            log(loss=loss)
        if rank == 0:
            print(f"after step {number}: loss {loss:.3f}", flush=True)
    if args.background:
        write.wait()
    if warned:
        journal.write(warned=number)
        return False
    loss, accuracy = evaluate(training.network, text, device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    run.end(test_loss=loss, test_accuracy=accuracy)
    return True


def main():
    args = command_line().parse_args()

    rank, device = start_ranks()
    try:
        complete = train(args, Text(), device)
    except OSError as error:  # such as a full disk, which a thread may have met
        sys.exit(f"Rank {rank}, with checkpoints in {args.folder}: {error}")
    dist.barrier()  # no rank ends before the last checkpoint is written
    if not complete and rank == 0:
        print("The warning came: everything is saved. Start me again.", flush=True)
    dist.destroy_process_group()
    sys.exit(0 if complete else AGAIN)


if __name__ == "__main__":
    main()
