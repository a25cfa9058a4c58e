"""Check the four functions of a fast step: loader, gradients, optimizer, note (14.5 to 14.8)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]
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
def check_14_5(batches: Function) -> str:
    """Workers read ten numbers in order, in batches of 4, 4 and 2."""
    import torch

    texts = Numbers()
    found = list(batches(texts, BATCH))
    right = list(torch.arange(COUNT)[:, None].split(BATCH))
    read = [ids for ids, _ in found]
    if [len(ids) for ids in read] != [len(ids) for ids in right]:
        wanted = f"batches of {', '.join(str(len(ids)) for ids in right)}"
        sizes = ", ".join(str(len(ids)) for ids in read)
        raise CheckFailed(wanted, f"batches of {sizes}", "Pass batch_size on, and drop nothing.")
    if not torch.equal(torch.cat(read), torch.cat(right)):
        order = torch.cat(read).flatten().tolist()
        raise CheckFailed(
            "0, 1, … 9", shown(order), "The texts are already shuffled: set shuffle=False."
        )
    if texts.readers.own_share() > 0:
        raise CheckFailed(
            "other processes read",
            f"{texts.readers.own_share():.0%} is read by the training itself",
            "num_workers=0 is the default: choose more.",
        )
    return "Workers read the samples, and the batches are in order."


def network() -> Any:
    """Return a network that gives scores for each of five characters, and a batch of 3 windows."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5)).double()
    return model, torch.randint(0, 5, (3, 6)), torch.randint(0, 5, (3, 6))


def loss_of(model: Any, ids: Any, following: Any) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), following.flatten())


@exercise("14.6")
def check_14_6(gradients: Function) -> str:
    """One forward pass gives the gradients of three windows."""
    import torch

    model, ids, following = network()
    right = torch.autograd.grad(loss_of(model, ids, following), list(model.parameters()))
    wanted = float(loss_of(model, ids, following).detach())
    passes = []
    hook = model.register_forward_hook(lambda *_: passes.append(1))
    loss = gradients(model, ids, following)
    hook.remove()
    if not isinstance(loss, torch.Tensor):
        raise CheckFailed("the loss as a tensor", shown(loss), "`return loss.detach()`")
    if len(passes) != 1:
        advice = "The network takes all windows at once: loss_of(model(ids), following)."
        raise CheckFailed("1 forward pass", f"{len(passes)} forward passes", advice)
    for param, gradient in zip(model.parameters(), right, strict=True):
        if param.grad is None:
            advice = "Call loss.backward()."
            raise CheckFailed("gradients", "None", advice)
        if not torch.allclose(param.grad, gradient):
            times = float(param.grad.norm() / gradient.norm())
            advice = "Take the mean over the batch: cross_entropy has already divided."
            raise CheckFailed("the mean gradient", f"{times:.3g} times as much", advice)
    if loss.requires_grad:
        advice = "A loss with its history keeps all activations in memory: .detach()."
        raise CheckFailed("a loss without history", "it has a grad_fn", advice)
    if abs(float(loss) - wanted) > 1e-6:
        advice = "Return the mean loss of the batch."
        raise CheckFailed(f"loss {wanted:.4f}", f"{float(loss):.4f}", advice)
    return "One forward pass gives the same gradients."


@exercise("14.7")
def check_14_7(optimizer: Function) -> str:
    """A step with 12 parameters takes few operations, and has the same result as AdamW."""
    import torch

    from lessons.toolkit.probes.profiling import Operations

    torch.manual_seed(1)
    params = [torch.nn.Parameter(torch.randn(3)) for _ in range(12)]
    twins = [torch.nn.Parameter(param.detach().clone()) for param in params]
    own = optimizer(params, 0.1)
    right = torch.optim.AdamW(twins, 0.1, betas=(0.9, 0.99))
    if not isinstance(own, torch.optim.Optimizer):
        raise CheckFailed("an optimizer", shown(own), "Is there a `return`?")
    count = 0
    for _ in range(3):
        for param, twin in zip(params, twins, strict=True):
            param.grad = torch.randn(3)
            twin.grad = param.grad.clone()
        right.step()
        with Operations() as operations:
            own.step()
        count = operations.count
    apart = max(float((a - b).detach().abs().max()) for a, b in zip(params, twins, strict=True))
    if apart > 1e-5:
        advice = "Only the number of operations may change: keep AdamW, lr and betas=(0.9, 0.99)."
        raise CheckFailed("the same parameters", f"{apart:.2g} apart after 3 steps", advice)
    if count > len(params):
        advice = "AdamW has an option that updates all parameters in one operation: fused=True."
        raise CheckFailed(f"at most {len(params)} operations", f"{count} operations", advice)
    return f"{count} operations for {len(params)} parameters."


@exercise("14.8")
def check_14_8(note: Function) -> str:
    """The loss and the norm are returned in one tensor, and nothing waits for their values."""
    import torch

    from lessons.toolkit.probes.profiling import Waits

    model, ids, following = network()
    loss = loss_of(model, ids, following)
    loss.backward()
    with Waits() as waits:
        found = note(model, loss.detach())
    if not isinstance(found, torch.Tensor) or found.shape != (2,):
        raise CheckFailed("a tensor of two numbers", shown(found), "torch.stack([loss, norm])")
    if waits.count:
        advice = "No .item(), .tolist(), float(), if or print: they wait. Use torch.stack."
        raise CheckFailed("no wait", f"{waits.count} waits", advice)
    norms = [param.grad.norm() for param in model.parameters() if param.grad is not None]
    right = torch.stack([loss.detach(), torch.stack(norms).norm()])
    if not torch.allclose(found, right, rtol=1e-4):
        advice = "The norm of all gradients is the root of the sum of all squares."
        raise CheckFailed(shown(right.tolist()), shown(found.tolist()), advice)
    return "The loss and the norm are recorded without waiting."
