"""Lesson 06's public checks and the simulated ranks that they use."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from advice import assert_advice, failure
from mpi4py import MPI

from lessons.toolkit.checks import lesson_06 as check
from lessons.toolkit.ranks import Hang, SameArray, run_on_ranks

LESSON = Path(__file__).parents[3] / "solutions" / "06_allreduce"


def program(name, change=()):
    """Return one of the lesson's programs as a module with some lines changed."""
    text = (LESSON / f"{name}.py").read_text(encoding="utf-8")
    for old, new in change:
        assert old in text
        text = text.replace(old, new)
    spec = importlib.util.spec_from_loader(f"{name}_06", loader=None)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(LESSON))
    try:
        exec(compile(text, f"{name}.py", "exec"), vars(module))
    finally:
        sys.path.remove(str(LESSON))
        for other in ("ml_comm", "network"):
            sys.modules.pop(other, None)
    return module


collectives = program("collectives")


# What simulated ranks are
def test_a_ring_of_blocking_sends_hangs_and_says_who_waits():
    def ring(comm, values):
        comm.Send(values, dest=(comm.rank + 1) % comm.size)
        comm.Recv(values, source=(comm.rank - 1) % comm.size)

    with pytest.raises(Hang, match="rank 0 sends to rank 1; rank 1 sends to rank 2; rank 2 sends"):
        run_on_ranks(ring, [np.ones(3) for _ in range(3)])


def test_a_rank_that_waits_for_one_that_has_ended_is_noticed():
    def silent(comm, values):
        if comm.rank == 0:
            comm.Recv(values, source=1)

    with pytest.raises(Hang, match="rank 0 receives from rank 1"):
        run_on_ranks(silent, [np.ones(3), np.ones(3)])


def test_an_error_on_one_rank_ends_all():
    def broken(comm, values):
        if comm.rank == 1:
            raise ZeroDivisionError("here")
        comm.Recv(values, source=1)

    with pytest.raises(ZeroDivisionError, match="here"):
        run_on_ranks(broken, [np.ones(3), np.ones(3), np.ones(3)])


@pytest.mark.parametrize(
    "call",
    [
        lambda comm, values: comm.Iallreduce(values, values),
        lambda comm, values: comm.Iallreduce(values[1:], values[:-1]),
        lambda comm, values: comm.Sendrecv(values, dest=0, recvbuf=values, source=0),
    ],
)
def test_one_array_is_not_sent_and_written_at_once(call):
    with pytest.raises(SameArray, match="MPI forbids"):
        run_on_ranks(call, [np.ones(3), np.ones(3)])


@pytest.mark.parametrize("in_place", [MPI.IN_PLACE, None])
def test_in_place_is_said_as_in_mpi4py(in_place):
    values = [np.ones(3), 2 * np.ones(3)]
    run_on_ranks(lambda comm, own: comm.Iallreduce(in_place, own).Wait(), values)
    assert [own.tolist() for own in values] == [[3, 3, 3], [3, 3, 3]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("length", [1, 2, 7, 120, 121])
def test_the_lessons_collectives_on_simulated_ranks(ranks, length):
    for allreduce in (collectives.ps_allreduce, collectives.ring_allreduce):
        values = [np.full(length, 10.0**rank) for rank in range(ranks)]
        run_on_ranks(allreduce, values)
        assert all(np.array_equal(v, np.full(length, values[0][0])) for v in values)
        assert values[0][0] == sum(10.0**rank for rank in range(ranks))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_bytes_of_the_busiest_rank_are_the_formulas(ranks):
    length = 120
    for allreduce, arrays in (
        (collectives.ps_allreduce, 2 * (ranks - 1)),
        (collectives.ring_allreduce, 2 * (ranks - 1) / ranks),
    ):
        moved = run_on_ranks(allreduce, [np.ones(length) for _ in range(ranks)]).busiest
        assert moved == pytest.approx(arrays * 8 * length)


# The lesson's own solutions
def model(scheme, p, n, alpha, beta, servers=1):
    messages, size = {
        "ring": (2 * (p - 1), n / p),
        "server": (2 * (p - 1), n),
        "servers": (2 * p, n / servers),
    }[scheme]
    return messages * (alpha + beta * size)


def fit(sizes, seconds, p, relative=True):
    rows = np.stack([np.full(len(sizes), 2 * (p - 1)), 2 * (p - 1) / p * np.array(sizes)], axis=1)
    by = np.asarray(seconds) if relative else np.ones(len(sizes))
    alpha, beta = np.linalg.lstsq(rows / by[:, None], np.asarray(seconds) / by, rcond=None)[0]
    return alpha, beta


def test_the_lessons_own_functions_pass():
    check.check_6_1(collectives.ps_allreduce)
    check.check_6_2(collectives.ring_allreduce)
    check.check_6_3(model, fit)
    check.check_6_4(program("train"))
    check.check_6_4(program("train", [(ONCE, "epochs * math.ceil(n / (batch * nranks))")]))
    check.check_6_5(collectives.overlapped_allreduce)


@pytest.mark.parametrize(
    ("name", "change", "advice"),
    [
        ("ps_allreduce", [("values += received", "values = values + received")], "in place"),
        ("ps_allreduce", [("comm.Recv(values, source=0)", "pass")], "it hangs"),
        ("ps_allreduce", [("comm.Send(values, dest=dest)", "pass")], "hang"),
        ("ps_allreduce", [("comm.Recv(values, source=0)", "comm.Recv(values * 1, source=0)")],
         "Does every rank receive the sum?"),
        ("ps_allreduce", [("values += received", "values[:] = received")], "rank 0's too"),
        ("ps_allreduce", [("for source in range(1, size)", "for source in range(size)")],
         "with which ranks"),
        ("ps_allreduce", [("for dest in range(1, size)", "for dest in range(size)")],
         "with which ranks"),
        ("ring_allreduce", [("for number in range(size - 1)", "for number in range(size)")],
         "size - 1 is 0 rounds"),
        ("ring_allreduce", [("np.array_split(values, size)",
         "[values[r * (len(values) // size) : (r + 1) * (len(values) // size)] "
         "for r in range(size)]")], "end of the array"),
        ("ring_allreduce", [("comm.Sendrecv(give, dest=right, recvbuf=take, source=left)", "pass")],
         "pass the finished chunks on"),
        ("ring_allreduce", [("comm.Sendrecv(give, dest=right, recvbuf=take, source=left)",
         "comm.Send(give, dest=right); comm.Recv(take, source=left)")], "Sendrecv"),
        ("ring_allreduce", [("dest=right, recvbuf=take", "dest=left, recvbuf=take")], "hang"),
        ("ring_allreduce", [("recvbuf=take, source=left)", "recvbuf=received, source=left)\n"
         "        chunks[(rank - number) % size] = received.copy()")], "write `chunks[k][:] = …`"),
        ("ring_allreduce", [("take += received[: take.size]", "take[:] = received[: take.size]\n"
         "        chunks[0][:] = chunks[0]")], "numbers exactly once"),
        ("ring_allreduce", [("comm.Sendrecv(give, dest=right, recvbuf=take, source=left)",
         "comm.Sendrecv(take, dest=right, recvbuf=take, source=left)")], "another array"),
    ],
)  # fmt: skip
def test_collectives_that_are_wrong(name, change, advice):
    wrong = getattr(program("collectives", change), name)
    checked = check.check_6_1 if name == "ps_allreduce" else check.check_6_2
    assert advice.lower() in str(failure(checked, wrong)).lower(), str(failure(checked, wrong))


def mean(comm, values):
    collectives.ps_allreduce(comm, values)
    values /= comm.size


def returned(comm, values):
    total = values.copy()
    collectives.ring_allreduce(comm, total)
    return total


def by_the_library(comm, values):
    total = np.empty_like(values)
    comm.Iallreduce(values.copy(), total).Wait()
    values[:] = total


def to_itself_if_alone(comm, values):
    if comm.Get_size() == 1:
        comm.Send(values, dest=0)
    collectives.ring_allreduce(comm, values)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (to_itself_if_alone, "with one rank nothing"),
        (collectives.ps_allreduce, "one chunk"),
        (mean, "the caller divides"),
        (by_the_library, "write the ring"),
        (returned, "values[:] ="),
        (
            lambda comm, values: comm.Recv(values, source=(comm.rank + 1) % comm.size),
            "Let one send",
        ),
        (lambda comm, values: comm.allreduce(values), "no allreduce"),
    ],
)
def test_other_ways_to_miss_the_ring(wrong, advice):
    assert_advice(failure(check.check_6_2, wrong), advice)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda s, p, n, a, b, servers=1: model(s, p, n if s != "ring" else n * p, a, b, servers),
         "chunk has n / p"),
        (lambda s, p, n, a, b, servers=1: model(s, p, n, a, b, servers) / 2, "rounds"),
        (lambda s, p, n, a, b, servers=1: model(s, p, n, 0, b, servers) + a, "every message"),
        (lambda s, p, n, a, b, servers=1: model("servers" if s == "server" else s, p, n, a, b),
         "itself a worker"),
        (lambda s, p, n, a, b, servers=1: model("server" if s == "servers" else s, p, n, a, b),
         "all p"),
        (lambda s, p, n, a, b, servers=1: model(s, p, n, a, b), "n / k bytes"),
    ],
)  # fmt: skip
def test_models_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_6_3, wrong, fit), advice)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda sizes, seconds, p: fit(sizes, seconds, p, relative=False), "equal weight"),
        (lambda sizes, seconds, p: fit(sizes, seconds, p)[::-1], "alpha first"),
        (lambda sizes, seconds, p: fit(sizes, seconds, p)[0], "Return both"),
    ],
)
def test_fits_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_6_3, model, wrong), advice)


ONCE = "math.ceil(epochs * n / (batch * nranks))"
FIRST, LAST = '    mc.init(1, 1, totsize, "numpy")', "    mc.finalize()"
MEAN = "gradients = mc.gradients(gradients, 0)"


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ([(ONCE, "int(epochs / nranks) * n // batch")],
         "is 0"),
        ([(ONCE, "math.ceil(epochs * n / batch)")],
         "on all ranks"),
        ([(ONCE, "epochs * (n // (batch * nranks))")],
         "last images"),
        ([(ONCE, "epochs * n // (batch * nranks)")],
         "left over"),
        ([(ONCE, "round(epochs * n / (batch * nranks))")],
         "left over"),
        ([(ONCE, "epochs * n / (batch * nranks)")],
         "by hand for these numbers"),
        ([(FIRST, "    pass")], "mc.init(…) is missing"),
        ([(MEAN, "pass")], "mc.gradients(…) is missing"),
        ([(MEAN, "grads = mc.gradients(gradients, 0)")], "*return* new arrays"),
        ([(LAST, "    pass")], "mc.finalize(…) is missing"),
        ([("totsize, \"numpy\"", "4, \"numpy\"")], "total number of parameters"),
        ([("100, max_steps, 2, 200", "100, 200, 2, max_steps")], "what is max_steps"),
    ],
)  # fmt: skip
def test_calls_that_are_wrong(change, advice):
    failed = failure(check.check_6_4, program("train", change))
    assert_advice(failed, advice)


OVERLAP = [
    ([("in gradients:", "in list(gradients):")], "which sums travel"),
    ([("        started.append((comm", "        comm.Iallreduce(gradient, total).Wait()\n"
      "        started.append((comm")], "it hangs|computed|under way"),
    ([("        request.Wait()", "        pass")], "when is a sum complete"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "advice"), OVERLAP)
def test_overlaps_that_are_wrong(change, advice):
    failed = failure(check.check_6_5, program("collectives", change).overlapped_allreduce)
    assert any(words in str(failed).lower() for words in advice.split("|")), str(failed)


def test_waiting_inside_the_loop_is_no_overlap():
    def eager(comm, gradients):
        sums = []
        for gradient in gradients:
            total = np.empty_like(gradient)
            comm.Iallreduce(gradient, total).Wait()
            sums.append(total)
        return sums

    assert_advice(failure(check.check_6_5, eager), "when does your function wait")


def test_sums_in_place_are_right():
    def in_place(comm, gradients):
        started = [(comm.Iallreduce(MPI.IN_PLACE, gradient), gradient) for gradient in gradients]
        for request, _ in started:
            request.Wait()
        return [total for _, total in started]

    check.check_6_5(in_place)
