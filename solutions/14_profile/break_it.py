"""Train with everything that this lesson mends, and then with one of it missing, in one run each.

python break_it.py --without nothing scaling
"""

import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch

from lessons.toolkit.probes import profiling
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import fast
import slow
import train_ways
from gpt import GPT, Text, evaluate, loss_of
from scaling import LossScaler
from store import Texts
from train import starts_of

FAULTS = ("nothing", "item", "workers", "scaling", "shapes")


def train_step(without, model, optimizer, batch, scaler, parts):
    """Make an update in float16, of a batch that is one of many parts of a large one."""
    ids, following = batch
    optimizer.zero_grad()
    with torch.autocast(ids.device.type, torch.float16):
        loss = loss_of(model(ids), following)
    if without == "scaling":  # small gradients become 0
        (loss / parts).backward()
        optimizer.step()
    else:
        (loss / parts * scaler.scale).backward()
        scaler.step(optimizer, list(model.parameters()))
    return loss.detach()


def one_run(without, args, text, device):
    torch.manual_seed(args.seed)
    model = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), args.lr, betas=(0.9, 0.99), eps=1e-12)
    facts = text.facts | {"train_samples": args.steps * args.batch_size}
    run = Run(
        "14", args, model, source="broken", precision="float16", dataset=facts, without=without
    )
    scaler = LossScaler()  # with "shapes", each length is compiled by itself
    dynamic = without != "shapes"
    network, compiled = train_ways.counted_compile(model, args.backend, dynamic)
    batches = slow.batches if without == "workers" else fast.batches  # no workers: read, then train
    note = slow.note if without == "item" else fast.note  # .item() for every parameter
    waits, own_reads = profiling.Waits(), 0
    for number in range(1, args.epochs + 1):
        starts, noted, waited = starts_of(number, text, args), [], 0
        texts = Texts(text.train, starts, args.length, args.delay)
        with run.epoch() as log:
            loader = iter(batches(texts, args.batch_size))
            for step in range(args.steps):
                began = time.perf_counter()
                length = train_ways.LENGTHS[step % len(train_ways.LENGTHS)]
                batch = [each[:, :length] for each in next(loader)]
                waited += time.perf_counter() - began
                batch = [each.to(device) for each in batch]
                loss = train_step(without, network, optimizer, batch, scaler, args.parts)
                with waits:
                    noted.append(note(model, loss))
            log(loss=torch.stack([each.cpu() for each in noted])[:, 0].mean().item())
        own_reads = max(own_reads, texts.readers.own_share())
    run.measure("waits_per_step", waits.count / args.steps / args.epochs)
    run.measure("own_reads", own_reads)
    run.measure("input_ms", 1000 * waited / args.steps, "ms")
    run.measure("zeros", profiling.share_of_zeros(model))
    run.measure("compilations", compiled.frame_count)
    loss, accuracy = evaluate(model, text, device)
    print(f"without {without}: test loss {loss:.3f}", flush=True)
    run.end(test_loss=loss, test_accuracy=accuracy)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="the faults")
    parser.add_argument("--delay", type=float, default=0.002, help="seconds to read a window")
    train_ways.add_options(parser)
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    text = Text()
    for without in args.without:
        one_run(without, args, text, device)


if __name__ == "__main__":
    main()
