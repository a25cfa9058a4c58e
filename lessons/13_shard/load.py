"""Load a checkpoint that several ranks wrote, on any number of ranks, and let it write.

python load.py --save checkpoint
"""

import torch
import torch.distributed as dist

from lessons.toolkit.record import Run

from gpt import GPT, Text, write
from saving import load
from train import command_line, evaluate, start_ranks
from ways import share_out


def main():
    parser = command_line()
    parser.description = __doc__.splitlines()[0]
    parser.set_defaults(save="checkpoint", ways=["alone"])
    args = parser.parse_args()

    rank, size, device = start_ranks()
    way = args.ways[0] if size == 1 else "fsdp"
    text = Text()
    torch.manual_seed(args.seed + 1)  # another network, until it is loaded
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    run = Run("13", args, network, source="load", dataset=text.facts)
    shared = share_out(way, network, args.lr, args)
    load(shared.model, shared.optimizer, args.save)

    loss, accuracy = evaluate(network, text, device)
    if size == 1:
        print(f"  It writes: {' '.join(write(network, text, length=70).split())}")
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
