"""Load a checkpoint that several ranks wrote, on any number of ranks, and go on training.

python load.py --save checkpoint
"""

import torch
import torch.distributed as dist

from lessons.toolkit.record import Record

from gpt import GPT, Text, write
from saving import load
from train import command_line, evaluate, gather, next_loss, start_ranks
from ways import share_out


def main():
    parser = command_line()
    parser.description = __doc__.splitlines()[0]
    parser.set_defaults(save="checkpoint", ways=["alone"])
    args = parser.parse_args()

    rank, size, local_rank, device = start_ranks()
    way = args.ways[0] if size == 1 else "fsdp"
    text = Text()
    torch.manual_seed(args.seed + 1)  # another network, until it is loaded
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    record = Record(
        "13",
        args,
        source="load",
        framework="torch",
        model="gpt",
        params=sum(p.numel() for p in network.parameters()),
        optimizer="adamw",
        dataset=text.facts | {"train_samples": args.windows},
        rank=rank,
        size=size,
        local_rank=local_rank,
    )
    shared = share_out(way, network, args.lr, args)
    record.begin(shared.whole())
    load(shared.model, shared.optimizer, args.save)
    record.trained(shared.whole(), gather)

    loss, accuracy = evaluate(shared.model, text, device, args.length)
    if size == 1:
        print(f"  It writes: {' '.join(write(network, text, length=70).split())}")
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}", flush=True)
    record.measure("next_loss", next_loss(shared, text, args, rank, size, device), "")
    record.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
