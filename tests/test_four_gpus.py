"""The batch script for a node with four GPUs follows its rules, with stand-ins for the programs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "gpu" / "four_gpus.sbatch"
# `launch` prints what the program of this name would print, then runs its commands.
SITE = """
SITE_NAME=fake SITE_SCRATCH=/tmp
facts() { :; }
launch_ranks() { :; }
launch() {
    case "$*" in
        *launched*) cat "$STAND_INS/found" ;;
        *train_gpt*) cat "$STAND_INS/cpu" ;;
        *hang*) return 134 ;;
        *10_native/train.py*) cat "$STAND_INS/gpu" ;;
        *13_shard/train.py*) echo $BASHPID >"$STAND_INS/pid"; sleep 300 ;;
    esac
}
"""


def record(device, *losses):
    events = [("rank", {"device": device}, {})]
    events += [("epoch_stop", {"loss": loss}, {}) for loss in losses]
    events += [("run_stop", {"test_loss": losses[-1]}, {"status": "success"})]
    keys = ("key", "value", "metadata")
    lines = [
        json.dumps(dict(zip(keys, event, strict=True)), separators=(",", ":")) for event in events
    ]
    return "".join(f":::MLLOG {line}\n" for line in lines)


def outcomes(tmp_path, *steps, found, budget="1000"):
    """Run the script with these steps. Return its exit code and the lines of its summary."""
    (tmp_path / "site.sh").write_text(SITE)
    (tmp_path / "found").write_text(found)
    (tmp_path / "cpu").write_text(record("CPU AMD EPYC", 2.0))
    (tmp_path / "gpu").write_text(record("NVIDIA H100 #12345678", 2.0, 1.0))
    environ = {name: text for name, text in os.environ.items() if name != "COURSE_DEVICE"}
    environ |= {"COURSE_SITE": str(tmp_path / "site.sh"), "STAND_INS": str(tmp_path)}
    environ |= {"SLURM_JOB_ID": "5", "SLURM_NTASKS": "2", "COURSE_BUDGET": budget}
    environ.pop("SLURM_SUBMIT_DIR", None)
    script = tmp_path / "repo" / SCRIPT.name
    script.parent.mkdir()
    subprocess.run(["git", "init", "-q", script.parent], check=True)
    (script.parent / "benchmarks").symlink_to(ROOT / "benchmarks")
    done = subprocess.run(
        ["bash", str(SCRIPT), *steps],
        cwd=script.parent,
        env=environ,
        capture_output=True,
        timeout=90,
    )
    summary = (script.parent / "four_gpus_5" / "summary.txt").read_text()
    return done.returncode, summary.splitlines()


OWN_GPUS = "found 0 0 2 2\nfound 1 1 2 2\n"


@pytest.mark.parametrize(
    "found",
    [
        "found 0 0 2 2\nfound 1 0 2 2\n",  # both on GPU 0
        "found 0 0 2 1\nfound 1 1 2 1\n",  # each sees one GPU
        "found 0 0 1 2\nfound 0 0 1 2\n",  # two worlds of one rank
    ],
)
def test_it_stops_if_ranks_do_not_find_their_gpus(tmp_path, found):
    code, lines = outcomes(tmp_path, "ranks", "10_one", found=found)
    assert code == 1
    assert [line.split()[0] for line in lines] == ["ranks", "stopped:"]


def test_other_steps_do_not_stop_it(tmp_path):
    asked = ("ranks", "00_gpt", "10_hang", "10_one", "10_two", "10_equal")
    code, lines = outcomes(tmp_path, *asked, found=OWN_GPUS)
    assert code == 1
    codes = dict(line.split()[:2] for line in lines[:-1])
    assert codes == dict.fromkeys(asked, "rc=0") | {"00_gpt": "rc=on-the-CPU"}
    assert lines[-1].startswith("1 steps failed")
