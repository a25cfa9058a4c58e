"""Of TensorFlow's long errors the checks show the line that says what is wrong."""

import pytest
from test_checks import assert_advice, failure

from lessons.toolkit.checks import lesson_03
from lessons.toolkit.checks.tensorflow_errors import what_is_wrong

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
