"""The lessons' pictures: functions of runs that were read from outputs, or of plain lists.

They use autograder.measuring, so a picture shows the graded values. Each returns a Figure, which a
notebook shows and `figure.savefig("name.png")` saves.
"""

from lessons.toolkit.plots.exchange import (
    allreduce_by_ranks,
    allreduce_times,
    busiest_rank,
    tensor_timeline,
)
from lessons.toolkit.plots.faults import faults
from lessons.toolkit.plots.foretold import foretold
from lessons.toolkit.plots.input_pipeline import (
    class_in_batches,
    input_overlap,
    input_rates,
    median_of_measure,
)
from lessons.toolkit.plots.job import node_grid
from lessons.toolkit.plots.large_batches import (
    accuracy_by_workers,
    arrivals,
    at_equal_loss,
    four_curves,
    race,
)
from lessons.toolkit.plots.learning import fitted_curves, losses, weight_images
from lessons.toolkit.plots.native import buckets
from lessons.toolkit.plots.one_device import beside_published, throughput_by_batch
from lessons.toolkit.plots.pipelines import drawn_schedules
from lessons.toolkit.plots.profiling import parts_of, roofline, step_bars, trace
from lessons.toolkit.plots.replicas import replica_scaling, times_by_replicas, whole_seconds
from lessons.toolkit.plots.rounds import speed_rounds, speedup_card
from lessons.toolkit.plots.scaling import cost_against_time, laws_beyond, scaling_study
from lessons.toolkit.plots.sharding import staircase
from lessons.toolkit.plots.shares import sample_map, shares_of
from lessons.toolkit.plots.stages import measured_stages, step_times
from lessons.toolkit.plots.staleness import staleness, staleness_of
from lessons.toolkit.plots.surviving import lives
from lessons.toolkit.plots.training import accuracy_curves, epoch_bars, images, speed_card
from lessons.toolkit.plots.workers import speedup, steps_and_seconds, time_and_accuracy
from lessons.toolkit.plots.writing import writing

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
    "foretold",
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
