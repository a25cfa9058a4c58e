"""The parts of a step: its options, network and sampler, a batch with noise, and one update."""

import sys

import torch
import torch.distributed as dist

import pieces
from gpt import GPT, loss_of, windows
from sampler import Sampler
from snapshot import Training


def add_options(parser):
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


def build(text, args, device):
    """Return a network and all that trains it, as they are before the first step."""
    torch.manual_seed(args.seed)  # the same network and the same noise on all ranks
    network = GPT(len(text.characters), args.length, args.layers, args.width).to(device)
    optimizer = torch.optim.AdamW(network.parameters(), args.lr, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps_of(args) + 1)
    return Training(network, optimizer, schedule, Sampler(args.windows, args.seed))


def steps_of(args):
    if args.windows % args.global_batch:
        sys.exit("--windows must be a multiple of --global-batch")
    return args.epochs * args.windows // args.global_batch


def places(text, args):
    """Return where the windows start: a window's number is its place in this list."""
    generator = torch.Generator().manual_seed(args.seed)
    return torch.randperm(len(text.train) - args.length, generator=generator)[: args.windows]


def train_step(training, loss_of_piece, samples, most):
    """Make an update with a global batch of so many samples. Return its mean loss."""
    training.optimizer.zero_grad()
    rank, size = dist.get_rank(), dist.get_world_size()
    loss = pieces.add_gradients(loss_of_piece, torch.arange(samples), rank, size, most)
    params = list(training.network.parameters())
    flat = torch.cat([param.grad.flatten() for param in params] + [loss.reshape(1)])
    dist.all_reduce(flat)  # one message, so the sum has the same order in every run
    for param, gradient in zip(params, flat.split([p.numel() for p in params] + [1]), strict=False):
        param.grad.copy_(gradient.view_as(param))
    training.optimizer.step()
    training.schedule.step()
    return flat[-1].item()


def reader(training, text, batch, args, device, journal, number):
    """Return a function that gives the mean loss of a part of a global batch.

    Some characters are wrong, by chance. All ranks draw them for the whole batch, so training does
    not depend on the number of ranks.
    """
    ids, following = windows(text.train, places(text, args)[batch], args.length)
    wrong = torch.rand(ids.shape) < args.noise
    ids = torch.where(wrong, torch.randint(len(text.characters), ids.shape), ids)

    def loss_of_piece(part):
        journal.write(step=number, read=batch[part].tolist())
        return loss_of(training.network(ids[part].to(device)), following[part].to(device))

    return loss_of_piece
