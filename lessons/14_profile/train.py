"""Train a small GPT with a slow step, with yours, and with levers on yours, in turns.

python train.py --rounds 5 --levers bfloat16 bfloat16+compile
"""

import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from contextlib import nullcontext

import torch

from lessons.toolkit.probes import profiling
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import fast
import levers
import rounds
import slow
from gpt import GPT, Text, evaluate, windows
from store import Texts

WAYS = {"before": slow, "after": fast}


def start(name, text, args, device):
    """Return step, network and optimizer of a training. All begin with the same parameters."""
    way = WAYS.get(name, fast)  # a lever is tried on the fast step
    torch.manual_seed(args.seed)
    model = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    levers.pull(name, model, device)
    return way, model, way.optimizer(model.parameters(), args.lr)


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


def measure_round(run, number, trainings, text, args, device):
    """Train with each step once. Return each one's loss, seconds, parts and readers."""
    starts, found = starts_of(number, text, args), {}
    names = list(trainings) if number % 2 else list(reversed(trainings))  # all are first at times
    for name in names:
        levers.set_products(name)
        with run.epoch() if name == "after" else nullcontext(dict) as log:
            found[name] = some_steps(trainings[name], text, starts, args, device)
            log(loss=found[name][0])
    return found


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often both steps are measured")
    parser.add_argument("--levers", nargs="*", default=[], type=levers.lever, help="or both: a+b")
    parser.add_argument("--steps", type=int, default=12, help="updates in a round, of each step")
    parser.add_argument("--length", type=int, default=32, help="characters in a window")
    parser.add_argument("--batch-size", type=int, default=8, help="windows in a step")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=64, help="numbers for each character")
    parser.add_argument("--delay", type=float, default=0.002, help="seconds to read a window")
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)  # one core, whose peak is measured; the loader may have the others
    text = Text()
    names = [*WAYS, *args.levers]
    trainings = {name: start(name, text, args, device) for name in names}
    model = trainings["after"][1]
    facts = text.facts | {"train_samples": args.steps * args.batch_size}
    run = Run("14", args, model, source="step", dataset=facts, epochs_asked=args.rounds)
    batch = windows(text.train, torch.arange(args.batch_size), args.length)
    batch = [piece.to(device) for piece in batch]
    work = rounds.begin(run, start("after", text, args, device), train_step, batch)
    two = starts_of(0, text, args)[: 2 * args.batch_size]
    levers.warm_up(trainings, lambda each: some_steps(each, text, two, args, device))
    for number in range(1, args.rounds + 1):
        found = measure_round(run, number, trainings, text, args, device)
        rounds.note(run, number, found, profiling.peak_flops(device), work, args.steps)
    levers.set_products("after")
    loss, accuracy = evaluate(model, text, device)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    four = starts_of(args.rounds + 1, text, args)[: 4 * args.batch_size]
    rounds.write_traces(trainings, lambda each: some_steps(each, text, four, args, device), device)
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
