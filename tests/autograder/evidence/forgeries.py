"""Submissions forged from real ones, with the chain sealed again, and the findings for each."""

import copy
from collections.abc import Callable

from autograder.codes import FindingCode as Code
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.forged_class import JOBS, Case, Forgery
from tests.autograder.evidence.rewriting import Lines, events, put


def second_student(change: Callable[[Lines], None], logins: bool = True) -> Callable[[Case], None]:
    """Return a forgery in which a second student submits the outputs too, changed."""

    def forged(case: Case) -> None:
        def changed(outputs: dict[str, Lines]) -> None:
            for lines in outputs.values():
                change(lines)

        case.classmate, case.logins = changed, logins

    return forged


def other_job(lines: Lines, job: int = 9009) -> None:
    put(lines, "machine", job_id=str(job))


def all_of(*changes: Callable[[Lines], None]) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        for each in changes:
            each(lines)

    return change


def more_data(lines: Lines, samples: int, batch: int) -> None:
    for event in events(lines, "header"):
        event["value"]["dataset"]["train_samples"] = samples
    put(lines, "rank", "rank_end", samples=samples)
    put(lines, "epoch_stop", unique_samples=samples, steps=-(-samples // batch))


def other_data(lines: Lines) -> None:
    for event in events(lines, "header"):
        event["value"]["dataset"]["sha256"] = "0" * 64


JITTERED = all_of(forge.new_id, forge.jittered)
NUMPY, KERAS, SWEEP = ("numpy",), ("keras",), ("sweep",)
BOTH = ("horovod-1", "horovod-2")
FORGERIES = (
    Forgery("60,000 samples claimed for 12,800, beside an honest classmate", NUMPY,
        second_student(all_of(lambda ls: more_data(ls, 60_000, 32), forge.new_id, other_job,
            lambda ls: forge.later(ls, 5000), forge.jittered)), Code.SHARED_LOSSES),
    Forgery('"H100" in all lines', KERAS,
        lambda c: put(c["keras"], "machine", "rank", device="NVIDIA H100 80GB HBM3"),
        "", Code.MORE_RANKS_THAN_GPUS),
    Forgery("one rank rewritten as two, in a job with one CPU", ("horovod-1",),
        lambda c: forge.with_second_rank(c["horovod-1"]), "",
        Code.MORE_RANKS_THAN_CPUS),
    Forgery("one rank rewritten as two, the original submitted as well", BOTH,
        lambda c: (c.outputs.update({"horovod-2": rewritten(c)})), Code.SAME_SECONDS),
    Forgery("one run copied under all headers of a sweep", SWEEP,
        lambda c: forge.under_all_headers(c["sweep"]), Code.SAME_SECONDS),
    Forgery("another student's run, with a new run id", NUMPY,
        second_student(all_of(forge.new_id, lambda ls: other_job(ls, 9010))), Code.SHARED_RUN),
    Forgery("another student's run, new run id, both with one job id", NUMPY,
        second_student(forge.new_id), Code.SHARED_RUN, Code.SHARED_RUN),
    Forgery("another student's run, all numbers jittered, both with one job id", NUMPY,
        second_student(JITTERED, logins=False), Code.SHARED_JOB, Code.SHARED_JOB),
    Forgery("another student's run, later, under another seed, seconds jittered", NUMPY,
        second_student(all_of(JITTERED, other_job, lambda ls: put(ls, "header", seed=2),
            lambda ls: forge.later(ls, 5000))), Code.SHARED_LOSSES),
    Forgery("a record of 130 s, invented, and a job that slept as long", ("numpy-long",),
        lambda c: c.cpu.update({"numpy-long": 0}), "", Code.JOB_COMPUTED_LITTLE),
    Forgery("other data called mnist", NUMPY, lambda c: other_data(c["numpy"]),
        Code.DATA_IS_ANOTHER),
    Forgery("real data called synthetic", NUMPY,
        lambda c: [e["value"]["dataset"].update(synthetic=True) for e in events(c["numpy"],
            "header")], Code.DATA_IS_ANOTHER),
)  # fmt: skip
HONEST = tuple(Forgery(f"untouched: {name}", (name,), lambda c: None, "") for name in JOBS)


def rewritten(case: Case) -> Lines:
    """Return the one-rank run again, as if it had two ranks and another name and job."""
    lines = copy.deepcopy(case["horovod-1"])
    forge.with_second_rank(lines)
    forge.new_id(lines)
    other_job(lines, 1004)
    return lines
