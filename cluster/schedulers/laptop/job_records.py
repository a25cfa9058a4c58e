"""Store the job records on disk: one folder per job, changed under one lock.

Each file is replaced as a whole.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

PENDING, RUNNING, COMPLETED = "PENDING", "RUNNING", "COMPLETED"
FAILED, CANCELLED, TIMEOUT, NODE_FAIL = "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"


@dataclass(frozen=True)
class QueuedJob:
    id: int
    name: str
    ntasks: int
    cpus_per_task: int
    nodes_asked: int
    seconds: int | None
    folder: str
    output: str
    error: str | None
    append: bool
    submit_line: str
    submitted: float
    host: str
    user: str
    array_job: int | None = None
    array_index: int | None = None
    array_size: int = 0
    at_once: int | None = None
    dependency: str | None = None
    signal: tuple[str, int, bool] | None = None
    options: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    state: str = PENDING
    reason: str = "None"
    started: float | None = None
    ended: float | None = None
    cores: tuple[int, ...] = ()
    supervisor: int | None = None
    exit_code: int = 0
    exit_signal: int = 0
    restarts: int = 0  # how often `scontrol requeue` put it back into the queue

    @property
    def label(self) -> str:
        """Return the job's number, such as 12, or 12_3 for task 3 of the array 12."""
        return str(self.id) if self.array_job is None else f"{self.array_job}_{self.array_index}"

    @property
    def over(self) -> bool:
        return self.state not in (PENDING, RUNNING)


def home() -> Path:
    """Return the folder of the user's queue, or the one that COURSE_LAPTOP_QUEUE names.

    That is for jobs that a job submits: in its own queue, they would wait for its cores.
    """
    own = os.environ.get("COURSE_LAPTOP_QUEUE")
    return Path(own) if own else Path.home() / ".dl-course" / "laptop"


def job_folder(job_id: int) -> Path:
    return home() / "jobs" / str(job_id)


def _active(job_id: int) -> Path:
    return home() / "active" / str(job_id)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Hold the queue's lock, so that only one process at a time adds, starts or changes jobs."""
    for folder in (home() / "jobs", home() / "active"):
        folder.mkdir(parents=True, exist_ok=True)
    with open(home() / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def next_ids(count: int) -> int:
    """Reserve `count` new job ids and return the first one. Call it under the lock."""
    file = home() / "next_id"
    try:
        first = int(file.read_text())
    except (FileNotFoundError, ValueError):  # the file is lost: continue after the existing jobs
        first = 1 + max((int(path.name) for path in (home() / "jobs").iterdir()), default=0)
    _replace(file, str(first + count))
    return first


def save(job: QueuedJob) -> None:
    _replace(job_folder(job.id) / "job.json", json.dumps(asdict(job), indent=1))
    if job.over:
        _active(job.id).unlink(missing_ok=True)
    else:
        _active(job.id).touch()


def change(job: QueuedJob, **fields) -> QueuedJob:
    changed = replace(job, **fields)
    save(changed)
    return changed


def load(job_id: int) -> QueuedJob | None:
    """Return the job's record; None if there is none or it cannot be read."""
    try:
        fields = json.loads((job_folder(job_id) / "job.json").read_text())
        for name in ("signal", "arguments", "cores"):
            fields[name] = tuple(fields[name]) if fields[name] is not None else None
        return QueuedJob(**fields)
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def active() -> list[QueuedJob]:
    """Return the waiting and running jobs, oldest first."""
    return _jobs(home() / "active")


def everything() -> list[QueuedJob]:
    return _jobs(home() / "jobs")


def _jobs(folder: Path) -> list[QueuedJob]:
    if not folder.is_dir():
        return []
    ids = sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())
    return [job for job in map(load, ids) if job]


def named(label: str) -> list[QueuedJob]:
    """Return the jobs that a label names: job 12, task 12_3, or all tasks of array 12."""
    array, _, index = label.partition("_")
    if not array.isdigit() or (index and not index.isdigit()):
        return []
    job = load(int(array))
    if job is None or (job.array_job is None and not index):
        return [job] if job else []
    # The tasks of an array have consecutive ids, beginning with the array's own.
    first = job.array_job or job.id
    tasks = [task for task in map(load, range(first, first + job.array_size)) if task]
    if index:
        return [task for task in tasks if task.array_index == int(index)]
    return tasks if job.id == first else [job]


def alive(job: QueuedJob) -> bool:
    """Return whether the job's supervisor is running.

    The supervisor holds this lock until its process ends for any reason.
    """
    try:
        with open(job_folder(job.id) / "alive") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def take_life(job: QueuedJob) -> int:
    """Acquire the lock that `alive` checks, and return its file descriptor for the supervisor."""
    descriptor = os.open(job_folder(job.id) / "alive", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _replace(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)
