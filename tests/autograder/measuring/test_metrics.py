"""The table of metrics: docs/rubrics.md lists it; each row fails closed and has a unit."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from autograder.measuring.interval import Measure, NotMeasured
from autograder.measuring.metrics import METRICS, Metric
from autograder.records import Rank, Run
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record, some_rounds
from tests.autograder.make_run import make_end, make_header

DOCS = Path(__file__).parents[3] / "docs" / "rubrics.md"


def with_it(metric: Metric) -> str:
    """Return what a condition needs besides the metric's name."""
    return "`base`" if metric.base else ", ".join(f"`{k}: {v}`" for k, v in metric.at.items())


def rows_of_the_docs() -> dict[str, list[str]]:
    """Return the unit, the fields and the meaning of each metric."""
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {name.strip("`"): rest for name, *rest in rows if len(rest) == 3}


EXPLAINED = rows_of_the_docs()


def test_the_docs_list_every_metric_with_its_unit_and_fields():
    rows = {name: [metric.unit, with_it(metric)] for name, metric in METRICS.items()}
    assert {name: row[:2] for name, row in EXPLAINED.items()} == rows
    assert all(meaning for _, _, meaning in EXPLAINED.values())


# --- the values for a full record and for an empty one -----------------------------------------


@cache
def full(size: int) -> Run:
    """Return a run that has everything a metric can ask for."""
    usual = {"source": "keras", "model": "cnn", "image_size": 32, "replicas": 1, "lr_base": 0.1}
    usual["started_by"] = ["prterun"]
    usual |= {"workers": size, "rule": "same", "seed": 1}
    lines = make_record(
        run=f"{size:08d}",
        size=size,
        seconds=(9.0 / size, 8.0 / size, 8.0 / size),
        read=True,
        start="s",
        rank_says={"built_hash": "s", "labels": [3, 1]},
        end_says={"steps": 3, "loss": 0.5},
        end={"param_moved": 0.5, "params_changed": 9, "param_spread": 0.0},
        measures=(
            *({"name": name, "value": 0.01, "unit": "s"} for name in ("step_s", "allreduce_s")),
            *some_rounds((1.0, 1.1, 1.2), (1.1, 1.2, 1.3), (1.2, 1.3, 1.4)),
        ),
        **usual | {"ranks_asked": size, "replicas_asked": 1, "lr": 0.1 * size},
    )
    (run,) = read_bytes({"a.out": "\n".join(lines).encode()})
    return run


def value_of(metric: Metric, runs: list[Run], at: dict | None = None):
    """Evaluate a metric as a rubric may; the last run counts, and the first is the base."""
    asked = dict(metric.at) if at is None else at
    if metric.all_runs:
        return metric.function(runs, asked)
    if metric.base:
        return metric.function(runs[0], runs[-1])
    return metric.function(runs[-1]) if metric.of_a_run else metric.function(runs[-1], asked)


# Its epochs have no validation, and it is not a study.
NOT_IN_THE_FULL_RECORD = {"time_to_accuracy", "sooner", "study_moved", "study_spread"}


@pytest.mark.parametrize("name", sorted(METRICS.keys() - NOT_IN_THE_FULL_RECORD))
def test_a_measure_has_the_unit_of_its_row(name):
    found = value_of(METRICS[name], [full(size) for size in (1, 2, 4)])
    assert isinstance(found, str) or found.unit == METRICS[name].unit
    words = EXPLAINED[name][2].startswith("yes")
    assert isinstance(found, str) == words


NOTHING = Run(files=(), format="unknown", outcome="completed")
ALWAYS = {"epochs": 0, "error_file_separate": "no", "job_known": "no"}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_run_with_nothing_in_it_is_not_measured(name):
    """The few values that even such a run has are returned."""
    if name in ALWAYS:
        found = value_of(METRICS[name], [NOTHING])
        assert (found.value if isinstance(found, Measure) else found) == ALWAYS[name]
    else:
        with pytest.raises(NotMeasured) as missing:
            value_of(METRICS[name], [NOTHING])
        assert missing.value.reason


# The header's scheduler, the job's number (possibly from the file's name), and the expected word.
STARTED = [("slurm", "1", "yes"), (None, "1", "yes"), ("slurm", None, "no"), ("none", "1", "no")]


@pytest.mark.parametrize(("scheduler", "job", "word"), STARTED)
def test_a_run_without_a_job_names_none(scheduler, job, word):
    run = replace(NOTHING, header=make_header({"scheduler": scheduler}), job_id=job)
    assert METRICS["job_known"].function(run) == word


def ranks_that_say(*says: dict, **end) -> Run:
    """Return a run of ranks with these facts; by default, each has 100 samples in batches of 32."""
    own = tuple(
        Rank(n, **{"samples": 100, "param_hash": "p"} | said) for n, said in enumerate(says)
    )
    return replace(NOTHING, ranks=own, header=make_header({"local_batch": 32}), end=make_end(end))


START = {"start_hash": "a", "built_hash": "a"}
BESIDE_EACH_OTHER = [  # metric, each rank's facts, the end's facts, the value
    ("starts", [START, {"start_hash": "b"}], {}, 2),
    ("start_of_rank_0", [START, {"start_hash": "a", "built_hash": "b"}], {}, "yes"),
    ("start_of_rank_0", [{"start_hash": "b", "built_hash": "a"}, START], {}, "no"),
    ("start_of_rank_0", [START | {"start_hash": "0"}] * 2, {}, "no"),  # equal, and made up
    ("rank_losses", [{"loss": 0.5}, {"loss": 0.5}, {"loss": 0.4}], {}, 2),
    ("steps_apart", [{"steps": 25}, {"steps": 22}], {}, 3),
    ("share_steps", [{}, {"samples": 65}], {}, 3),
    ("labels_apart", [{"labels": (10, 10)}, {"labels": (20, 20)}], {}, 0),
    ("labels_apart", [{"labels": (10, 0)}, {"labels": (10, 20)}], {}, 0.5),
]


@pytest.mark.parametrize(
    ("base", "run", "value"),
    [("pp", "pp", "yes"), ("pp", "p", "yes"), ("pp", "pq", "no"), ("pq", "pq", "no")],
)
def test_parameters_are_equal_on_all_ranks_of_both_runs(base, run, value):
    runs = [ranks_that_say(*({"param_hash": each} for each in hashes)) for hashes in (base, run)]
    assert METRICS["same_params"].function(*runs) == value


@pytest.mark.parametrize(("name", "says", "end", "value"), BESIDE_EACH_OTHER)
def test_what_ranks_say_is_put_side_by_side(name, says, end, value):
    found = METRICS[name].function(ranks_that_say(*says, **end))
    if isinstance(value, str):
        assert found == value
    else:
        assert (found.low, found.value, found.high) == pytest.approx((value,) * 3)
