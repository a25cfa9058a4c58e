"""Lesson 11, cut layers and counted bytes: layers on two ranks."""

from tests.lessons.planted.table import Job, Mistake

WIDTH = ("--width", "64", "--batch-sizes", "160", "--steps", "2")
LAYERS = "tensor_layers.py"
CUT = "weight.tensor_split(size, dim=1)[rank], bias"
PLANTED = {  # what stands in tensor_layers.py, what a student wrote, words of the reason
    "no allreduce backward": ("return summed(gradient)", "return gradient", "of the parameters"),
    "summed both ways": ("        return gradient\n", "        return summed(gradient)\n",
                         "difference of the parameters"),
    "the bias added on every rank": (
        "FromParts.apply(linear(hidden, row[0])) + row[1]",
        "FromParts.apply(linear(hidden, row[0], row[1]))", "difference of the parameters",
    ),
    "the mean of the parts": ("return summed(part)", "return summed(part) / dist.get_world_size()",
                              "difference of the parameters"),
    "relu after the sum": (
        "hidden = torch.relu(linear(ToParts.apply(x), *column))\n"
        "    return FromParts.apply(linear(hidden, row[0])) + row[1]",
        "hidden = linear(ToParts.apply(x), *column)\n"
        "    return torch.relu(FromParts.apply(linear(hidden, row[0])) + row[1])",
        "difference of the parameters",
    ),
    "one exchange for each layer": (
        "hidden = torch.relu(linear(ToParts.apply(x), *column))",
        "hidden = torch.relu(linear(ToParts.apply(x), *column))\n    summed(hidden.detach())",
        "difference of the bytes sent",
    ),
    "the rows of the row layer": (CUT, "weight.tensor_split(size)[rank], bias", "did not finish"),
}  # fmt: skip


def job_of(*changes: tuple[str, str, str], start: str = "together") -> Job:
    return Job(changes, WIDTH, 2, start, "tensor_parallel.py")


JOBS = {
    "cut layers": job_of(),
    "cut layers on three ranks": Job((), WIDTH, 3, program="tensor_parallel.py"),
} | {
    name: job_of((LAYERS, old, new), start="fails" if "finish" in said else "together")
    for name, (old, new, said) in PLANTED.items()
}
HANDED_IN = {"11_tensor_1.out": "cut layers"}
MISTAKES = {"three ranks": Mistake("cut layers on three ranks", {}, "11_tensor_1.out")} | {
    name: Mistake(name, {"tensor": said}, "11_tensor_1.out")
    for name, (_, _, said) in PLANTED.items()
}
