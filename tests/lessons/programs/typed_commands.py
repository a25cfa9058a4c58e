"""The commands of a lesson's page in their places, and a terminal that types them."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cluster.sites.site_files import LAPTOP_BIN
from lessons.edition import gaps

SOLUTIONS = Path(__file__).parents[3] / "solutions"
# Indented lines that nobody types: directives of a job file, a log, lines for a job file, a table.
SHOWN = re.compile(
    r"#SBATCH |\d+/\d+ \[|workers,samples_per_second$|\d+,[\d.]+$|\d+\|\d|TF_CONFIG="
)


@dataclass(frozen=True)
class Typed:
    cell: int  # commands of one cell are typed one after the other
    line: str
    filled: frozenset[str]  # exercises whose check stands before it


def folder_of(lesson: str) -> Path:
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    return folder


def cells_of(lesson: str) -> list[str]:
    text = (folder_of(lesson) / "lesson.py").read_text(encoding="utf-8")
    return re.split(r"(?m)^# %%", text)[1:]


# Lines of a program, and what a job has printed.
QUOTED = re.compile(
    r"Epoch \d+/\d+$|(\w+ = )?mc\.|@DataDistributor|def |One or more |are waiting |Missing |0: |"
    r"MFU = |min\(peak|with torch\.|profiler\.|print\(profiler|launch … &|ranks=\$!|"
    r"worker 0 has waited|dist\.|\w+ = |return |[\w.]+\(|with open"
)


def commands(lesson: str) -> list[Typed]:
    """Return the indented lines of the page's text that are commands, in order."""
    found: list[Typed] = []
    filled: set[str] = set()
    for number, cell in enumerate(cells_of(lesson)):
        if cell.startswith(" [markdown]"):
            lines = re.findall(r"(?m)^#     (\S.*)$", cell)
            found += [
                Typed(number, line, frozenset(filled))
                for line in lines
                if not SHOWN.match(line) and not QUOTED.match(line)
            ]
        filled |= set(re.findall(r"course\.check\(\"(\d+\.\d+)\"", cell))
    return found


def as_far_as(text: str, file: str, filled: frozenset[str]) -> str:
    """Return a program or job file in which only these exercises are filled."""
    lines = text.splitlines()
    for gap in reversed(gaps.find_gaps(text, file)):
        stub = gaps.python_stub(gap) if file.endswith(".py") else gaps.shell_stub(gap, file)
        written = list(gap.body) if gap.number in filled else [gap.indent + s for s in stub]
        lines[gap.begin - 1 : gap.end] = written
    return "\n".join(lines) + "\n"


def put_files(lesson: str, folder: Path, filled: frozenset[str]) -> None:
    """Make the folder of a student who has come this far on the page."""
    for source in folder_of(lesson).iterdir():
        if source.suffix in (".py", ".sbatch") and source.name != "lesson.py":
            text = as_far_as(source.read_text(encoding="utf-8"), source.name, filled)
            if not (folder / source.name).exists() or (folder / source.name).read_text() != text:
                (folder / source.name).write_text(text)


class Terminal:
    """A shell, so that later lines see the variables of earlier ones."""

    def __init__(self, folder: Path, home: Path) -> None:
        kept = ("SLURM_", "SBATCH_", "OMPI_", "PMIX_", "PRTE_")
        environ = {name: v for name, v in os.environ.items() if not name.startswith(kept)}
        environ |= {"HOME": str(home), "COURSE_ROOT": str(folder.parents[1])}
        # Loaders' workers open sockets there, and the path of one has at most 107 characters.
        self.temporary = tempfile.TemporaryDirectory(prefix="typed-", dir="/tmp")
        environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TMPDIR": self.temporary.name}
        # This machine may have a Slurm of its own, which would come first in `make lab`.
        environ["PATH"] = f"{Path(sys.executable).parent}:{LAPTOP_BIN}:{environ['PATH']}"
        self.shell = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env=environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def type(self, line: str) -> tuple[int, str]:
        """Return the exit code and all output."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        # A program that reads would take the next line.
        self.shell.stdin.write(f"{{ {line}\n}} < /dev/null\nprintf '\\n<<%d>>\\n' $?\n")
        self.shell.stdin.flush()
        printed = ""
        for said in self.shell.stdout:
            if ended := re.fullmatch(r"<<(\d+)>>\n", said):
                return int(ended[1]), printed
            printed += said
        raise AssertionError(f"{line} ended the shell: {printed}")

    def close(self) -> None:
        assert self.shell.stdin is not None
        self.shell.stdin.close()
        self.shell.wait(timeout=60)
        self.temporary.cleanup()
