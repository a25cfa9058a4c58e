"""Score predictions against the data set's own labels."""

import numpy as np


def score(probabilities: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return cross-entropy and accuracy.

    Row i of the probabilities belongs to label i. Labels without a row of probabilities count as
    wrong.
    """
    found = np.asarray(probabilities, np.float64)[: len(labels)]
    chosen = np.take_along_axis(found, labels[: len(found), None], axis=1)[:, 0]
    loss = -np.log(np.clip(chosen, 1e-7, 1)).sum() - np.log(1e-7) * (len(labels) - len(found))
    right = (found.argmax(axis=1) == labels[: len(found)]).sum()
    return float(loss / len(labels)), float(right / len(labels))
