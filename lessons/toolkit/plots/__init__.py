"""Draw the lessons' pictures, from runs that were read from outputs or from plain lists.

The functions use `autograder.measuring`, so a picture shows the same values that are graded. Each
function returns a Figure, which a notebook shows and `figure.savefig("name.png")` saves.
"""

from lessons.toolkit.plots.devices import (
    epoch_times as epoch_times,
    speedups as speedups,
    throughput_by_batch as throughput_by_batch,
    whole_seconds as whole_seconds,
)
from lessons.toolkit.plots.exchange import (
    allreduce_times as allreduce_times,
    buckets as buckets,
    sample_map as sample_map,
    shares_of as shares_of,
    tensor_timeline as tensor_timeline,
)
from lessons.toolkit.plots.faults import faults as faults
from lessons.toolkit.plots.input_pipeline import (
    input_overlap as input_overlap,
    input_rates as input_rates,
    median_of_measure as median_of_measure,
)
from lessons.toolkit.plots.job import (
    lives as lives,
    node_grid as node_grid,
    nodes as nodes,
    writing as writing,
)
from lessons.toolkit.plots.large_batches import (
    accuracy_by_workers as accuracy_by_workers,
    at_equal_loss as at_equal_loss,
    four_curves as four_curves,
    race as race,
    staleness as staleness,
)
from lessons.toolkit.plots.learning import (
    accuracy_curves as accuracy_curves,
    epoch_bars as epoch_bars,
    fitted_curves as fitted_curves,
    images as images,
    losses as losses,
    weight_images as weight_images,
)
from lessons.toolkit.plots.pipelines import (
    bytes_by_batch as bytes_by_batch,
    drawn_schedules as drawn_schedules,
    measured_stages as measured_stages,
    step_times as step_times,
)
from lessons.toolkit.plots.profiling import (
    roofline as roofline,
    staircase as staircase,
    step_bars as step_bars,
    trace as trace,
)
from lessons.toolkit.plots.scaling import (
    laws_beyond as laws_beyond,
    scaling_study as scaling_study,
    speed_rounds as speed_rounds,
)
from lessons.toolkit.plots.sliders import schedule_sliders as schedule_sliders
