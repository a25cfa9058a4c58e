"""Public checks of lesson 14: counting, reading a trace, and the functions of a fast step."""

import math
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, check_number, compare, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import kept_from_forks

Function = Callable[..., Any]


@exercise("14.1")
def check_14_1(step_flops: Function) -> str:
    """The count is right for a network without attention, and for one with it."""
    for sizes, products, attention, a_layer in (
        ((1000, 0, 8, 4, 10), 60_000, 0, 3_840),
        ((5000, 5, 16, 32, 64), 1_920_000, 1_966_080, 393_216),
    ):
        mistakes = {
            (products + attention) / 3: "The backward pass has two products for each one in the "
            "forward pass, so it costs as much as two forward passes.",
            (products + attention) / 2: "A multiplication and an addition are two operations.",
            products: "Add the two products of attention, which have no parameters.",
            products + a_layer: "Each layer has attention.",
            products + attention / 3: "Attention has a backward pass, too.",
            products + attention / 2: "Which two products does attention have?",
            products + attention / sizes[3]: "Each token is compared with all tokens of a window.",
        }
        check_number(step_flops, "step_flops", sizes, products + attention, mistakes)
    return "Your count is right, for the linear layers and for attention."


@exercise("14.2")
def check_14_2(attainable: Function) -> str:
    """A vector times a matrix reaches half a FLOP per byte times the bandwidth."""
    peak, rate = 100, 20
    for sizes, flops, factors, result in (  # the bytes of both factors, and of the result
        ((1, 1000, 1000), 2_000_000, 4_004_000, 4_000),
        ((2000, 1000, 3000), 12_000_000_000, 20_000_000, 24_000_000),
        ((8, 16, 24), 6_144, 2_048, 768),
    ):
        roof = flops / (factors + result) * rate
        mistakes = {
            min(peak, roof / 2): "A multiplication and an addition are two operations.",
            roof: "No product is faster than the peak: take the smaller number.",
            peak: "A product with few operations per byte is limited by the bandwidth.",
            4 * roof: "A float32 number has 4 bytes.",
            flops / factors * rate: "The result is moved, too.",
        }
        check_number(attainable, "attainable", (*sizes, peak, rate), min(peak, roof), mistakes)
    return "Small products are limited by the bandwidth, large ones by the peak."


@exercise("14.3")
def check_14_3(busy: Function) -> str:
    """Spans from 0 to 4 and from 1 to 2 together cover 4, not 5."""
    for spans, right, total, whole in (
        ([(0, 2), (5, 6)], 3, 3, 6),
        ([(0, 4), (1, 2)], 4, 5, 4),
        ([(6, 9), (0, 2), (1, 3)], 6, 7, 9),
        ([(0, 10), (1, 2), (5, 9)], 10, 15, 10),
        ([], 0, 0, 0),
    ):
        mistakes = {
            float(total): "Time in which two spans overlap counts only once.",
            float(whole): "Time in which nothing runs does not count.",
            14.0: "A span may end before an earlier one does: remember the latest end so far.",
        }
        advice = "Draw the spans on paper, one below the other, sorted by their start."
        check_number(busy, "busy", (spans,), right, mistakes, advice)
    return "Overlapping spans count once, and gaps do not count."


@exercise("14.4")
def check_14_4(hidden: Function) -> str:
    """For communication from 0 to 4 and computation from 3 to 9, a quarter is hidden."""
    for communication, computing, right, other in (
        ([(0, 4)], [(3, 9)], 1 / 4, 1 / 6),
        ([(0, 4)], [(4, 9)], 0.0, 0.0),
        ([(0, 2), (1, 4)], [(1, 2), (1, 3)], 2 / 4, 1.0),
        ([(0, 10), (1, 2), (5, 9)], [(3, 4)], 1 / 10, 1.0),
    ):
        mistakes = {
            1 - right: "That is the part that is not hidden.",
            other: "Divide by the communication time, not by the computation time.",
        }
        advice = "How long is at least one of the two running? busy also takes the spans of both."
        check_number(hidden, "hidden", (communication, computing), right, mistakes, advice)
    check_number(hidden, "hidden", ([], [(0, 1)]), 1.0)
    return "In the four cases, a quarter, none, half and a tenth of the communication is hidden."


COUNT, BATCH = 10, 4


class Numbers:
    """A data set of the numbers 0, 1, 2, … that records which thread reads each of them."""

    def __init__(self) -> None:
        from lessons.toolkit.probes.profiling import Readers

        self.readers = Readers(COUNT)

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, place: int) -> Any:
        import torch

        if not 0 <= place < COUNT:
            raise IndexError(place)
        self.readers.note(place)
        return torch.tensor([place]), torch.tensor([place + 1])


@exercise("14.5")
def check_14_5(fast: Any) -> str:
    """The four functions of fast.py give what those of slow.py give, with less work."""
    said = (check_batches(fast.batches), check_gradients(fast.gradients))
    return " ".join((*said, check_optimizer(fast.optimizer), check_note(fast.note)))


def check_batches(batches: Function) -> str:
    """Workers read ten numbers in order, in batches of 4, 4 and 2."""
    texts = Numbers()
    with kept_from_forks():
        read = [ids.flatten().tolist() for ids, _ in batches(texts, BATCH)]
    if read != [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]:
        advice = "The texts are already shuffled: keep their order, and drop nothing at the end."
        raise CheckFailed("0, 1, 2, 3, then 4, 5, 6, 7, then 8, 9", shown(read), advice)
    if texts.readers.own_share() > 0:
        found = f"{texts.readers.own_share():.0%} is read by the training itself"
        raise CheckFailed("other processes read", found, "The default is that nobody else reads.")
    return "Workers read the samples in order."


def network() -> Any:
    """Return a network that gives scores for each of five characters, and a batch of 3 windows."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5)).double()
    return model, torch.randint(0, 5, (3, 6)), torch.randint(0, 5, (3, 6))


def loss_of(model: Any, ids: Any, following: Any) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), following.flatten())


def check_gradients(gradients: Function) -> str:
    """One forward pass gives the gradients of three windows."""
    import torch

    model, ids, following = network()
    wanted = loss_of(model, ids, following)
    right = torch.autograd.grad(wanted, list(model.parameters()))
    passes: list[int] = []
    model.register_forward_hook(lambda *_: passes.append(1))
    loss = gradients(model, ids, following)
    if len(passes) != 1:
        advice = "The network takes many windows at once."
        raise CheckFailed("1 forward pass", f"{len(passes)} forward passes", advice)
    for param, gradient in zip(model.parameters(), right, strict=True):
        if param.grad is None or not torch.allclose(param.grad, gradient):
            advice = "Who computes the mean of the windows, and who the gradients of that mean?"
            raise CheckFailed("the mean gradient", "another one, or none", advice)
    if loss.requires_grad:
        advice = "A loss with its history keeps all activations in memory."
        raise CheckFailed("a loss without history", "it has a grad_fn", advice)
    compare(loss.item(), wanted.item(), "the loss", {}, "Return the mean loss of the batch.")
    return "One forward pass gives the gradients."


def check_optimizer(optimizer: Function) -> str:
    """A step with 12 parameters takes few operations, and has the same result as AdamW."""
    import torch

    from lessons.toolkit.probes.profiling import Operations

    torch.manual_seed(1)
    params = [torch.nn.Parameter(torch.randn(3)) for _ in range(12)]
    twins = [torch.nn.Parameter(param.detach().clone()) for param in params]
    own, right = optimizer(params, 0.1), torch.optim.AdamW(twins, 0.1, betas=(0.9, 0.99))
    for _ in range(3):
        for param, twin in zip(params, twins, strict=True):
            param.grad = torch.randn(3)
            twin.grad = param.grad.clone()
        right.step()
        with Operations() as operations:
            own.step()
    apart = max(float((a - b).detach().abs().max()) for a, b in zip(params, twins, strict=True))
    if apart > 1e-5:
        advice = "Only the number of operations may change: keep AdamW, lr and betas=(0.9, 0.99)."
        raise CheckFailed("the same parameters", f"{apart:.2g} apart after 3 steps", advice)
    count = operations.count
    if count > len(params):
        advice = "Compare AdamW's implementations. Which has the fewest operations?"
        raise CheckFailed(f"at most {len(params)} operations", f"{count} operations", advice)
    return f"{count} operations for {len(params)} parameters."


def check_note(note: Function) -> str:
    """The loss and the norm are returned in one tensor, and nothing waits for their values."""
    import torch

    from lessons.toolkit.probes.profiling import Waits

    model, ids, following = network()
    loss = loss_of(model, ids, following)
    loss.backward()
    with Waits() as waits:
        found = note(model, loss.detach())
    if waits.count:
        advice = "Nothing may become a Python number. The page lists what asks for one."
        raise CheckFailed("no wait", f"{waits.count} waits", advice)
    right = torch.stack(
        [loss.detach(), torch.cat([p.grad.flatten() for p in model.parameters()]).norm()]
    )
    if found.shape != right.shape or not torch.allclose(found, right, rtol=1e-4):
        advice = "Return one tensor of two numbers, as slow.py does: the loss, and the root of the "
        advice += "sum of all gradients' squares."
        raise CheckFailed(shown(right.tolist()), shown(found.tolist()), advice)
    return "The loss and the norm are noted without waiting."


OVERFLOW = "If a number is not finite, do not step. Halve the scale and return False."
DOUBLE = "After `patience` good steps in a row the scale doubles, and the count begins again."
STREAK = "A skipped step ends the streak."
SCALED = (  # gradient, then the parameter, the scale, and whether there was an update
    (4.0, (-0.5, 8.0, True), "Divide each gradient by the scale, then step. Return True."),
    (4.0, (-1.0, 16.0, True), DOUBLE),
    (float("inf"), (-1.0, 8.0, False), OVERFLOW),
    (float("nan"), (-1.0, 4.0, False), OVERFLOW),
    (4.0, (-2.0, 4.0, True), DOUBLE),
    (float("inf"), (-2.0, 2.0, False), OVERFLOW),
    (2.0, (-3.0, 2.0, True), STREAK),
    (2.0, (-4.0, 4.0, True), DOUBLE),
)


@exercise("14.6")
def check_14_6(scaler_class: Function) -> str:
    """With scale 8, a gradient of 4 becomes 0.5.

    An infinite gradient skips the step and halves the scale.
    """
    import torch

    from lessons.toolkit.probes.profiling import Waits

    scaler = scaler_class(8.0, 2)
    params = [torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(1))]
    optimizer = torch.optim.SGD(params, lr=1.0)
    for row, (gradient, wanted, advice) in enumerate(SCALED):
        before = scaler.scale
        for place, param in enumerate(params):
            param.grad = torch.ones_like(param)
            if math.isfinite(gradient) or place == row % 2:  # one of the two overflows
                param.grad[-1] = gradient
        with Waits() as waits:
            updated = scaler.step(optimizer, params)
        if waits.count > 1:
            advice = "Join the answers of all parameters on the device, and ask for one Boolean."
            found = f"{waits.count} times for {len(params)} parameters"
            raise CheckFailed("a step waits for the device at most once", found, advice)
        for param in params:
            numbers = (round(float(param[-1].detach()), 6), float(scaler.scale), updated)
            if numbers != wanted:
                words = "parameter {}, scale {:g}, updated: {}"
                expected = f"gradient {gradient:g}, scale {before:g}: {words.format(*wanted)}"
                raise CheckFailed(expected, words.format(*numbers), advice)
    return "An overflow skips the step and halves the scale, and enough good steps double it."


PARTS = {
    "change": "what you changed, and what not",
    "times": "the step before and after, with the range over the rounds",
    "evidence": "which bars of the two traces show why",
    "price": "what it costs",
}


@exercise("14.7")
def check_14_7(*texts: str) -> str:
    """Your report has four parts of at least ten words, and the times are numbers."""
    for (part, hint), text in zip(PARTS.items(), texts, strict=True):
        words = text.split()
        if len(words) < 10:
            raise CheckFailed("at least 10 words", f"{part} has {len(words)}", f"Say {hint}.")
    if not any(each.isdigit() for each in texts[1]):
        raise CheckFailed("numbers in times", "none", f"Say {PARTS['times']}.")
    return "All four parts are written. The next cell puts them into report.md."
