"""Find the launchers and schedulers above this process in the kernel's process table.

Environment variables can be faked; a process's ancestors show who really started it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Names of launchers' processes, including ones that we have not seen: a site may have its own.
# A program that detaches from a job (tmux) hides what started it.
KNOWN = re.compile(
    r"mpi|prted|orted|hydra|pmi_|pals|jsm|flux|alps|apinit|torch|elastic|accelerate|deepspeed|"
    r"horovod|run\Z|slurm|stepd|salloc|pbs_|laptop|tmux|screen"
)
RUNS_FILES = re.compile(r"python[\d.]*\Z|perl\Z")
OUTSIDE = "?"  # stands for ancestors that cannot be seen from here
FIRST_NAMESPACE = 0xEFFFFFFC  # the number that Linux gives to its first table of processes


@dataclass(frozen=True)
class Process:
    parent: int
    name: str  # the kernel's name for it, at most 15 characters
    words: tuple[str, ...]
    terminal: bool


def started_by(
    pid: int,
    look: Callable[[int], Process | None],
    whole: bool,
) -> list[str]:
    """Return the names of launchers and schedulers above a process, the nearest first.

    The last name is "?" if there may be others that cannot be seen. `whole` says whether the
    process table covers the whole machine.
    """
    found: list[str] = []
    process = look(pid)
    terminal = process is not None and process.terminal
    while process is not None and process.parent > 0:
        process = look(process.parent)
        if process is not None:
            if process.name.startswith("sshd") and not terminal:
                return [*found, OUTSIDE]  # a launcher on another machine may have started it
            name = known_name(process)
            found += [name] if name and name not in found else []
    return found if process is not None and whole else [*found, OUTSIDE]


def known_name(process: Process) -> str | None:
    """Return the name of a launcher's process, or of the program that its interpreter runs."""
    words = process.words or ("",)
    title = " ".join(words)
    if step := re.match(r"slurmstepd: \[\d+\.(\w+)\]", title):
        # The daemon above a job's script is not the one that started ranks.
        return "srun" if step[1].isdigit() else "slurm"
    names = [process.name, words[0].rpartition("/")[2]]
    if RUNS_FILES.match(names[1]):
        program = next((word for word in words[1:] if not word.startswith("-")), "")
        names.append(program.rpartition("/")[2])
    found = [name for name in names if KNOWN.search(name) and not name.endswith((".sh", ".py"))]
    return found[-1][:40] if found else None


def in_proc(pid: int) -> Process | None:
    """Return a process; None without /proc, or if another user's processes are hidden."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except (OSError, IndexError):
        return None
    return Process(int(after_name[1]), name, tuple(filter(None, words)), after_name[4] != "0")


def sees_all() -> bool:
    """Return whether this process can see all processes of the machine.

    In a container with its own process ids, the process that requested the start may be outside the
    container.
    """
    try:
        return Path("/proc/self/ns/pid").stat().st_ino == FIRST_NAMESPACE
    except OSError:
        return False
