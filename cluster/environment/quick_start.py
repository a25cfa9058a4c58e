"""Make PyTorch and TensorFlow load faster in every Python process of .venv."""

from pathlib import Path

# Python executes such a file in site-packages when it starts. While a framework loads, the garbage
# collector visits its growing number of objects hundreds of times and finds nothing. On an AMD
# EPYC, this takes a sixth of the CPU time of a program that takes one step with PyTorch, and a
# tenth of the time of importing TensorFlow.
#
# When a program ends, Python takes all these objects apart, which takes as long again. Tests start
# hundreds of processes and set COURSE_SKIP_TEARDOWN. Other programs end in Python's own way, which
# also closes files that only a reference cycle holds.
START = """\
# Written by cluster/environment/quick_start.py, which says why.
import gc; gc.set_threshold(50_000, 20, 100)
import atexit, gc, os; os.environ.get("COURSE_SKIP_TEARDOWN") and atexit.register(gc.freeze)
"""


def install(packages: Path) -> None:
    """Write the file in one step, because a Python process from .venv may be starting."""
    file = packages / "dl_course_quick_start.pth"
    partial = file.with_suffix(".partial")
    partial.write_text(START)
    partial.replace(file)
