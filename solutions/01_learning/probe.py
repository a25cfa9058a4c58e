"""Test train.py: are its gradients, its step and its batches right?

python probe.py

Nothing here is to be filled in. The job runs it after the training. Gradients are compared with
central differences of the loss, in double precision, which is why a small network is enough.
"""

import numpy as np

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import train

SHAPES = ((12, 9), (9,), (9, 5), (5,))  # of w1, b1, w2, b2
E = 1e-6  # a step of the central differences
IMAGES, BATCH = 75, 32  # the last batch is smaller
rng = np.random.default_rng()


def arrays():
    return [rng.normal(scale=0.5, size=shape) for shape in SHAPES]


def error(found, right):
    """Return the largest error of an array, relative to the largest right value in it."""
    shapes = [np.shape(array) for array in found]
    if shapes != [array.shape for array in right]:
        raise ValueError(f"arrays of the shapes {shapes}")
    pairs = zip(found, right, strict=True)
    return max(float(np.abs(one - other).max() / np.abs(other).max()) for one, other in pairs)


def gradients():
    """Change each parameter a little in both directions, and see what that does to the loss."""
    params, x, labels = arrays(), rng.normal(size=(7, 12)), rng.integers(0, 5, 7)
    right = [np.zeros(shape) for shape in SHAPES]
    for param, gradient in zip(params, right, strict=True):
        for place in np.ndindex(param.shape):
            kept = param[place]
            for sign in (1, -1):
                param[place] = kept + sign * E
                loss = train.cross_entropy(train.forward(params, x)[0], labels)
                gradient[place] += sign * loss / (2 * E)
            param[place] = kept
    yield "gradient_error", error(train.backward(train.forward(params, x)[1], labels), right)


def one_step():
    params, slopes, rate = arrays(), arrays(), 0.375  # a rate that nobody would choose
    right = [-rate * slope for slope in slopes]
    before = [param.copy() for param in params]
    train.update(params, [slope.copy() for slope in slopes], rate)
    yield "descent_error", error([a - b for a, b in zip(params, before, strict=True)], right)


def two_epochs():
    """Cut the images into batches twice."""
    orders = [np.concatenate(train.minibatches(IMAGES, BATCH, rng)).tolist() for _ in range(2)]
    yield "images_missing", max(len(set(range(IMAGES)) - set(order)) for order in orders)
    yield "images_read_again", max(len(order) - len(set(order)) for order in orders)
    yield "reading_orders", len(set(map(tuple, orders)))


TESTS = {  # with measures that rubrics ask for, and that fail with the test
    gradients: ("gradient_error",),
    one_step: ("descent_error",),
    two_epochs: ("images_missing", "images_read_again", "reading_orders"),
}


def main():
    args = train.command_line().parse_args()  # the job starts both with the same options
    run_tests(Run("01", args, source="probe"), TESTS)


if __name__ == "__main__":
    main()
