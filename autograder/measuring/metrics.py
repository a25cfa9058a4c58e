"""The metric names that rubrics use: each is a function of one run.

A metric gives a Measure, a word (model, device) or Missing with the reason.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from autograder.measuring import measure
from autograder.measuring.measure import Measure, Missing, Result, exact, is_number, printed
from autograder.measuring.shares import shard_overlap, shard_uncovered
from autograder.records import Number, Run, Where

Value = Measure | Missing | str


def _first_line(run: Run) -> tuple[Where, ...]:
    for rank in run.ranks:
        if rank.where:
            return (rank.where,)
    for epoch in run.epochs:
        if epoch.where:
            return (epoch.where,)
    return (Where(run.files[0], 1),) if run.files else ()


def _header(name: str, unit: str = "") -> Callable[[Run], Result]:
    def fact(run: Run) -> Result:
        value = run.header.get(name)
        if value is None:
            return Missing(f"the output does not say `{name}`", "print the run record")
        if not is_number(value):
            return Missing(f"`{name}` is {value!s:.40}, which is no number")
        return exact(value, unit, _first_line(run), "from the run record's header")

    return fact


def _word(name: str) -> Callable[[Run], Missing | str]:
    def fact(run: Run) -> Missing | str:
        value = run.header.get(name)
        return value if isinstance(value, str) else Missing(f"the output does not say which {name}")

    return fact


def _dataset(name: str) -> Callable[[Run], Result]:
    def fact(run: Run) -> Result:
        dataset = run.header.get("dataset")
        value = dataset.get(name) if isinstance(dataset, dict) else None
        if not is_number(value):
            return Missing(f"the output does not say `{name}` of the data set")
        return exact(value, "samples", _first_line(run), "from the run record's header")

    return fact


def _fraction(number: Number | None, name: str) -> Result:
    if number is None:
        return Missing(f"the output tells no {name}")
    value = printed(number)
    if isinstance(value, Measure) and not 0 <= value.value <= 1:
        return Missing(f"the {name} is {value.value:g}, not between 0 and 1", where=value.where)
    return value


def _loss(which: int) -> Callable[[Run], Result]:
    def loss(run: Run) -> Result:
        if not run.epochs or run.epochs[which].train_loss is None:
            return Missing("the output tells no training loss")
        return printed(run.epochs[which].train_loss)  # type: ignore[arg-type]

    return loss


def _test_accuracy(run: Run) -> Result:
    return _fraction(run.test_accuracy, "test accuracy")


def _train_accuracy(run: Run) -> Result:
    last = run.epochs[-1].train_accuracy if run.epochs else None
    return _fraction(last, "training accuracy")


def _val_accuracy(run: Run) -> Result:
    return _fraction(run.epochs[-1].val_accuracy if run.epochs else None, "validation accuracy")


def _best_val_accuracy(run: Run) -> Result:
    known = [epoch.val_accuracy for epoch in run.epochs if epoch.val_accuracy]
    return _fraction(max(known, key=lambda a: a.value, default=None), "validation accuracy")


def _time_to_accuracy(run: Run, at: Mapping[str, Any]) -> Result:
    target = at.get("accuracy")
    if not is_number(target):
        return Missing("time_to_accuracy needs the accuracy in `at`")
    return measure.time_to_accuracy(run, target)


def _end(name: str) -> Callable[[Run], Result]:
    def fact(run: Run) -> Result:
        value = run.end.get(name)
        if value is None:
            return Missing(f"the end of the run does not say `{name}`")
        if not is_number(value):
            return Missing(f"`{name}` is {value!s:.40}, which is no number")
        if value < 0:
            return Missing(f"`{name}` is {value:g}; it cannot be negative")
        return exact(value, "", _first_line(run), "from the run record's end")

    return fact


def _files_written(run: Run) -> Result:
    """Checkpoint files of all ranks: what each rank says at its end, else rank 0's sum."""
    counts = [rank.files_written for rank in run.ranks]
    if counts and None not in counts:
        where = tuple(rank.where for rank in run.ranks if rank.where)
        return exact(sum(filter(None, counts)), "files", where, "sum over ranks")
    return _end("files_written")(run)


def _ranks(run: Run) -> Result:
    """Ranks that took part: presence lines where the format has them, else what the run says."""
    if run.ranks:
        where = tuple(r.where for r in run.ranks if r.where)
        return exact(len({r.rank for r in run.ranks}), "ranks", where, "presence lines of ranks")
    count = measure.workers(run)
    if count is None:
        return Missing("the output does not say how many ranks took part")
    return exact(count, "ranks", _first_line(run))


def _replicas(run: Run) -> Result:
    """Copies of the network: one a rank, unless one process says that it drives several."""
    if run.header.get("replicas") is None:
        return _ranks(run)
    count = measure.workers(run)
    if count is None:
        return Missing("`replicas` is no whole number from 1 on")
    return exact(count, "replicas", _first_line(run), "from the run record's header")


def _distinct(describe: Callable, unit: str) -> Callable[[Run], Result]:
    def count(run: Run) -> Result:
        if not run.ranks:
            return Missing("the output has no presence lines of ranks", "print the run record")
        places = {describe(r) for r in run.ranks}
        where = tuple(r.where for r in run.ranks if r.where)
        return exact(len(places), unit, where)

    return count


def _hosts(run: Run) -> Result:
    if run.ranks:
        return _distinct(lambda r: r.host, "hosts")(run)
    hosts = run.header.get("hosts")
    if not isinstance(hosts, list) or not hosts:
        return Missing("the output does not name its hosts")
    return exact(len({str(h) for h in hosts}), "hosts", _first_line(run))


def _steps(run: Run) -> Result:
    steps = {e.steps for e in run.epochs if e.steps is not None}
    if not steps:
        return Missing("the output does not say how many steps an epoch has")
    if len(steps) > 1:
        return Missing(f"epochs differ in their number of steps: {sorted(steps)}")
    return exact(steps.pop(), "steps", _first_line(run))


def _steps_expected(run: Run) -> Result:
    """ceil(unique samples / global batch)."""
    samples, batch = measure.unique_samples(run), _header("global_batch")(run)
    if isinstance(samples, Missing):
        return samples
    if isinstance(batch, Missing) or batch.value < 1:
        return Missing("the output does not say its global batch")
    return exact(math.ceil(samples.value / batch.value), "steps", basis="samples / global batch")


def _per_worker(name: str) -> Callable[[Run], Result]:
    def share(run: Run) -> Result:
        value, count = _header(name)(run), measure.workers(run)
        if isinstance(value, Missing) or count is None:
            return value if isinstance(value, Missing) else Missing("number of ranks unknown")
        return measure.scaled(value, 1 / count)

    return share


def _total_seconds(run: Run) -> Result:
    if run.total_seconds is None:
        return Missing("the output does not say how long the run took")
    value = printed(run.total_seconds, "s")
    if isinstance(value, Measure) and value.value <= 0:
        return Missing(f"the run says it took {value.value:g} s", where=value.where)
    return value


ERROR_FILE = re.compile(r".*\.(err|er|error|stderr|e\d*)\Z", re.IGNORECASE)


def _error_file_separate(run: Run) -> str:
    """yes when the job's errors have a file of their own that holds no line of the record."""
    records = {r.where.file for r in run.ranks if r.where}
    errors = [f for f in run.files if ERROR_FILE.match(f) and f not in records]
    return "yes" if errors else "no"


def _job_known(run: Run) -> str:
    """yes when the run names its job, or says that no scheduler was there."""
    known = run.job_id is not None or run.header.get("scheduler") in ("none", "laptop")
    return "yes" if known else "no"


def _pair(function: Callable[[Run, Run, str | None], Result]) -> Callable[[Run, Run], Result]:
    def compare(base: Run, run: Run) -> Result:
        scaling = run.header.get("scaling")
        return function(base, run, scaling if isinstance(scaling, str) else None)

    return compare


# Metrics of a run against its baseline: only for the same work on the same hardware.
PAIRS: dict[str, Callable[[Run, Run], Result]] = {
    "efficiency": _pair(measure.efficiency),
    "speedup": _pair(measure.speedup),
}

# Metrics of a run that need to be told a point.
POINTS: dict[str, Callable[[Run, Mapping[str, Any]], Result]] = {
    "time_to_accuracy": _time_to_accuracy,
}

METRICS: dict[str, Callable[[Run], Value]] = {
    "best_val_accuracy": _best_val_accuracy,
    "val_accuracy": _val_accuracy,
    "allreduce_s": lambda run: measured(run, "allreduce_s", {}),
    "chain_intact": lambda run: (
        Missing("the output has no run record")
        if run.chain_intact is None
        else ("yes" if run.chain_intact else "no")
    ),
    "device": _word("device"),
    "devices_distinct": _distinct(lambda r: (r.host, r.local_rank), "devices"),
    "epoch_s": measure.epoch_time,
    "epochs": lambda run: exact(len(run.epochs), "epochs", _first_line(run)),
    "error_file_separate": _error_file_separate,
    "files_written": _files_written,
    "global_batch": _header("global_batch"),
    "global_batch_per_worker": _per_worker("global_batch"),
    "hosts": _hosts,
    "image_size": _header("image_size", "pixels"),
    "job_known": _job_known,
    "local_batch": _header("local_batch"),
    "loss_first": _loss(0),
    "loss_last": _loss(-1),
    "lr": _header("lr"),
    "lr_base": _header("lr_base"),
    "lr_per_worker": _per_worker("lr"),
    "model": _word("model"),
    "param_spread": _end("param_spread"),
    "params": _header("params"),
    "ranks": _ranks,
    "ranks_asked": _header("ranks_asked"),
    "replicas": _replicas,
    "replicas_asked": _header("replicas_asked", "replicas"),
    "shard_overlap": shard_overlap,
    "shard_uncovered": shard_uncovered,
    "step_s": lambda run: measured(run, "step_s", {}),
    "steps": _steps,
    "steps_expected": _steps_expected,
    "test_accuracy": _test_accuracy,
    "throughput": measure.throughput,
    "total_s": _total_seconds,
    "first_train_accuracy": lambda run: _fraction(
        run.epochs[0].train_accuracy if run.epochs else None, "training accuracy"
    ),
    "train_accuracy": _train_accuracy,
    "train_samples": _dataset("train_samples"),
    "unique_samples": measure.unique_samples,
}


def epoch_s_min(run: Run) -> Result:
    """Shortest epoch after the first."""
    return _epoch_extreme(run, min)


def epoch_s_max(run: Run) -> Result:
    """Longest epoch after the first."""
    return _epoch_extreme(run, max)


def _epoch_extreme(run: Run, choose: Callable) -> Result:
    typical = measure.epoch_time(run)
    if isinstance(typical, Missing):
        return typical
    chosen = choose(
        (e.seconds for e in measure.later_epochs(run) if e.seconds is not None),
        key=lambda seconds: seconds.value,
    )
    return printed(chosen, "s")


METRICS["epoch_s_min"] = epoch_s_min
METRICS["epoch_s_max"] = epoch_s_max


def measured(run: Run, name: str, at: dict[str, object]) -> Result:
    """The median of the record's `measure` events of this name at this point."""
    found = [m for m in run.measures if m.get("name") == name and at.items() <= m.items()]
    values = [m.get("value") for m in found]
    if not values:
        point = ", ".join(f"{key} = {value}" for key, value in at.items())
        return Missing(f"the run measured no {name}" + (f" at {point}" if point else ""))
    if not all(is_number(v) for v in values):
        return Missing(f"a value of {name} is no number")
    unit = str(found[0].get("unit", ""))
    return measure.middle([exact(v, unit) for v in values], f"median of {len(values)}")  # type: ignore[arg-type]
