"""Check loss scaling (14.9) and padding (14.10)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]


@exercise("14.9")
def check_14_9(scaler_class: Function) -> str:
    """With scale 8, a gradient of 4 becomes 0.5.

    An infinite gradient skips the step and halves the scale.
    """
    import torch

    from lessons.toolkit.probes.profiling import Waits

    scaler = scaler_class(8.0, 2)
    params = [torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(1))]
    optimizer = torch.optim.SGD(params, lr=1.0)

    def step(gradient: float, wanted: tuple[float, float, bool], advice: str) -> None:
        before, params[0].grad, params[1].grad = scaler.scale, torch.ones(2), torch.ones(1)
        params[0].grad[1] = gradient
        with Waits() as waits:
            updated = scaler.step(optimizer, params)
        if waits.count > 1:
            raise CheckFailed(
                "a step waits for the device at most once",
                f"{waits.count} times for {len(params)} parameters",
                "torch.stack the answers of all parameters, and ask for one Boolean.",
            )
        found = (round(float(params[0][1].detach()), 6), float(scaler.scale), updated)
        if found != wanted:
            words = "parameter {}, scale {:g}, updated: {}"
            raise CheckFailed(
                f"gradient {gradient:g}, scale {before:g}: {words.format(*wanted)}",
                words.format(*found),
                advice,
            )

    step(4.0, (-0.5, 8.0, True), "Divide each gradient by the scale, then step. Return True.")
    step(4.0, (-1.0, 16.0, True), "After `patience` good steps in a row, double the scale.")
    overflow = "If a number is not finite, do not step. Halve the scale and return False."
    step(float("inf"), (-1.0, 8.0, False), overflow)
    step(float("nan"), (-1.0, 4.0, False), overflow)
    step(4.0, (-2.0, 4.0, True), "After the scale has changed, the count starts again at 0.")
    step(float("inf"), (-2.0, 2.0, False), overflow)
    step(2.0, (-3.0, 2.0, True), "A skipped step ends the streak: set good_steps to 0.")
    step(2.0, (-4.0, 4.0, True), "After `patience` good steps in a row, double the scale.")
    again = "After the scale has doubled, set good_steps to 0, so that it can double again."
    step(4.0, (-5.0, 4.0, True), again)
    step(4.0, (-6.0, 8.0, True), again)
    return "An overflow skips the step and halves the scale, and enough good steps double it."


@exercise("14.10")
def check_14_10(padded: Function) -> str:
    """Two rows of length 3 are padded to length 5: the input with 0, the targets with -100."""
    import torch

    ids, following = torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([[2, 3, 4], [5, 6, 7]])
    try:
        more, then = padded(ids, following, 5)
    except TypeError:
        raise CheckFailed(
            "padded(…) returns two tensors", "something else", "`return ids, following`"
        ) from None
    for name, found, old, value in (("ids", more, ids, 0), ("following", then, following, -100)):
        if tuple(found.shape) != (2, 5):
            raise CheckFailed(
                f"{name}: 2 × 5", f"{tuple(found.shape)}", "Add columns until the length is right."
            )
        if not torch.equal(found[:, :3], old):
            advice = "Put the padding after the text: pad(…, (0, more))."
            raise CheckFailed(f"{name} begins with {old.tolist()}", shown(found.tolist()), advice)
        if name == "following" and not (found[:, 3:] == value).all():
            advice = "The loss ignores -100, so padding does not count: value=-100."
            raise CheckFailed("-100 in the padding", shown(found[:, 3:].tolist()), advice)
        if name == "ids" and not ((found[:, 3:] >= 0) & (found[:, 3:] < 8)).all():
            advice = "The network looks ids up in a table: pad them with 0."
            raise CheckFailed("numbers of characters", shown(found[:, 3:].tolist()), advice)
    same, _ = padded(ids, following, 3)
    if not torch.equal(same, ids):
        raise CheckFailed(
            "a full row stays as it is",
            shown(same.tolist()),
            "Add only as many columns as are missing: 5 - 3.",
        )
    return "All batches have one shape."
