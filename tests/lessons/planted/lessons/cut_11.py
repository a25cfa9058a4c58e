"""Lesson 11, what is cut and counted: layers on two ranks, memory."""

from tests.lessons.planted.table import Job, Mistake

WIDTH = ("--width", "64", "--batch-sizes", "160", "--steps", "2")
SMALL = ("--width", "64", "--depth", "8", "--batch-size", "64")
LAYERS = "tensor_layers.py"
CUT = "weight.tensor_split(size, dim=1)[rank], bias"
PLANTED = {  # what stands in tensor_layers.py, what a student wrote, words of the reason
    "no allreduce backward": ("return summed(gradient)", "return gradient", "difference to serial"),
    "summed both ways": ("        return gradient\n", "        return summed(gradient)\n",
                         "difference to serial"),
    "the bias added on every rank": (
        "FromParts.apply(linear(hidden, row[0])) + row[1]",
        "FromParts.apply(linear(hidden, row[0], row[1]))", "difference to serial",
    ),
    "the mean of the parts": ("return summed(part)", "return summed(part) / dist.get_world_size()",
                              "difference to serial"),
    "relu after the sum": (
        "hidden = torch.relu(linear(ToParts.apply(x), *column))\n"
        "    return FromParts.apply(linear(hidden, row[0])) + row[1]",
        "hidden = linear(ToParts.apply(x), *column)\n"
        "    return torch.relu(FromParts.apply(linear(hidden, row[0])) + row[1])",
        "difference to serial",
    ),
    "one exchange for each layer": (
        "hidden = torch.relu(linear(ToParts.apply(x), *column))",
        "hidden = torch.relu(linear(ToParts.apply(x), *column))\n    summed(hidden.detach())",
        "bytes off",
    ),
    "the rows of the row layer": (CUT, "weight.tensor_split(size)[rank], bias", "did not finish"),
    "Adam keeps one number": ('"adam": 2', '"adam": 1', "memory error"),
    "mixed without float32 copies": (' + (precision == "mixed")', "", "memory error"),
}  # fmt: skip
IN = {"Adam": "memory", "mixed": "memory"}


def check_of(mistake: str) -> str:
    return next((check for words, check in IN.items() if mistake.startswith(words)), "tensor")


def job_of(check: str, change: tuple[str, str] | None = None, start: str = "together") -> Job:
    file = {"tensor": LAYERS}.get(check, f"{check}.py")
    changes = ((file, *change),) if change else ()
    words = {"tensor": WIDTH, "memory": SMALL}[check]
    program = "tensor_parallel.py" if check == "tensor" else f"{check}.py"
    return Job(changes, words, 2 if check == "tensor" else 0, start, program)


JOBS = {
    "cut layers": job_of("tensor"),
    "bytes held": job_of("memory"),
    "cut layers on three ranks": Job((), WIDTH, 3, program="tensor_parallel.py"),
} | {
    name: job_of(check_of(name), (old, new), "fails" if "finish" in said else "together")
    for name, (old, new, said) in PLANTED.items()
}
HANDED_IN = {
    "11_tensor_1.out": "cut layers",
    "11_memory_1.out": "bytes held",
}
MISTAKES = {"three ranks": Mistake("cut layers on three ranks", {}, "11_tensor_1.out")} | {
    name: Mistake(name, {check_of(name): said}, f"11_{check_of(name)}_1.out")
    for name, (_, _, said) in PLANTED.items()
}
