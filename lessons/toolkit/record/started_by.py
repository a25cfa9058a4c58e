"""Find the launchers and schedulers above this process in the kernel's process table.

Environment variables can be faked; a process's ancestors show who really started it.
"""

import re
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
PROC = Path("/proc")


def started_by(pid: int, proc: Path = PROC) -> list[str]:
    """Return the names of launchers and schedulers above a process, the nearest first.

    The last name is "?" if there may be others that cannot be seen: without /proc, if another
    user's processes are hidden, or in a container with its own process ids.
    """
    found: list[str] = []
    try:
        parent, has_terminal = parent_and_terminal(proc / str(pid))
        while parent > 0:
            folder = proc / str(parent)
            name = (folder / "comm").read_text().strip()
            if name.startswith("sshd") and not has_terminal:
                return [*found, OUTSIDE]  # a launcher on another machine may have started it
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            launcher = known_name(name, [word for word in words if word] or [""])
            found += [launcher] if launcher and launcher not in found else []
            parent, _ = parent_and_terminal(folder)
        sees_all = (proc / "self/ns/pid").stat().st_ino == FIRST_NAMESPACE
    except (OSError, IndexError):
        sees_all = False
    return found if sees_all else [*found, OUTSIDE]


def parent_and_terminal(folder: Path) -> tuple[int, bool]:
    """Return the parent's process id, and whether the process has a terminal."""
    after_name = (folder / "stat").read_text().rpartition(")")[2].split()
    return int(after_name[1]), after_name[4] != "0"


def known_name(name: str, words: list[str]) -> str | None:
    """Return the name of a launcher's process, or of the program that its interpreter runs."""
    if step := re.match(r"slurmstepd: \[\d+\.(\w+)\]", " ".join(words)):
        # The daemon above a job's script is not the one that started ranks.
        return "srun" if step[1].isdigit() else "slurm"
    names = [name, words[0].rpartition("/")[2]]
    if RUNS_FILES.match(names[1]):
        program = next((word for word in words[1:] if not word.startswith("-")), "")
        names.append(program.rpartition("/")[2])
    found = [name for name in names if KNOWN.search(name) and not name.endswith((".sh", ".py"))]
    return found[-1][:40] if found else None
