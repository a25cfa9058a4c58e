"""Check the model of an exchange's time, and the fit of this model (6.3)."""

from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, Function, check_number, exercise, pair

FORGOT_CHUNKS = "A chunk has n / p bytes, and there are 2 (p - 1) rounds."
TWO_PHASES = "p - 1 rounds add the chunks up; another p - 1 rounds pass the sums on."
EACH_MESSAGE = "Every message costs alpha, not only the first."
OWN_WORKER = "Rank 0 is itself a worker: it exchanges arrays with p - 1 others."
BOTH_WAYS = "The server receives from every worker and sends to every worker."
SEPARATE = "A separate server is not a worker: it exchanges arrays with all p workers."
SHARE = "k servers hold n / k bytes each and work at the same time."
CASES: list[tuple[tuple[Any, ...], float, dict[float, str]]] = [
    (("ring", 4, 1e6, 0, 1e-9), 1.5e-3, {6e-3: FORGOT_CHUNKS, 0.75e-3: TWO_PHASES}),
    (("ring", 4, 0, 1e-5, 0), 6e-5, {1e-5: EACH_MESSAGE, 3e-5: TWO_PHASES}),
    (("server", 4, 1e6, 0, 1e-9), 6e-3, {8e-3: OWN_WORKER, 3e-3: BOTH_WAYS}),
    (("server", 4, 0, 1e-5, 0), 6e-5, {1e-5: EACH_MESSAGE, 8e-5: OWN_WORKER}),
    (("servers", 4, 1e6, 0, 1e-9, 1), 8e-3, {6e-3: SEPARATE, 4e-3: BOTH_WAYS}),
    (("servers", 4, 1e6, 0, 1e-9, 2), 4e-3, {8e-3: SHARE}),
    (("servers", 4, 0, 1e-5, 0, 4), 8e-5, {2e-5: "Latency is not divided among the servers."}),
    (("ring", 1, 1e6, 1e-5, 1e-9), 0.0, {}),
]


@exercise("6.3")
def check_6_3(model: Function, fit: Function) -> str:
    """Time models for ring, server and separate servers; a fit predicts a new size within 30 %."""
    for arguments, right, mistakes in CASES:
        otherwise = "Count the messages and their bytes."
        check_number(model, "model", arguments, right, mistakes, otherwise)
    for alpha, beta in ((2e-5, 5e-10), (2e-6, 1e-9)):
        sizes = np.array([1e3, 1e4, 1e6, 1e7])
        seconds = true_ring(sizes, alpha, beta) * np.array([1.05, 0.95, 1.05, 0.95])
        fitted = pair(fit(sizes, seconds, 4), "fit(sizes, seconds, 4)", ("alpha", "beta"))
        unseen = np.array([1e4, 1e5, 1e8])
        real, foretold = true_ring(unseen, alpha, beta), true_ring(unseen, *fitted)
        if not np.allclose(foretold, real, rtol=0.3, atol=0):
            advice = "Divide each equation by its seconds, so that all sizes have equal weight."
            if np.allclose(true_ring(unseen, *reversed(fitted)), real, rtol=0.3, atol=0):
                advice = "Return alpha first, then beta."
            worst = int(np.abs(foretold / real - 1).argmax())
            raise CheckFailed(
                f"{real[worst]:.3g} s predicted for {unseen[worst]:.0e} bytes, within 30 %",
                f"{foretold[worst]:.3g} s, with alpha = {fitted[0]:.3g}, beta = {fitted[1]:.3g}",
                advice,
            )
    return "All three schemes are right, and the fit predicts sizes that it has not seen."


def true_ring(n: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Return the seconds of a ring of four ranks."""
    return 6 * (alpha + n * beta / 4)
