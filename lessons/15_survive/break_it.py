"""Interrupt a training and continue it with one thing forgotten, in one run for each fault.

torchrun --nproc-per-node=2 break_it.py --without nothing sampler random
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch.distributed as dist

from lessons.toolkit.probes.logbook import read_wrong
from lessons.toolkit.record import Run

import snapshot
import step
import train
from background import copied
from gpt import Text, evaluate
from ranks import gather

FAULTS = ("nothing", "optimizer", "sampler", "random", "half", "schedule")


class Notes:
    """A journal in memory, of two lives."""

    def __init__(self):
        self.life, self.step, self.lines = 0, 0, []

    def write(self, **line):
        self.lines.append({"life": self.life, **line})


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
        loss_of_piece = step.reader(training, text, batch, args, device, notes, notes.step)
        yield step.train_step(training, loss_of_piece, len(batch), args.most)
        notes.step += 1


def one_run(without, args, text, device):
    """Train with a kill in the middle. Return the run and the network."""
    notes, training = Notes(), step.build(text, args, device)
    losses = list(steps(training, text, args, device, notes, args.saved_at))
    saved = copied(snapshot.capture(training)) | {"step": notes.step}
    lost = list(steps(training, text, args, device, notes, args.kill_at))

    training = step.build(text, args, device)  # a new process would begin here
    run = Run("15", args, training.network, source="broken", dataset=text.facts, without=without)
    notes.life, notes.step = 1, restored(training, saved, without)
    began, last = notes.step, step.steps_of(args)
    losses = losses[:began] + list(steps(training, text, args, device, notes, last))
    each = args.windows // args.global_batch
    for first in range(0, last, each):
        with run.epoch() as log:
            log(loss=sum(losses[first : first + each]) / each, steps=each)
    lives = [{"first": 0, "last": args.kill_at}, {"first": began, "last": last}]
    run.measure("lost", args.saved_at - began + len(lost), "steps")
    run.measure("read_wrong", read_wrong(gather(notes.lines), lives, each, args.windows), "samples")
    return run, training.network


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--without", nargs="+", default=FAULTS[:-1], choices=FAULTS, help="what to forget"
    )
    parser.add_argument("--saved-at", type=int, default=15, help="step of the only checkpoint")
    parser.add_argument("--kill-at", type=int, default=18, help="step after which all is lost")
    step.add_options(parser)
    return parser


def main():
    args = command_line().parse_args()

    device = train.start_ranks()[-1]
    text = Text()
    notes, training = Notes(), step.build(text, args, device)
    for _ in steps(training, text, args, device, notes, step.steps_of(args)):
        pass
    right = list(training.network.parameters())
    for without in args.without:
        run, network = one_run(without, args, text, device)
        pairs = zip(network.parameters(), right, strict=True)
        run.measure("apart", max(float((a - b).detach().abs().max()) for a, b in pairs))
        loss, accuracy = evaluate(network, text, device)
        run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
