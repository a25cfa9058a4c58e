"""Train lesson 01's network, set its smallest weights to zero, and see what it still knows.

python prune.py --shares 0.5 0.8 0.95
"""

import argparse

import torch
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.record import Record


def prune(weights, share):
    """Copies of these matrices in which a share of all their numbers, the smallest, is 0."""
    ### BEGIN SOLUTION Exercise 11.8c: one limit for the magnitudes of all matrices together
    magnitudes = torch.cat([weight.abs().flatten() for weight in weights])
    limit = magnitudes.sort().values[round(share * len(magnitudes)) - 1]
    return [torch.where(weight.abs() > limit, weight, 0.0) for weight in weights]
    ### END SOLUTION


def train_epoch(model, x, y, batch_size, masks=()):
    """One pass; where a mask is False, a weight stays 0."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in torch.randperm(len(x)).split(batch_size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
        optimizer.step()
        for weight, mask in zip(matrices(model), masks, strict=False):
            weight.data *= mask


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def matrices(model):
    """The weights without the biases, which are few."""
    return [parameter for parameter in model.parameters() if parameter.dim() == 2]


def look_at(before, after):
    """Share of zeros, and how many weights were set to zero although a kept one is smaller."""
    old, new = (torch.cat([weight.flatten() for weight in each]) for each in (before, after))
    if old.shape != new.shape or not torch.equal(old[new != 0], new[new != 0]):
        return 0.0, len(old)  # not the weights that came in
    kept = old[new != 0].abs().min() if (new != 0).any() else torch.inf
    return (new == 0).float().mean().item(), int((old[new == 0].abs() > kept).sum())


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--shares", type=float, nargs="+", default=[0.5, 0.8, 0.95], help="of the weights to remove"
    )
    parser.add_argument("--epochs", type=int, default=3, help="passes before anything is removed")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=32, help="images a step")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if not all(0 < share < 1 for share in args.shares):
        parser.error("--shares lie between 0 and 1")
    torch.manual_seed(args.seed)
    mnist = data.load("mnist", train_samples=args.train_samples)
    x, y = torch.tensor(mnist.x_train), torch.tensor(mnist.y_train, dtype=torch.long)
    x_test, y_test = torch.tensor(mnist.x_test), torch.tensor(mnist.y_test, dtype=torch.long)

    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
    record = Record(
        "11",
        args,
        source="prune",
        model="mlp64",
        params=sum(parameter.numel() for parameter in model.parameters()),
        optimizer="sgd",
        lr=0.1,
        dataset=mnist.facts,
    )
    record.begin(model.parameters())
    for _ in range(args.epochs):
        with record.epoch():
            train_epoch(model, x, y, args.batch_size)
    record.trained(model.parameters())
    whole = {name: value.clone() for name, value in model.state_dict().items()}
    dense = accuracy(model, x_test, y_test)
    print(f"all weights: test accuracy {dense:.4f}")

    for share in args.shares:
        model.load_state_dict(whole)
        before = [weight.detach().clone() for weight in matrices(model)]
        after = prune([weight.clone() for weight in before], share)
        zeros, wrong = look_at(before, after)
        for weight, pruned in zip(matrices(model), after, strict=True):
            weight.data.copy_(pruned)
        found = accuracy(model, x_test, y_test)
        train_epoch(model, x, y, args.batch_size, [pruned != 0 for pruned in after])
        again = accuracy(model, x_test, y_test)
        print(f"{zeros:.2%} zeros: {found:.4f}, after one more epoch of the others {again:.4f}")
        record.measure("zeros", zeros, "", share=share)
        record.measure("wrongly_removed", wrong, "weights", share=share)
        record.measure("pruned_accuracy", found, "", share=share, retrained=again)
    record.end(test_accuracy=dense)


if __name__ == "__main__":
    main()
