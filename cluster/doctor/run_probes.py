"""Run probes with time limits. A probe that hangs is killed, at once or after the report."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from cluster.doctor.all_probes import Probe
from cluster.doctor.diagnosis import Diagnosis, broken
from cluster.doctor.one_probe import MARK
from cluster.doctor.position import Position

AT_ONCE = 3  # importing frameworks on two cores; more at the same time would be slower
# One thread and few messages: a probe must not load the node that it examines.
QUIET = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def run(
    probe: Probe, position: Position, later: list[subprocess.Popen] | None = None
) -> list[Diagnosis]:
    """Run a probe.

    Return the probe's diagnoses, or one diagnosis that says that the probe did not answer.

    A probe that hangs is killed. With `later`, it is added to that list instead of being killed.
    Killing an MPI process makes the launcher end all ranks, so that has to wait until the report is
    written.
    """
    # Files in memory, not pipes, which a probe's child may keep open for ever.
    out, err = os.memfd_create("out"), os.memfd_create("err")
    python = interpreter_of(probe)
    words = [python, "-P", "-m", "cluster.doctor.one_probe", probe.name, position.to_json()]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env={**os.environ, **QUIET},
        start_new_session=True,
    )
    try:
        code: int | None = process.wait(probe.limit)
    except subprocess.TimeoutExpired:
        code = None
        if later is None:
            end(process)
        else:
            later.append(process)
    lines = [line.removeprefix(MARK) for line in text_of(out).splitlines() if line.startswith(MARK)]
    finished = "" in lines
    diagnoses = [Diagnosis(**{**json.loads(line), "where": ()}) for line in lines if line]
    if code is None:
        diagnoses.append(broken(f"did not answer in {probe.limit:g} s", probe.advice))
    elif code or not finished:
        diagnoses.append(
            broken(f"ended with an error: {last_line(text_of(err), code)}", probe.advice)
        )
    os.close(out)
    os.close(err)
    return [replace(each, probe=each.probe or probe.name) for each in diagnoses]


def interpreter_of(probe: Probe) -> str:
    """Return this Python interpreter, or TensorFlow's if it has its own environment."""
    other = os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW")
    python = Path(other or "", "bin", "python")
    return (
        str(python) if other and probe.name == "tensorflow" and python.is_file() else sys.executable
    )


def end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # A process that waits for a dead file system cannot be killed; do not wait for it.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)


def text_of(descriptor: int) -> str:
    return Path(f"/proc/self/fd/{descriptor}").read_text(errors="replace")


def last_line(text: str, code: int) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return f"exit code {code}"
    _, colon, sentence = lines[-1].partition(": ")
    is_ours = lines[-1].startswith(
        ("click.exceptions.ClickException", "autograder.errors.Settings")
    )
    return sentence if colon and is_ours else lines[-1]


def run_all(several: list[Probe], one_by_one: list[Probe], position: Position) -> list[Diagnosis]:
    """Run the probes in `several` concurrently, then those in `one_by_one` one after the other."""
    # Start the slow probes first.
    order = sorted(several, key=lambda probe: -probe.limit)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda probe: run(probe, position), order))
    return [
        *(diagnosis for answer in answers for diagnosis in answer),
        *(diagnosis for probe in one_by_one for diagnosis in run(probe, position)),
    ]


def watch_over(seconds: float) -> None:
    """End this process even if a file system blocks it, since nothing else would."""

    def give_up() -> None:
        sentence = (
            f"doctor: broken: the doctor did not finish within {seconds:.0f} s; a file "
            "system may hang\n"
        )
        os.write(2, sentence.encode())
        os._exit(1)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
