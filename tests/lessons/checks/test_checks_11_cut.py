"""Lesson 11's public checks of cut layers and counted bytes: each mistake gets its advice."""

import importlib.util

import pytest
from advice import ROOT, assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_11 as check

LESSON = ROOT / "solutions" / "11_pipeline"


@pytest.fixture
def changed(tmp_path):
    def change(*changes):
        """Return the solution's module with some of its text changed."""
        text = (LESSON / "tensor_layers.py").read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (tmp_path / "tensor_layers.py").write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(
            "tensor_layers", tmp_path / "tensor_layers.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return change


def test_the_lessons_own_functions_pass(changed):
    layers = changed()
    check.check_11_5(layers.cut)
    check.check_11_6(layers)
    check.check_11_7(layers.bytes_a_step)


# Exercise 11.5
CUTS = [
    ("weight.tensor_split(size)[rank], bias.", "weight.tensor_split(size, 1)[rank], bias.",
     "wrong axis"),
    ("weight.tensor_split(size, dim=1)", "weight.tensor_split(size)", "wrong axis"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias.tensor_split(size)[rank]",
     "keep the whole bias"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), CUTS)
def test_wrong_cuts(changed, old, new, advice):
    wrong = changed((old, new))
    assert_advice(failure(check.check_11_5, wrong.cut), advice)


# Exercise 11.6
BLOCKS = [
    ("return summed(gradient)", "return gradient", "only the gradient from this rank's part"),
    ("ToParts.apply(x)", "x", "only the gradient from this rank's part"),
    ("        return gradient\n", "        return summed(gradient)\n", "p times too large"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), BLOCKS)
def test_wrong_blocks(changed, old, new, advice):
    failed = failure(check.check_11_6, changed((old, new)))
    assert_advice(failed, advice)
    _, expected, found, _ = failed.lines()
    assert expected.rpartition(" is ")[2] != found.removeprefix("found").strip()


def test_an_error_in_a_block_names_its_line(changed):
    wrong = changed(("linear(hidden, row[0])", "linear(hidden, rows[0])"))
    assert_advice(failure(check.check_11_6, wrong), "of block: return FromParts")


# PyTorch refuses `backward` in a fork of a process that has called it and sees a device.
A_NOTEBOOK_ON_A_GPU = """
import sys, torch
from torch.utils import backend_registration
backend_registration._setup_privateuseone_for_python_backend("fakegpu")
torch.ones(1, requires_grad=True).sum().backward()
sys.path.insert(0, "solutions/11_pipeline")
import tensor_layers
from lessons import course
course.check("11.6", tensor_layers)
"""


def test_a_notebook_that_has_used_a_gpu_can_check():
    assert_passes(A_NOTEBOOK_ON_A_GPU)


def test_a_bias_that_rank_0_alone_adds_is_right_as_well(changed):
    check.check_11_6(changed((
        "linear(hidden, row[0])) + row[1]",
        "linear(hidden, row[0], None if dist.get_rank() else row[1]))",
    )))  # fmt: skip


# Exercise 11.7
BYTES = [
    ("2 * (ranks - 1) / ranks * numbers", "numbers", "2 (p - 1) / p"),
    ("* numbers * itemsize", "* numbers", "`itemsize` bytes"),
    ("2 * (ranks - 1)", "(ranks - 1)", "twice"),
]


@pytest.mark.parametrize(("old", "new", "advice"), BYTES)
def test_wrong_bytes(changed, old, new, advice):
    wrong = changed((old, new))
    assert_advice(failure(check.check_11_7, wrong.bytes_a_step), advice)
