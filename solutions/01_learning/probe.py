"""Test train.py: are its gradients, its step and its batches right?

python probe.py

Nothing here is to be filled in. The job runs it after the training. Gradients are compared with
central differences of the loss, as in the check of exercise 1.3.
"""

import numpy as np

from lessons.toolkit.checks.lesson_01 import check_1_3, check_1_5
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import train

IMAGES, BATCH = 75, 32  # the last batch is smaller
rng = np.random.default_rng()


def gradients():
    yield "gradient_error", check_fails(check_1_3, train.forward, train.backward)
    yield "descent_error", check_fails(check_1_5, train.update)


def two_epochs():
    """Cut the images into batches twice."""
    orders = [np.concatenate(train.minibatches(IMAGES, BATCH, rng)).tolist() for _ in range(2)]
    yield "images_missing", max(len(set(range(IMAGES)) - set(order)) for order in orders)
    yield "images_read_again", max(len(order) - len(set(order)) for order in orders)
    yield "reading_orders", len(set(map(tuple, orders)))


TESTS = {  # with measures that rubrics ask for, and that fail with the test
    gradients: ("gradient_error", "descent_error"),
    two_epochs: ("images_missing", "images_read_again", "reading_orders"),
}


def main():
    args = train.command_line().parse_args()  # the job starts both with the same options
    run_tests(Run("01", args, source="probe"), TESTS)


if __name__ == "__main__":
    main()
