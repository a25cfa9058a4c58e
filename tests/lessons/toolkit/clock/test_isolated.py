"""Tests of the interpreter in which a speed job runs."""

import os
import subprocess
import sys

import pytest

from lessons.toolkit.clock import isolated

PROGRAM = """
import os, sys
print([name for name in sys.argv[2:] if name in os.environ])
import numpy
print(numpy.__name__, hasattr(numpy, "array"))
"""


@pytest.fixture
def started(tmp_path):
    """Return a function that starts a program beside a module that calls itself numpy."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "numpy.py").write_text("")

    def start(*options, **variables):
        command = [
            sys.executable,
            *options,
            isolated.__file__,
            "role",
            str(program),
            "--",
            *variables,
        ]
        environ = os.environ | {"PYTHONPATH": str(tmp_path)} | variables
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)

    return start


def test_neither_modules_nor_variables_of_the_student_reach_the_released_code(started):
    done = started("-I", **dict.fromkeys(isolated.SLOWER, "1"), OMP_NUM_THREADS="1")
    assert done.stdout == "['OMP_NUM_THREADS']\nnumpy True\n", done.stderr
