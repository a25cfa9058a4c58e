"""All metrics that rubrics can name: their descriptions, and the functions that measure them.

Rubrics are validated against this table, the judging code looks up its functions here, and a test
checks that docs/rubrics.md lists the same rows. To add a metric, write a function and add a row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.measuring import (
    epochs,
    measure,
    participants,
    record_facts,
    rounds,
    sample_shares,
    sweep,
)
from autograder.measuring import scaling_laws as laws
from autograder.measuring import scaling_study as study
from autograder.measuring.interval import Measure
from autograder.measuring.labels import OWN, RECORDED, Label
from autograder.measuring.record_facts import a_worker, at_end, in_header, own_measure
from autograder.records import Run

Value = Measure | str


@dataclass(frozen=True, slots=True)
class Metric:
    """The description of a metric for authors of rubrics, and the function that measures it.

    The function takes the run. With `base`, it takes the base run first; with `at`, it takes `at`
    last; with `all_runs`, it takes all runs and `at`. The function returns a Measure or a word, or
    raises NotMeasured.
    """

    function: Callable[..., Value]
    label: str  # as students and instructors see it
    what: str  # as docs/rubrics.md explains it
    unit: str = ""
    base: bool = False  # whether it is relative to another run
    all_runs: bool = False  # whether it uses all finished runs of a name
    at: Mapping[str, Any] = field(default_factory=dict)  # members of `at`, each with an example
    needs_at: str = ""  # what `at` is for, if it is required
    any_at: bool = False  # whether the run record decides what `at` may contain
    # writes the check's title, once the metric has been measured
    in_words: Callable[[Run], str] | None = None

    @property
    def of_a_run(self) -> bool:
        """Return whether the metric's function takes only a run as its argument."""
        return not (self.base or self.all_runs or self.at or self.any_at)


def _study(
    function: Callable[..., Value], label: str, what: str, unit: str = "", **at: Any
) -> Metric:
    return Metric(function, label, what, unit, all_runs=True, at=at)


METRICS: dict[str, Metric] = {
    # participants
    "ranks": Metric(participants.ranks, "ranks that took part", "number of ranks that took part",
        "ranks"),
    "ranks_asked": Metric(in_header("ranks_asked"), "ranks asked for",
        "number of ranks that the launcher was asked to start"),
    "replicas": Metric(participants.replicas, "copies of the network",
        "number of copies of the network: ranks × copies per rank", "replicas"),
    "replicas_asked": Metric(in_header("replicas_asked", "replicas"), "copies asked for",
        "number of copies that one process was asked to run", "replicas"),
    "hosts": Metric(participants.hosts, "hosts used", "number of different hosts", "hosts"),
    "devices_distinct": Metric(participants.devices, "different devices",
        "number of different devices: host and GPU, or host and local rank if the GPU is unknown",
        "devices"),
    "local_ranks": Metric(participants.local_ranks, "local ranks are numbered from 0 on each host",
        "yes if the ranks of each host are numbered from 0 without gaps"),
    "launched": Metric(record_facts.launched, "a launcher started the ranks",
        "yes if a launcher started the ranks, or if this is unknown; no if a user did"),
    "job_known": Metric(record_facts.job_known, "the run names its job",
        "yes if the run reports its job and ran in it; no if it ran outside a job"),
    "starts": Metric(participants.starts, "different sets of initial parameters",
        "number of different sets of initial parameters", "starts"),
    "start_of_rank_0": Metric(participants.start_of_rank_0,
        "all ranks started with the parameters of rank 0",
        "yes if all ranks started with the parameters that rank 0 built"),
    "rank_losses": Metric(participants.rank_losses, "different training losses of the ranks",
        "number of different training losses; equals the number of ranks if each reads its own "
        "data", "losses"),
    "labels_apart": Metric(participants.labels_apart,
        "difference in a class's share between one rank and all ranks",
        "largest difference between a class's share on one rank and on all ranks"),
    # the network and its data
    "params": Metric(in_header("params"), "parameters of the network",
        "number of parameters of the network"),
    "image_size": Metric(in_header("image_size", "pixels"), "width of the images",
        "width of the images", "pixels"),
    "train_samples": Metric(record_facts.train_samples, "size of the training set",
        "size of the training set", "samples"),
    "unique_samples": Metric(measure.unique_samples, "different samples read per epoch",
        "number of distinct samples per epoch, over all ranks", "samples"),
    "read_most": Metric(epochs.read_most, "how many times one sample was read per epoch",
        "number of times that the most frequent sample of an epoch was read", "times"),
    "reading_orders": Metric(epochs.reading_orders, "different orders of the samples",
        "number of different sample orders; equals the number of epochs if each shuffles",
        "orders"),
    "shard_overlap": Metric(sample_shares.shard_overlap, "samples read by more than one rank",
        "number of samples per epoch that another rank also reads", "samples"),
    "shard_uncovered": Metric(sample_shares.shard_uncovered, "samples that no rank read",
        "number of samples that no rank reads", "samples"),
    # how it was trained
    "epochs": Metric(epochs.epochs, "finished epochs", "number of finished epochs", "epochs"),
    "steps": Metric(epochs.steps, "steps per epoch", "number of steps per epoch", "steps"),
    "steps_expected": Metric(epochs.steps_expected, "samples / batch size",
        "`unique_samples` / `global_batch`, rounded up", "steps"),
    "share_steps": Metric(participants.share_steps, "batches on the rank with the fewest samples",
        "number of batches on the rank with the fewest samples", "steps"),
    "steps_apart": Metric(participants.steps_apart, "difference in steps between ranks",
        "largest difference between ranks in the number of steps in their last epoch", "steps"),
    "global_batch": Metric(in_header("global_batch"), "batch size of all ranks together",
        "samples per step, over all ranks"),
    "global_batch_per_worker": Metric(a_worker("global_batch"), "batch size per worker",
        "`global_batch` / workers"),
    "local_batch": Metric(in_header("local_batch"), "batch size on one rank",
        "samples per step on one rank"),
    "lr": Metric(in_header("lr"), "learning rate", "learning rate, after scaling"),
    "lr_base": Metric(in_header("lr_base"), "learning rate before scaling",
        "learning rate before scaling"),
    "lr_last": Metric(epochs.last_rate, "learning rate at the end",
        "learning rate that the optimizer used at the end"),
    "lr_per_worker": Metric(a_worker("lr"), "learning rate per worker", "`lr` / workers"),
    # how long it took
    "epoch_s": Metric(measure.epoch_time, "time per epoch",
        "median time of the epochs after the first", "s"),
    "epoch_s_min": Metric(epochs.extreme(min), "shortest epoch",
        "the shortest epoch after the first", "s"),
    "epoch_s_max": Metric(epochs.extreme(max), "longest epoch", "the longest epoch after the first",
        "s"),
    "time_to_accuracy": Metric(epochs.time_to_accuracy,
        "training time until the accuracy is reached",
        "training time until the validation accuracy is reached and confirmed by the next epoch",
        "s", at={"accuracy": 0.9}, needs_at="the accuracy to reach"),
    "throughput": Metric(measure.throughput, "samples per second",
        "`unique_samples` / `epoch_s`; no sample counts twice", "samples/s"),
    "speedup": Metric(study.speedup, "speedup", "`epoch_s` of the base / `epoch_s` of the run",
        base=True),
    "efficiency": Metric(study.efficiency, "efficiency",
        "`speedup` / growth in workers; for weak scaling, `speedup` itself", base=True),
    # a speed job
    "rounds": Metric(rounds.how_many, "rounds measured", "number of rounds of a speed job",
        "rounds"),
    "rounds_speedup": Metric(rounds.speedup, "speedup",
        "work per second of all ranks together / work per second of one rank alone"),
    "rounds_ceiling": Metric(rounds.ceiling, "ceiling (speedup of ranks that exchange nothing)",
        "`rounds_speedup` for ranks that do not communicate; below 1 if the machine is busy"),
    "rounds_share": Metric(rounds.share, "share of the ceiling",
        "`rounds_speedup` / the ceiling, which is the speedup of ranks that do not communicate",
        in_words=rounds.in_words),
    "rounds_moved": Metric(rounds.worst_over_rounds("moved", min),
        "smallest change in the parameters in a round",
        "smallest change in the parameters over a round"),
    "rounds_spread": Metric(rounds.worst_over_rounds("spread", max),
        "largest difference in a parameter between ranks",
        "largest difference in a parameter between ranks after a round"),
    # what was learnt
    "test_loss": Metric(epochs.test_loss, "test loss", "loss on the test set at the end"),
    "test_accuracy": Metric(epochs.test_accuracy, "test accuracy",
        "accuracy on the test set at the end"),
    "train_accuracy": Metric(epochs.train_accuracy(-1), "training accuracy",
        "training accuracy of the last epoch"),
    "first_train_accuracy": Metric(epochs.train_accuracy(0), "training accuracy of the first epoch",
        "training accuracy of the first epoch"),
    "loss_first": Metric(epochs.loss(0), "training loss of the first epoch",
        "training loss of the first epoch"),
    "loss_last": Metric(epochs.loss(-1), "training loss of the last epoch",
        "training loss of the last epoch"),
    "param_moved": Metric(at_end("param_moved"), "largest change in a parameter during training",
        "largest change in a parameter during training; 0 if the network learnt nothing"),
    "params_changed": Metric(at_end("params_changed"), "parameters that training changed",
        "number of trainable parameters that changed during training"),
    "param_spread": Metric(at_end("param_spread"),
        "largest difference in a parameter between ranks",
        "largest difference in a parameter between ranks"),
    "same_params": Metric(participants.same_params, "the same parameters, bit for bit",
        "yes if the final parameters equal those of the base run bit for bit on all ranks",
        base=True),
    # what was written
    "files_written": Metric(participants.files_written, "checkpoint files that the ranks wrote",
        "number of checkpoint files, over all ranks", "files"),
    "files_found": Metric(participants.files_found, "new checkpoint files on the disk",
        "number of new checkpoint files on the disk, counted by another rank", "files"),
    "checkpoint_kept": Metric(participants.checkpoint_kept,
        "the checkpoint has the trained parameters",
        "yes if the checkpoint has the final parameters of the training"),
    "chain_intact": Metric(record_facts.chain_intact, "the record is complete and unchanged",
        "yes if no line of the record is missing, moved or changed"),
    "error_file_separate": Metric(record_facts.error_file_separate, "errors are in a separate file",
        "yes if errors are in a separate file"),
    # sweeps
    "useful_workers": Metric(sweep.useful_workers, "largest useful number of workers",
        "largest N whose best accuracy (mean over seeds) is at most `within` below that of N = 1",
        "workers", all_runs=True, at={"within": 0.01}, needs_at="how much accuracy may be lost"),
    "sooner": Metric(sweep.sooner, "how many times faster than one worker",
        "how many times faster N workers reach an accuracy than one worker if communication is "
        "free: N × epochs of one / epochs of N, averaged over seeds", all_runs=True,
        at={"accuracy": 0.93, "workers": 16},
        needs_at="the accuracy to reach, and the number of workers"),
    # scaling studies
    "study_sizes": _study(study.sizes, "sizes measured",
        "number of sizes with at least `repeats` runs of the same work", "sizes", repeats=3),
    "study_samples": _study(study.samples, "different samples read per epoch",
        "number of distinct samples per epoch, at this size", "samples", size=2),
    "study_batch": _study(study.batch, "batch size of all ranks together",
        "samples per step, over all ranks, at this size", size=2),
    "study_moved": _study(study.moved, "smallest change in the parameters in a pass",
        "smallest change in the parameters over one pass in a round"),
    "study_spread": _study(study.spread, "largest difference in a parameter between ranks",
        "largest difference in a parameter between ranks after a pass of a round"),
    "study_epoch_s": _study(study.at_size("seconds"), "time per epoch",
        "median of `epoch_s` over the repeats", "s", size=2),
    "study_speedup": _study(study.at_size("speedup"), "speedup",
        "speedup relative to the fewest workers; for weak scaling, in work per second", size=2),
    "study_efficiency": _study(study.at_size("efficiency"), "efficiency",
        "`study_speedup` / growth in workers", size=2),
    "study_amdahl_f": _study(study.fitted(laws.amdahl), "Amdahl's f",
        "f in p/S − 1 = f (p − 1), fitted by least squares"),
    "study_gustafson_s": _study(study.fitted(laws.gustafson), "Gustafson's s",
        "s in S = p − s (p − 1)"),
    "study_speedup_low": _study(study.foretold(laws.lowest), "lowest predicted speedup",
        "lowest prediction of Amdahl's law, Gustafson's law and the USL", workers=1024),
    "study_speedup_high": _study(study.foretold(laws.highest), "highest predicted speedup",
        "highest prediction of Amdahl's law, Gustafson's law and the USL", workers=1024),
}  # fmt: skip


def metric_named(name: str) -> Metric:
    """Return the metric with this name; `measure:NAME` stands for a recorded measure.

    Raise KeyError for any other name.
    """
    if name.startswith(OWN):
        label, function = label_of(name), own_measure(name.removeprefix(OWN))
        what = "what the program itself measured"
        return Metric(function, label.text, what, label.unit, any_at=True)
    return METRICS[name]


def label_of(name: str) -> Label:
    """Return a metric's label. A measure that a custom course defines is labelled with its name."""
    if name in METRICS:
        return Label(METRICS[name].label, METRICS[name].unit)
    recorded = name.removeprefix(OWN)
    return RECORDED.get(recorded) or Label(recorded.replace("_", " "))
