"""Tests of lesson 11's programs on real ranks: they equal one process; the record's values."""

import json
import re
from pathlib import Path

import pytest
from forked_runs import TORCH, run_forked
from real_runs import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "11_pipeline"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "pipeline_steps.py"
SMALL = ("--train-samples", "640", "--test-samples", "200", "--epochs", "2", "--width", "32")
UNTESTED = (*SMALL[:2], *SMALL[4:])  # train_library.py reads no test images
ORDERS = ("in_one_batch", "send_without_waiting", "both_receive", "both_send")
BOTH = ("gpipe", "1f1b")
CUT = ("--width", "37", "--batch-sizes", "96", "--steps", "3", "--depth", "4")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Return name -> the records of a job, or what pipeline_steps.py found."""
    root = tmp_path_factory.mktemp("jobs")
    train = LESSON / "train.py"
    asked = {1: [(root / "alone", train, *SMALL)]}
    for ranks in (2, 3, 4):
        cut = (root / f"cut {ranks}", LESSON / "tensor_parallel.py", *CUT)
        asked[ranks] = [cut, (root / f"split {ranks}", STEPS, "away.json")]
    asked[2] += [
        (root / "train", train, *SMALL, "--schedule", "gpipe"),
        (root / "probe", LESSON / "probe.py", *SMALL),
        (root / "library", LESSON / "train_library.py", *UNTESTED, "--schedule", "1f1b"),
        (root / "library probe", LESSON / "probe.py", "--library", "--schedule", "1f1b"),
        (root / "deadlock", LESSON / "deadlock.py", "--timeout", "1"),
    ]
    copies = ("--replicas", "2")
    asked[4] += [
        (root / "hybrid", train, *SMALL, *copies),
        (root / "hybrid probe", LESSON / "probe.py", *SMALL, *copies),
    ]
    records = run_forked(*asked.items(), loaded=(*TORCH, "torch.distributed.pipelining"))
    steps = {folder: json.loads((folder / "away.json").read_text())
             for folder in records if folder.name.startswith("split")}  # fmt: skip
    return {folder.name: found for folder, found in (records | steps).items()}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_split_is_the_network_of_one_process(ranks, jobs):
    away = jobs[f"split {ranks}"]
    assert len(away) == (8 if ranks == 4 else 6)
    assert max(away.values()) < 1e-10, away


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_cut_layers_are_the_whole_ones(ranks, jobs):
    """With 37 numbers and 10 digits, no part is as large as the others."""
    [found] = jobs[f"cut {ranks}"]
    assert found.outcome == "completed"
    assert len(found.ranks) == ranks
    assert found.measured("difference_to_serial")[0]["value"] < 1e-12
    steps = {step["way"]: step for step in found.measured("step_s")}
    assert steps["data"]["difference"] < 1e-12
    assert found.measured("moved")[0]["value"] > 1e-3
    [over] = found.measured("held_over_part")
    assert 1 <= over["value"] < 1.1
    ring = 2 * (ranks - 1) / ranks * 8
    sent = {"data": 37 * (785 + 2 * 38) + 10 * 38, "tensor": 96 * (37 + 37 + 10)}
    for way, numbers in sent.items():
        assert ring * numbers < steps[way]["bytes"] < 1.2 * ring * numbers
    assert found.measured("bytes_error")[0]["value"] == 0


@pytest.mark.parametrize("program", ["train", "library", "hybrid"])
def test_the_stages_learn_what_one_process_learns(program, jobs):
    [alone], [found] = jobs["alone"], jobs[program]
    assert found.outcome == "completed"
    assert [e.train_loss.value for e in found.epochs] == pytest.approx(
        [e.train_loss.value for e in alone.epochs], abs=1e-5
    )
    assert len({rank.param_hash for rank in found.ranks}) == 2
    assert found.header["params"] == alone.header["params"] * (2 if program == "hybrid" else 1)
    if program != "library":
        assert found.test_accuracy.value == pytest.approx(alone.test_accuracy.value, abs=0.01)


@pytest.mark.parametrize(
    ("program", "names"), [("probe", BOTH), ("hybrid probe", BOTH), ("library probe", ("library",))]
)
def test_the_probe_finds_no_fault_in_the_solution(program, names, jobs):
    [found] = jobs[program]
    for name in names:
        assert [each["value"] < 1e-12 for each in found.measured(f"{name}_error")] == [True]
    if program == "probe":
        [alone] = jobs["alone"]
        held = [each["value"] for each in found.measured("params_held")]
        assert sum(held) == alone.header["params"]
        assert max(held) < 0.8 * sum(held)
        for name in ("pipeline_wrong", "split_excess", "grid_wrong"):
            assert [each["value"] for each in found.measured(name)] == [0]


def test_orders_that_wait_for_each_other_end_by_the_time_out(jobs):
    printed = Path(jobs["deadlock"][0].files[0]).read_text()
    # On a busy machine, two ranks' lines may become one.
    line = r"rank \d, {}: \S+ s: (done|.*?)(?=rank \d|$)"
    said = [re.findall(line.format(order), printed, re.MULTILINE) for order in ORDERS]
    batched, free, *stuck = map(sorted, said)
    assert batched == free == ["done", "done"]
    for waits, what in zip(stuck, ("recv", "send"), strict=True):
        # Whose time is up first closes the connection: the other may hear of that first.
        late, first = waits
        assert first == f"Timed out waiting 1000ms for {what} operation to complete"
        assert late == first or re.fullmatch(r"Connection closed by peer \[\S+\]:\d+", late)
