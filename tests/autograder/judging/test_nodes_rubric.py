"""Lessons 07 to 09 in `full`: training on several nodes earns its points.

Each requirement that is not met loses its points, with a reason.
"""

import math
from dataclasses import replace

import pytest

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.records import Epoch, Number, Program, Rank, Run
from autograder.settings import rubric
from tests.autograder.make_run import make_run

SAMPLES = {"07": 49920, "08": 50000, "09": 49920}
SIZES = (1, 2, 4, 8)
TEXTS = dict.fromkeys(("nodes.py", "train.py", "make_parts.py"), "a" * 16)
# Test accuracies after each epoch. With a larger batch, they are reached later.
ACCURACIES = (0.3, 0.45, 0.52, 0.55, 0.58, 0.6)


def of_size(lesson: str, size: int, per_node: int = 4) -> Run:
    """Return a correct run on that many ranks.

    An epoch takes 40 s on one rank. More ranks reach nine tenths of the ideal speed.
    """
    share = SAMPLES[lesson] // size
    steps = math.ceil(share / 256)
    seconds = 40 / size / (1 if size == 1 else 0.9)
    late = {1: 0, 2: 0, 4: 1, 8: 1}[size]
    epochs = tuple(
        Epoch(
            number,
            Number(seconds),
            steps,
            SAMPLES[lesson],
            train_loss=Number(2.1 - 0.15 * number),
            val_accuracy=Number(ACCURACIES[max(0, number - 1 - late)]),
            lr=0.001 * size,
        )
        for number in range(1, 7)
    )
    ranks = tuple(
        Rank(
            rank,
            host=f"n{rank // per_node}",
            local_rank=rank % per_node,
            device=f"a GPU #{rank % per_node}",
            samples=share,
            slices=((rank, SAMPLES[lesson], size),),
            labels=(share // 10,) * 10,
            built_hash=f"b{rank}",
            start_hash="b0",
            param_hash="p",
            steps=steps,
        )
        for rank in range(size)
    )
    header = {
        "lesson": lesson, "source": "keras-nodes", "model": "ResNet50V2", "params": 23_585_290,
        "world_size": size, "ranks_asked": size, "scaling": "serial" if size == 1 else "epoch",
        "local_batch": 256, "global_batch": 256 * size, "image_size": 128, "device": "a GPU",
        "lr": 0.001 * size, "lr_base": 0.001, "precision": "float32",
        "dataset": {"name": "cifar10", "synthetic": False, "train_samples": SAMPLES[lesson]},
    }  # fmt: skip
    measures = ({"name": "ranks_heard", "value": size, "unit": ""},)
    end = {"param_spread": 0.0, "param_moved": 1.0}
    return make_run(
        (f"{lesson}_nodes_{size}.out",), "record", "completed", workers=size, epochs=epochs,
        ranks=ranks, test_accuracy=Number(0.6), total_seconds=Number(9 * seconds),
        launch=f"{size}a", header=header, end=end, measures=measures,
        program=Program("nodes.py", None, TEXTS),
    )  # fmt: skip


PROBES = {  # what the solution's probe finds
    "07": {"checkpoint_files": 1, "checkpoint_error": 0.0},
    "08": {"ranks_that_looked": 1, "images_twice": 0, "images_missing": 0, "images_foreign": 0,
           "probe_error": 0.0},
}  # fmt: skip


def probe_of(lesson: str, hosts: int = 2, **wrong: float) -> list[Run]:
    """Return the run of the lesson's probe on eight ranks; lesson 09's has no ranks."""
    told = PROBES.get(lesson, {}) | wrong
    probe = make_run(
        (f"{lesson}_keras_8.out",), "record", "completed", workers=8,
        ranks=tuple(Rank(n, host=f"n{n % hosts}", local_rank=n // hosts) for n in range(8)),
        header={"lesson": lesson, "source": "probe", "world_size": 8, "ranks_asked": 8},
        measures=tuple({"name": name, "value": value, "unit": ""} for name, value in told.items()),
        launch="probe", program=Program("probe.py", None, TEXTS),
    )  # fmt: skip
    return [probe] if told else []


def changed(run: Run, *, epoch=None, rank=None, measure=None, **more) -> Run:
    """Return the run with other epochs, ranks, measures, or members of its header and end."""
    for name in ("header", "end"):
        more[name] = replace(getattr(run, name), **more.get(name, {}))
    values = measure or {}
    return replace(
        run,
        measures=tuple(replace(m, value=values.get(m.name, m.value)) for m in run.measures),
        epochs=tuple(replace(one, **(epoch(one) if epoch else {})) for one in run.epochs),
        ranks=tuple(replace(one, **(rank(one) if rank else {})) for one in run.ranks),
        **more,
    )


def check_of(lesson: str, runs: list[Run], profile: str = "full"):
    asked = rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml")
    checks = judge(HandIn(asked, runs, {}, profile)).checks
    return next((check for check in checks if check.id == "nodes"), None)


@pytest.mark.parametrize("lesson", SAMPLES)
def test_right_runs_on_two_nodes_earn_all(lesson):
    check = check_of(lesson, [*probe_of(lesson), *(of_size(lesson, size) for size in SIZES)])
    assert check.score == check.points, check.actual


@pytest.mark.parametrize("lesson", SAMPLES)
def test_smoke_asks_for_nothing_of_it(lesson):
    assert check_of(lesson, [], "smoke") is None


@pytest.mark.parametrize("lesson", SAMPLES)
def test_without_such_a_run_it_is_not_done(lesson):
    check = check_of(lesson, [])
    assert (check.score, check.status) == (0, "failed")
    assert ReasonCode.NO_RUN in {part.code for part in check.parts}


def slow(one):
    return {"seconds": Number(30.0)}


def slowly(one):
    return {"val_accuracy": Number(one.val_accuracy.value - 0.12)}


# Lessons, what was wrong with the run on eight ranks, and words of the reason.
WRONG = {
    "one node": ("07 08 09", {"rank": lambda r: {"host": "n0", "local_rank": r.rank}}, "hosts"),
    "a GPU for two": (
        "07 08",
        {"rank": lambda r: {"device": f"GPU #{r.rank // 2:08x}"}},
        "devices",
    ),
    "fewer than asked": ("07 08 09", {"header": {"ranks_asked": 16}}, "ranks that took part"),
    "another network": ("07 08 09", {"header": {"params": 1_626_442}}, "parameters"),
    "small pictures": ("07 08 09", {"header": {"image_size": 32}}, "width of the images"),
    "the ranks ended unlike": ("07 08 09", {"end": {"param_spread": 0.2}}, "in a parameter"),
    "all read all": ("07 08 09", {"rank": lambda r: {"slices": ((0, 49920, 1),)}}, "read by more"),
    "not averaged": ("07", {"measure": {"ranks_heard": 1}}, "ranks whose gradients arrived"),
    "started unlike": ("07 08", {"rank": lambda r: {"start_hash": r.built_hash}}, "rank 0: no"),
    "the rate of one rank": ("07 09", {"header": {"lr": 0.001}}, "learning rate per worker"),
    "no slower than it is": ("07 08", {"epoch": slow}, "efficiency"),
    "never there": ("09", {"epoch": slowly}, "did not reach 0.5"),
    "nothing learnt": ("07 08", {"epoch": lambda e: {"train_loss": Number(2.3)}}, "last epoch"),
}
PROBED = {
    "a file of each": ("07", {"checkpoint_files": 8}, "checkpoint files of all ranks"),
    "another's file": ("07", {"checkpoint_error": 0.1}, "after loading the checkpoint"),
    "one node": ("07 08", {"hosts": 1}, "hosts"),
    "files of another": ("08", {"images_twice": 8}, "read by more than one rank"),
    "files of nobody": ("08", {"images_missing": 8}, "images that no rank read"),
    "each rank looked": ("08", {"ranks_that_looked": 8}, "listed the files"),
    "not the mean": ("08", {"probe_error": 0.1}, "one process computed"),
}


@pytest.mark.parametrize(
    ("lesson", "name"),
    [(lesson, name) for name, (lessons, *_) in WRONG.items() for lesson in lessons.split()],
)
def test_what_is_not_so_loses_points_with_a_reason(lesson, name):
    _, change, reason = WRONG[name]
    runs = [of_size(lesson, size) for size in SIZES]
    check = check_of(lesson, [*probe_of(lesson), *runs[:-1], changed(runs[-1], **change)])
    assert check.score < check.points
    assert reason in check.actual, check.actual


@pytest.mark.parametrize(
    ("lesson", "name"),
    [(lesson, name) for name, (lessons, *_) in PROBED.items() for lesson in lessons.split()],
)
def test_a_fault_that_the_probe_finds_loses_points(lesson, name):
    _, wrong, reason = PROBED[name]
    runs = [of_size(lesson, size) for size in SIZES]
    check = check_of(lesson, [*probe_of(lesson, **wrong), *runs])
    assert check.score < check.points
    assert reason in check.actual, check.actual


@pytest.mark.parametrize("lesson", SAMPLES)
def test_two_sizes_are_no_study(lesson):
    check = check_of(lesson, [of_size(lesson, size) for size in (1, 8)])
    assert check.score < check.points
    assert "2 sizes" in check.actual
