"""Train a small GPT with a slow step and with yours, in turns, and measure where the time goes.

python train.py --rounds 5
"""

import argparse
import statistics
import time
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from lessons.toolkit import traces
from lessons.toolkit.probes import profiling
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

import fast
import flops
import reading
import slow
from gpt import GPT, Text, loss_of, windows
from store import Texts

WAYS = {"before": slow, "after": fast}


class Training(NamedTuple):
    """A network in training, and the functions of its step."""

    way: Any
    model: Any
    optimizer: Any


def start(way, text, args, device):
    """Return a training. All of them begin with the same parameters."""
    torch.manual_seed(args.seed)
    model = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    return Training(way, model, way.optimizer(model.parameters(), args.lr))


def train_step(way, model, optimizer, batch, part):
    """Make an update. Return the loss and the norm of the gradients."""
    optimizer.zero_grad()
    with part("gradients"):
        loss = way.gradients(model, *batch)
    with part("update"):
        optimizer.step()
    with part("note"):
        return way.note(model, loss)


def some_steps(training, text, starts, args, device):
    """Train with the windows at `starts`. Return loss, seconds, their parts, and who read."""
    way, model, optimizer = training
    texts = Texts(text.train, starts, args.length, args.delay)
    part = profiling.Parts(device)
    batches = iter(way.batches(texts, args.batch_size))
    first = next(batches)  # workers take a moment to start, so the clock starts later
    noted = []
    profiling.synchronise(device)
    began = time.perf_counter()
    for number in range(len(starts) // args.batch_size):
        with part("input"):
            batch = next(batches) if number else first
            batch = [piece.to(device) for piece in batch]
        noted.append(train_step(way, model, optimizer, batch, part))
    profiling.synchronise(device)
    seconds = time.perf_counter() - began
    loss = torch.stack([values.cpu() for values in noted])[:, 0].mean().item()
    return loss, seconds, part.seconds(), texts.readers


def starts_of(epoch, text, args):
    """Return where an epoch's windows start, all at different places."""
    generator = torch.Generator().manual_seed(1000 * args.seed + epoch)
    places = torch.randperm(len(text.train) - args.length, generator=generator)
    return places[: args.steps * args.batch_size]


@torch.no_grad()
def evaluate(model, text, device, length):
    """Return the loss and the share of right predictions, in text that it has never read."""
    starts = torch.arange(0, len(text.test) - length, length)[:256]
    ids, following = (part.to(device) for part in windows(text.test, starts, length))
    scores = model(ids)
    accuracy = (scores.argmax(-1) == following).float().mean().item()
    return loss_of(scores, following).item(), accuracy


def measure_round(record, number, trainings, text, args, device):
    """Train with both steps, once each, and write what this round measured."""
    starts, found = starts_of(number, text, args), {}
    names = list(WAYS) if number % 2 else list(reversed(WAYS))  # nobody is always the first
    for name in names:
        if name == "after":
            with record.epoch(steps=args.steps) as epoch:
                found[name] = some_steps(trainings[name], text, starts, args, device)
                epoch.read(starts.numpy())
                epoch.log(loss=found[name][0])
        else:
            found[name] = some_steps(trainings[name], text, starts, args, device)
    peak = profiling.peak_flops(device)
    record.measure("peak_flops", peak, "FLOP/s", round=number)
    for name, (_, seconds, parts, readers) in found.items():
        ms = {f"{part}_ms": 1000 * statistics.mean(times) for part, times in parts.items()}
        step = seconds / args.steps
        record.measure("step_ms", 1000 * step, "ms", way=name, round=number, **ms)
        own = readers.own_share()  # how many of the windows the training itself has read
        record.measure("own_reads", own, "", way=name, round=number)
    before, after = found["before"], found["after"]
    mfu = args.flops * args.steps / after[1] / peak
    record.measure("mfu", mfu, "", round=number)
    record.measure("gain", before[1] / after[1], "", round=number)
    record.measure("loss_apart", abs(before[0] - after[0]), "", round=number)
    print(
        f"Round {number}: {1000 * before[1] / args.steps:.1f} ms per step before, "
        f"{1000 * after[1] / args.steps:.1f} ms after, loss {after[0]:.3f}",
        flush=True,
    )


def write_traces(trainings, text, args, device):
    """Profile four steps of each training, and write the traces."""
    kinds = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device.type == "cuda")
    starts = starts_of(args.rounds + 1, text, args)[: 4 * args.batch_size]
    for name, training in trainings.items():
        with profile(activities=kinds) as profiler:
            some_steps(training, text, starts, args, device)
        traces.write(f"trace_{name}.json.gz", traces.reduced(profiler))


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often both steps are measured")
    parser.add_argument("--steps", type=int, default=12, help="updates in a round, of each step")
    parser.add_argument("--length", type=int, default=32, help="characters in a window")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=8, help="windows in a step"
    )
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=64, help="numbers for each character")
    parser.add_argument("--delay", type=float, default=0.002, help="seconds to read a window")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)  # one core, whose peak is measured; the loader may have the others
    text = Text()
    trainings = {name: start(way, text, args, device) for name, way in WAYS.items()}
    model = trainings["after"].model
    starts = torch.arange(args.batch_size)
    batch = [piece.to(device) for piece in windows(text.train, starts, args.length)]
    args.flops, attention = profiling.counted_flops(model, *batch)
    record = Record(
        "14",
        args,
        source="step",
        framework="torch",
        model="gpt",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="adamw",
        dataset=text.facts | {"train_samples": args.steps * args.batch_size},
        epochs_asked=args.rounds,
    )
    record.measure("flops", args.flops, "FLOP", attention=attention)
    record.measure("bandwidth", profiling.bandwidth(device), "bytes/s")
    record.measure("multiplied", profiling.multiplied(model), "")
    record.measure("flops_error", profiling.flops_error(flops.step_flops, GPT), "")
    record.measure("roofline_error", profiling.roofline_error(flops.attainable), "")
    record.measure("reading_error", profiling.reading_error(reading.busy, reading.hidden), "")
    record.measure("step_error", profiling.step_error(fast, slow, train_step, GPT), "")
    record.measure("note_error", profiling.note_error(fast.note, GPT), "")
    for name, training in trainings.items():
        for what, count in profiling.count_step(*training, batch).items():
            record.measure(what, count, "", way=name)
    record.begin(model.parameters())
    for number in range(1, args.rounds + 1):
        measure_round(record, number, trainings, text, args, device)
    record.trained(model.parameters())
    loss, accuracy = evaluate(model, text, device, args.length)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    write_traces(trainings, text, args, device)
    record.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
