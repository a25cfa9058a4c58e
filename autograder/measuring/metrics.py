"""All metrics that rubrics can name: their descriptions, and the functions that measure them.

Rubrics are validated against this table, the judging code looks up its functions here, and a test
checks that docs/rubrics.md lists the same rows. To add a metric, write a function, and add a row
here and a label in labels.py.
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
from autograder.measuring.labels import OWN
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
    what: str
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


def _study(function: Callable[..., Value], what: str, unit: str = "", **at: Any) -> Metric:
    return Metric(function, what, unit, all_runs=True, at=at)


METRICS: dict[str, Metric] = {
    # participants
    "ranks": Metric(participants.ranks, "number of ranks that took part", "ranks"),
    "ranks_asked": Metric(in_header("ranks_asked"),
        "number of ranks that the launcher was asked to start"),
    "replicas": Metric(participants.replicas,
        "number of copies of the network: ranks × copies per rank", "replicas"),
    "replicas_asked": Metric(in_header("replicas_asked", "replicas"),
        "number of copies that one process was asked to run", "replicas"),
    "hosts": Metric(participants.hosts, "number of different hosts", "hosts"),
    "devices_distinct": Metric(participants.devices,
        "number of different devices: host and GPU, or host and local rank if the GPU is unknown",
        "devices"),
    "local_ranks": Metric(participants.local_ranks,
        "yes if the ranks of each host are numbered from 0 without gaps"),
    "launched": Metric(record_facts.launched,
        "yes if a launcher started the ranks, or if this is unknown; no if a user did"),
    "job_known": Metric(record_facts.job_known,
        "yes if the run reports its job and ran in it; no if it ran outside a job"),
    "starts": Metric(participants.starts,
        "number of different sets of initial parameters", "starts"),
    "start_of_rank_0": Metric(participants.start_of_rank_0,
        "yes if all ranks started with the parameters that rank 0 built"),
    "rank_losses": Metric(participants.rank_losses,
        "number of different training losses; equals the number of ranks if each reads its own "
        "data",
        "losses"),
    "labels_apart": Metric(participants.labels_apart,
        "largest difference between a class's share on one rank and on all ranks"),
    # the network and its data
    "params": Metric(in_header("params"), "number of parameters of the network"),
    "image_size": Metric(in_header("image_size", "pixels"), "width of the images", "pixels"),
    "train_samples": Metric(record_facts.train_samples, "size of the training set", "samples"),
    "unique_samples": Metric(measure.unique_samples,
        "number of distinct samples per epoch, over all ranks", "samples"),
    "read_most": Metric(epochs.read_most,
        "number of times that the most frequent sample of an epoch was read", "times"),
    "reading_orders": Metric(epochs.reading_orders,
        "number of different sample orders; equals the number of epochs if each shuffles",
        "orders"),
    "shard_overlap": Metric(sample_shares.shard_overlap,
        "number of samples per epoch that another rank also reads", "samples"),
    "shard_uncovered": Metric(sample_shares.shard_uncovered, "number of samples that no rank reads",
        "samples"),
    # how it was trained
    "epochs": Metric(epochs.epochs, "number of finished epochs", "epochs"),
    "steps": Metric(epochs.steps, "number of steps per epoch", "steps"),
    "steps_expected": Metric(epochs.steps_expected, "`unique_samples` / `global_batch`, rounded up",
        "steps"),
    "share_steps": Metric(participants.share_steps,
        "number of batches on the rank with the fewest samples", "steps"),
    "steps_apart": Metric(participants.steps_apart,
        "largest difference between ranks in the number of steps in their last epoch", "steps"),
    "global_batch": Metric(in_header("global_batch"), "samples per step, over all ranks"),
    "global_batch_per_worker": Metric(a_worker("global_batch"), "`global_batch` / workers"),
    "local_batch": Metric(in_header("local_batch"), "samples per step on one rank"),
    "lr": Metric(in_header("lr"), "learning rate, after scaling"),
    "lr_base": Metric(in_header("lr_base"), "learning rate before scaling"),
    "lr_last": Metric(epochs.last_rate, "learning rate that the optimizer used at the end"),
    "lr_per_worker": Metric(a_worker("lr"), "`lr` / workers"),
    # how long it took
    "epoch_s": Metric(measure.epoch_time, "median time of the epochs after the first", "s"),
    "epoch_s_min": Metric(epochs.extreme(min), "the shortest epoch after the first", "s"),
    "epoch_s_max": Metric(epochs.extreme(max), "the longest epoch after the first", "s"),
    "time_to_accuracy": Metric(epochs.time_to_accuracy,
        "training time until the validation accuracy is reached and confirmed by the next epoch",
        "s", at={"accuracy": 0.9}, needs_at="the accuracy to reach"),
    "throughput": Metric(measure.throughput, "`unique_samples` / `epoch_s`; no sample counts twice",
        "samples/s"),
    "speedup": Metric(study.speedup, "`epoch_s` of the base / `epoch_s` of the run", base=True),
    "efficiency": Metric(study.efficiency,
        "`speedup` / growth in workers; for weak scaling, `speedup` itself", base=True),
    # a speed job
    "rounds": Metric(rounds.how_many, "number of rounds of a speed job", "rounds"),
    "rounds_speedup": Metric(rounds.speedup,
        "work per second of all ranks together / work per second of one rank alone"),
    "rounds_ceiling": Metric(rounds.ceiling,
        "`rounds_speedup` for ranks that do not communicate; below 1 if the machine is busy"),
    "rounds_share": Metric(rounds.share,
        "`rounds_speedup` / the ceiling, which is the speedup of ranks that do not communicate",
        in_words=rounds.in_words),
    "rounds_moved": Metric(rounds.worst_over_rounds("moved", min),
        "smallest change in the parameters over a round"),
    "rounds_spread": Metric(rounds.worst_over_rounds("spread", max),
        "largest difference in a parameter between ranks after a round"),
    # what was learnt
    "test_loss": Metric(epochs.test_loss, "loss on the test set at the end"),
    "test_accuracy": Metric(epochs.test_accuracy, "accuracy on the test set at the end"),
    "train_accuracy": Metric(epochs.train_accuracy(-1), "training accuracy of the last epoch"),
    "first_train_accuracy": Metric(epochs.train_accuracy(0),
        "training accuracy of the first epoch"),
    "loss_first": Metric(epochs.loss(0), "training loss of the first epoch"),
    "loss_last": Metric(epochs.loss(-1), "training loss of the last epoch"),
    "param_moved": Metric(at_end("param_moved"),
        "largest change in a parameter during training; 0 if the network learnt nothing"),
    "params_changed": Metric(at_end("params_changed"),
        "number of trainable parameters that changed during training"),
    "param_spread": Metric(at_end("param_spread"),
        "largest difference in a parameter between ranks"),
    "same_params": Metric(participants.same_params,
        "yes if the final parameters equal those of the base run bit for bit on all ranks",
        base=True),
    # what was written
    "files_written": Metric(participants.files_written,
        "number of checkpoint files, over all ranks", "files"),
    "files_found": Metric(participants.files_found,
        "number of new checkpoint files on the disk, counted by another rank", "files"),
    "checkpoint_kept": Metric(participants.checkpoint_kept,
        "yes if the checkpoint has the final parameters of the training"),
    "chain_intact": Metric(record_facts.chain_intact,
        "yes if no line of the record is missing, moved or changed"),
    "error_file_separate": Metric(record_facts.error_file_separate,
        "yes if errors are in a separate file"),
    # sweeps
    "useful_workers": Metric(sweep.useful_workers,
        "largest N whose best accuracy (mean over seeds) is at most `within` below that of N = 1",
        "workers", all_runs=True, at={"within": 0.01}, needs_at="how much accuracy may be lost"),
    "sooner": Metric(sweep.sooner,
        "how many times faster N workers reach an accuracy than one worker if communication is "
        "free: N × epochs of one / epochs of N, averaged over seeds",
        all_runs=True, at={"accuracy": 0.93, "workers": 16},
        needs_at="the accuracy to reach, and the number of workers"),
    # scaling studies
    "study_sizes": _study(study.sizes,
        "number of sizes with at least `repeats` runs of the same work", "sizes", repeats=3),
    "study_samples": _study(study.samples,
        "number of distinct samples per epoch, at this size", "samples", size=2),
    "study_batch": _study(study.batch,
        "samples per step, over all ranks, at this size", size=2),
    "study_moved": _study(study.moved,
        "smallest change in the parameters over a pass of a round"),
    "study_spread": _study(study.spread,
        "largest difference in a parameter between ranks after a pass of a round"),
    "study_epoch_s": _study(study.at_size(study.epoch_times),
        "median of `epoch_s` over the repeats", "s", size=2),
    "study_speedup": _study(study.at_size(study.speedups),
        "speedup relative to the fewest workers; for weak scaling, in work per second", size=2),
    "study_efficiency": _study(study.at_size(study.efficiencies),
        "`study_speedup` / growth in workers", size=2),
    "study_amdahl_f": _study(study.fitted(laws.amdahl),
        "f in p/S − 1 = f (p − 1), fitted by least squares"),
    "study_gustafson_s": _study(study.fitted(laws.gustafson), "s in S = p − s (p − 1)"),
    "study_speedup_low": _study(study.foretold(laws.lowest),
        "lowest prediction of Amdahl's law, Gustafson's law and the USL", workers=1024),
    "study_speedup_high": _study(study.foretold(laws.highest),
        "highest prediction of Amdahl's law, Gustafson's law and the USL", workers=1024),
}  # fmt: skip


def metric_named(name: str) -> Metric:
    """Return the metric with this name; `measure:NAME` stands for a recorded measure.

    Raise KeyError for any other name.
    """
    if name.startswith(OWN):
        function = own_measure(name.removeprefix(OWN))
        return Metric(function, "what the program itself measured", any_at=True)
    return METRICS[name]
