"""Check two job files (15.5, 15.6) by running them with a fake `launch` and `scontrol`."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, StillAGap, exercise

PATIENCE = 10.0  # seconds for a job that does nothing
# The ranks are a program that `launch` starts, as srun is. It notes USR1 and ends with 75.
SITE = """
facts() { :; }
scontrol() {
    echo "$*" >>"$NOTES/scontrol"
    [ -n "$ENDS" ] || [ -e "$NOTES/saved" ] || touch "$NOTES/early"
    exit 0
}
launch() {
    echo "$*" >>"$NOTES/launch"
    for step in $STEPS; do touch "$CHECKPOINTS/step_$step.pt"; done
    if [ -n "$ENDS" ]; then return "$ENDS"; fi
    bash -c 'trap "touch $NOTES/warned; sleep 0.5; touch $NOTES/saved; exit 75" USR1
             touch $NOTES/ready; for i in {1..200}; do sleep 0.05; done; exit 3'
}
"""
REQUEUE = "requeue 77"


@exercise("15.5")
def check_15_5(job_file: str) -> str:
    """USR1 reaches the ranks in time, and the job is requeued only if that makes sense."""
    from cluster.job_file import jobfile

    refuse_gap(job_file, "15.5")
    try:
        job = jobfile.read(Path(job_file))
        asked = jobfile.request(job)
    except jobfile.JobFileError as error:
        raise CheckFailed("a job file that sbatch can read", error, "Correct this line.") from None
    check_signal(asked.signal, asked.seconds, job.options.get("signal"))
    check_requeue(job_file)
    return "The job is requeued if it failed and got further, and not more than 5 times."


NEWER, NONE, LATE = {"STEPS": "000010"}, {"STEPS": ""}, {"SLURM_RESTART_COUNT": "5"}
FURTHER = "It got further, and would get further again: it has a newer checkpoint than before."
RIGHT = (  # exit code, what the job's life is like, whether it is requeued, and why
    ("75", NEWER, True, "The program ends with 75 if it saved because of a warning."),
    ("137", NEWER, True, FURTHER),
    ("1", NEWER, True, f"{FURTHER} A GPU that fails ends a program with 1."),
    ("0", NEWER, False, "The training is complete."),
    ("137", NONE, False, "It saved nothing new, so it would fail at the same step again."),
    ("75", NEWER | LATE, False, "Compare SLURM_RESTART_COUNT with 5: it must not go on forever."),
    ("75", NEWER | {"SLURM_RESTART_COUNT": "4"}, True, "This is its fifth restart."),
)


def check_requeue(job_file: str) -> None:
    """Compare when the job calls `scontrol requeue`. It begins with a checkpoint of step 5."""
    for code, life, again, why in RIGHT:
        saved = "with" if life["STEPS"] else "without"
        case = f"launch ends with {code}, {saved} a newer checkpoint"
        if "SLURM_RESTART_COUNT" in life:
            case += f", after {life['SLURM_RESTART_COUNT']} restarts"
        compare_call(run(job_file, code, life), case, again, why)


def check_signal(found: Any, limit: int | None, written: str | None) -> None:
    right = "--signal=USR1@120"
    if found is None:
        raise CheckFailed(right, written or "no signal", "Write a value after the =.")
    name, seconds, batch_only = found
    if name != "USR1":
        raise CheckFailed(right, written, "signals.py listens for USR1.")
    if batch_only:
        advice = "B: sends the signal only to the batch shell, not to your training."
        raise CheckFailed(right, written, advice)
    if seconds < 120 or (limit and seconds >= limit):
        advice = "After the @, write seconds before the time limit. Slurm may be off by a minute."
        raise CheckFailed(right, written, advice)


@exercise("15.6")
def check_15_6(job_file: str) -> str:
    """The batch shell receives USR1, passes it on to the ranks, and waits for them."""
    refuse_gap(job_file, "15.6")
    if shutil.which("pkill") is None:
        advice = "Install it (on Debian and Ubuntu: the package procps), or check on the cluster."
        raise CheckFailed("a machine that has pkill", "none", advice)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder)
        process = started(job_file, "", notes, NEWER)
        try:
            ready = appears(notes / "ready", process)
            if not ready and not came(notes / "launch"):
                advice = 'Start them with: launch python -u train.py "$@" &'
                raise CheckFailed("the job launches the ranks", "it does not", advice)
            wait_for_trap(process)
            if ready:
                process.send_signal(signal.SIGUSR1)
            warned = appears(notes / "warned", process, seconds=3) or came(notes / "warned")
            code = process.wait(PATIENCE) if warned else process.poll()
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
        calls, early = noted(notes), (notes / "early").exists()
    if code == -signal.SIGUSR1:
        advice = "Without a trap, USR1 ends the shell. Set one: trap '…' USR1."
        raise CheckFailed("the shell goes on after USR1", "USR1 ended it", advice)
    if not warned and code is not None:
        advice = (
            "After it launches the ranks in the background, the shell has to wait. A signal to $! "
            'ends only the shell that runs `launch`, so signal its child: pkill -USR1 -P "$!"'
        )
        raise CheckFailed("the job lasts as long as its ranks", "it ended before them", advice)
    if not warned:
        advice = (
            "A shell runs a trap only when no program is in its foreground: put `&` after the "
            "launch, then wait. $! is the shell of `launch`, and what it started is its child: "
            'pkill -USR1 -P "$!"'
        )
        raise CheckFailed("the ranks receive USR1", "they do not", advice)
    if REQUEUE not in calls or early:
        advice = (
            "The signal ends the first `wait` early, with exit code 138, while the ranks are still "
            'saving. Wait again to get their exit code: wait "$ranks" || wait "$ranks" || status=$?'
        )
        raise CheckFailed("status is 75, the exit code of the ranks", "another one", advice)
    check_requeue(job_file)
    return "The shell receives USR1, and so do the ranks."


def refuse_gap(job_file: str, number: str) -> None:
    lines = Path(job_file).read_text(encoding="utf-8").splitlines()
    commands = any(f"Exercise {number}:" in line and line.startswith("echo") for line in lines)
    if commands:
        advice = "Replace the lines `echo …` and `exit 1`."
        raise StillAGap(f"the commands in {job_file}", None, advice)


def compare_call(calls: list[str], case: str, again: bool, why: str) -> None:
    if calls and calls[-1] != REQUEUE:
        advice = 'Use the number of this job, in quotes: scontrol requeue "$SLURM_JOB_ID"'
        raise CheckFailed("scontrol requeue 77, in job 77", f"scontrol {calls[-1]}", advice)
    if bool(calls) is not again:
        words = {True: "scontrol requeue", False: "no requeue"}
        raise CheckFailed(f"{case}: {words[again]}", words[bool(calls)], why)


def run(job_file: str, ends: str, more: Mapping[str, str]) -> list[str]:
    """Return the `scontrol` calls of a job whose `launch` exits with the code `ends`."""
    with tempfile.TemporaryDirectory() as folder:
        process = started(job_file, ends, Path(folder), more)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            advice = "What does it wait for?"
            raise CheckFailed("the job ends", "it waits forever", advice) from None
        finally:
            end(process)
        if not (Path(folder) / "launch").exists():
            advice = "A line above the launch ends the job, such as a gap's `exit 1`."
            raise CheckFailed("the job launches train.py", "it ends before", advice)
        return noted(Path(folder))


def started(
    job_file: str, ends: str, notes: Path, more: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    site = notes / "site.sh"
    site.write_text(SITE)
    checkpoints = notes / "checkpoints"
    checkpoints.mkdir()
    (checkpoints / "step_000005.pt").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    own = {"COURSE_SITE": str(site), "NOTES": str(notes), "ENDS": ends, "SLURM_JOB_ID": "77"}
    own["CHECKPOINTS"] = str(checkpoints)
    return subprocess.Popen(
        ["bash", str(Path(job_file).resolve())],
        env={**kept, **own, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def appears(file: Path, process: subprocess.Popen[bytes], seconds: float = PATIENCE) -> bool:
    """Return whether the file appears before the process ends or the time limit is reached."""
    until = time.monotonic() + seconds
    while not file.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    return file.exists()


def wait_for_trap(process: subprocess.Popen[bytes], seconds: float = 2) -> None:
    """Wait until the kernel reports that the shell has a trap for USR1, or until `seconds` pass."""
    until = time.monotonic() + seconds
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and time.monotonic() < until:
        caught = next(line for line in status.read_text().splitlines() if "SigCgt" in line)
        if int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1:
            return
        time.sleep(0.02)


def came(file: Path, seconds: float = 1) -> bool:
    """Return whether the file exists or will soon be written by a background program."""
    until = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return file.exists()


def end(process: subprocess.Popen[bytes]) -> None:
    """End the job and everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def noted(notes: Path) -> list[str]:
    calls = notes / "scontrol"
    return calls.read_text().splitlines() if calls.exists() else []
