"""Tests that TensorFlow's startup messages stay out of notebooks, and others do not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SAYS = """
import os
os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called are ...\\n")
os.write(2, b"I0000 1.2 3 port.cc:153] oneDNN custom operations are on. You may see ...\\n")
os.write(2, b"E0000 something is wrong with your GPU\\n")
class config:
    visible = ["GPU:0"]
    def set_visible_devices(devices, kind):
        config.visible = devices
"""
ASK = "from lessons.toolkit import quiet; quiet.tensorflow(); quiet.tensorflow()\n"


def run(code, *places):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [*places, ROOT]))}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


@pytest.fixture
def pretended(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(SAYS)
    return tmp_path


def test_the_greeting_is_kept_back_and_nothing_else(pretended):
    rest = (
        "import os, tensorflow\nos.write(2, b'mine\\n')\nprint(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    )
    done = run(ASK + rest, pretended)
    assert done.stderr == "E0000 something is wrong with your GPU\nmine\n"
    assert done.stdout == "3\n"
    assert "oneDNN" in run("import tensorflow", pretended).stderr


def test_a_notebook_takes_no_memory_of_a_gpu(pretended):
    """Its jobs may run on the same machine."""
    assert (
        run(ASK + "import tensorflow; print(tensorflow.config.visible)", pretended).stdout == "[]\n"
    )


@pytest.mark.slow
def test_the_real_one_is_quiet(tmp_path):
    """The startup messages change with TensorFlow's version."""
    done = run(ASK + "import tensorflow as tf; print(float(tf.reduce_sum(tf.ones(2))))")
    assert (done.stdout, done.stderr) == ("2.0\n", "")


def test_every_notebook_that_may_import_tensorflow_asks_for_it():
    """This finds imports in the page, and in the programs that the page imports."""
    for page in sorted((ROOT / "solutions").glob("*/lesson.py")):
        code = "\n".join(x for x in page.read_text().splitlines() if not x.startswith("#"))
        beside = [p for p in page.parent.glob("*.py") if f"import {p.stem}\n" in code]
        texts = [code, *(p.read_text() for p in beside)]
        if any(re.search(r"(?m)^(import|from) (horovod\.)?tensorflow\b", t) for t in texts):
            assert "\nquiet.tensorflow()" in code, page.parent.name
