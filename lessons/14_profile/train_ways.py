"""Train a tiny GPT with numbers of 2 or 4 bytes, and compile it for texts of five lengths.

python train_ways.py --ways float32 float16 scaled
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch

from lessons.toolkit.probes import profiling
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

from gpt import GPT, Text, evaluate, loss_of, windows
from scaling import LossScaler
from train import starts_of

PRECISIONS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "scaled": torch.float16,
}
DYNAMIC = {"static": False, "default": None, "dynamic": True}  # may a compiled length change?
WAYS = (*PRECISIONS, *DYNAMIC)
LENGTHS = (16, 32, 24, 28, 20)  # of a compiled network's batches, over and over again


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


def counted_compile(model, backend, dynamic):
    """Return the compiled network, and PyTorch's count of how often it is compiled."""
    from torch._dynamo.testing import CompileCounterWithBackend  # takes seconds to load

    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    return torch.compile(model, backend=counter, dynamic=dynamic), counter


def add_options(parser):
    parser.add_argument("--epochs", type=int, default=3, help="how often it says how far it is")
    parser.add_argument("--steps", type=int, default=20, help="updates in an epoch")
    parser.add_argument("--length", type=int, default=32, help="most characters in a window")
    parser.add_argument("--batch-size", type=int, default=4, help="windows a step")
    parser.add_argument("--layers", type=int, default=2, help="blocks of the network")
    parser.add_argument("--width", type=int, default=32, help="numbers for each character")
    parser.add_argument("--parts", type=int, default=4096, help="of a batch; ours is one of them")
    parser.add_argument("--backend", default="eager", help="of torch.compile; inductor is slow")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS, help="one after the other")
    add_options(parser)
    return parser


def train(way, args, text, device):
    """Train in one way, from the same start as in all others, and write its record."""
    torch.manual_seed(args.seed)
    model = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    # These gradients are small, and Adam's eps must be small beside them.
    optimizer = torch.optim.AdamW(model.parameters(), args.lr, betas=(0.9, 0.99), eps=1e-12)
    run = Run(
        "14",
        args,
        model,
        source=way,
        precision=str(PRECISIONS.get(way, torch.float32)).removeprefix("torch."),
        dataset=text.facts | {"train_samples": args.steps * args.batch_size},
    )
    scaler, network, compiled, skipped = LossScaler(), model, None, 0
    if way in DYNAMIC:
        network, compiled = counted_compile(model, args.backend, DYNAMIC[way])
    for number in range(1, args.epochs + 1):
        starts, loss_sum = starts_of(number, text, args), 0
        with run.epoch() as log:
            for step, own in enumerate(starts.split(args.batch_size)):
                length = LENGTHS[step % len(LENGTHS)] if compiled else args.length
                batch = [each.to(device) for each in windows(text.train, own, length)]
                loss, none = train_step(way, network, optimizer, batch, scaler, 1 / args.parts)
                loss_sum, skipped = loss_sum + loss, skipped + none
            log(loss=loss_sum.item() / args.steps)
        print(f"{way} {number}/{args.epochs}: loss {loss_sum.item() / args.steps:.3f}", flush=True)
    run.measure("zeros", profiling.share_of_zeros(model))
    if way == "scaled":
        run.measure("scale", scaler.scale, skipped=skipped)
    run.measure("compilations", compiled.frame_count if compiled else 0)
    loss, accuracy = evaluate(model, text, device)
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
