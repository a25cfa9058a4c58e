"""Train a small network on MNIST in NumPy, with forward pass, backward pass and update by hand.

python train.py --epochs 3 --batch-size 32
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import numpy as np

from lessons.toolkit import data
from lessons.toolkit.record import Run


def start(rng, inputs=784, hidden=64, outputs=10):
    """Return initial parameters: random weights that keep the signal's size, and zero biases."""
    w1 = rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden))
    w2 = rng.normal(0, np.sqrt(2 / hidden), (hidden, outputs))
    parts = [w1, np.zeros(hidden), w2, np.zeros(outputs)]
    return [part.astype(np.float32) for part in parts]


def forward(params, x):
    """Return each image's probabilities of the ten digits, and what the backward pass needs."""
    w1, b1, w2, b2 = params
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)  # changes no probability; exp cannot overflow
    powers = np.exp(scores)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return probabilities, (x, hidden, w2, probabilities)


def cross_entropy(probabilities, labels):
    """Return the mean of -log(probability of the right digit)."""
    right = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(right, 1e-30)).mean())


def backward(cache, labels):
    """Return gradients of the mean cross-entropy with respect to w1, b1, w2, b2."""
    x, hidden, w2, probabilities = cache
    ### BEGIN SOLUTION Exercise 1.3: the four gradients, from the end to the beginning
    d_scores = probabilities.copy()
    d_scores[np.arange(len(labels)), labels] -= 1
    d_scores /= len(labels)
    d_hidden = d_scores @ w2.T
    d_hidden *= hidden > 0  # relu passes on only what was above zero
    return [x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]
    ### END SOLUTION


def update(params, gradients, lr):
    """Make one step downhill: move every parameter against its gradient, in place."""
    ### BEGIN SOLUTION Exercise 1.5: one step for every array, in place
    for param, gradient in zip(params, gradients, strict=True):
        param -= lr * gradient
    ### END SOLUTION


def minibatches(n, batch, rng):
    """Return index arrays that contain 0 ... n-1 once each, in a new random order at each call."""
    ### BEGIN SOLUTION Exercise 1.4: the repaired line (or two)
    order = rng.permutation(n)
    return [order[first : first + batch] for first in range(0, n, batch)]
    ### END SOLUTION


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--model", default="mlp64", choices=["mlp64"], help="the network")
    return parser


def main():
    args = command_line().parse_args()
    rng = np.random.default_rng(args.seed)
    mnist = data.load("mnist", train_samples=args.train_samples)
    x_train = mnist.x_train.reshape(-1, 784)
    y_train = mnist.y_train
    params = start(rng)

    run = Run("01", args, params, optimizer="sgd")
    for _ in range(args.epochs):
        with run.epoch() as log:
            batches = minibatches(len(x_train), args.batch_size, rng)
            loss = 0.0
            right = 0
            for batch in batches:
                x = x_train[batch]
                labels = y_train[batch]
                probabilities, cache = forward(params, x)
                update(params, backward(cache, labels), args.lr)
                loss += cross_entropy(probabilities, labels) * len(batch)
                right += int((probabilities.argmax(axis=1) == labels).sum())
            loss /= len(x_train)
            accuracy = right / len(x_train)
            log(steps=len(batches), loss=loss, accuracy=accuracy)

    probabilities, _ = forward(params, mnist.x_test.reshape(-1, 784))
    test_loss = cross_entropy(probabilities, mnist.y_test)
    test_accuracy = float((probabilities.argmax(axis=1) == mnist.y_test).mean())
    print(f"Test loss: {test_loss:.4f}\nTest accuracy: {test_accuracy:.4f}")
    np.save("weights.npy", np.concatenate([param.ravel() for param in params]))
    run.end(test_loss=test_loss, test_accuracy=test_accuracy)


if __name__ == "__main__":
    main()
