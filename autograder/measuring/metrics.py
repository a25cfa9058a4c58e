"""All metrics that rubrics can name: their labels, and the functions that measure them.

Rubrics are validated against these tables, and the judging code looks up its functions here. To add
a metric, write a function and add a row. docs/rubrics.md explains each row; a test compares them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from autograder import data_files
from autograder.measuring import (
    course_metrics as course,
    measure,
    record_facts,
    rounds,
    scaling_laws as laws,
    study_table as study,
)
from autograder.measuring.interval import Measure
from autograder.measuring.measure import reported
from autograder.measuring.record_facts import at_end, different, in_header, over_ranks
from autograder.measuring.study_table import scaling_of
from autograder.records import Run

Value = Measure | str
LABELS = Path(__file__).parents[1] / "rubrics" / "facts" / "labels.yaml"
OWN = "measure:"  # before the name of a value that the course's own programs measure and record


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's label, the fields that a rubric has to give, and the function that measures it.

    The function takes the run. With `base`, it takes the base run first; with `at`, it takes `at`
    last; with `all_runs`, it takes all runs and `at`. The function returns a Measure or a word, or
    raises NotMeasured.
    """

    function: Callable[..., Value]
    label: str  # as students and instructors see it
    unit: str = ""
    base: bool = False  # whether it is relative to another run
    all_runs: bool = False  # whether it uses all finished runs of a name
    at: Mapping[str, Any] = field(default_factory=dict)  # members of `at`, each with an example
    needs_at: bool = False  # whether `at` is required
    any_at: bool = False  # whether the run record decides what `at` may contain
    in_words: Callable[[Run], str] | None = None  # the check's title, once it was measured

    @property
    def of_a_run(self) -> bool:
        """Return whether the metric's function takes only a run as its argument."""
        return not (self.base or self.all_runs or self.at or self.any_at)


def _study(function: Callable[..., Value], label: str, unit: str = "", **at: Any) -> Metric:
    return Metric(function, label, unit, all_runs=True, at=at)


METRICS: dict[str, Metric] = {
    # participants
    "ranks": Metric(record_facts.ranks, "ranks that took part", "ranks"),
    "ranks_asked": Metric(in_header("ranks_asked"), "ranks asked for"),
    "replicas": Metric(record_facts.replicas, "copies of the network", "replicas"),
    "replicas_asked": Metric(in_header("replicas_asked", "replicas"), "copies asked for",
        "replicas"),
    "hosts": Metric(record_facts.hosts, "hosts used", "hosts"),
    "devices_distinct": Metric(record_facts.devices, "different devices", "devices"),
    "local_ranks": Metric(record_facts.local_ranks, "local ranks are numbered from 0 on each host"),
    "launched": Metric(record_facts.launched, "a launcher started the ranks"),
    "job_known": Metric(record_facts.job_known, "the run names its job"),
    "starts": Metric(over_ranks("start_hash", different, "starts"),
        "different sets of initial parameters", "starts"),
    "start_of_rank_0": Metric(course.start_of_rank_0,
        "all ranks started with the parameters of rank 0"),
    "rank_losses": Metric(over_ranks("loss", different, "losses"),
        "different training losses of the ranks", "losses"),
    "labels_apart": Metric(over_ranks("labels", course.labels_apart),
        "difference in a class's share between one rank and all ranks"),
    # the network and its data
    "params": Metric(in_header("params"), "parameters of the network"),
    "image_size": Metric(in_header("image_size", "pixels"), "width of the images", "pixels"),
    "train_samples": Metric(record_facts.train_samples, "size of the training set", "samples"),
    "unique_samples": Metric(measure.unique_samples, "different samples read per epoch", "samples"),
    "read_most": Metric(measure.read_most, "how many times one sample was read per epoch", "times"),
    "reading_orders": Metric(measure.reading_orders, "different orders of the samples", "orders"),
    "shard_overlap": Metric(course.shard_overlap, "samples read by more than one rank",
        "samples"),
    "shard_uncovered": Metric(course.shard_uncovered, "samples that no rank read",
        "samples"),
    # how it was trained
    "epochs": Metric(measure.epochs, "finished epochs", "epochs"),
    "steps": Metric(measure.steps, "steps per epoch", "steps"),
    "steps_expected": Metric(measure.steps_expected, "samples / batch size", "steps"),
    "share_steps": Metric(course.share_steps, "batches on the rank with the fewest samples",
        "steps"),
    "steps_apart": Metric(over_ranks("steps", lambda each: max(each) - min(each), "steps"),
        "difference in steps between ranks", "steps"),
    "global_batch": Metric(in_header("global_batch"), "batch size of all ranks together"),
    "global_batch_per_worker": Metric(measure.a_worker("global_batch"), "batch size per worker"),
    "local_batch": Metric(in_header("local_batch"), "batch size on one rank"),
    "lr": Metric(in_header("lr"), "learning rate"),
    "lr_base": Metric(in_header("lr_base"), "learning rate before scaling"),
    "lr_last": Metric(measure.last_rate, "learning rate at the end"),
    "lr_per_worker": Metric(measure.a_worker("lr"), "learning rate per worker"),
    # how long it took
    "epoch_s": Metric(measure.epoch_time, "time per epoch", "s"),
    "epoch_s_min": Metric(partial(measure.extreme, min), "shortest epoch", "s"),
    "epoch_s_max": Metric(partial(measure.extreme, max), "longest epoch", "s"),
    "time_to_accuracy": Metric(lambda run, at: measure.time_to_accuracy(run, at["accuracy"]),
        "training time until the accuracy is reached", "s", at={"accuracy": 0.9},
        needs_at=True),
    "throughput": Metric(measure.throughput, "samples per second", "samples/s"),
    "speedup": Metric(lambda base, run: measure.speedup(base, run, scaling_of(run)), "speedup",
        base=True),
    "efficiency": Metric(lambda base, run: measure.efficiency(base, run, scaling_of(run)),
        "efficiency", base=True),
    # a speed job
    "rounds": Metric(rounds.how_many, "rounds measured", "rounds"),
    "rounds_speedup": Metric(rounds.speedup, "speedup"),
    "rounds_ceiling": Metric(rounds.ceiling, "ceiling (speedup of ranks that exchange nothing)"),
    "rounds_share": Metric(rounds.share, "share of the ceiling", in_words=rounds.in_words),
    "rounds_moved": Metric(rounds.worst_over_rounds("moved", min),
        "smallest change in the parameters in a round"),
    "rounds_spread": Metric(rounds.worst_over_rounds("spread", max),
        "largest difference in a parameter between ranks"),
    # what was learnt
    "test_loss": Metric(reported("test_loss", "test loss"), "test loss"),
    "test_accuracy": Metric(measure.test_accuracy, "test accuracy"),
    "train_accuracy": Metric(reported("train_accuracy", "training accuracy", -1),
        "training accuracy"),
    "loss_first": Metric(reported("train_loss", "training loss", 0),
        "training loss of the first epoch"),
    "loss_last": Metric(reported("train_loss", "training loss", -1),
        "training loss of the last epoch"),
    "param_moved": Metric(at_end("param_moved"), "largest change in a parameter during training"),
    "params_changed": Metric(at_end("params_changed"), "parameters that training changed"),
    "param_spread": Metric(at_end("param_spread"),
        "largest difference in a parameter between ranks"),
    "same_params": Metric(course.same_params, "the same parameters, bit for bit", base=True),
    # what was written
    "chain_intact": Metric(record_facts.chain_intact, "the record is complete and unchanged"),
    "error_file_separate": Metric(record_facts.error_file_separate,
        "errors are in a separate file"),
    # sweeps
    "useful_workers": Metric(course.useful_workers, "largest useful number of workers", "workers",
        all_runs=True, at={"within": 0.01}, needs_at=True),
    "sooner": Metric(course.sooner, "how many times faster than one worker", all_runs=True,
        at={"accuracy": 0.93, "workers": 16}, needs_at=True),
    # scaling studies
    "study_sizes": _study(study.sizes, "sizes measured", "sizes", repeats=3),
    "study_samples": _study(partial(study.least_at_size, measure.unique_samples),
        "different samples read per epoch", "samples", size=2),
    "study_batch": _study(partial(study.least_at_size, in_header("global_batch")),
        "batch size of all ranks together", size=2),
    "study_moved": _study(partial(study.worst_of_points, "moved", min),
        "smallest change in the parameters in a pass"),
    "study_spread": _study(partial(study.worst_of_points, "spread", max),
        "largest difference in a parameter between ranks"),
    "study_efficiency": _study(study.efficiency, "efficiency", size=2),
    "study_amdahl_f": _study(partial(study.of_law, laws.amdahl), "Amdahl's f"),
    "study_gustafson_s": _study(partial(study.of_law, laws.gustafson), "Gustafson's s"),
    "study_speedup_low": _study(partial(study.of_law, laws.lowest), "lowest predicted speedup",
        workers=1024),
    "study_speedup_high": _study(partial(study.of_law, laws.highest), "highest predicted speedup",
        workers=1024),
}  # fmt: skip


@cache
def recorded_labels() -> dict[str, tuple[str, str]]:
    """Return the labels and units of the measures that the course's programs record."""
    rows = data_files.load(LABELS)
    return {name: (row[0], row[1] if len(row) > 1 else "") for name, row in rows.items()}


@cache
def metric_named(name: str) -> Metric:
    """Return the metric with this name; `measure:NAME` stands for a recorded measure.

    Raise KeyError for any other name.
    """
    if not name.startswith(OWN):
        return METRICS[name]
    recorded = name.removeprefix(OWN)
    # A measure that a custom course defines is labelled with its name.
    label, unit = recorded_labels().get(recorded, (recorded.replace("_", " "), ""))
    return Metric(partial(record_facts.own_measure, recorded), label, unit, any_at=True)
