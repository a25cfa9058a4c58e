"""The laziest ways through lesson 11: cut layers and counted bytes."""

from tests.lessons.planted.lazy import Lazy, LazyTable

TENSOR = "cut layers"
UNLIKE = {"tensor": "difference of the parameters"}
BYTES = {"tensor": "difference of the bytes sent"}
BLOCK = "tensor_layers.py 11.6: ToParts, column layer, relu, row layer, FromParts, its bias"
WHOLE = "return linear(torch.relu(linear(x, *column)), *row)"
# Exact, and every rank has all of the network once more.
GATHERS = """
def whole(own, axis):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, own.detach())
    parts[dist.get_rank()] = own
    return torch.cat(parts, axis)

hidden = torch.relu(linear(x, whole(column[0], 0), whole(column[1], 0)))
return linear(hidden, whole(row[0], 1), row[1])
"""

TABLE: LazyTable = {
    "tensor_layers.py 11.5": {
        "all of it": Lazy("return weight, bias", UNLIKE, base=TENSOR),
        "all of it, nothing exchanged": Lazy(
            "return weight, bias",
            {"tensor": "parameters held / the rank's part"},
            also={BLOCK: WHOLE},
            base=TENSOR,
        ),
        "pass": Lazy("pass", {"tensor": "did not finish"}, base=TENSOR, start="fails"),
    },
    "tensor_layers.py 11.6: x went to all parts, so what they send back adds up": {
        "no gradient": Lazy("pass", UNLIKE, base=TENSOR),
        "its own part of the gradient": Lazy("return gradient", UNLIKE, base=TENSOR),
    },
    "tensor_layers.py 11.6: the outputs of all parts add up": {
        "its own part": Lazy("return part.view_as(part)", UNLIKE, base=TENSOR),
        "its own part, size times": Lazy(
            "return part * dist.get_world_size()", UNLIKE, base=TENSOR
        ),
    },
    "tensor_layers.py 11.6: of a sum, every part has the same gradient": {
        "nothing goes back": Lazy("pass", UNLIKE, base=TENSOR),
        "half of it": Lazy("return gradient / dist.get_world_size()", UNLIKE, base=TENSOR),
    },
    BLOCK: {
        "only its own numbers": Lazy(
            "return linear(torch.relu(linear(x, *column)), *row)", UNLIKE, base=TENSOR
        ),
        "all weights from all ranks": Lazy(GATHERS, BYTES, base=TENSOR),
    },
    "tensor_layers.py 11.7": {
        "a constant": Lazy(
            "return 4795501", {"tensor": "error of the formula for bytes"}, base=TENSOR
        ),
        "the same for both ways": Lazy(
            "return 2 * (ranks - 1) / ranks * itemsize"
            " * sum((i + 1) * o for i, o in itertools.pairwise(sizes))",
            {"tensor": "error of the formula for bytes"},
            base=TENSOR,
        ),
    },
}
