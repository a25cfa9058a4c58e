"""Train a tiny GPT with numbers of 2 or 4 bytes, and compile it for texts of several lengths.

python train_ways.py --ways float32 float16 scaled
"""

import argparse

import torch

from lessons.toolkit.probes import profiling
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

from gpt import GPT, Text, loss_of, windows
from lengths import LENGTHS, padded
from scaling import LossScaler
from train import evaluate

PRECISIONS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "scaled": torch.float16,
}
WAYS = (*PRECISIONS, "lengths", "padded")


def train_step(way, model, optimizer, batch, scaler, part):
    """Make an update on a small part of a batch. Return the loss, and whether it was skipped."""
    ids, following = batch
    optimizer.zero_grad()
    dtype = PRECISIONS.get(way, torch.float32)
    with torch.autocast(ids.device.type, dtype, enabled=dtype != torch.float32):
        loss = loss_of(model(ids), following)
    if way == "scaled":
        (part * loss * scaler.scale).backward()
        updated = scaler.step(optimizer, list(model.parameters()))
    else:
        (part * loss).backward()
        optimizer.step()
        updated = True
    return loss.detach(), not updated


def batch_of(way, text, starts, number, args):
    """Return the texts of a step, whose length changes if `way` compiles."""
    length = LENGTHS[number % len(LENGTHS)] if way in ("lengths", "padded") else args.length
    ids, following = windows(text.train, starts, length)
    return padded(ids, following, args.length) if way == "padded" else (ids, following)


def starts_of(epoch, text, args):
    """Return where an epoch's windows start, all at different places."""
    generator = torch.Generator().manual_seed(1000 * args.seed + epoch)
    places = torch.randperm(len(text.train) - args.length, generator=generator)
    return places[: args.steps * args.batch_size]


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS, help="one after the other")
    parser.add_argument("--epochs", type=int, default=3, help="how often it says how far it is")
    parser.add_argument("--steps", type=int, default=20, help="updates in an epoch")
    parser.add_argument("--length", type=int, default=32, help="most characters in a window")
    parser.add_argument("--batch-size", type=int, default=4, help="windows a step")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=32, help="numbers for each character")
    parser.add_argument(
        "--parts", type=int, default=4096, help="parts of the whole batch, like ours"
    )
    parser.add_argument("--backend", default="eager", help="of torch.compile; inductor is slow")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def train(way, args, text, device):
    """Train in one way, from the same start as in all others, and write its record."""
    torch.manual_seed(args.seed)
    model = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), args.lr, betas=(0.9, 0.99), eps=1e-12)
    run = Run(
        "14",
        args,
        model,
        source=way,
        precision=str(PRECISIONS.get(way, torch.float32)).removeprefix("torch."),
        dataset=text.facts | {"train_samples": args.steps * args.batch_size},
    )
    scaler, network, compiled = LossScaler(), model, profiling.Compilations(args.backend)
    if way in ("lengths", "padded"):
        network = compiled.compile(model)
    skipped = 0
    for number in range(1, args.epochs + 1):
        starts, loss_sum = starts_of(number, text, args), 0
        with run.epoch() as log:
            for step, own in enumerate(starts.split(args.batch_size)):
                batch = [each.to(device) for each in batch_of(way, text, own, step, args)]
                loss, none = train_step(way, network, optimizer, batch, scaler, 1 / args.parts)
                loss_sum, skipped = loss_sum + loss, skipped + none
            log(loss=loss_sum.item() / args.steps)
        print(f"{way} {number}/{args.epochs}: loss {loss_sum.item() / args.steps:.3f}", flush=True)
    run.measure("zeros", profiling.share_of_zeros(model))
    if way == "scaled":
        run.measure("scale", scaler.scale, skipped=skipped)
    run.measure("compilations", compiled.count)
    loss, accuracy = evaluate(model, text, device, args.length)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    run.end(test_loss=loss, test_accuracy=accuracy)


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    text = Text()
    for way in args.ways:
        train(way, args, text, device)


if __name__ == "__main__":
    main()
