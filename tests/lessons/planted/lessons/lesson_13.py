"""Lesson 13: shard everything."""

from tests.lessons.planted.table import Change, Job, Lesson, Mistake

FEW = ("--epochs", "1", "--windows", "64")
WAYS = ("ddp", "zero1", "zero2", "zero3", "fsdp")
FILES = {f"13_{way}_1.out": way for way in WAYS}  # one each, so that kept outputs are small
RECOMPUTE, LOAD = "13_recompute_1.out", "13_load_1.out"
SERIAL = {"as-serial": "relative error against one process"}
HELD = {"held": "bytes held / the rank's share"}
PEAK = {"held": "peak memory"}
PLANTED = {  # the way that shows it, file, what is there, what a student wrote; what it loses
    "the sum of the gradients": (
        "zero1", "zero.py", "self.reduce_scatter(flat) / self.size", "self.reduce_scatter(flat)",
        SERIAL,
    ),
    "clipped by the own norm": (
        "zero2", "zero.py", "    dist.all_reduce(squares)\n", "", SERIAL,
    ),
    "clipped by the mean of the squares": (
        "zero3", "zero.py", "    dist.all_reduce(squares)\n",
        "    dist.all_reduce(squares)\n    squares /= dist.get_world_size()\n", SERIAL,
    ),
    "not freed after the forward pass": (
        "zero3", "zero.py", "        module.register_forward_hook(lambda *_: unit.free())\n", "",
        PEAK,
    ),
    "never freed": (
        "zero3", "zero.py", "unit.when_complete(unit.collect, unit.free)",
        "unit.when_complete(unit.collect)", HELD,
    ),
    "whole gradients stay": (
        "zero2", "zero.py",
        "        for param in self.params:\n            param.grad = None\n", "", HELD | SERIAL,
    ),
    "a part is a view": ("zero3", "zero.py", "length].clone()", "length]", HELD),
    "gathered once too often": (
        "zero2", "zero.py", "        unit.when_complete(unit.collect)\n",
        "        unit.when_complete(unit.collect, unit.gather)\n", {"sent": "bytes sent"},
    ),
    "only the network is wrapped": (
        "fsdp", "library.py",
        "    for block in model.blocks:\n        fully_shard(block, **how)\n", "",
        PEAK,
    ),
    "Adam keeps one number": ("ddp", "state.py", '"float32": (4, 2)', '"float32": (4, 1)',
                              {"memory": "error of the memory formula"}),
    "gradients are shared from stage 3": ("zero2", "state.py", "stage >= 2", "stage >= 3",
                                          {"memory": "error of the memory formula"}),
    "the other way round in the ring": (
        "zero1", "ring.py", "sent, added = (rank - step - 1) % size, (rank - step - 2) % size",
        "sent, added = (rank - step) % size, (rank - step - 1) % size", SERIAL,
    ),
}  # fmt: skip
MADE = "    optimizer = torch.optim.AdamW({}, lr, betas=(0.9, 0.99))\n    clip"
FSDP = '    if way == "fsdp":\n'
EARLY = (  # fully_shard replaces the parameters that the optimizer has
    ("ways.py", FSDP, f"    params = list(model.parameters())\n{FSDP}"),
    ("ways.py", MADE.format("model.parameters()"), MADE.format("params")),
)
READ = 'dcp.load({"model": parameters, "optimizer": state}, checkpoint_id=folder)'


def file_of(way: str) -> str:
    return f"13_{way}_1.out"


def job(way: str, *changes: Change, words: tuple[str, ...] = FEW, ranks: int = 2) -> Job:
    saves = ("--save", "checkpoint") if way == "fsdp" else ()
    return Job(changes, ("--ways", way, *words, *saves), ranks)


LESSON = Lesson(
    folder="13_shard",
    jobs={way: job(way) for way in WAYS}
    | {
        "recompute": Job((), ("--ways", "fsdp", *FEW, "--recompute"), 2),
        "load": Job((), FEW, 1, after="fsdp", program="load.py"),
        "one rank": job("zero3", ranks=1),
        "the library's reduce-scatter": job("zero2", words=(*FEW, "--reduce-scatter", "library")),
        "the optimizer before sharding": Job(EARLY, ("--ways", "fsdp", *FEW), 2),  # saving fails
        "not computed twice": Job((), ("--ways", "fsdp", *FEW), 2),
        "only parameters loaded": Job(
            (("saving.py", READ, READ.replace(', "optimizer": state', "")),),
            FEW,
            1,
            after="fsdp",
            program="load.py",
        ),
    }
    | {name: job(way, (file, old, new)) for name, (way, file, old, new, _) in PLANTED.items()},
    handed_in={RECOMPUTE: "recompute", LOAD: "load"} | FILES,
    mistakes={
        "none": Mistake("fsdp", {}),
        "one rank": Mistake(
            "one rank",
            {
                "as-serial": "ranks that took part",
                "held": "peak memory",
                "sent": "difference of the bytes sent",
            },
            file_of("zero3"),
        ),
        "the library's reduce-scatter": Mistake(
            "the library's reduce-scatter",
            dict.fromkeys(("as-serial", "held", "sent", "memory"), "no run of `zero2`"),
            file_of("zero2"),
        ),
        "the optimizer before sharding": Mistake(
            "the optimizer before sharding", SERIAL | {"checkpoint": "no run of `saved`"}
        ),
        "not computed twice": Mistake(
            "not computed twice", {"recompute": "no run of `recompute`"}, RECOMPUTE
        ),
        "only parameters loaded": Mistake(
            "only parameters loaded", {"checkpoint": "test loss after one more step"}, LOAD
        ),
    }
    | {name: Mistake(name, loses, file_of(way)) for name, (way, *_, loses) in PLANTED.items()},
)
