"""Check layers that are split among ranks (11.5, 11.6), and the bytes that they send (11.7)."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown
from lessons.toolkit.checks.shared.real_ranks import in_new_python, on_ranks
from lessons.toolkit.probes.tensors import ring_bytes

Function = Callable[..., Any]


@exercise("11.5")
def check_11_5(cut: Function) -> str:
    """A column layer splits its outputs, a row layer its inputs; joined they are the layer."""
    import torch

    weight, bias = torch.arange(35.0).reshape(7, 5), torch.arange(7.0)
    for way, axis in (("column", 0), ("row", 1)):
        for ranks in (1, 2, 3):
            for rank in range(ranks):
                given = (weight.clone(), bias.clone())
                what = f'cut(layer, "{way}", {rank}, {ranks}) of 7 outputs and 5 inputs'
                part = parts_of(cut(given, way, rank, ranks), what)
                right = weight.tensor_split(ranks, axis)[rank]
                right_bias = bias if way == "row" else bias.tensor_split(ranks)[rank]
                if not same(part[0], right):
                    raise CheckFailed(
                        f"{what}: a weight of {size(right)}, {right.flatten()[:3].tolist()} …",
                        f"{size(part[0])}, {part[0].flatten()[:3].tolist()} …",
                        wrong_weight(part[0], weight, way, rank, ranks),
                    )
                if not same(part[1], right_bias):
                    advice = (
                        "Every rank has all outputs of a row layer: keep the whole bias."
                        if way == "row"
                        else "A bias belongs to an output: cut it like the weight's outputs."
                    )
                    wanted = f"{what}: a bias of {size(right_bias)}, {first(right_bias)}"
                    raise CheckFailed(wanted, f"{size(part[1])}, {first(part[1])}", advice)
    return "Columns and rows are cut correctly, even though 7 is not a multiple of 3."


def parts_of(found: Any, what: str) -> Any:
    import torch

    if found is None:
        raise CheckFailed(f"{what} is (weight, bias)", "None", "Is there a `return`?")
    good = isinstance(found, tuple | list) and len(found) == 2
    if not good or not all(isinstance(part, torch.Tensor) for part in found):
        raise CheckFailed(f"{what} is (weight, bias)", shown(found), "Return two tensors.")
    return found


def wrong_weight(found: Any, weight: Any, way: str, rank: int, ranks: int) -> str:
    other = weight.tensor_split(ranks, 1 if way == "column" else 0)[rank]
    if same(found, other):
        return (
            "That is the wrong axis. A weight has the shape (outputs, inputs). A column layer "
            "keeps some outputs, dim=0; a row layer keeps some inputs, dim=1. (Papers write x A, "
            "where A is transposed.)"
        )
    if same(found, weight):
        return "That is the whole weight, so no memory is saved. Take this rank's part."
    return "Take part number `rank` of `tensor_split(size, dim=…)`."


ALIKE = "Every rank has to call `summed` the same number of times and in the same order."


@exercise("11.6")
@in_new_python
def check_11_6(tensor_layers: ModuleType) -> str:
    """On 2 and 3 ranks, a block's output and gradients match those of both layers on one."""
    for ranks in (2, 3):
        try_block(tensor_layers.block, ranks)
    return "Output and gradients of two cut layers equal those of the whole layers."


def try_block(block: Function, ranks: int) -> None:
    import torch

    rng = torch.Generator().manual_seed(ranks)
    shapes = [(4, 6), (7, 6), (7,), (5, 7), (5,), (4, 5)]
    x, w1, b1, w2, b2, pull = (torch.randn(s, generator=rng, dtype=torch.float64) for s in shapes)
    whole: list[Any] = [tensor.clone().requires_grad_() for tensor in (x, w1, b1, w2, b2)]
    right = torch.relu(whole[0] @ whole[1].T + whole[2]) @ whole[3].T + whole[4]
    (right * pull).sum().backward()

    def on_rank(rank: int) -> Any:
        mine = [x, w1.tensor_split(ranks)[rank], b1.tensor_split(ranks)[rank]]
        mine += [w2.tensor_split(ranks, 1)[rank], b2]
        mine = [tensor.clone().requires_grad_() for tensor in mine]
        found = block(mine[0], tuple(mine[1:3]), tuple(mine[3:]))
        if isinstance(found, torch.Tensor) and found.shape == right.shape:
            (found * pull).sum().backward()
            found = found.detach()
        return found, [tensor.grad for tensor in mine]

    results = on_ranks(ranks, on_rank, check_11_6, ALIKE)
    for rank, (found, gradients) in enumerate(results):
        what = f"{ranks} ranks: the output of rank {rank}"
        if not isinstance(found, torch.Tensor) or found.shape != right.shape:
            said = size(found) if isinstance(found, torch.Tensor) else shown(found)
            raise CheckFailed(f"{what} is {size(right)}", said, "Return the output of both layers.")
        if not close(found, right):
            advice = wrong_output(found, right, whole, rank, ranks)
            raise CheckFailed(f"{what} is {first(right)}", first(found), advice)
        cuts = [whole[1].grad.tensor_split(ranks)[rank], whole[2].grad.tensor_split(ranks)[rank]]
        cuts += [whole[3].grad.tensor_split(ranks, 1)[rank]]
        compare_gradients(gradients, [whole[0].grad, *cuts, whole[4].grad], rank, ranks)


def wrong_output(found: Any, right: Any, whole: list[Any], rank: int, ranks: int) -> str:
    import torch

    x, w1, b1, w2, b2 = (tensor.detach() for tensor in whole)
    inside = torch.relu(x @ w1.T + b1)
    part = inside.tensor_split(ranks, 1)[rank] @ w2.tensor_split(ranks, 1)[rank].T
    known = {
        "The bias was added on every rank, so it counts p times. Add it once, after FromParts.": (
            right + (ranks - 1) * b2
        ),
        "The row layer's bias is missing: add row[1] once, after FromParts.": right - b2,
        "That is only this rank's part. Use FromParts, whose forward pass sums the parts.": (
            part + b2
        ),
        "That is only this rank's part, without the bias: use FromParts, then add row[1].": part,
        "The relu between the layers is missing.": (x @ w1.T + b1) @ w2.T + b2,
        "You divided the sum, which gives a mean. The parts add up: do not divide.": (
            (right - b2) / ranks + b2
        ),
        "Leave out the relu after the row layer: the network has it between blocks.": torch.relu(
            right
        ),
        "The column layer's bias is missing: linear(x, *column) takes both.": (
            torch.relu(x @ w1.T) @ w2.T + b2
        ),
    }
    for advice, wrong in known.items():
        if close(found, wrong):
            return advice
    return "The order is linear(…, *column), relu, linear(…, row[0]), FromParts, and row[1] once."


NAMES = ("x", "the column weight", "the column bias", "the row weight", "the row bias")


def compare_gradients(found: list[Any], right: list[Any], rank: int, ranks: int) -> None:
    for place in (3, 2, 1, 0, 4):
        if place == 4 and rank and found[4] is None:
            continue  # adding the bias on rank 0 alone, before the sum, is right as well
        name = f"{ranks} ranks: the gradient of {NAMES[place]} on rank {rank}"
        if found[place] is None:
            advice = "No gradient gets here: is there a `.data`, a `.detach()` or a gap?"
            raise CheckFailed(f"{name} is {first(right[place])}", "none", advice)
        if not close(found[place], right[place]):
            advice = "Which operator is before it, and what does its backward pass do?"
            if close(found[place], ranks * right[place]):
                advice = (
                    "The gradient is p times too large: each operator sums in only one "
                    "direction. FromParts sums in the forward pass. In its backward pass, d sum "
                    "/ d part is 1 for every part."
                )
            elif close(found[place], right[place] / ranks):
                advice = "The gradient is p times too small: divide neither the sums nor the bias."
            elif place == 0:
                advice = (
                    "That is only the gradient from this rank's part. All parts use x, so their "
                    "gradients add up: use ToParts first; its backward pass sums."
                )
            wanted, other = where_unlike(right[place], found[place])
            raise CheckFailed(f"{name} is {wanted}", other, advice)


def where_unlike(right: Any, found: Any) -> tuple[str, str]:
    """Return three numbers of each array, starting where the two arrays differ most.

    The first three numbers of both arrays may be equal.
    """
    if right.shape != found.shape:
        return size(right), size(found)
    place = int((right - found).abs().flatten().argmax())
    begin = "… " if place else ""
    return begin + first(right.flatten()[place:]), begin + first(found.flatten()[place:])


@exercise("11.7")
def check_11_7(bytes_a_step: Function) -> str:
    """Bytes that a rank receives: all gradients, or outputs and their gradients."""
    sizes = [784, 256, 256, 256, 10]
    n, b = 784 * 256 + 2 * 256 * 256 + 256 * 10 + 3 * 256 + 10, 32
    cases = (("data", 3, 4), ("tensor", 3, 4), ("data", 2, 8), ("tensor", 5, 8))
    for way, ranks, itemsize in cases:
        right = ring_bytes(way, sizes, b, ranks, itemsize)
        ring = 2 * (ranks - 1) / ranks * itemsize
        mistakes = {
            itemsize
            * right
            / ring: "Each rank of a ring receives 2 (p - 1) / p of it (lesson 06).",
            right / itemsize: "That is a count of numbers; each has `itemsize` bytes.",
            right
            / 2: "An allreduce goes around the ring twice: once to add up, once to distribute.",
            ring * ranks * n: "Count the bytes per rank, not for all ranks together.",
        }
        if way == "data":
            mistakes |= {
                ring * (n - 3 * 256 - 10): "Biases have gradients too.",
                ring * n / ranks: "Every rank has all layers, so count all gradients.",
                ring * n * b: "A gradient is as large as its parameter, whatever the batch.",
            }
        else:
            mistakes |= {
                ring
                * b
                * 266: "That is only the forward pass. The backward pass sends the gradient of "
                "every block's input, except for the first block, whose input is the images.",
                ring * b * (266 + 784 + 256): "No gradient with respect to the images is needed.",
                ring
                * b
                * (256 * 3 + 10 + 256 * 3): "Count once per block, not once per layer: nothing is "
                "sent between a column layer and a row layer.",
                ring
                * b
                * (256 * 3 + 10 + 256): "Only the outputs of blocks are sent, that is, of every "
                "second layer: sizes[2], sizes[4], … in the forward pass, and all of these except "
                "the last in the backward pass.",
                ring * (266 + 256): "Count activations for every image of the batch.",
                ring * b / ranks * (266 + 256): "Every rank has the whole batch.",
            }
        what = f'bytes_a_step("{way}", {sizes}, {b}, {ranks}, {itemsize})'
        mistakes.pop(right, None)
        compare(
            number(bytes_a_step(way, list(sizes), b, ranks, itemsize), what), right, what, mistakes
        )
    return "Data parallelism sends parameters, tensor parallelism activations."


def same(found: Any, right: Any) -> bool:
    return found.shape == right.shape and bool((found == right).all())


def close(found: Any, right: Any) -> bool:
    return found.shape == right.shape and bool(((found - right).abs() < 1e-9).all())


def size(tensor: Any) -> str:
    return " × ".join(map(str, tensor.shape))


def first(tensor: Any) -> str:
    return f"{[round(value, 3) for value in tensor.detach().flatten()[:3].tolist()]} …"
