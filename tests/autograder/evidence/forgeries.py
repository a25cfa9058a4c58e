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


def faster(lines: Lines, times: float, clock: bool = False) -> None:
    put(lines, "epoch_stop", seconds=lambda s: round(s / times, 6))
    if clock:
        put(lines, "run_stop", seconds=lambda s: round(s / times, 6))
        first = forge.one(lines, "header")["time_ms"]
        for event in events(lines):
            event["time_ms"] = round(first + (event["time_ms"] - first) / times)


def more_data(lines: Lines, samples: int, batch: int) -> None:
    for event in events(lines, "header"):
        event["value"]["dataset"]["train_samples"] = samples
    put(lines, "rank", "rank_end", samples=samples)
    put(lines, "epoch_stop", unique_samples=samples, steps=-(-samples // batch))


def raised(lines: Lines, accuracy: float) -> None:
    for event in events(lines, "eval_accuracy"):
        event["value"] = accuracy
    put(lines, "run_stop", test_accuracy=accuracy)


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
    Forgery("70,000 samples of a set of 60,000", NUMPY,
        lambda c: more_data(c["numpy"], 70_000, 32), Code.SAMPLES_IMPOSSIBLE),
    Forgery('"H100" in the header', KERAS,
        lambda c: put(c["keras"], "machine", device="NVIDIA H100 80GB HBM3"),
        "", Code.MORE_RANKS_THAN_GPUS),
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
    Forgery("the same, of students whose accounts nobody knows", NUMPY,
        second_student(forge.new_id, logins=False), Code.SHARED_RUN, Code.SHARED_RUN),
    Forgery("another student's run, all numbers jittered, both with one job id", NUMPY,
        second_student(JITTERED, logins=False), Code.SHARED_JOB, Code.SHARED_JOB),
    Forgery("another student's run, later, under another seed, seconds jittered", NUMPY,
        second_student(all_of(JITTERED, other_job, lambda ls: put(ls, "header", seed=2),
            lambda ls: forge.later(ls, 5000))), Code.SHARED_LOSSES),
    Forgery("a job of another account", NUMPY, lambda c: c.users.update(numpy="eve"), "",
        Code.OTHER_ACCOUNT),
    Forgery("a record of 130 s, invented, and a job that slept as long", ("numpy-long",),
        lambda c: c.cpu.update({"numpy-long": 0}), "", Code.JOB_COMPUTED_LITTLE),
    Forgery("`started` and the clock moved to before the job", NUMPY,
        lambda c: forge.later(c["numpy"], -7200), "", Code.OUTSIDE_JOB_TIME),
    Forgery("other data called mnist", NUMPY, lambda c: other_data(c["numpy"]),
        Code.DATA_IS_ANOTHER),
    Forgery("real data called synthetic", NUMPY,
        lambda c: [e["value"]["dataset"].update(synthetic=True) for e in events(c["numpy"],
            "header")], Code.DATA_IS_ANOTHER),
    Forgery("other nodes than the job's", NUMPY,
        lambda c: put(c["numpy"], "rank", host="n77"), "", Code.HOSTS_NOT_OF_JOB),
)  # fmt: skip
# Lies that nothing else in the submission contradicts. Only running the program again exposes them.
UNSEEN = (
    Forgery("last epoch dropped", NUMPY, lambda c: forge.without_epoch(c["numpy"], 3), ""),
    Forgery("60,000 samples claimed for 12,800, everywhere, alone", NUMPY,
        lambda c: more_data(c["numpy"], 60_000, 32), ""),
    Forgery("accuracy raised everywhere", NUMPY,
        lambda c: raised(c["numpy"], 0.99), ""),
    Forgery("all seconds and the clock ÷ 3.5, of 5 s", ("horovod-1",),
        lambda c: faster(c["horovod-1"], 3.5, clock=True), ""),
)  # fmt: skip
HONEST = tuple(Forgery(f"untouched: {name}", (name,), lambda c: None, "") for name in JOBS)


def rewritten(case: Case) -> Lines:
    """Return the one-rank run again, as if it had two ranks and another name and job."""
    lines = copy.deepcopy(case["horovod-1"])
    forge.with_second_rank(lines)
    forge.new_id(lines)
    other_job(lines, 1004)
    return lines
