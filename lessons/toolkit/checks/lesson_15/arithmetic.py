"""Check the interval between checkpoints (15.7) and the step on any number of ranks (15.9)."""

import math
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number

Function = Callable[..., Any]
YEAR = 365.25 * 86400
CASES = [(60.0, 5 * YEAR, 1000), (10.0, YEAR, 1), (300.0, 2 * YEAR, 64)]


@exercise("15.7")
def check_15_7(best_interval: Function) -> str:
    """The interval is the square root of twice the write time times the job's MTBF."""
    for write_s, mtbf, nodes in CASES:
        what = f"best_interval({write_s:g}, {mtbf:g}, {nodes})"
        right = math.sqrt(2 * write_s * mtbf / nodes)
        mistakes = {
            math.sqrt(2 * write_s * mtbf): "A job on n nodes fails n times as often as one node.",
            math.sqrt(
                2 * write_s * mtbf * nodes
            ): "More nodes have more failures, so the MTBF is shorter.",
            math.sqrt(write_s * mtbf / nodes): "The 2 is missing.",
            2 * write_s * mtbf / nodes: "The square root is missing.",
            right / 3600: "Everything is in seconds.",
            math.sqrt(2 * write_s * mtbf) / nodes: "Divide the MTBF, not the result, by the nodes.",
        }
        mistakes.pop(right, None)
        compare(number(best_interval(write_s, mtbf, nodes), what), right, what, mistakes)
    return "Save less often if a write takes longer, and more often on more nodes."


@exercise("15.9")
def check_15_9(add_gradients: Function) -> str:
    """The gradients of all ranks and pieces add up to the whole batch's gradient."""
    import torch

    inputs = torch.linspace(-1, 2, 36, dtype=torch.float64).view(12, 3) ** 3
    batch = torch.tensor([7, 2, 9, 4, 0, 11, 5, 1, 10, 3, 8, 6])
    for size, most in ((2, 6), (1, 12), (1, 5), (2, 4), (3, 3)):
        weights = torch.ones(3, dtype=torch.float64, requires_grad=True)

        def loss_of(places: Any, weights: Any = weights) -> Any:
            return (inputs[places] @ weights).square().mean()

        [right] = torch.autograd.grad(loss_of(batch), [weights])
        seen: list[list[int]] = []

        def loss_of_piece(
            places: Any, seen: list[list[int]] = seen, loss_of: Function = loss_of
        ) -> Any:
            seen.append([int(each) for each in places])
            return loss_of(places)

        case = f"{size} rank(s), at most {most}"
        losses = [add_gradients(loss_of_piece, batch, rank, size, most) for rank in range(size)]
        check_pieces(seen, batch.tolist(), most, case)
        if weights.grad is None:
            raise CheckFailed(f"{case}: gradients", "none", "Call loss.backward() for each piece.")
        if not torch.allclose(weights.grad, right):
            factor = float((weights.grad / right).mean())
            advice = (
                "The loss of a piece is a mean over the piece. Multiply it by len(piece) / "
                "len(batch), then the sum over all pieces and ranks is the mean over the batch."
            )
            raise CheckFailed(f"{case}: the gradient of the mean over the whole batch",
                              f"about {factor:.3g} times as much", advice)  # fmt: skip
        if any(loss is None for loss in losses):
            raise CheckFailed(f"{case}: this rank's share of the loss", None, "Return it.")
        total = float(sum(torch.as_tensor(loss).detach() for loss in losses))
        if not math.isclose(total, float(loss_of(batch).detach()), rel_tol=1e-9):
            advice = "Add up the weighted losses of the pieces."
            raise CheckFailed(f"{case}: losses that add up to that of the batch", total, advice)
        if any(getattr(loss, "requires_grad", False) for loss in losses):
            advice = "Add loss.detach(): otherwise the activations of every piece stay in memory."
            raise CheckFailed("a loss without gradient", "one with gradient", advice)
    return "The gradient is the same on 1, 2 and 3 ranks, and no piece is too large."


def check_pieces(seen: list[list[int]], batch: list[int], most: int, case: str) -> None:
    read = [place for piece in seen for place in piece]
    if sorted(read) != sorted(batch):
        twice = len(read) > len(set(read))
        advice = "This rank's part is batch[rank::size]." if twice or not read else (
            "The last piece may be shorter: batch[rank::size].split(most) keeps it."
        )  # fmt: skip
        found = "some more than once" if twice else f"{len(read)} of them"
        raise CheckFailed(f"{case}: every sample of the batch is read once", found, advice)
    longest = max(map(len, seen))
    if longest > most:
        advice = "Split this rank's part into pieces: .split(most)."
        raise CheckFailed(f"{case}: pieces of at most {most}", f"one of {longest}", advice)
