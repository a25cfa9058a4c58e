"""Check layers that are split among ranks (11.5, 11.6), and the bytes that they send (11.7)."""

from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, check_number, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import in_new_python, on_ranks


@exercise("11.5")
def check_11_5(cut: Function) -> str:
    """A column layer splits its outputs, a row layer its inputs; joined they are the layer."""
    import torch

    weight, bias = torch.arange(35.0).reshape(7, 5), torch.arange(7.0)
    for way, axis in (("column", 0), ("row", 1)):
        for rank, ranks in ((0, 1), (0, 2), (1, 3)):
            what = f'cut(layer, "{way}", {rank}, {ranks}) of 7 outputs and 5 inputs'
            part, part_bias = cut((weight.clone(), bias.clone()), way, rank, ranks)
            right = weight.tensor_split(ranks, axis)[rank]
            right_bias = bias if way == "row" else bias.tensor_split(ranks)[rank]
            if not close(part, right):
                advice = "Which of tensor_split's parts, along which axis?"
                if close(part, weight.tensor_split(ranks, 1 - axis)[rank]):
                    advice = "That is the wrong axis: which axis of (outputs, inputs) are the "
                    advice += "outputs, and which does this way keep whole?"
                raise CheckFailed(f"{what}: a weight {first(right)}", first(part), advice)
            if not close(part_bias, right_bias):
                advice = "A bias belongs to an output. Which outputs does this rank compute?"
                raise CheckFailed(f"{what}: a bias {first(right_bias)}", first(part_bias), advice)
    return "Columns and rows are cut correctly, even though 7 is not a multiple of 3."


ALIKE = "Every rank has to call `summed` the same number of times and in the same order."


@exercise("11.6")
@in_new_python
def check_11_6(tensor_layers: ModuleType) -> str:
    """On 2 and 3 ranks, a block's output and gradients match those of both layers on one."""
    for ranks in (2, 3):
        try_block(tensor_layers.block, ranks)
    return "Output and gradients of two cut layers equal those of the whole layers."


NAMES = ("x", "the column weight", "the column bias", "the row weight", "the row bias")


def try_block(block: Function, ranks: int) -> None:
    import torch

    rng = torch.Generator().manual_seed(ranks)
    shapes = [(4, 6), (7, 6), (7,), (5, 7), (5,), (4, 5)]
    x, w1, b1, w2, b2, pull = (torch.randn(s, generator=rng, dtype=torch.float64) for s in shapes)

    def gradients(tensors: list[Any], compute: Function) -> tuple[Any, list[Any]]:
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        found = compute(*leaves)
        (found * pull).sum().backward()
        return found.detach(), [leaf.grad for leaf in leaves]

    def parts(rank: int) -> list[Any]:
        column = [tensor.tensor_split(ranks)[rank] for tensor in (w1, b1)]
        return [x, *column, w2.tensor_split(ranks, 1)[rank], b2]

    def on_rank(rank: int) -> Any:
        return gradients(parts(rank), lambda x, w1, b1, w2, b2: block(x, (w1, b1), (w2, b2)))

    def on_one(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        return torch.relu(x @ w1.T + b1) @ w2.T + b2

    right, whole = gradients([x, w1, b1, w2, b2], on_one)
    for rank, (found, grads) in enumerate(on_ranks(ranks, on_rank, check_11_6, ALIKE)):
        if not close(found, right):
            advice = "Compute on paper, for two neurons on two ranks, what each rank has after "
            advice += "each of the two layers."
            if close(found, right + (ranks - 1) * b2):
                advice = "The bias was added on every rank, so the sum has it once for each."
            elif close(found, on_one(*parts(rank))):
                advice = "That is only this rank's part of the output."
            what = f"{ranks} ranks: the output of rank {rank}"
            raise unlike(what, found, right, advice)
        cuts = [tensor.tensor_split(ranks)[rank] for tensor in whole[1:3]]
        cuts.append(whole[3].tensor_split(ranks, 1)[rank])
        for name, one, other in zip(NAMES, grads, [whole[0], *cuts, whole[4]], strict=True):
            if close(one, other) or (one is None and rank and name == NAMES[4]):
                continue  # adding the bias on rank 0 alone, before the sum, is right as well
            advice = (
                "That is only the gradient from this rank's part, although all parts use x. Which "
                "operator is at the place where x goes to all of them?"
            )
            if close(one, ranks * other):
                advice = (
                    "The gradient is p times too large. If y = a + b, what is the gradient of a, "
                    "given that of y?"
                )
            what = f"{ranks} ranks: the gradient of {name} on rank {rank}"
            raise unlike(what, one, other, advice)


def unlike(what: str, found: Any, right: Any, advice: str) -> CheckFailed:
    """Return the failure with values that differ, because the first ones may be equal."""
    if found is None:
        advice = "No gradient gets here: is there a `.data`, a `.detach()` or a gap?"
    elif found.shape == right.shape:
        place = int((right - found).abs().argmax())
        what, found = f"{what} at place {place}", found.flatten()[place:]
        right = right.flatten()[place:]
    return CheckFailed(f"{what} is {first(right)}", first(found), advice)


SIZES, BATCH = [784, 256, 256, 256, 10], 32
PARAMS = 784 * 256 + 2 * 256 * 256 + 256 * 10 + 3 * 256 + 10
ACTIVATIONS = BATCH * (256 + 10 + 256)
NUMBERS = {  # wrong numbers of one allreduce
    "data": {
        PARAMS - 3 * 256 - 10: "Biases have gradients too.",
        PARAMS * BATCH: "A gradient is as large as its parameter, whatever the batch.",
    },
    "tensor": {
        BATCH * 266: "That is only the forward pass. What is summed in the backward pass?",
        ACTIVATIONS + BATCH * 784: "No gradient with respect to the images is needed.",
        ACTIVATIONS + BATCH * 512: "Not every layer's outputs are sent: what stays on its rank?",
        ACTIVATIONS // BATCH: "Count activations for every image of the batch.",
    },
}


@exercise("11.7")
def check_11_7(bytes_a_step: Function) -> str:
    """Bytes that a rank receives: all gradients, or outputs and their gradients."""
    for way, ranks, itemsize in (("data", 3, 4), ("tensor", 3, 4), ("tensor", 5, 8)):
        ring = 2 * (ranks - 1) / ranks * itemsize
        right = ring * {"data": PARAMS, "tensor": ACTIVATIONS}[way]
        mistakes = {ring * count: advice for count, advice in NUMBERS[way].items()} | {
            right / ring * itemsize: "How much of it does each rank of a ring receive (lesson 06)?",
            right / itemsize: "That is a count of numbers; each has `itemsize` bytes.",
            right / 2: "An allreduce goes around the ring twice: to add up, and to distribute.",
        }
        arguments = (way, SIZES, BATCH, ranks, itemsize)
        check_number(bytes_a_step, "bytes_a_step", arguments, right, mistakes)
    return "Data parallelism sends parameters, tensor parallelism activations."


def close(found: Any, right: Any) -> bool:
    import torch

    if not isinstance(found, torch.Tensor) or found.shape != right.shape:
        return False
    return bool(((found - right).abs() < 1e-9).all())


def first(tensor: Any) -> str:
    """Return the size and the first numbers of a tensor."""
    if not hasattr(tensor, "shape"):
        return shown(tensor)
    numbers = [round(value, 3) for value in tensor.detach().flatten()[:3].tolist()]
    return f"of {' × '.join(map(str, tensor.shape))}, {numbers} …"
