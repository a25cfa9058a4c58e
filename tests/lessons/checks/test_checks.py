"""The public checks: solutions pass, gaps are called gaps, and each mistake gets its advice."""

import re
import signal
import statistics
import sys
from importlib import import_module
from types import FunctionType, ModuleType

import numpy as np
import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_01, lesson_02, lesson_06
from lessons.toolkit.checks.shared import time_limit
from lessons.toolkit.checks.shared.check import (
    RETURN,
    RUN_CELL,
    SAVE_FILE,
    CheckFailed,
    StillAGap,
    checks_of,
    compare,
    exercise,
)
from lessons.toolkit.checks.shared.measure import check_fails

PAGES = sorted((ROOT / "solutions").glob("[01][0-9]_*/lesson.py"))


def gap(*arguments):
    raise NotImplementedError("Exercise 2.4: each number may be off by half a second")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_checks_of_a_page_are_there_and_say_what_they_want(page):
    checks = checks_of(import_module(f"lessons.toolkit.checks.lesson_{page.parent.name[:2]}"))
    called = re.findall(r'course\.check\(\s*"(\d+\.\d+\w?)"', page.read_text(encoding="utf-8"))
    assert set(checks) == set(called)
    assert all(len(check.__doc__) > 40 for check in checks.values())


def test_a_gap_is_called_a_gap():
    failed = failure(lesson_02.check_2_4, gap, gap)
    assert str(failed).startswith("Exercise 2.4 is still a gap: each number may be off by half a")
    assert failed.args[2] == SAVE_FILE
    cell = FunctionType(gap.__code__.replace(co_filename="/tmp/ipykernel_1/2.py"), {})
    assert failure(lesson_02.check_2_4, cell, cell).args[2] == RUN_CELL


def test_a_stopped_check_is_one_line_that_names_the_line_of_the_student():
    def epoch_time(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        lesson_02.check_2_3(epoch_time)
    [line] = caught.value._render_traceback_()
    assert line.endswith("of epoch_time: raise KeyboardInterrupt")


def test_a_function_that_never_returns_is_ended_and_its_line_named(monkeypatch):
    def epoch_time(seconds):
        while seconds:
            pass

    monkeypatch.setattr(time_limit, "CPU_SECONDS", 0.1)
    before = signal.getsignal(signal.SIGPROF)
    assert_advice(failure(lesson_02.check_2_3, epoch_time), "of epoch_time: ")
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_an_error_that_a_library_raises_is_not_a_gap():
    def library(*arguments):
        raise NotImplementedError('"log_softmax" not implemented for Long')

    failed = failure(lesson_02.check_2_4, library, library)
    assert not isinstance(failed, StillAGap)
    assert_advice(failed, "NotImplementedError")


@pytest.mark.parametrize("found", [None, "None", "NoneType"])
def test_only_a_function_without_return_is_advised_to_return(found):
    @exercise("9.9")
    def check(student):
        """A layer."""
        raise CheckFailed("a layer of build", found, "Add a layer.")

    def forgets(size):
        size += 1

    def returns(size):
        return None if size else 1

    assert failure(check, forgets).args[2] == RETURN
    assert failure(check, returns).args[2] == "Add a layer."
    for function, advice in ((forgets, RETURN), (returns, "Add a layer.")):
        program = ModuleType("program")
        program.build, program.other = function, forgets
        assert failure(check, program).args[2] == advice
    assert failure(lesson_02.check_2_3, lambda seconds: None).args[2] == RETURN


def test_a_notebook_shows_the_lines_and_no_traceback():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shown = []
    shell._showtraceback = lambda etype, value, lines: shown.extend(lines)
    shell.run_cell(
        "from lessons.toolkit.checks.lesson_02 import check_2_5\n"
        "check_2_5(lambda us, samples: us * samples)"
    )
    assert [line.split()[0] for line in shown] == ["Exercise", "expected", "found", "try"]


def broken(us, samples):
    return us * sample / 1e6  # noqa: F821


def deep(seconds):
    return statistics.median(["a", 1])


def server(comm, values):
    values += comm.recv(source=1)


PLACES = [
    (lesson_02.check_2_5, broken, "of broken: return us * sample / 1e6", "misspelt"),
    (lesson_02.check_2_5, lambda us: us, "positional", "wrong arguments"),
    (lesson_02.check_2_3, lambda seconds: np.linalg.inv(np.ones(3)), "of <lambda>", "just before"),
    (lesson_02.check_2_3, deep, "of deep: return statistics.median", "wrong type"),
    (lesson_06.check_6_1, server, "of server: values += comm.recv(source=1)", "just before"),
]


@pytest.mark.parametrize(("check", "wrong", "found", "advice"), PLACES)
def test_an_error_in_the_students_code_names_its_line(check, wrong, found, advice):
    assert found in failure(check, wrong).args[1]
    assert_advice(failure(check, wrong), advice)


def test_a_check_that_is_broken_itself_is_not_silent():
    @exercise("9.9")
    def check(student):
        """Raise an error in the check itself, not in the student's function."""
        return student() + 1

    assert_advice(failure(check, lambda: "text"), "of the wrong type")


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda w, x, y: x ^ 2, "write `**`"),
        (lambda w, x, y: [w for _ in 4], "range(n)"),
        (lambda w, x, y: w.sort()[0], "A value is None"),
    ],
)
def test_an_error_that_beginners_make_gets_its_own_advice(wrong, advice):
    assert_advice(failure(lesson_01.check_1_1, wrong), advice)


@pytest.mark.parametrize(
    ("found", "advice"),
    [(2, "`//`"), (-2.5, "sign"), (5, "by hand"), (-2, "by hand"), (3, "this mistake")],
)
def test_a_wrong_number_is_recognised_if_its_mistake_is_common(found, advice):
    @exercise("9.1")
    def check(value):
        """value is 2.5."""
        compare(value, 2.5, "value", {3: "this mistake"})

    assert_advice(failure(check, found), advice)


def test_a_program_records_whether_a_check_fails(capsys):
    @exercise("9.9")
    def is_two(function):
        if function() != 2:
            raise CheckFailed("2", function(), "Return 2.")
        return "Two."

    assert check_fails(is_two, lambda: sys.stdout.write("ab")) == 0
    assert capsys.readouterr() == ("", "")
    assert check_fails(is_two, lambda: 3) == check_fails(is_two, lambda: 1 / 0) == 1
    assert "Return 2." in capsys.readouterr().err
    assert check_fails(is_two, gap) == 1
