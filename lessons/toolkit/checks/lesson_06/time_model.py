"""Check the model of an exchange's time, and the fit of this model (6.3)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    compare,
    exercise,
    number,
    pair,
)

Function = Callable[..., Any]


@exercise("6.3")
def check_6_3(model: Function, fit: Function) -> str:
    """Time models for ring, server and separate servers; a fit predicts a new size within 30 %."""
    cases = [
        (("ring", 4, 1e6, 0, 1e-9), 1.5e-3, {6e-3: FORGOT_CHUNKS, 0.75e-3: TWO_PHASES}),
        (("ring", 4, 0, 1e-5, 0), 6e-5, {1e-5: EACH_MESSAGE, 3e-5: TWO_PHASES}),
        (("server", 4, 1e6, 0, 1e-9), 6e-3, {8e-3: OWN_WORKER, 3e-3: BOTH_WAYS, 4e-3: BOTH_WAYS}),
        (("server", 4, 0, 1e-5, 0), 6e-5, {1e-5: EACH_MESSAGE, 8e-5: OWN_WORKER}),
        (("servers", 4, 1e6, 0, 1e-9, 1), 8e-3, {6e-3: SEPARATE, 4e-3: BOTH_WAYS}),
        (("servers", 4, 1e6, 0, 1e-9, 2), 4e-3, {8e-3: SHARE}),
        (
            ("servers", 4, 0, 1e-5, 0, 4),
            8e-5,
            {8e-5 / 4: "Latency is not divided among the servers: count all p messages."},
        ),
        (("ring", 1, 1e6, 1e-5, 1e-9), 0.0, {}),
    ]
    for arguments, right, mistakes in cases:
        found = number(model(*arguments), f"model{arguments}")
        compare(found, right, f"model{arguments}", mistakes, "Count the messages and their bytes.")
    for alpha, beta in ((2e-5, 5e-10), (2e-6, 1e-9)):
        sizes = np.array([1e3, 1e4, 1e6, 1e7])
        noise = np.array([1.05, 0.95, 1.05, 0.95])
        seconds = [true_ring(4, n, alpha, beta) for n in sizes] * noise
        fitted = pair(fit(sizes, seconds, 4), "fit(sizes, seconds, 4)", ("alpha", "beta"))
        for unseen in (1e4, 1e5, 1e8):
            real = true_ring(4, unseen, alpha, beta)
            foretold = true_ring(4, unseen, *fitted)
            if not abs(foretold - real) <= 0.3 * real:
                advice = WEIGHTS
                if abs(true_ring(4, unseen, *reversed(fitted)) - real) <= 0.3 * real:
                    advice = "Return alpha first, then beta."
                raise CheckFailed(
                    f"{real:.3g} s predicted for {unseen:.0e} bytes, within 30 %",
                    f"{foretold:.3g} s, with alpha = {fitted[0]:.3g} and beta = {fitted[1]:.3g}",
                    advice,
                )
    return "All three schemes are right, and the fit predicts sizes that it has not seen."


WEIGHTS = (
    "Large sizes dominate the fit: divide each equation by its measured seconds, so that all sizes "
    "have equal weight."
)
FORGOT_CHUNKS = "A chunk has n / p bytes, and there are 2 (p - 1) rounds."
TWO_PHASES = (
    "In p - 1 rounds the chunks are added up; in another p - 1 rounds the sums are passed on."
)
EACH_MESSAGE = "Every message costs alpha, not only the first."
OWN_WORKER = "Rank 0 is itself a worker: it exchanges arrays with p - 1 others."
BOTH_WAYS = "The server receives from every worker and sends to every worker."
SEPARATE = "A separate server is not a worker: it exchanges arrays with all p workers."
SHARE = "k servers hold n / k bytes each and work at the same time."


def true_ring(p: int, n: float, alpha: float, beta: float) -> float:
    rounds = 2 * (p - 1)
    return rounds * alpha + rounds * n * beta / p
