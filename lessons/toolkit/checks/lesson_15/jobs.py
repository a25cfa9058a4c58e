"""Check two job files (15.5, 15.6) by running them with a fake `launch` and `scontrol`."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, refuse_gap

PATIENCE = 10.0  # seconds for a job that does nothing
# The ranks are a program that `launch` starts, as srun is. It notes USR1 and ends with 75.
SITE = """
facts() { :; }
scontrol() {
    echo "$*" >>"$NOTES/scontrol"
    [ -n "$ENDS" ] || [ -e "$NOTES/saved" ] || touch "$NOTES/early"
}
launch() {
    [ ! -e "$NOTES/scontrol" ] || touch "$NOTES/went_on"
    touch "$NOTES/launched"
    for step in $STEPS; do touch "$CHECKPOINTS/step_$step.pt"; done
    if [ -n "$ENDS" ]; then return "$ENDS"; fi
    bash -c 'trap "touch $NOTES/warned; sleep 0.5; touch $NOTES/saved; exit 75" USR1
             touch $NOTES/ready; for i in {1..200}; do sleep 0.05; done; exit 3'
}
"""


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


NEWER, NONE = {"STEPS": "000010"}, {"STEPS": ""}
FURTHER = "It got further, and would get further again: it has a newer checkpoint than before."
RIGHT = (  # exit code, what the job's life is like, whether it is requeued, and why
    ("75", NEWER, True, "The program ends with 75 if it saved because of a warning."),
    ("137", NEWER, True, FURTHER),
    ("0", NEWER, False, "The training is complete."),
    ("137", NONE, False, "It saved nothing new, so it would fail at the same step again."),
    ("75", NEWER | {"SLURM_RESTART_COUNT": "5"}, False,
     "This job has had its five restarts: it must not go on forever."),
    ("75", NEWER | {"SLURM_RESTART_COUNT": "4"}, True, "This is its fifth restart."),
)  # fmt: skip


def check_signal(found: Any, limit: int | None, written: str | None) -> None:
    name, seconds, batch_only = found or (None, 0, False)
    if name == "USR1" and not batch_only and 120 <= seconds < (limit or seconds + 1):
        return
    advice = "signals.py listens for USR1. After the @, write seconds before the time limit."
    if batch_only:
        advice = "B: sends the signal only to the batch shell, not to your training."
    raise CheckFailed("USR1 reaches the ranks in time", written or "no signal", advice)


def check_requeue(job_file: str) -> None:
    """Compare when the job calls `scontrol requeue`. It begins with a checkpoint of step 5."""
    for code, life, again, why in RIGHT:
        with started(job_file, code, life) as (process, notes):
            if not until(lambda: process.poll() is not None):
                raise CheckFailed("the job ends", "it waits forever", "What does it wait for?")
            if not (notes / "launched").exists():
                advice = "A line above the launch ends the job, such as a gap's `exit 1`."
                raise CheckFailed("the job launches train.py", "it ends before", advice)
            found = requeued(notes)
            if found and (notes / "went_on").exists():
                advice = "Its next life runs probe.py, at the end. Which command ends a shell?"
                raise CheckFailed("the requeued job ends", "it launches probe.py", advice)
        if found is not again:
            saved = "with" if life["STEPS"] else "without"
            case = f"launch ends with {code}, {saved} a newer checkpoint"
            case += f", after {life.get('SLURM_RESTART_COUNT', 0)} restarts"
            words = {True: "scontrol requeue", False: "no requeue"}
            raise CheckFailed(f"{case}: {words[again]}", words[found], why)


def requeued(notes: Path) -> bool:
    """Return whether the job, number 77, called `scontrol requeue` for itself."""
    calls = notes / "scontrol"
    call = calls.read_text().splitlines()[-1] if calls.exists() else ""
    if call not in ("", "requeue 77"):
        advice = "Use the number of this job. Slurm sets a variable to it."
        raise CheckFailed("scontrol requeue 77, in job 77", f"scontrol {call}", advice)
    return bool(call)


@exercise("15.6")
def check_15_6(job_file: str) -> str:
    """The batch shell receives USR1, passes it on to the ranks, and waits for them."""
    refuse_gap(job_file, "15.6")
    if shutil.which("pkill") is None:
        advice = "Install it (on Debian and Ubuntu: the package procps), or check on the cluster."
        raise CheckFailed("a machine that has pkill", "none", advice)
    with started(job_file, "", NEWER) as (process, notes):

        def happens(name: str, seconds: float = PATIENCE) -> bool:
            until(lambda: (notes / name).exists() or process.poll() is not None, seconds)
            return until((notes / name).exists, 1)  # a background program may still write it

        if happens("ready"):
            until(lambda: process.poll() is not None or has_trap(process.pid), 2)
            process.send_signal(signal.SIGUSR1)
        elif not (notes / "launched").exists():
            advice = "Launch train.py with the job's arguments."
            raise CheckFailed("the job launches the ranks", "it does not", advice)
        warned = happens("warned", 3)
        ended = until(lambda: process.poll() is not None, PATIENCE if warned else 0)
        again, early = requeued(notes), (notes / "early").exists()
    if ended and process.returncode == -signal.SIGUSR1:
        advice = "Without a trap, USR1 ends the shell."
        raise CheckFailed("the shell goes on after USR1", "USR1 ended it", advice)
    if not warned:
        advice = "A shell runs a trap only when no program is in its foreground. And to whom does "
        advice += "your trap send USR1: to the shell of `launch`, or to what that has started?"
        raise CheckFailed("the ranks receive USR1", "they do not", advice)
    if not again or early:
        advice = "The signal ends `wait` early, with a code of its own, while the ranks still save."
        advice += " Whose exit code does the job need, and when is it there?"
        raise CheckFailed("status is 75, the exit code of the ranks", "another one", advice)
    check_requeue(job_file)
    return "The shell receives USR1, and so do the ranks."


@contextlib.contextmanager
def started(
    job_file: str, ends: str, life: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Start a job whose `launch` exits with the code `ends`, and end everything that it started.

    Also provide the folder in which it notes what it does.
    """
    with tempfile.TemporaryDirectory() as folder:
        site, checkpoints = Path(folder, "site.sh"), Path(folder, "checkpoints")
        site.write_text(SITE)
        checkpoints.mkdir()
        (checkpoints / "step_000005.pt").touch()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        own = {"COURSE_SITE": str(site), "NOTES": folder, "ENDS": ends, "SLURM_JOB_ID": "77"}
        process = subprocess.Popen(
            ["bash", str(Path(job_file).resolve())],
            env={**kept, **own, "CHECKPOINTS": str(checkpoints), **life},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process, Path(folder)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(is_true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait until it is true or the time is over, and return whether it is."""
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.02)
    return is_true()


def has_trap(process: int) -> bool:
    """Return whether the kernel reports that the shell has a trap for USR1."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in status.splitlines() if "SigCgt" in line)
    return bool(int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1)
