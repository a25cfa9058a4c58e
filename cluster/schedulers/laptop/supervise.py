"""Run one job: `python -m …laptop.supervise FOLDER DESCRIPTOR`."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from cluster.schedulers.laptop import job_environment, job_records, processes
from cluster.schedulers.laptop.job_records import QueuedJob
from cluster.schedulers.laptop.start import start_what_fits

KILL_WAIT = 10  # seconds between SIGTERM and SIGKILL, Slurm's KillWait
REQUEUE = "requeue"  # a file that the job's scontrol writes (cluster/sites/laptop.sh)


class Ending:
    """The reason for ending the job from outside, if there is one."""

    state: str | None = None
    asked_early = False  # cancelled before the script could receive a signal


def main() -> None:
    folder, descriptor = Path(sys.argv[1]), int(sys.argv[2])
    ending = Ending()
    signal.signal(signal.SIGTERM, lambda *_: setattr(ending, "asked_early", True))
    child = os.fork()
    if child:  # the submitting program does not wait for this process, but needs its id
        print(child, flush=True)
        os._exit(0)
    os.set_inheritable(descriptor, False)
    os.setsid()
    log = os.open(folder / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    job = job_records.load(int(folder.name))
    assert job is not None
    result = run(job, folder, ending)
    if (folder / REQUEUE).exists() and not ending.state:
        put_back(job, folder, descriptor)
    else:
        with job_records.lock():
            job_records.change(job, ended=time.time(), supervisor=os.getpid(), **result)
        (folder / "environment.json").unlink()  # may contain the submitter's secrets
    start_what_fits()


def put_back(job: QueuedJob, folder: Path, descriptor: int) -> None:
    """Put the job back into the queue, with the same number, as `scontrol requeue` does."""
    with job_records.lock():
        (folder / REQUEUE).unlink()
        waiting = {"state": job_records.PENDING, "started": None, "cores": (), "supervisor": None}
        job_records.change(job, restarts=job.restarts + 1, **waiting)
        os.close(descriptor)  # its lock would keep the next supervisor from starting


def run(job: QueuedJob, folder: Path, ending: Ending) -> dict:
    """Run the script to its end, and return the record fields that change."""
    try:
        output, error = open_streams(job)
        process = start(job, folder, output, error)
    except OSError as problem:
        print(problem, file=sys.stderr, flush=True)
        reason = f"{problem.strerror}: {problem.filename}"
        return {"state": job_records.FAILED, "reason": reason, "exit_code": 1}
    end_on_signals(job, folder, error, ending, process.pid)
    code = process.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if ending.state:
        until = time.monotonic() + KILL_WAIT
        while processes.of_job(folder) and time.monotonic() < until:
            time.sleep(0.05)  # ranks may still be writing a checkpoint
    processes.signal_all(folder, signal.SIGKILL)  # processes that the script left in the background
    return end_state(code, ending.state)


def end_state(code: int, ended_from_outside: str | None) -> dict:
    """Return a job's state, exit code and signal. As in Popen, a negative code means a signal."""
    if ended_from_outside == job_records.TIMEOUT:
        return {"state": job_records.TIMEOUT, "reason": "TimeLimit"}
    failed = job_records.FAILED if code else job_records.COMPLETED
    state = ended_from_outside or failed
    reason = "NonZeroExitCode" if state == job_records.FAILED else "None"
    ended = {"exit_code": max(code, 0), "exit_signal": max(-code, 0)}
    return ended | {"state": state, "reason": reason}


def open_streams(job: QueuedJob) -> tuple[int, int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if job.append else os.O_TRUNC)
    output = os.open(job.output, flags, 0o666)
    error = job.error or job.output
    return output, output if error == job.output else os.open(error, flags, 0o666)


def start(job: QueuedJob, folder: Path, output: int, error: int) -> subprocess.Popen:
    for line in job_environment.remarks(job):
        os.write(output, f"{line}\n".encode())
    if hasattr(os, "sched_setaffinity") and job.cores:
        os.sched_setaffinity(0, job.cores)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = folder / "script"
    with open(script, "rb") as file:
        interpreter = shlex.split(file.readline()[2:].decode())
    return subprocess.Popen(
        [*interpreter, str(script), *job.arguments],
        cwd=job.folder,
        env=job_environment.of_job(job, json.loads((folder / "environment.json").read_text())),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=error,
        start_new_session=True,
    )


def end_on_signals(job: QueuedJob, folder: Path, error: int, ending: Ending, shell: int) -> None:
    """Install handlers for the signals that end a job from outside.

    SIGALRM is for the time limit and --signal, and SIGTERM is for `scancel`.
    """
    now = time.time()
    limit = None if job.seconds is None else (job.started or now) + job.seconds
    warning = None
    if job.signal and limit is not None:
        warning = limit - job.signal[1]

    def set_alarm() -> None:
        due = [when for when in (warning, limit) if when is not None]
        if due:
            signal.setitimer(signal.ITIMER_REAL, max(min(due) - time.time(), 0.001))

    def end(state: str, why: str) -> None:
        if ending.state:
            processes.signal_all(folder, signal.SIGKILL)
            return
        ending.state = state
        at = time.strftime("%Y-%m-%dT%H:%M:%S")
        message = f"slurmstepd: error: *** JOB {job.id} ON {job.host} CANCELLED AT {at}{why} ***\n"
        os.write(error, message.encode())
        processes.signal_all(folder, signal.SIGTERM)
        signal.setitimer(signal.ITIMER_REAL, KILL_WAIT)

    def on_alarm(*_) -> None:
        nonlocal warning
        if warning is not None and not ending.state:
            warning = None
            send_warning(job, folder, shell)
            set_alarm()
        else:
            end(job_records.TIMEOUT, " DUE TO TIME LIMIT")

    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGTERM, lambda *_: end(job_records.CANCELLED, ""))
    set_alarm()
    if ending.asked_early:
        end(job_records.CANCELLED, "")


def send_warning(job: QueuedJob, folder: Path, shell: int) -> None:
    """Send the signal named by `--signal` to the steps or, with `B:`, only to the batch shell."""
    assert job.signal is not None
    name, _, batch_only = job.signal
    number = signal.Signals(int(name)) if name.isdigit() else signal.Signals[f"SIG{name}"]
    if not batch_only:
        processes.signal_steps(folder, number)
        return
    with contextlib.suppress(OSError):  # it has just ended
        os.kill(shell, number)


if __name__ == "__main__":
    main()
