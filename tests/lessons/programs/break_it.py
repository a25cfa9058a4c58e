"""Check what `break_it.py` leaves in an executed lesson: the traces that its page mentions.

The tests that run a lesson, here or as jobs of the box, check the folder of that run.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from autograder.reading.files import read_files
from autograder.records import Run
from tests.lessons.programs.faults import TRACES, faults_of, measured

Runs = dict[str, Run]


def table(runs: Runs, *traces: str) -> dict[str, tuple[Any, ...]]:
    """Return these traces of each fault."""
    return {name: tuple(TRACES[trace](run) for trace in traces) for name, run in runs.items()}


def path_of(runs: Runs, name: str) -> dict[str, list[Any]]:
    """Return each fault's measures of this name, in their order."""
    return {fault: [m["value"] for m in run.measures if m["name"] == name]
            for fault, run in runs.items()}  # fmt: skip


def traces_of_05(runs: Runs, printed: str) -> None:
    assert table(runs, "steps", "replicas", "rate", "spread") == {
        "nothing": (4, 2, 0.04, 0.0),
        "scope": (4, 1, 0.04, 0.0),
        "batch": (8, 2, 0.04, 0.0),
        "rate": (4, 2, 0.02, 0.0),
        "mean": (4, 2, 0.04, 0.0),
    }
    away = {name: measured(run, "away_after_one_step") for name, run in runs.items()}
    assert max(away["nothing"], away["scope"]) < 1e-6, "one device does it, and does it right"
    assert min(away["batch"], away["rate"], away["mean"]) > 1e-4
    assert away["mean"] == pytest.approx(2 * away["rate"], rel=1e-3), "twice, and half, the step"
    first = {name: measured(run, "first_loss") for name, run in runs.items()}
    assert first["mean"] == pytest.approx(2 * first["nothing"], rel=1e-5)
    assert {round(loss, 1) for name, loss in first.items() if name != "mean"} == {2.3}


def traces_of_06(runs: Runs, printed: str) -> None:
    sends = {m["bytes"]: m["value"] for m in runs.pop("send").measures}
    assert sends[80] == 1, "a buffer takes it"
    assert sends[800_000] == 0, "everyone waits"
    first = {name: measured(run, "first_step") for name, run in runs.items()}
    assert (first["nothing"], first["divide"]) == pytest.approx((1, 2))
    assert first["half"] < 0.95 < 1.05 < first["slice"] < 1.5
    path = path_of(runs, "spread")
    assert all(max(path[name]) == 0.0 for name in ("nothing", "divide", "slice"))
    assert path["half"][0] == 0.0 < 0.005 < path["half"][1] < path["half"][-1]
    assert path["half"][-1] == pytest.approx(0.15, abs=0.03)
    away = {name: measured(run, "away_from_one_rank") for name, run in runs.items()}
    assert away.pop("nothing") < 1e-12 < 0.03 < min(away.values())
    told = {"nothing": (0.422, 0.878), "divide": (0.354, 0.881), "half": (0.473, 0.856),
            "slice": (0.463, 0.860)}  # fmt: skip
    for name, numbers in table(runs, "loss", "accuracy").items():
        assert numbers == pytest.approx(told[name], abs=0.01), name


def traces_of_07(runs: Runs, printed: str) -> None:
    assert printed.count("ValueError: Horovod has not been initialized") == 2, "once for each rank"
    path = path_of(runs, "spread")
    for name in ("nothing", "scale", "seeds", "guard"):
        assert max(path[name]) == runs[name].end["param_spread"] == 0.0, name
    start, *later = path["average"]
    assert start == 0.0
    assert later == sorted(later)
    assert later[0] > 0.001
    assert path["broadcast"][0] > 0.1
    assert path["broadcast"][-1] == pytest.approx(path["broadcast"][0], rel=0.05)
    assert path["early"][0] == path["broadcast"][0]
    assert max(path["early"][1:]) == 0.0
    loss = {name: run.epochs[-1].train_loss.value for name, run in runs.items()}
    assert loss["seeds"] == pytest.approx(loss["average"], rel=1e-3), "two ranks do the work of one"
    assert max(loss.values()) < 1.5, "every one of them learns"
    assert runs["scale"].header["lr"] == pytest.approx(runs["nothing"].header["lr"] / 2)


def traces_of_08(runs: Runs, printed: str) -> None:
    stalled = runs.pop("steps")
    images = runs["nothing"].epochs[-1].unique_samples  # in eight files, batches of 32
    assert images
    assert measured(stalled, "steps_asked") == [images // 64, images * 3 // 256]
    assert not stalled.epochs
    assert "waiting for remainder of ranks" in printed
    assert "Missing ranks:\n0: [HorovodAllreduce]" in printed, "for the mean of the metrics"
    assert "is stalled for longer than 6 seconds" in printed
    half, three_eighths = images // 2, images * 3 // 8
    seen = {name: run.epochs[-1].unique_samples for name, run in runs.items()}
    assert seen == {
        "nothing": images, "same": half, "own": images - three_eighths, "labels": images,
    }  # fmt: skip
    assert table(runs, "steps", "spread", "read twice", "never read") == {
        "nothing": (images // 64, 0.0, 0, 0),
        "same": (images // 64, 0.0, half, half),
        "own": (images // 64, 0.0, three_eighths, three_eighths),
        "labels": (images // 64, 0.0, 0, 0),
    }
    accuracy = {name: TRACES["accuracy"](run) for name, run in runs.items()}
    assert accuracy.pop("labels") < 0.35 < 0.75 < min(accuracy.values())


def traces_of_09(runs: Runs, printed: str) -> None:
    told = table(runs, "steps", "rate", "accuracy")
    assert {name: numbers[:2] for name, numbers in told.items()} == {
        "nothing": (50, 0.8),
        "summed": (50, 0.8),
        "rate": (50, 0.1),
        "batch": (400, 0.8),
        "momentum": (50, 0.8),
    }
    accuracy = {name: numbers[2] for name, numbers in told.items()}
    assert accuracy["summed"] < 0.2 < 0.87 < accuracy["rate"] < 0.91 < 0.92 < accuracy["nothing"]
    assert accuracy["nothing"] < accuracy["momentum"] < accuracy["batch"]
    losses = [epoch.train_loss.value for epoch in runs["summed"].epochs]
    # Clearly worse than guessing, ln 10. How much depends on rounding: with OpenBLAS's kernels for
    # Haswell, Sandy Bridge, Skylake, Core 2 and Nehalem the first epoch's loss is 2.99 to 3.54.
    guessing = math.log(10)
    assert losses[0] > guessing + 0.2, "it explodes"
    assert losses[-1] == pytest.approx(guessing, abs=0.05), "then it is the same for ever"


def traces_of_13(runs: Runs, printed: str) -> None:
    assert "rank 0 alone, after" in printed
    assert "Timed out waiting 5000ms" in printed
    away = {name: measured(run, "serial_error") for name, run in runs.items()}
    assert max(away[name] for name in ("nothing", "wrap", "save")) < 1e-10
    assert away["norm"] == pytest.approx(8e-3, rel=0.1)
    assert away["optimizer"] == pytest.approx(4e-2, rel=0.1)
    assert 4 < measured(runs.pop("save"), "waited_s") < 7  # rank 1 ends the wait after 7 s
    peak = {name: measured(run, "peak_kb") for name, run in runs.items()}
    assert peak["wrap"] > 1.2 * max(peak["nothing"], peak["norm"])
    loss = {name: run.epochs[-1].train_loss.value for name, run in runs.items()}
    assert loss["norm"] == pytest.approx(loss["nothing"], abs=0.1)
    assert loss["optimizer"] > loss["nothing"] + 1


def traces_of_14(runs: Runs, printed: str) -> None:
    found = {
        name: tuple(measured(run, what) for what in ("waits_per_step", "own_reads", "compilations"))
        for name, run in runs.items()
    }
    assert found == {
        "nothing": (0, 0, 1),
        "item": (29, 0, 1),
        "workers": (0, 1, 1),
        "scaling": (0, 0, 1),
        "shapes": (0, 0, 5),
    }
    zeros = {name: measured(run, "zeros") for name, run in runs.items()}
    assert zeros.pop("scaling") > 0.8 > 0.1 > max(zeros.values())
    loss = {name: run.epochs[-1].train_loss.value for name, run in runs.items()}
    slower = loss.pop("scaling")
    assert slower > 0.1 + max(loss.values())
    assert max(loss.values()) == pytest.approx(min(loss.values()), abs=0.02)


def traces_of_15(runs: Runs, printed: str) -> None:
    away = {name: measured(run, "apart") for name, run in runs.items()}
    assert away["nothing"] == away["half"] == 0
    assert away["sampler"] == pytest.approx(0.007, rel=0.1)
    assert away["random"] == pytest.approx(0.004, rel=0.1)
    twice = {name: measured(run, "read_wrong") for name, run in runs.items()}
    assert twice.pop("sampler") == 88 > 0 == max(twice.values())
    lost = {name: measured(run, "lost") for name, run in runs.items()}
    assert lost.pop("half") == 18 > 3 == max(lost.values())
    loss = {name: run.epochs[-1].train_loss.value for name, run in runs.items()}
    assert loss["nothing"] == pytest.approx(3.136, abs=0.01)
    assert loss["optimizer"] == pytest.approx(3.017, abs=0.01)
    assert loss["sampler"] == pytest.approx(loss["nothing"], rel=0.01)
    assert loss["random"] == pytest.approx(loss["nothing"], rel=0.01)


TRACES_OF = {
    "05": traces_of_05,
    "06": traces_of_06,
    "07": traces_of_07,
    "08": traces_of_08,
    "09": traces_of_09,
    "13": traces_of_13,
    "14": traces_of_14,
    "15": traces_of_15,
}


def leaves_its_traces(lesson: str, folder: Path) -> None:
    """Check the traces. folder: the executed lesson, with its jobs' outputs."""
    if lesson not in TRACES_OF:
        assert not list(folder.glob("break_it.py")), f"nobody looks at what {lesson}'s faults leave"
        return
    [output] = folder.glob(f"{lesson}_break_*.out")
    found = read_files([output])
    runs = {run.header.get("without", run.header["source"].removeprefix("without ")): run
            for run in found}  # fmt: skip
    # `init` ends before it has a record; the job leaves out `schedule`, which a question needs.
    assert set(faults_of(lesson)) - runs.keys() <= {"init", "schedule"}
    TRACES_OF[lesson](runs, output.read_text() + output.with_suffix(".err").read_text())
