"""Run a stage of the set-up, with a progress line, logged commands, stamps and a lock."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cluster.environment.failure import SetUpError, explain


def cache_folder() -> Path:
    """Return the cache folder that all clones of the course share."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "dl-course"


@contextlib.contextmanager
def progress(title: str) -> Iterator[None]:
    """Print one line per stage: what it does, then how many seconds it took."""
    print(f"  {title} ...", end="", flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print(" stopped", flush=True)
        raise
    print(f" {time.monotonic() - start:.1f} s", flush=True)


@contextlib.contextmanager
def lock(file: Path, waiting: str) -> Iterator[None]:
    """Hold a lock on `file` so that no other set-up runs, and print a message while waiting."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"  waiting: {waiting}", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        # Commands inherit the lock, so a command that outlives a killed set-up still holds it.
        os.set_inheritable(handle.fileno(), True)
        yield


def run(
    command: Sequence[str | Path],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """Run a command with its output in `log`, and return that, or raise an error that names it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as handle:
        print("$", *command, file=handle, flush=True)
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=subprocess.STDOUT,
            env=dict(env) if env is not None else None,
            start_new_session=True,
            close_fds=False,
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise SetUpError(
                f"{log.stem}: no end after {timeout:.0f} seconds; the log is {log}"
            ) from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    output = log.read_text(errors="replace")
    if status:
        otherwise = f"`{Path(command[0]).name}` ended with {status}: {last_words(output)}"
        raise SetUpError(f"{log.stem}: {explain(output) or otherwise}; the log is {log}")
    return output


def last_words(output: str) -> str:
    """Return the most informative line of a failed command's output."""
    lines = [line.strip() for line in output.splitlines()[1:] if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "fatal"))]
    return (errors or lines or ["no output"])[-1][:300]


class Stamps:
    """Record which stages are done, and with which inputs, in one small file per stage."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def done(self, stage: str, inputs: object) -> bool:
        try:
            return (self.folder / stage).read_text() == text(inputs)
        except OSError:
            return False

    def write(self, stage: str, inputs: object) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{stage}.partial"
        partial.write_text(text(inputs))
        partial.replace(self.folder / stage)


def text(inputs: object) -> str:
    return json.dumps(inputs, indent=1, sort_keys=True) + "\n"
