"""Interrupt a training and continue it with one thing forgotten, in one run for each fault.

mpirun -np 2 python break_it.py --without nothing sampler random
"""

import argparse

import torch.distributed as dist

from lessons.toolkit.probes.logbook import read_wrong
from lessons.toolkit.record import Record

import snapshot
import step
import train
from background import copied
from gpt import Text

FAULTS = ("nothing", "optimizer", "sampler", "random", "half")


class Notes:
    """A logbook in memory, of two lives."""

    def __init__(self):
        self.life, self.step, self.lines = 0, 0, []

    def read(self, samples):
        self.lines.append({"life": self.life, "step": self.step, "read": samples.tolist()})


def restored(training, saved, without):
    """Restore all that was saved, except what is forgotten."""
    if without == "half":  # the only file is half written, so there is nothing to restore
        return 0
    fresh = copied(snapshot.capture(training))
    forgotten = {without: fresh[without]} if without in saved else {}
    snapshot.restore(training, saved | forgotten)
    return saved["step"]


def steps(training, text, args, device, notes, until):
    """Train until a step. Yield the loss of each step."""
    while notes.step < until:
        batch = training.sampler.next_batch(args.global_batch)
        loss_of_piece = step.reader(training, text, batch, args, device, notes)
        yield step.train_step(training, loss_of_piece, len(batch), args.most)
        notes.step += 1


def one_run(without, args, text, rank, size, local_rank, device):
    """Train with a kill in the middle. Return the record and the network."""
    notes, training = Notes(), step.build(text, args, device)
    record = Record(
        "15",
        args,
        source="broken",
        framework="torch",
        without=without,
        model="gpt",
        params=sum(p.numel() for p in training.network.parameters()),
        optimizer="adamw",
        dataset=text.facts | {"train_samples": args.windows},
        rank=rank,
        size=size,
        local_rank=local_rank,
        local_batch=args.global_batch // size,
        global_batch=args.global_batch,
    )
    record.begin(training.network.parameters())
    losses = list(steps(training, text, args, device, notes, args.saved_at))
    saved = copied(snapshot.capture(training)) | {"step": notes.step}
    lost = list(steps(training, text, args, device, notes, args.kill_at))

    training = step.build(text, args, device)  # a new process would begin here
    notes.life, notes.step = 1, restored(training, saved, without)
    began, last = notes.step, step.steps_of(args)
    losses = losses[:began] + list(steps(training, text, args, device, notes, last))
    each = args.windows // args.global_batch
    for first in range(0, last, each):
        with record.epoch(steps=each) as epoch:
            epoch.log(loss=sum(losses[first : first + each]) / each)
    record.trained(training.network.parameters(), train.gather)
    lives = [{"first": 0, "last": args.kill_at}, {"first": began, "last": last}]
    books = train.gather(notes.lines)
    record.measure("lost", args.saved_at - began + len(lost), "steps")
    record.measure("read_wrong", read_wrong(books, lives, each, args.windows), "samples")
    return record, training.network


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--without", nargs="+", default=FAULTS, choices=FAULTS, help="what to forget, one by one"
    )
    parser.add_argument("--saved-at", type=int, default=15, help="step of the only checkpoint")
    parser.add_argument("--kill-at", type=int, default=18, help="step after which all is lost")
    parser.add_argument("--epochs", type=int, default=3, help="how often it reads all windows")
    parser.add_argument("--windows", type=int, default=160, help="pieces of text in an epoch")
    parser.add_argument("--length", type=int, default=64, help="characters in a window")
    parser.add_argument("--global-batch", type=int, default=16, help="windows a step, all ranks")
    parser.add_argument("--most", type=int, default=8, help="windows that fit into a device")
    parser.add_argument("--noise", type=float, default=0.05, help="share of wrong characters")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=64, help="numbers for each character")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, size, local_rank, device = train.start_ranks()
    text = Text()
    notes, training = Notes(), step.build(text, args, device)
    for _ in steps(training, text, args, device, notes, step.steps_of(args)):
        pass
    right = list(training.network.parameters())
    for without in args.without:
        record, network = one_run(without, args, text, rank, size, local_rank, device)
        pairs = zip(network.parameters(), right, strict=True)
        apart = max(float((one - other).detach().abs().max()) for one, other in pairs)
        record.measure("apart", apart, "")
        loss, accuracy = step.evaluate(network, text, device, args.length)
        record.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
