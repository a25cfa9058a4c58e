"""Tests of the run record of one process: its lines, and that programs do not break them."""

import atexit
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given, strategies as st
from record_lines import chain_breaks, events, facts, of, run_program

from lessons.toolkit.record import Run, run_record
from lessons.toolkit.record.launches import launch_id
from lessons.toolkit.record.samples import numbers_of, slices
from tests.breadth import breadth

SERIAL = """
import argparse
from lessons.toolkit.record import Run
args = argparse.Namespace(model="mlp512", epochs=2, batch_size=32, lr=0.001, seed=1)
mnist = dict(name="mnist", sha256="ab", synthetic=False, train_samples=100, test_samples=10)
run = Run("02", args, source="torch", params=407050, dataset=mnist)
for number in (1, 2):
    with run.epoch() as log:
        log(steps=4, loss=2.3 / number, accuracy=0.5)
    log(val_accuracy=0.4)
run.measure("allreduce", 1.5, "ms", bytes=4096)
run.end(test_loss=0.2, test_accuracy=0.95)
"""


def test_a_serial_run(tmp_path):
    slurm = {"SLURM_JOB_ID": "77", "SLURM_NTASKS": "4"}
    found = events(run_program(SERIAL, folder=tmp_path, **slurm))
    first = ["header", "rank", "program", "epoch_start", "machine", "epoch_stop", "eval_accuracy"]
    second = ["epoch_start", "epoch_stop", "eval_accuracy"]
    end = ["measure", "rank_end", "run_stop"]
    assert [event["key"] for event in found] == [*first, *second, *end]
    header = facts(found)
    assert header["lesson"] == "02"
    assert header["program"] == "train.py"
    assert (header["epochs_asked"], header["local_batch"], header["global_batch"]) == (2, 32, 32)
    assert (header["world_size"], header["scaling"], header["job_id"]) == (1, "serial", "77")
    assert (header["scheduler"], header["ranks_asked"]) == ("slurm", 4)
    assert header["device"].startswith("CPU ")
    assert header["versions"]["python"] == sys.version.split()[0]
    first, second = (event["value"] for event in of(found, "epoch_stop"))
    assert (first["steps"], first["unique_samples"]) == (4, 100)
    assert (first["loss"], second["loss"], second["lr"]) == (2.3, 1.15, 0.001)
    assert [event["metadata"]["epoch_num"] for event in of(found, "epoch_stop")] == [1, 2]
    stop = found[-1]
    assert stop["metadata"]["status"] == "success"
    assert stop["value"]["test_accuracy"] == 0.95


@pytest.mark.parametrize("setting", ["epochs", "batch_size", "global_batch", "length"])
@pytest.mark.parametrize("number", [0, -1])
def test_a_count_below_one_is_refused_by_rank_0(setting, number, capsys):
    ended = []
    for rank in (0, 1):
        with pytest.raises(SystemExit) as error:
            Run("02", {setting: number}, source="example", rank=rank, size=2)
        ended.append(error.value.code)
    why, code = ended
    assert f"--{setting.replace('_', '-')} {number}" in why
    assert code == 0  # a launcher stops all ranks when one of them fails
    assert capsys.readouterr().out == ""  # a run that never begins leaves no record


def test_the_outputs_of_two_launches_can_be_told_apart(tmp_path):
    runs = [events(run_program(SERIAL, folder=tmp_path, SLURM_JOB_ID="77")) for _ in range(2)]
    assert len({event["metadata"]["run"] for found in runs for event in found}) == 2


def test_a_diverged_training_is_still_a_record(tmp_path):
    text = SERIAL.replace("loss=2.3 / number", "loss=float('nan')")
    found = events(run_program(text.replace("test_loss=0.2", "test_loss=1e400"), folder=tmp_path))
    assert of(found, "epoch_stop")[0]["value"]["loss"] == "nan"
    assert of(found, "run_stop")[0]["value"]["test_loss"] == "inf"


PRINTS = """
from lessons.toolkit.record import Run
print("loading", end="")
run = Run("00", source="facts")
print("\\r3/4 [====>  ]", end="")
run.measure("x", 1, "s")
print("done")
run.end()
"""


def test_a_file_has_the_programs_order(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(PRINTS)
    with open(tmp_path / "out.txt", "w") as out:
        subprocess.run([sys.executable, program], stdout=out, check=True)
    starts = [line[:4] for line in (tmp_path / "out.txt").read_bytes().split(b"\n") if line]
    line = b":::M"
    # header, rank and program; a measure; machine, rank_end and run_stop
    assert starts == [b"load", *[line] * 3, b"\r3/4", line, b"done", *[line] * 3]


ENDS = {
    "sys.exit()": None,
    "1 / 0": ("aborted", "ZeroDivisionError"),
    "raise KeyboardInterrupt": ("aborted", "KeyboardInterrupt"),
    "run.end(); 1 / 0": ("success", None),
    "os.kill(os.getpid(), signal.SIGTERM)": None,
    "os._exit(3)": None,
}


@pytest.mark.parametrize("last_line", breadth(ENDS, quick=2))
def test_how_a_run_ended(last_line, tmp_path):
    text = f"""
import os, signal, sys
from lessons.toolkit.record import Run
run = Run("00", source="facts")
{last_line}
"""
    program = tmp_path / "train.py"
    program.write_text(text)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    found = events(done.stdout)
    assert found[0]["key"] == "header"
    stops = [(e["metadata"]["status"], e["value"].get("reason")) for e in of(found, "run_stop")]
    assert stops == ([ENDS[last_line]] if ENDS[last_line] else [])


def test_what_was_written_before_a_kill_is_whole(tmp_path):
    text = """
from lessons.toolkit.record import Run
run = Run("06", source="mpi")
while True:
    run.measure("x", 1, "s", padding="p" * 500)
    print("noise", end="")
"""
    program = tmp_path / "train.py"
    program.write_text(text)
    with open(tmp_path / "out.txt", "w") as out:
        process = subprocess.Popen([sys.executable, program], stdout=out)
        while (tmp_path / "out.txt").stat().st_size < 100_000:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(events((tmp_path / "out.txt").read_text())) > 100


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=600),
    lambda part: st.lists(part, max_size=40) | st.dictionaries(st.text(max_size=40), part),
    max_leaves=60,
)


RUN = Run("06", source="values")
atexit.unregister(RUN.abort)


@given(ANYTHING, st.text(max_size=300))
def test_any_value_makes_one_short_ascii_line(value, text):
    event = {"name": text, "value": value, "unit": ":::MLLOG "}
    RUN.chain = RUN.run
    with contextlib.redirect_stdout(io.StringIO()) as out:
        RUN.tell("measure", event)
    [line] = out.getvalue().split("\n")[1:-1]
    assert line.isascii()
    assert len(line) <= 1000
    assert line.count(":::MLLOG") == 1
    assert chain_breaks([line]) == []
    said = json.loads(line.removeprefix(":::MLLOG "))["value"]
    if len(run_record.encode(run_record.plain(event))) < 700:
        assert said == json.loads(run_record.encode(run_record.plain(event)))


def told(*words, **about):
    RUN.chain = RUN.run
    with contextlib.redirect_stdout(io.StringIO()) as out:
        RUN.tell(*words, **about)
    [event] = events(out.getvalue())
    return event


def test_a_long_fact_about_a_value_is_left_out():
    event = told("eval_accuracy", 0.5, loss=[1.2345] * 200, epoch_num=3)
    assert (event["value"], event["metadata"]["epoch_num"]) == (0.5, 3)


def test_arguments_that_do_not_fit_are_left_out_whole(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["train.py", "--folder", "用户" * 50])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        Run("15").end()
    [machine] = of(events(out.getvalue()), "machine")
    assert machine["value"]["arguments"] is None


@pytest.mark.parametrize("option", ["-u", "-B"])
def test_no_line_is_lost_on_a_full_pipe_that_does_not_block(option, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "from lessons.toolkit.record import run_record\n"
        "run = run_record.Run('02')\n"
        "for number in range(400):\n    run.measure('x', number)\n"
        "run.end()\n"
    )
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    with open(reads, "rb") as out:
        process = subprocess.Popen([sys.executable, option, program], stdout=writes)
        os.close(writes)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.5)  # the pipe is full
        lines = events(out.read().decode())
    assert process.wait() == 0
    assert (len(of(lines, "measure")), len(of(lines, "run_stop"))) == (400, 1)


def test_a_share_of_the_samples():
    assert (len(numbers_of((1, 10, 2))), slices(numbers_of((1, 10, 2)))) == (5, [[1, 10, 2]])
    assert slices(numbers_of([9, 2, 1, 0, 5, 6, 6])) == [[0, 3, 1], [5, 7, 1], [9, 10, 1]]
    assert slices(list(range(0, 200, 2))) is None, "too many slices for a line"
    for share in (range(1, 10, 3), range(7, 0, -3), slice(1, None, 3), iter([7, 1, 4]), {1, 4, 7}):
        assert list(numbers_of(share, 10)) == [1, 4, 7]
    assert slices(numbers_of(slice(0, 9), 4)) == [[0, 4, 1]]
    assert (numbers_of(slice(1, None)), numbers_of(slice(2))) == (None, range(2))


SLURM = {"SLURM_JOB_ID": "5", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
STEP = SLURM | {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}
MPI = {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "prterun-vm-1@1"}


def test_the_run_id_is_common_to_a_launch_and_to_nothing_else():
    ranks = [STEP | {"SLURM_PROCID": str(rank)} for rank in range(4)]
    assert len({launch_id(environ, 4) for environ in ranks}) == 1
    assert launch_id(STEP, 4, 1) != launch_id(STEP, 4), "a second record of the same process"
    others = [
        STEP | {"SLURM_STEP_ID": "1"},
        STEP | {"SLURM_JOB_ID": "6"},
        STEP | {"SLURM_RESTART_COUNT": "1"},
        SLURM | MPI,
        SLURM | MPI | {"PMIX_NAMESPACE": "prterun-vm-2@1"},
    ]
    assert len({launch_id(environ, 4) for environ in [*ranks, *others]}) == 6
    alone = {launch_id(STEP, 1) for _ in range(3)}
    assert len(alone) == 3, "a program that believes to be alone is a run of its own"


def test_ranks_of_hydra_and_torchrun_share_the_steps_id():
    hydra = [STEP | {"SLURM_STEP_NUM_TASKS": "2", "PMI_RANK": r, "PMI_SIZE": "4"} for r in "0123"]
    assert len({launch_id(environ, 4) for environ in hydra}) == 1
    torchrun = STEP | {"TORCHELASTIC_RUN_ID": "none", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
    assert launch_id(torchrun, 4) != launch_id(torchrun | {"SLURM_STEP_ID": "1"}, 4)
    script = {"SLURM_STEP_ID": str(2**32 - 5)}
    assert launch_id(torchrun | script, 4) == launch_id(torchrun | {"SLURM_STEP_ID": ""}, 4)


def test_ranks_of_an_unknown_launcher_are_told_to_name_their_run():
    with pytest.warns(UserWarning, match="run="):
        assert launch_id({}, 2) != launch_id({}, 2)


def test_nothing_heavy_is_imported(tmp_path):
    text = SERIAL + "\nimport sys\nassert not {'numpy', 'torch', 'tensorflow'} & set(sys.modules)\n"
    assert events(run_program(text, folder=tmp_path))
