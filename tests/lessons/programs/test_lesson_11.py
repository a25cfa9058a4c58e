"""Tests of lesson 11's pipelines on real ranks: they equal one process; the record's values."""

import json
import re
import subprocess
import sys

import pytest
from real_runs import ROOT, environment, meet, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "11_pipeline"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "pipeline_steps.py"
SMALL = ("--train-samples", "640", "--test-samples", "200", "--epochs", "2", "--width", "32")
ORDERS = ("in_one_batch", "send_without_waiting", "both_receive", "both_send")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np"]


@pytest.mark.parametrize("ranks", [3, 4])
def test_every_split_is_the_network_of_one_process(ranks, tmp_path):
    out = tmp_path / "away.json"
    done = subprocess.run(
        [*MPIRUN, str(ranks), sys.executable, str(STEPS), str(out)],
        env=environment(**meet()),
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    away = json.loads(out.read_text())
    assert len(away) == (8 if ranks == 4 else 6)
    assert max(away.values()) < 1e-10, away


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(LESSON / "train.py", 1, *SMALL, out=tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("train.py", ("--schedule", "gpipe")),
        ("train_library.py", ("--schedule", "1f1b")),
    ],
)
def test_the_record_tells_who_holds_what(program, words, alone, tmp_path):
    words = (*(SMALL[:2] + SMALL[4:] if "library" in program else SMALL), *words)
    env = meet()
    found = run(LESSON / program, 2, *words, out=tmp_path, **env)
    assert found.outcome == "completed"
    assert [e.train_loss.value for e in found.epochs] == pytest.approx(
        [e.train_loss.value for e in alone.epochs], abs=1e-5
    )
    [together] = found.measured("params_together")
    assert together["value"] == found.header["params"] == alone.header["params"]
    assert sum(stage["value"] for stage in found.measured("params_held")) == together["value"]
    assert found.measured("params_twice")[0]["value"] == 0
    assert all(error["value"] < 1e-12 for error in found.measured("serial_error"))
    assert len({rank.param_hash for rank in found.ranks}) == 2
    if program == "train.py":
        assert found.test_accuracy.value == pytest.approx(alone.test_accuracy.value, abs=0.01)
        assert found.measured("split_excess")[0]["value"] == 0


def test_a_speed_job_says_what_each_rank_did(tmp_path):
    words = ("--rounds", "2", "--width", "64", "--batch-size", "48", "--micro-batches", "1", "4")
    env = meet()
    found = run(LESSON / "speed.py", 3, *words, out=tmp_path, **env)
    rounds = found.measured("pipeline_round")
    assert [one["round"] for one in rounds] == [1, 2]
    assert all(set(one["together_s"]) == {"1", "4"} for one in rounds)
    [best] = found.measured("best_micro_batches")
    assert best["value"] in (1, 4)
    assert len(found.measured("pipeline_share", fewest=1)) == 2
    assert found.measured("gradient_error")[0]["value"] < 1e-4
    assert found.measured("pipeline_moved")[0]["value"] > 0
    held = {
        kind: [m["value"] for m in found.measured("held", schedule=kind)]
        for kind in ("gpipe", "1f1b")
    }
    assert held == {"gpipe": [4, 4, 4], "1f1b": [3, 2, 1]}
    for busy in found.measured("busy"):
        assert busy["kinds"].count("F") == busy["kinds"].count("B") == 4
        pairs = zip(busy["starts"], busy["ends"], strict=True)
        assert all(0 <= start <= end for start, end in pairs)
    assert all(0 < one["value"] < 1 for one in found.measured("bubble"))
    assert all(off["value"] < 0.1 for off in found.measured("bytes_off"))


def test_orders_that_wait_for_each_other_end_by_the_time_out(tmp_path):
    done = subprocess.run(
        [*MPIRUN, "2", sys.executable, str(LESSON / "deadlock.py"), "--timeout", "1"],
        env=environment(**meet()),
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said = [re.findall(rf"rank \d, {order}: .* s: (.*)", done.stdout) for order in ORDERS]
    batched, free, *stuck = map(sorted, said)
    assert batched == free == ["done", "done"]
    for waits, what in zip(stuck, ("recv", "send"), strict=True):
        # Whose time is up first closes the connection: the other may hear of that first.
        late, first = waits
        assert first == f"Timed out waiting 1000ms for {what} operation to complete"
        assert late == first or re.fullmatch(r"Connection closed by peer \[\S+\]:\d+", late)


@pytest.mark.parametrize(
    ("program", "ranks", "words", "said"),
    [
        ("train.py", 1, ("--replicas", "2"), "1 ranks cannot be 2 replicas"),
        ("train.py", 1, ("--layers", "0"), "0 layers cannot be divided among 1 stages"),
        ("train_library.py", 2, ("--micro-batches", "3"), "micro-batches of one size"),
        ("speed.py", 1, (), "start it with mpirun or srun, on at least two"),
        ("deadlock.py", 1, (), "deadlock.py wants two ranks"),
    ],
)
def test_what_cannot_be_is_one_sentence(program, ranks, words, said, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / program, ranks, *words, out=tmp_path, **meet())
    assert said in str(failed.value)
    assert "Traceback" not in str(failed.value)
