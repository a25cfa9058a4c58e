"""Draw the lessons' pictures, from runs that were read from outputs or from plain lists.

The functions use `autograder.measuring`, so a picture shows the same values that are graded. Each
function returns a Figure, which a notebook shows and `figure.savefig("name.png")` saves.
"""

from lessons.toolkit.plots.faults import faults
from lessons.toolkit.plots.job import node_grid
from lessons.toolkit.plots.many_ranks.exchange import (
    allreduce_by_ranks,
    allreduce_times,
    busiest_rank,
    tensor_timeline,
)
from lessons.toolkit.plots.many_ranks.large_batches import (
    accuracy_by_workers,
    arrivals,
    at_equal_loss,
    four_curves,
    race,
)
from lessons.toolkit.plots.many_ranks.native import buckets
from lessons.toolkit.plots.many_ranks.pipelines import drawn_schedules
from lessons.toolkit.plots.many_ranks.rounds import speed_rounds, speedup_card
from lessons.toolkit.plots.many_ranks.sharding import staircase
from lessons.toolkit.plots.many_ranks.shares import sample_map, shares_of
from lessons.toolkit.plots.many_ranks.stages import measured_stages, step_times
from lessons.toolkit.plots.many_ranks.staleness import staleness, staleness_of
from lessons.toolkit.plots.many_ranks.surviving import lives
from lessons.toolkit.plots.many_ranks.workers import speedup, steps_and_seconds, time_and_accuracy
from lessons.toolkit.plots.one_process.input_pipeline import (
    class_in_batches,
    input_overlap,
    input_rates,
    median_of_measure,
)
from lessons.toolkit.plots.one_process.learning import fitted_curves, losses, weight_images
from lessons.toolkit.plots.one_process.one_device import beside_published, throughput_by_batch
from lessons.toolkit.plots.one_process.profiling import parts_of, roofline, step_bars, trace
from lessons.toolkit.plots.one_process.replicas import (
    replica_scaling,
    times_by_replicas,
    whole_seconds,
)
from lessons.toolkit.plots.one_process.training import (
    accuracy_curves,
    epoch_bars,
    images,
    speed_card,
)
from lessons.toolkit.plots.one_process.writing import writing
from lessons.toolkit.plots.scaling import cost_against_time, laws_beyond, scaling_study

__all__ = [
    "accuracy_by_workers",
    "accuracy_curves",
    "allreduce_by_ranks",
    "allreduce_times",
    "arrivals",
    "at_equal_loss",
    "beside_published",
    "buckets",
    "busiest_rank",
    "class_in_batches",
    "cost_against_time",
    "drawn_schedules",
    "epoch_bars",
    "faults",
    "fitted_curves",
    "four_curves",
    "images",
    "input_overlap",
    "input_rates",
    "laws_beyond",
    "lives",
    "losses",
    "measured_stages",
    "median_of_measure",
    "node_grid",
    "parts_of",
    "race",
    "replica_scaling",
    "roofline",
    "sample_map",
    "scaling_study",
    "shares_of",
    "speed_card",
    "speed_rounds",
    "speedup",
    "speedup_card",
    "staircase",
    "staleness",
    "staleness_of",
    "step_bars",
    "step_times",
    "steps_and_seconds",
    "tensor_timeline",
    "throughput_by_batch",
    "time_and_accuracy",
    "times_by_replicas",
    "trace",
    "weight_images",
    "whole_seconds",
    "writing",
]
