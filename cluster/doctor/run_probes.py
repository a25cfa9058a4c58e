"""Run probes with time limits. A probe that hangs is killed, at once or by the caller."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from cluster.doctor.all_probes import Probe
from cluster.doctor.diagnosis import Diagnosis, broken
from cluster.doctor.one_probe import MARK

AT_ONCE = 3  # importing frameworks on two cores; more at the same time would be slower
# One thread and few messages: a probe must not load the node that it examines.
QUIET = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def run_all(probes: list[Probe]) -> Iterator[list[Diagnosis]]:
    """Run the probes concurrently and yield the diagnoses of each, in the order given."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(run, probes)


def run(probe: Probe, hanging: list[subprocess.Popen] | None = None) -> list[Diagnosis]:
    """Return a probe's diagnoses, or one that says that the probe did not answer.

    A probe that hangs is killed, or added to `hanging` if the caller gives that list.
    """
    # Files in memory, not pipes, which a probe's child may keep open for ever.
    out, err = os.memfd_create("out"), os.memfd_create("err")
    process = subprocess.Popen(
        [interpreter_of(probe), "-P", "-m", "cluster.doctor.one_probe", probe.name],
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
        if hanging is None:
            end(process)
        else:
            hanging.append(process)
    lines = [line.removeprefix(MARK) for line in text_of(out).splitlines() if line.startswith(MARK)]
    diagnoses = [Diagnosis(**json.loads(line)) for line in lines if line]
    if code is None:
        diagnoses.append(broken(f"did not answer in {probe.limit:g} s", probe.advice))
    elif code or "" not in lines:
        error = last_line(text_of(err), code)
        diagnoses.append(broken(f"ended with an error: {error}", probe.advice))
    os.close(out)
    os.close(err)
    return [replace(each, probe=probe.name) for each in diagnoses]


def interpreter_of(probe: Probe) -> str:
    """Return this Python interpreter, or TensorFlow's if it has its own environment."""
    other = os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW")
    python = Path(other or "", "bin", "python")
    own = other and probe.name == "tensorflow" and python.is_file()
    return str(python) if own else sys.executable


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
    is_ours = lines[-1].startswith(("click.exceptions.", "autograder.errors."))
    return sentence if colon and is_ours else lines[-1]
