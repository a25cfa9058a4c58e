"""Compare `lessons run` with bare nbclient: the same notebook, fresh processes, paired runs.

python benchmarks/machine/runner_overhead.py [--pairs 9]

Bare nbclient is a script of four lines that reads the notebook, executes it and writes it. The
runner reads and checks the lesson, copies its folder, injects parameters and executes the notebook.
It then writes the notebook and a summary. Both processes are timed from
start to end, one after the other, so that a slow moment of the machine affects both. Target: at
most 10 % more.

`lessons` skips an import of 0.8 s that nbformat does not need (see lessons/cli.py). The column
"lean" is nbclient without that import, which shows the cost of the runner's own work.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

NBCLIENT = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""
LEAN = "import sys; sys.modules['rfc3987_syntax'] = None\n"


def write_course(root: Path, cells: int) -> Path:
    """Write a course of one built lesson with `cells` short cells."""
    new = nbformat.v4
    pages = [new.new_markdown_cell("# Many cells"), new.new_code_cell('profile = "smoke"')]
    pages[1].metadata["tags"] = ["parameters"]
    pages += [new.new_code_cell(f"x = {n}\nprint(x * x)") for n in range(cells)]
    folder = root / "lessons" / "01_cells"
    folder.mkdir(parents=True)
    nbformat.write(new.new_notebook(cells=pages), folder / f"{folder.name}.ipynb")
    return folder / f"{folder.name}.ipynb"


def timed(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9)
    pairs = parser.parse_args().pairs
    print(f"{pairs} pairs, {os.cpu_count()} cores, Python {sys.version.split()[0]}; seconds")
    print("cells  nbclient     lean  lessons run  beside nbclient (from … to)  beside lean")
    for cells in (0, 30):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            notebook = write_course(root, cells)
            environment = os.environ | {"COURSE_ROOT": name}
            files = [str(notebook), str(root / "done.ipynb")]
            bare, lean, ours = [], [], []
            for pair in range(pairs + 1):
                run = f"from lessons.cli import main; main(['run', '--out', '{root}/{pair}'])"
                bare.append(timed([sys.executable, "-c", NBCLIENT, *files], environment))
                lean.append(timed([sys.executable, "-c", LEAN + NBCLIENT, *files], environment))
                ours.append(timed([sys.executable, "-c", run], environment))
            # The first pair loads files into the disk cache.
            ratios = [b / a - 1 for a, b in zip(bare[1:], ours[1:], strict=True)]
            lean_ratios = [b / a - 1 for a, b in zip(lean[1:], ours[1:], strict=True)]
            seconds = [statistics.median(times[1:]) for times in (bare, lean, ours)]
            print(
                f"{cells:5d} {seconds[0]:9.2f} {seconds[1]:8.2f} {seconds[2]:12.2f}"
                f" {statistics.median(ratios):+16.0%} ({min(ratios):+.0%} … {max(ratios):+.0%})"
                f" {statistics.median(lean_ratios):+12.0%}"
            )


if __name__ == "__main__":
    main()
