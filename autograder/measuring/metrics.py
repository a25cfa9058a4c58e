"""All metrics that rubrics can name: their labels, and the functions that measure them.

Rubrics are validated against these tables, and the judging code looks up its functions here. To add
a metric, write a function and add a row. docs/rubrics.md explains each row; a test compares them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from autograder.measuring import measure, participants, record_facts, rounds
from autograder.measuring import scaling_laws as laws
from autograder.measuring import scaling_study as study
from autograder.measuring.interval import Measure
from autograder.measuring.measure import reported
from autograder.measuring.participants import different, largest_difference, over_ranks
from autograder.measuring.record_facts import at_end, in_header
from autograder.records import Run

Value = Measure | str
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
    needs_at: str = ""  # what `at` is for, if it is required
    any_at: bool = False  # whether the run record decides what `at` may contain
    # writes the check's title, once the metric has been measured
    in_words: Callable[[Run], str] | None = None

    @property
    def of_a_run(self) -> bool:
        """Return whether the metric's function takes only a run as its argument."""
        return not (self.base or self.all_runs or self.at or self.any_at)


def _study(function: Callable[..., Value], label: str, unit: str = "", **at: Any) -> Metric:
    return Metric(function, label, unit, all_runs=True, at=at)


METRICS: dict[str, Metric] = {
    # participants
    "ranks": Metric(participants.ranks, "ranks that took part", "ranks"),
    "ranks_asked": Metric(in_header("ranks_asked"), "ranks asked for"),
    "replicas": Metric(participants.replicas, "copies of the network", "replicas"),
    "replicas_asked": Metric(in_header("replicas_asked", "replicas"), "copies asked for",
        "replicas"),
    "hosts": Metric(participants.hosts, "hosts used", "hosts"),
    "devices_distinct": Metric(participants.devices, "different devices", "devices"),
    "local_ranks": Metric(participants.local_ranks, "local ranks are numbered from 0 on each host"),
    "launched": Metric(record_facts.launched, "a launcher started the ranks"),
    "job_known": Metric(record_facts.job_known, "the run names its job"),
    "starts": Metric(over_ranks("start_hash", different, "starts"),
        "different sets of initial parameters", "starts"),
    "start_of_rank_0": Metric(participants.start_of_rank_0,
        "all ranks started with the parameters of rank 0"),
    "rank_losses": Metric(over_ranks("loss", different, "losses"),
        "different training losses of the ranks", "losses"),
    "labels_apart": Metric(over_ranks("labels", participants.labels_apart),
        "difference in a class's share between one rank and all ranks"),
    # the network and its data
    "params": Metric(in_header("params"), "parameters of the network"),
    "image_size": Metric(in_header("image_size", "pixels"), "width of the images", "pixels"),
    "train_samples": Metric(record_facts.train_samples, "size of the training set", "samples"),
    "unique_samples": Metric(measure.unique_samples, "different samples read per epoch", "samples"),
    "read_most": Metric(measure.read_most, "how many times one sample was read per epoch", "times"),
    "reading_orders": Metric(measure.reading_orders, "different orders of the samples", "orders"),
    "shard_overlap": Metric(participants.shard_overlap, "samples read by more than one rank",
        "samples"),
    "shard_uncovered": Metric(participants.shard_uncovered, "samples that no rank read",
        "samples"),
    # how it was trained
    "epochs": Metric(measure.epochs, "finished epochs", "epochs"),
    "steps": Metric(measure.steps, "steps per epoch", "steps"),
    "steps_expected": Metric(measure.steps_expected, "samples / batch size", "steps"),
    "share_steps": Metric(participants.share_steps, "batches on the rank with the fewest samples",
        "steps"),
    "steps_apart": Metric(over_ranks("steps", largest_difference, "steps"),
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
    "epoch_s_min": Metric(measure.extreme(min), "shortest epoch", "s"),
    "epoch_s_max": Metric(measure.extreme(max), "longest epoch", "s"),
    "time_to_accuracy": Metric(lambda run, at: measure.time_to_accuracy(run, at["accuracy"]),
        "training time until the accuracy is reached", "s", at={"accuracy": 0.9},
        needs_at="the accuracy to reach"),
    "throughput": Metric(measure.throughput, "samples per second", "samples/s"),
    "speedup": Metric(study.speedup, "speedup", base=True),
    "efficiency": Metric(study.efficiency, "efficiency", base=True),
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
    "same_params": Metric(participants.same_params, "the same parameters, bit for bit", base=True),
    # what was written
    "files_written": Metric(participants.files_written, "checkpoint files that the ranks wrote",
        "files"),
    "files_found": Metric(at_end("files_found", "files"), "new checkpoint files on the disk",
        "files"),
    "checkpoint_kept": Metric(participants.checkpoint_kept,
        "the checkpoint has the trained parameters"),
    "chain_intact": Metric(record_facts.chain_intact, "the record is complete and unchanged"),
    "error_file_separate": Metric(record_facts.error_file_separate,
        "errors are in a separate file"),
    # sweeps
    "useful_workers": Metric(study.useful_workers, "largest useful number of workers", "workers",
        all_runs=True, at={"within": 0.01}, needs_at="how much accuracy may be lost"),
    "sooner": Metric(study.sooner, "how many times faster than one worker", all_runs=True,
        at={"accuracy": 0.93, "workers": 16},
        needs_at="the accuracy to reach, and the number of workers"),
    # scaling studies
    "study_sizes": _study(study.sizes, "sizes measured", "sizes", repeats=3),
    "study_samples": _study(study.least_at_size(measure.unique_samples),
        "different samples read per epoch", "samples", size=2),
    "study_batch": _study(study.least_at_size(study.batch), "batch size of all ranks together",
        size=2),
    "study_moved": _study(study.worst_of_points("moved", min),
        "smallest change in the parameters in a pass"),
    "study_spread": _study(study.worst_of_points("spread", max),
        "largest difference in a parameter between ranks"),
    "study_efficiency": _study(study.at_size("efficiency"), "efficiency", size=2),
    "study_amdahl_f": _study(study.of_law(laws.amdahl), "Amdahl's f"),
    "study_gustafson_s": _study(study.of_law(laws.gustafson), "Gustafson's s"),
    "study_speedup_low": _study(study.of_law(laws.lowest, workers=1024), "lowest predicted speedup",
        workers=1024),
    "study_speedup_high": _study(study.of_law(laws.highest, workers=1024),
        "highest predicted speedup", workers=1024),
}  # fmt: skip

# Labels and units of recorded measures. An empty unit means a plain number.
RECORDED: dict[str, tuple[str, str]] = {
    # the cluster and the network
    "facts_wrong": ("launchers whose ranks were misread", "environments"),
    "matrix products": ("speed of matrix products", "GFLOP/s"),
    "gradient_error": ("relative error of the gradients", ""),
    "descent_error": ("relative error of a step of gradient descent", ""),
    "bend": ("deviation of the network from a straight line", ""),
    "step_error": ("error after a few training steps", ""),
    "layers": ("layers", "layers"),
    # reading samples
    "pixels_away": ("mean error of a pixel", ""),
    "labels_right": ("fraction of right labels", ""),
    "order_kept": ("similarity of the order to that of the previous epoch", ""),
    "in_sequence": ("fraction of samples in stored order", ""),
    "orders_of_three": ("different orders in three epochs", "orders"),
    "order_again": ("the same seed gives the same order (1: yes)", ""),
    "files": ("packed files", "files"),
    "sizes_apart": ("difference between the largest and the smallest file", "samples"),
    "faster_than_files": ("how many times faster than one file per sample", ""),
    "epoch_over_sum": ("epoch time / (input time + computing time)", ""),
    "images_twice": ("images read by more than one rank", "images"),
    "images_missing": ("images that no rank read", "images"),
    "images_foreign": ("images of another rank's files", "images"),
    "ranks_that_looked": ("ranks that listed the files", "ranks"),
    "common_steps": ("steps that all ranks can make", "steps"),
    # exchange between ranks
    "least_busy_replica": ("work of the least busy copy / its fair share", ""),
    "ranks_heard": ("ranks whose gradients arrived", "ranks"),
    "workers_heard": ("workers whose gradients arrived", "workers"),
    "max_steps_off": ("difference between announced and made steps", "steps"),
    "team_left": ("ranks left after the plugin ended", ""),
    "difference_to_serial": ("difference of the parameters from one process", ""),
    "serial_error": ("relative error against one process", ""),
    "allreduce_error": ("error of the sum", ""),
    "allreduce_s": ("time of an allreduce", "s"),
    "arrays_moved": ("arrays sent", "arrays"),
    "share_sent": ("arrays sent / arrays required", ""),
    "under_way": ("sums started before the last array", "arrays"),
    "ring_speed": ("the library's time / the ring's time", ""),
    "straggler_growth_ms": ("longer step with a slow rank", "ms"),
    "update_error": ("relative error of the parameter update", ""),
    "lars_error": ("relative error of the LARS update", ""),
    "rate_error": ("largest error of the learning rate / its peak", ""),
    "lr": ("learning rate", ""),
    "orders_as_drawn": ("fraction of orders that match the sampler's", ""),
    "accumulation_error": ("relative error of a batch that is computed in parts", ""),
    "exchanges": ("exchanges of gradients per batch", ""),
    "drawn_error": ("relative error of a randomly drawn step", ""),
    "drawn_spread": ("difference between ranks after a randomly drawn step", ""),
    "drawn_images": ("samples that entered the network in a randomly drawn step", ""),
    "drawn_largest": ("samples in the largest part of a randomly drawn step", ""),
    "alone_error": ("error after a step of one rank alone", ""),
    "staleness_mean": ("mean age of the gradients", "updates"),
    # parts of a network
    "params_together": ("parameters of all ranks together", "parameters"),
    "params_twice": ("arrays held by two ranks", "arrays"),
    "split_excess": ("excess weight of the heaviest stage", ""),
    "schedule_excess": ("idle time beyond what is necessary", ""),
    "schedule_held": ("micro-batches held at once, as scheduled", "micro-batches"),
    "grid_wrong": ("ranks in the wrong place in the grid", "ranks"),
    "held": ("micro-batches held at once", "micro-batches"),
    "bytes_off": ("relative difference of the bytes sent", ""),
    "bytes_error": ("relative error of the formula for bytes", ""),
    "sizes_tried": ("numbers of micro-batches tried", ""),
    "rounds_made": ("rounds measured", "rounds"),
    "best_micro_batches": ("fastest number of micro-batches", ""),
    "gain_over_wanted": ("measured gain / required gain", ""),
    "pipeline_share": ("share of what silent ranks do", ""),
    "pipeline_moved": ("smallest change in the parameters", ""),
    "held_over_part": ("parameters held / the rank's part", ""),
    "held_over_share": ("bytes held / the rank's share", ""),
    "peak_bytes": ("peak memory", "bytes"),
    "activation_bytes": ("memory of the activations", "bytes"),
    "ranks_wrote": ("ranks that wrote the checkpoint", "ranks"),
    "largest_share": ("largest share of the checkpoint on one rank", ""),
    "next_loss": ("test loss after one more step", ""),
    "memory_error": ("largest relative error of the memory formula", ""),
    # the milliseconds of a step
    "own_reads": ("share of the texts that the training process reads itself", ""),
    "waits": ("how often a step waits for the device", ""),
    "forwards": ("forward passes per step", ""),
    "update_ops": ("operations in the optimizer's update", ""),
    "gain": ("step time before / after", ""),
    "mfu": ("share of the peak that the step reaches", ""),
    "loss_apart": ("difference of the losses before and after", ""),
    "note_error": ("error of the noted losses", ""),
    "flops_error": ("relative error of the FLOPs", ""),
    "roofline_error": ("relative error of the roofline", ""),
    "reading_error": ("relative error of the times read from a trace", ""),
    "scaler_error": ("largest difference from PyTorch's scaler", ""),
    "zeros": ("share of gradients that are 0", ""),
    "padding_error": ("largest difference between losses with and without padding", ""),
    "compilations": ("compilations", ""),
    # jobs that survive
    "lives": ("times that the job started", "lives"),
    "lost_to_kill": ("steps lost to the worst kill", "steps"),
    "lost_to_warning": ("steps lost to the worst warning", "steps"),
    "lost_over_interval": ("steps lost / steps between checkpoints", ""),
    "read_wrong": ("samples not read exactly once per epoch", "samples"),
    "agree_wrong": ("cases in which ranks disagreed on a warning", "cases"),
    "files_wrong": ("cases in which a checkpoint was not whole", "cases"),
    "chosen_wrong": ("cases in which ranks began from other checkpoints than rank 0", "cases"),
    "copies_wrong": ("values in the copy that later steps changed", "values"),
    "restore_wrong": ("parts of the training that did not come back", "parts"),
    "interval_error": ("relative error of the interval", ""),
    "best_interval_s": ("best time between checkpoints", "s"),
}


@cache
def metric_named(name: str) -> Metric:
    """Return the metric with this name; `measure:NAME` stands for a recorded measure.

    Raise KeyError for any other name.
    """
    if not name.startswith(OWN):
        return METRICS[name]
    recorded = name.removeprefix(OWN)
    # A measure that a custom course defines is labelled with its name.
    label, unit = RECORDED.get(recorded, (recorded.replace("_", " "), ""))
    return Metric(record_facts.own_measure(recorded), label, unit, any_at=True)
