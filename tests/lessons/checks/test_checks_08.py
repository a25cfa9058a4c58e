"""The public checks of lesson 08: right solutions pass, each usual mistake gets its advice."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from advice import assert_advice, failure
from mpi4py import MPI

from lessons.toolkit.checks import lesson_08
from lessons.toolkit.ranks import DataDistributionError, DataDistributor


def gap(*_):
    raise NotImplementedError("Exercise 8.2: the line from above, repaired")


# Exercise 8.2
ACCURACIES = [
    (lambda comm, right, tested: comm.allreduce(right / tested) / comm.size, "counts as much"),
    (lambda comm, right, tested: comm.allreduce(right), "a number of images"),
    (lambda comm, right, tested: right / tested, "rank 0"),
    (lambda comm, right, tested: comm.Get_rank() == 0 and comm.allreduce(right), "it hangs"),
]


def of_all(comm, *own):
    return np.divide(*map(sum, zip(*comm.allgather(own), strict=True)))


def of_rank_0(comm, right, tested):
    total = comm.reduce(np.array([right, tested]), op=MPI.SUM)
    return comm.bcast(total[0] / total[1] if comm.Get_rank() == 0 else None)


def gathered(comm, *own):
    everyone = comm.gather(own)
    return comm.bcast(everyone and np.divide(*np.sum(everyone, axis=0)))


def test_each_image_counts_once():
    for right in (lambda comm, *own: np.divide(*map(comm.allreduce, own)), of_all, of_rank_0):
        lesson_08.check_8_2(right)
    lesson_08.check_8_2(gathered)


@pytest.mark.parametrize(("wrong", "advice"), ACCURACIES)
def test_means_of_means(wrong, advice):
    assert_advice(failure(lesson_08.check_8_2, wrong), advice)


# Dealt out like cards
def round_robin(items, size):
    return [items[rank::size] for rank in range(size)]


# Exercise 8.3
def distribute(comm, load, tell=True, elsewhere=True):
    problem, shares = None, None
    if comm.Get_rank() == 0:
        try:
            items = load()
            if len(items) < comm.Get_size():
                raise ValueError("too few")
            shares = round_robin(items, comm.Get_size())
        except Exception as error:
            problem = str(error)
    told = comm.bcast(problem)
    problem = told if tell else problem
    if problem is not None and (elsewhere or comm.Get_rank() == 0):
        raise DataDistributionError(problem)
    return comm.scatter(shares)


def everybody_looks(comm, load):
    return round_robin(load(), comm.Get_size())[comm.Get_rank()]


def no_care_for_errors(comm, load):
    items = load() if comm.Get_rank() == 0 else None
    return round_robin(comm.bcast(items), comm.Get_size())[comm.Get_rank()]


def unequal_calls(comm, load):
    if comm.Get_rank() == 0:
        return comm.scatter(round_robin(load(), comm.Get_size()))
    return comm.bcast(None)


def items_are_not_assigned(comm, load):
    items = load() if comm.Get_rank() == 0 else None
    comm.bcast(items)
    return round_robin(items, comm.Get_size())[comm.Get_rank()]


def no_name_elsewhere(comm, load):
    if comm.Get_rank() == 0:
        shares = round_robin(load(), comm.Get_size())
    return comm.scatter(shares)


def scatter_is_not_assigned(comm, load):
    shares = round_robin(load(), comm.Get_size()) if comm.Get_rank() == 0 else None
    comm.scatter(shares)
    return shares


def ending(how):
    """Return a function that does this where it should raise DataDistributionError."""

    def wrong(comm, load):
        try:
            return distribute(comm, load)
        except DataDistributionError as error:
            return how(str(error))

    return wrong


RANKS = [
    (everybody_looks, "only rank 0 may list it"),
    (no_care_for_errors, "learn of rank 0's problem"),
    (unequal_calls, "ranks call bcast and scatter at the same time"),
    (items_are_not_assigned, "change no variable"),
    (no_name_elsewhere, "change no variable"),
    (scatter_is_not_assigned, "then scatter"),
    (lambda comm, load: distribute(comm, load, tell=False), "problem before the scatter"),
    (lambda comm, load: distribute(comm, load, elsewhere=False), "learn of rank 0's problem"),
    (ending(sys.exit), "sys.exit() would end one rank only"),
    (ending(lambda problem: None), "on every rank"),
]


def list_parts(folder):
    return sorted(path.name for path in Path(folder).glob("*.npz"))


def program_of(my_files=None):
    program = SimpleNamespace(DataDistributor=DataDistributor)
    program.my_files = my_files or (
        lambda folder: program.DataDistributor(MPI.COMM_WORLD, True)(list_parts)(folder)
    )
    return program


def test_distribute():
    lesson_08.check_8_3(distribute, program_of())
    decorated = DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)(list_parts)
    lesson_08.check_8_3(distribute, program_of(lambda folder: decorated(folder)))


@pytest.mark.parametrize(("wrong", "advice"), RANKS)
def test_what_one_rank_does(wrong, advice):
    assert_advice(failure(lesson_08.check_8_3, wrong, program_of()), advice)


def test_a_gap_on_a_rank_is_a_gap():
    assert "still a gap" in str(failure(lesson_08.check_8_3, gap, program_of()))
    assert "still a gap" in str(failure(lesson_08.check_8_3, distribute, program_of(gap)))


def test_programs_that_do_not_share_files():
    program = program_of(list_parts)
    assert_advice(failure(lesson_08.check_8_3, distribute, program), "uses DataDistributor")
    program.my_files = lambda folder: program.DataDistributor(MPI.COMM_WORLD)(list_parts)(folder)
    assert_advice(failure(lesson_08.check_8_3, distribute, program), "shutdown_on_error=True")
    program.my_files = lambda folder: program.DataDistributor(MPI.COMM_WORLD, True)(list_parts)
    assert_advice(failure(lesson_08.check_8_3, distribute, program), "Call the decorated function")


def listing(function):
    """Return a program that decorates another function instead of list_parts."""
    program = program_of()
    program.my_files = lambda folder: program.DataDistributor(MPI.COMM_WORLD, True)(function)(
        folder
    )
    return program


LOADERS = [
    (lambda folder: os.listdir(folder), "os.listdir promises no order"),
    (lambda folder: sorted(os.listdir(folder)), "files that are no parts"),
    (lambda folder: None, "Does the decorated function end with a `return`?"),
]


@pytest.mark.parametrize(("function", "advice"), LOADERS)
def test_functions_that_list_the_folder_otherwise(function, advice, capsys):
    assert_advice(failure(lesson_08.check_8_3, distribute, listing(function)), advice)
    assert capsys.readouterr().err == ""
