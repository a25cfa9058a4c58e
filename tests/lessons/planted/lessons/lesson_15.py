"""Lesson 15: a job that survives."""

from tests.lessons.planted.table import Change, Job, Lesson, Mistake

SMALL = (
    *("--windows", "48", "--global-batch", "8", "--most", "4", "--epochs", "2"),
    *("--width", "32", "--every", "3"),
)
ACCIDENTS = ("--kill-at", "5", "--warn-at", "7")
WHOLE, SURVIVED, ELASTIC = "15_survive_1.out", "15_survive_2.out", "15_elastic_3.out"
OTHER = {"same": "bit for bit"}
TWICE = {"once": "not read exactly once"}
FILES = {"files": "was not whole"}
CHOSEN = {"files": "other checkpoints than rank 0"}
SAMPLER = '    training.sampler.load(saved["sampler"])\n'
PLACE = '        self.epoch, self.position = state["epoch"], state["position"]\n'
SHUFFLE = '        self.generator.set_state(state["generator"])\n        self.shuffle()\n'
PLANTED = {  # the run that shows it, file, what is there, what a student wrote; what it loses
    "the optimizer is not restored": (
        "survived", "snapshot.py", '    training.optimizer.load_state_dict(saved["optimizer"])\n',
        "", OTHER,
    ),
    "the schedule is not restored": (
        "survived", "snapshot.py", '    training.schedule.load_state_dict(saved["schedule"])\n', "",
        OTHER,
    ),
    "the random state is not restored": (
        "survived", "snapshot.py", '    torch.set_rng_state(saved["random"])\n', "", OTHER,
    ),
    "the sampler is not restored": ("survived", "snapshot.py", SAMPLER, "", OTHER | TWICE),
    "a position in another order": (
        "survived", "sampler.py", SHUFFLE, "        self.shuffle()\n", OTHER | TWICE,
    ),
    "the position before the shuffle": (
        "survived", "sampler.py", SHUFFLE + PLACE, PLACE + SHUFFLE, OTHER | TWICE,
    ),
    "the generator after the shuffle": (
        "survived", "sampler.py", '"generator": self.before',
        '"generator": self.generator.get_state()', OTHER | TWICE,
    ),
    "not on the disk yet": (
        "whole", "atomic.py", "        os.fsync(file.fileno())\n", "", FILES,
    ),
    "written in place": (
        "whole", "atomic.py", 'beside = Path(path).with_suffix(".writing")', "beside = Path(path)",
        FILES,
    ),
    "the oldest file": (
        "survived", "atomic.py", "reversed(files_in(folder))", "files_in(folder)",
        {"lost": "worst warning"},
    ),
    "onto rank 0's GPU": (
        "whole", "atomic.py", 'torch.load(path, map_location="cpu")', "torch.load(path)", FILES,
    ),
    "the others begin from the newest they see": (
        "whole", "atomic.py", "newest(folder) if dist.get_rank() == 0 else None",
        "newest(folder)", CHOSEN,
    ),
    "the ranks' mean of the warnings": (
        "whole", "signals.py", "(flag, dist.ReduceOp.MAX)", "(flag, dist.ReduceOp.MIN)",
        {"lost": "ranks disagreed"},
    ),
    "the MTBF of one node": (
        "whole", "interval.py", "node_mtbf_s / nodes", "node_mtbf_s",
        {"interval": "error of the interval"},
    ),
    "no copy on a CPU": (
        "whole", "background.py", '.to("cpu", copy=True)', '.to("cpu")',
        {"background": "values in the copy"},
    ),
    "tuples are not copied": (
        "whole", "background.py", "isinstance(value, list | tuple)", "isinstance(value, list)",
        {"background": "values in the copy"},
    ),
    "pieces are not weighed": (
        "whole", "pieces.py", " * (len(piece) / len(batch))", "",
        OTHER | {"elastic": "error of the gradients"},
    ),
    "pieces that do not fit": (
        "whole", "pieces.py", ".split(most)", ".split(2 * most)",
        {"elastic": "error of the gradients"},
    ),
}  # fmt: skip


def job(name: str, *changes: Change) -> Job:
    if name == "survived":
        return Job(changes, (*SMALL, "--background", *ACCIDENTS), 2, start="lives")
    if name == "elastic":
        return Job(changes, (*SMALL, "--kill-at", "5"), 0, start="elastic")
    return Job(changes, SMALL, 2)


FILE_OF = {"whole": WHOLE, "survived": SURVIVED, "elastic": ELASTIC}
LESSON = Lesson(
    folder="15_survive",
    jobs={name: job(name) for name in FILE_OF}
    | {
        "one rank": Job((), SMALL, 1),
        "another seed": Job((), (*SMALL, *ACCIDENTS, "--seed", "2"), 2, start="lives"),
        "never started again": Job((), (*SMALL, *ACCIDENTS), 2, start="fails"),
        "without accidents": Job((), SMALL, 2),
    }
    | {name: job(base, (file, old, new)) for name, (base, file, old, new, _) in PLANTED.items()},
    handed_in={file: name for name, file in FILE_OF.items()},
    mistakes={
        "none": Mistake("elastic", {}),
        "one rank": Mistake("one rank", {"same": "ranks that took part"}, WHOLE),
        "another seed": Mistake("another seed", OTHER, SURVIVED),
        "never started again": Mistake(
            "never started again",
            dict.fromkeys(("same", "once", "lost", "background"), "no run of `survived`"),
            SURVIVED,
        ),
        "without accidents": Mistake(
            "without accidents",
            dict.fromkeys(("same", "once", "lost", "background"), "no run of `survived`"),
            SURVIVED,
        ),
    }
    | {name: Mistake(name, loses, FILE_OF[base]) for name, (base, *_, loses) in PLANTED.items()},
)
