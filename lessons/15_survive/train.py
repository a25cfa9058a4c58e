"""Train a small GPT in a job that may die at any moment. Started again, it continues.

mpirun -np 2 python train.py --folder here --kill-at 13
"""

import signals  # the first import: it listens for a warning while the others load

# isort: split

import argparse
import os
import socket
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from accidents import accident

from cluster.launchers import launched
from lessons.toolkit.probes import restoring, surviving
from lessons.toolkit.probes.logbook import Logbook
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

import atomic
import background
import interval
import pieces
import snapshot
import step
from gpt import Text

AGAIN = 75  # exit code of a job that wants to be started again (EX_TEMPFAIL in sysexits.h)
PATIENCE = timedelta(minutes=2)  # with a rank that does not answer: NCCL does not notice its death


def start_ranks():
    """Meet the other ranks. Return rank, number of ranks, local rank, and this rank's device."""
    me = launched()
    rank, size, local_rank = (me.rank, me.size, me.local_rank) if me else (0, 1, 0)
    if size == 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")  # any free port
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the next line needs it on GPUs
    torch.use_deterministic_algorithms(True)  # sums in the same order in every run
    enough_gpus(torch.cuda.device_count())
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    backend = "nccl" if gpu else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=PATIENCE)
    print(f"rank {rank} of {size}: process {os.getpid()} on {socket.gethostname()}", flush=True)
    return rank, size, local_rank, device


def gather(value):
    """Return a list of every rank's value, on all ranks."""
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--folder", help="checkpoints; default: checkpoints/ and the job's number")
    parser.add_argument("--every", type=int, default=5, help="steps between two checkpoints")
    parser.add_argument("--ask", type=int, default=2, help="steps until ranks ask who was warned")
    parser.add_argument("--background", action="store_true", help="write while training goes on")
    parser.add_argument("--kill-at", type=int, nargs="+", default=[], help="steps that are fatal")
    parser.add_argument("--warn-at", type=int, nargs="+", default=[], help="USR1, to rank 0 only")
    parser.add_argument(
        "--fatal-for",
        default="rank",
        choices=("rank", "node", "others"),
        help="who dies then: the last rank; this one and its torchrun; none that has this option",
    )
    parser.add_argument("--node-mtbf", type=float, default=5 * 8766, help="hours between failures")
    parser.add_argument("--nodes", type=int, default=1000, help="how many, for the interval")
    parser.add_argument("--epochs", type=int, default=3, help="how often it reads all windows")
    parser.add_argument("--windows", type=int, default=160, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=64, help="characters in a window")
    parser.add_argument("--global-batch", type=int, default=16, help="windows a step, all ranks")
    parser.add_argument("--most", type=int, default=8, help="windows that fit into a device")
    parser.add_argument("--noise", type=float, default=0.05, help="share of wrong characters")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=64, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--pace", type=float, default=0, help="seconds of a step, at least")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def train(args, text, rank, size, local_rank, device):
    """Train from the newest checkpoint on. Return whether the training is complete."""
    training, steps = step.build(text, args, device), step.steps_of(args)
    number = 0  # steps that are done
    if saved := atomic.agreed(args.folder):
        snapshot.restore(training, saved)
        number = saved["step"]
    del saved  # three times the memory of the parameters
    if number == steps:
        if rank == 0:
            print(f"The training in {args.folder} is complete. For another, choose another folder:")
            print("by hand with --folder, for job.sbatch with CHECKPOINTS=FOLDER")
        return True
    each = args.windows // args.global_batch  # steps of an epoch
    book = Logbook(args.folder, rank, gather)
    record = Record(
        "15",
        args,
        source="elastic" if "TORCHELASTIC_RUN_ID" in os.environ else "train",
        framework="torch",
        model="gpt",
        params=sum(p.numel() for p in training.network.parameters()),
        optimizer="adamw",
        dataset=text.facts | {"train_samples": args.windows},
        rank=rank,
        size=size,
        local_rank=local_rank,
        local_batch=args.global_batch // size,
        global_batch=args.global_batch,
        life="later" if book.life else "first",
        writer="background" if args.background else "foreground",
        epochs_asked=-(-(steps - number) // each),
    )
    if rank == 0:
        print(f"Life {book.life + 1} begins after step {number} of {steps}", flush=True)
    book.begin(number)
    record.begin(training.network.parameters())
    write = background.Background(atomic.save) if args.background else atomic.save
    warned = False
    while number < steps and not warned:
        loss_sum, began = 0, number
        with record.epoch() as epoch:
            while not warned and (number == began or number % each):
                batch = training.sampler.next_batch(args.global_batch)
                epoch.read(batch.numpy())
                accident(args, book.life, number, rank, size)
                until = time.monotonic() + args.pace
                loss_of_piece = step.reader(training, text, batch, args, device, book)
                loss = step.train_step(training, loss_of_piece, len(batch), args.most)
                number, loss_sum = number + 1, loss_sum + loss
                book.done(number, loss)
                warned = number % args.ask == 0 and signals.anyone_warned(device)
                if warned or number % args.every == 0 or number == steps:
                    with book.saving(number):
                        if rank == 0:
                            state = snapshot.capture(training) | {"step": number}
                            write(state, args.folder, number)
                time.sleep(max(0, until - time.monotonic()))
            did = number - began
            epoch.log(steps=did, samples=did * args.global_batch, loss=loss_sum / did)
        if rank == 0:
            print(f"after step {number}: {epoch.seconds:.1f} s, loss {loss_sum / did:.3f}")
    if args.background:
        write.wait()
    if number < steps:
        book.warned(number)
        return False
    record.trained(training.network.parameters(), gather)
    loss, accuracy = step.evaluate(training.network, text, device, args.length)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    book.note(record, args)
    surviving.note(record, (atomic, background, interval, pieces, signals), gather, device)
    restoring.note(record, write, (text, args, device), gather)
    record.end(test_loss=loss, test_accuracy=accuracy)
    return True


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.windows % args.global_batch:
        parser.error("--windows must be a multiple of --global-batch")
    args.folder = args.folder or f"checkpoints/{os.environ.get('SLURM_JOB_ID', 'by_hand')}"

    rank, *others = start_ranks()
    try:
        complete = train(args, Text(), rank, *others)
    except OSError as error:  # such as a full disk, which a thread may have met
        sys.exit(f"Rank {rank}, with checkpoints in {args.folder}: {error}")
    dist.barrier()  # no rank ends before the last checkpoint is written
    if not complete and rank == 0:
        print("The warning came: everything is saved. Start me again.", flush=True)
    dist.destroy_process_group()
    if not complete:
        sys.exit(AGAIN)


if __name__ == "__main__":
    main()
