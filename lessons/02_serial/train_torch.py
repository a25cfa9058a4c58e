"""Train a small network on MNIST with PyTorch, on one device, with a training loop of its own.

python train_torch.py --epochs 4 --batch-size 32
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run


def build_model(name):
    """Return mlp512 (one hidden layer, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
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


def make_loader(images, batch_size):
    """Return batches of the images, which are shuffled in each epoch."""
    gpu = torch.cuda.is_available()  # only pinned memory is copied while a GPU computes
    return DataLoader(images, batch_size, shuffle=True, pin_memory=gpu)


def train_step(model, optimizer, loss_function, x, y):
    """Make an update from one batch. Return the loss and the network's outputs."""
    raise NotImplementedError("Exercise 2.2: the repaired training step")


def train_epoch(model, loader, optimizer, loss_function, device):
    """Train on all batches. Return the mean loss and the accuracy."""
    loss_sum, right = 0, 0
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss, outputs = train_step(model, optimizer, loss_function, x, y)
        loss_sum += loss.detach() * len(y)
        right += (outputs.argmax(1) == y).sum()
    images = len(loader.dataset)
    return loss_sum.item() / images, right.item() / images


@torch.no_grad()
def evaluate(model, loader, loss_function, device):
    """Return the mean loss and the accuracy with the current parameters."""
    model.eval()
    sums = torch.zeros(2, device=device)  # of the losses, and of the right answers
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        outputs = model(x)
        sums += torch.stack([loss_function(outputs, y) * len(y), (outputs.argmax(1) == y).sum()])
    model.train()
    return (sums / len(loader.dataset)).tolist()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images a step")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(args.seed)
    mnist = data.load("mnist", args.train_samples)
    train_set = TensorDataset(torch.tensor(mnist.x_train), torch.tensor(mnist.y_train))
    test_set = TensorDataset(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test))
    loader = make_loader(train_set, args.batch_size)
    test_loader = DataLoader(test_set, 1000)

    network = build_model(args.model).to(device)
    run = Run("02", args, network)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss()

    for _ in range(args.epochs):
        with run.epoch() as log:
            loss, accuracy = train_epoch(network, loader, optimizer, loss_function, device)
            log(loss=loss, accuracy=accuracy)

    loss, accuracy = evaluate(network, test_loader, loss_function, device)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
