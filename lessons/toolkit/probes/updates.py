"""Compare vectors by their lengths."""

import math
from typing import Any

import numpy as np


def length_ratio(difference: Any, whole: Any) -> float:
    """Return the ratio of the lengths of two vectors; 0 if there is no difference."""
    above, below = float(np.linalg.norm(difference)), float(np.linalg.norm(whole))
    if above == 0:
        return 0.0
    return above / below if below > 0 else math.inf
