"""Draw the lessons' pictures, from runs that were read from outputs or from plain lists.

The functions use `autograder.measuring`, so a picture shows the same values that are graded. Each
function returns a Figure, which a notebook shows and `figure.savefig("name.png")` saves.
"""

from lessons.toolkit.plots.devices import replica_scaling as replica_scaling
from lessons.toolkit.plots.devices import speedup as speedup
from lessons.toolkit.plots.devices import throughput_by_batch as throughput_by_batch
from lessons.toolkit.plots.devices import times_by_replicas as times_by_replicas
from lessons.toolkit.plots.devices import whole_seconds as whole_seconds
from lessons.toolkit.plots.exchange import allreduce_by_ranks as allreduce_by_ranks
from lessons.toolkit.plots.exchange import allreduce_times as allreduce_times
from lessons.toolkit.plots.exchange import buckets as buckets
from lessons.toolkit.plots.exchange import sample_map as sample_map
from lessons.toolkit.plots.exchange import shares_of as shares_of
from lessons.toolkit.plots.exchange import tensor_timeline as tensor_timeline
from lessons.toolkit.plots.faults import faults as faults
from lessons.toolkit.plots.input_pipeline import class_in_batches as class_in_batches
from lessons.toolkit.plots.input_pipeline import input_overlap as input_overlap
from lessons.toolkit.plots.input_pipeline import input_rates as input_rates
from lessons.toolkit.plots.input_pipeline import median_of_measure as median_of_measure
from lessons.toolkit.plots.job import lives as lives
from lessons.toolkit.plots.job import node_grid as node_grid
from lessons.toolkit.plots.job import writing as writing
from lessons.toolkit.plots.large_batches import accuracy_by_workers as accuracy_by_workers
from lessons.toolkit.plots.large_batches import at_equal_loss as at_equal_loss
from lessons.toolkit.plots.large_batches import four_curves as four_curves
from lessons.toolkit.plots.large_batches import race as race
from lessons.toolkit.plots.large_batches import staleness as staleness
from lessons.toolkit.plots.large_batches import staleness_of as staleness_of
from lessons.toolkit.plots.learning import accuracy_curves as accuracy_curves
from lessons.toolkit.plots.learning import epoch_bars as epoch_bars
from lessons.toolkit.plots.learning import fitted_curves as fitted_curves
from lessons.toolkit.plots.learning import images as images
from lessons.toolkit.plots.learning import losses as losses
from lessons.toolkit.plots.learning import weight_images as weight_images
from lessons.toolkit.plots.pipelines import drawn_schedules as drawn_schedules
from lessons.toolkit.plots.pipelines import measured_stages as measured_stages
from lessons.toolkit.plots.pipelines import step_times as step_times
from lessons.toolkit.plots.profiling import parts_of as parts_of
from lessons.toolkit.plots.profiling import roofline as roofline
from lessons.toolkit.plots.profiling import staircase as staircase
from lessons.toolkit.plots.profiling import step_bars as step_bars
from lessons.toolkit.plots.profiling import trace as trace
from lessons.toolkit.plots.scaling import laws_beyond as laws_beyond
from lessons.toolkit.plots.scaling import scaling_study as scaling_study
from lessons.toolkit.plots.speed import speed_rounds as speed_rounds
from lessons.toolkit.plots.speed import speedup_card as speedup_card
