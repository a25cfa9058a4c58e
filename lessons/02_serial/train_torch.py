"""Train a small network on MNIST with PyTorch, on one device: train.py with a visible loop.

python train_torch.py --epochs 4 --batch-size 32
"""

import argparse
import math

import torch
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.probes import step_error
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record


def build_model(name):
    """Return mlp512 (784-512-10, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
    if name == "cnn":
        return nn.Sequential(
            nn.Unflatten(1, (1, 28)),
            nn.Conv2d(1, 32, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(9216, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )
    # No softmax at the end: CrossEntropyLoss contains it.
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


def train_step(model, optimizer, loss_function, x, y):
    """Make an update from one batch. Return the loss and the network's outputs."""
    raise NotImplementedError("Exercise 2.2: zero the gradients, forward, backward, step")


@torch.no_grad()
def evaluate(model, loss_function, x, y):
    """Return loss and accuracy with the current parameters."""
    model.eval()
    outputs = torch.cat([model(part) for part in x.split(1000)])
    model.train()
    loss = loss_function(outputs, y).item()
    accuracy = (outputs.argmax(1) == y).float().mean().item()
    return loss, accuracy


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=32, help="images a step")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    mnist = data.load("mnist", train_samples=args.train_samples)
    x = torch.tensor(mnist.x_train)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    model = build_model(args.model).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss()

    record = Record(
        "02",
        args,
        source="torch",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="adam",
        dataset=mnist.facts,
    )
    record.begin(model.parameters())
    for number in range(1, args.epochs + 1):
        loss_sum = 0
        correct = 0
        with record.epoch(steps=math.ceil(len(x) / args.batch_size)) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size):
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                loss, outputs = train_step(model, optimizer, loss_function, xb, yb)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
            epoch.log(loss=loss_sum.item() / len(x), accuracy=correct.item() / len(x))
        print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
    record.trained(model.parameters())

    loss, accuracy = evaluate(model, loss_function, x_test.to(device), y_test.to(device))
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.measure("step_error", step_error(train_step), "")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )


if __name__ == "__main__":
    main()
