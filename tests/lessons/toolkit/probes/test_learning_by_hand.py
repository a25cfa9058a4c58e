"""Tests of probes of students' functions: the solution is right, and no other stops a run."""

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit.probes import descent_error, facts_wrong, gradient_error

cluster, learning = program("00_cluster", "train"), program("01_learning", "train")


def backward_without(part):
    """Return the solution's gradients without one of the four arrays."""

    def backward(cache, labels):
        found = learning.backward(cache, labels)
        found[part] = np.zeros_like(found[part])
        return found

    return backward


def of_gradients(backward):
    return gradient_error(learning.forward, learning.cross_entropy, backward)


def test_the_solutions_are_right():
    assert facts_wrong(cluster.facts) == 0
    assert of_gradients(learning.backward) < 1e-6
    assert descent_error(learning.update) < 1e-12


@pytest.mark.parametrize("part", range(4))
def test_each_array_of_gradients_counts(part):
    assert of_gradients(backward_without(part)) == 1.0


def test_part_of_an_error_is_told_as_a_share():
    def nearly(cache, labels):
        return [1.25 * gradient for gradient in learning.backward(cache, labels)]

    def too_far(params, gradients, lr):
        learning.update(params, gradients, 1.25 * lr)

    assert of_gradients(nearly) == pytest.approx(0.25)
    assert descent_error(too_far) == pytest.approx(0.25)


USELESS = [None, 1, "x", [None] * 4, ["a", "b", "c", "d"], [{}, [], (), 0], [np.nan] * 4, {}]


@pytest.mark.parametrize("answer", USELESS, ids=repr)
def test_whatever_a_student_gives_back_is_a_number(answer):
    assert of_gradients(lambda cache, labels: answer) == 1.0
    assert facts_wrong(lambda environ: answer) == 5
    assert descent_error(lambda *given: answer) == pytest.approx(1.0)  # nothing was changed


def test_a_function_that_raises_stops_nothing_and_is_told(capsys):
    def raises(*given):
        raise KeyError("SLURM_PROCID")

    found = [of_gradients(raises), facts_wrong(raises), descent_error(raises)]
    assert found == [1.0, 5, 1.0]
    told = capsys.readouterr().err
    assert told.count("could not be measured: KeyError: 'SLURM_PROCID'") == 7
