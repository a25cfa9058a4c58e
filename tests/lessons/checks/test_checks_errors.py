"""Tests of the line that checks show from TensorFlow's long errors."""

import os
import subprocess
import sys

import pytest
from advice import assert_advice, failure
from real_runs import ROOT

from lessons.toolkit.checks import lesson_03
from lessons.toolkit.checks.shared.tensorflow_errors import what_is_wrong

IN_USER_CODE = """in user code:

    File "train.py", line 49, in pixels  *
        return tf.image.resize(images, size), labels

    ValueError: 'size' must be a 1-D int32 Tensor
"""
IN_A_LAYER = """Exception encountered when calling layer 'dense' (type Dense).

in user code:

    ValueError: Matrix size-incompatible

Call arguments received by layer 'dense' (type Dense):
  • inputs=tf.Tensor(shape=(4, 3), dtype=float32)
"""
IN_A_GRAPH = """Graph execution error:

Detected at node 'Mean' defined at (most recent call last):
Node: 'Mean'
Incompatible shapes: [4,10] vs. [4]
\t [[{{node Mean}}]] [Op:__inference_train_function_123]"""
AT_A_NODE = (
    "{{function_node __wrapped__IteratorGetNext_device_/job:localhost/device:CPU:0}} "
    "Cannot batch tensors with different shapes. [Op:IteratorGetNext] name: "
)
LONG_ERRORS = [
    (TypeError(IN_USER_CODE), "ValueError: 'size' must be a 1-D int32 Tensor"),
    (ValueError(IN_A_LAYER), "ValueError: Matrix size-incompatible"),
    (ValueError(IN_A_GRAPH), "ValueError: Incompatible shapes: [4,10] vs. [4]"),
    (ValueError(AT_A_NODE), "ValueError: Cannot batch tensors with different shapes."),
    (KeyError("epoch"), "KeyError: 'epoch'"),
    (ValueError("what\nwhere"), "ValueError: what"),
    (ValueError(), "ValueError: "),
]


@pytest.mark.parametrize(("error", "said"), LONG_ERRORS)
def test_of_a_long_error_the_line_that_says_what_is_wrong(error, said):
    assert what_is_wrong(error) == said


def test_a_check_shows_that_line_and_the_students_own():
    def prepare(*_):
        raise TypeError(IN_USER_CODE)

    failed = failure(lesson_03.check_3_2, prepare)
    assert_advice(failed, "found     ValueError: 'size' must be a 1-D int32 Tensor, in line")
    assert "of prepare: raise TypeError(IN_USER_CODE)" in str(failed)


RELOADED = '''
import importlib, pathlib, sys
import tensorflow as tf
from lessons.toolkit.checks.shared.check import CheckFailed, exercise

sys.path.insert(0, ".")
file = pathlib.Path("program.py")

@exercise("1.1")
def check(function):
    found = [int(one) for one in function(tf.data.Dataset.range(1, 3))]
    if found != [10, 20]:
        raise CheckFailed("[10, 20]", found, "")

# Each of another size: within a second, that is all by which Python tells them apart.
for edit, (factor, right) in enumerate([(1, False), (10, True), (100, False), (10, True)]):
    file.write_text("#" * 5 * edit + f"""
def times(numbers):
    return numbers.map(lambda n: n * {factor})
""")
    if "program" in sys.modules:
        importlib.reload(program)
    import program
    try:
        check(program.times)
        assert right, factor
    except CheckFailed as failed:
        assert not right, failed
'''


@pytest.mark.slow
def test_a_lambda_is_judged_as_it_stands_in_the_file_now(tmp_path):
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", RELOADED],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "AutoGraph could not" not in done.stderr
