"""Tests of probes of students' functions: the solution is right, and no other stops a run."""

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit.probes import descent_error, facts_wrong, gradient_error, step_error

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
    assert step_error(lambda *given: answer) == 1e3
    assert descent_error(lambda *given: answer) == pytest.approx(1.0)  # nothing was changed


def test_a_function_that_raises_stops_nothing_and_is_told(capsys):
    def raises(*given):
        raise KeyError("SLURM_PROCID")

    found = [of_gradients(raises), facts_wrong(raises), step_error(raises), descent_error(raises)]
    assert found == [1.0, 5, 1e3, 1.0]
    told = capsys.readouterr().err
    assert told.count("could not be measured: KeyError: 'SLURM_PROCID'") == 8


def test_a_step_of_pytorch():
    import torch

    right = program("02_serial", "train_torch").train_step
    torch.manual_seed(7)
    before = torch.get_rng_state()
    assert step_error(right) < 1e-12
    assert torch.equal(before, torch.get_rng_state()), "the program's random numbers were used"

    def kept_gradients(model, optimizer, loss_function, x, y):
        outputs = model(x)
        loss = loss_function(outputs, y)
        loss.backward()
        optimizer.step()
        return loss, outputs

    def other_outputs(*given):
        loss, outputs = right(*given)
        return loss, outputs * 0

    def a_number(*given):
        loss, outputs = right(*given)
        return loss.item(), outputs.detach()

    assert step_error(kept_gradients) > 0.01
    assert step_error(other_outputs) > 0.01
    assert step_error(a_number) < 1e-12
