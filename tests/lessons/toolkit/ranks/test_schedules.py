"""Tests of simulated orders of a pipeline: bubbles by formula, stale weights as PipeDream's."""

import pytest

from lessons.toolkit.ranks.schedules import Deadlock, bubble, held, interleaved, timed

SIZES = [(2, 1), (2, 4), (3, 3), (4, 8), (4, 2), (8, 32)]  # stages, micro-batches


def gpipe(stages, micro_batches):
    every = range(micro_batches)
    return [[(kind, k) for kind in "FB" for k in every] for _ in range(stages)]


def one_forward_one_backward(stages, micro_batches):
    orders = []
    for stage in range(stages):
        ahead = min(micro_batches, stages - stage)
        order = [("F", number) for number in range(ahead)]
        for number in range(micro_batches):
            order.append(("B", number))
            if number + ahead < micro_batches:
                order.append(("F", number + ahead))
        orders.append(order)
    return orders


@pytest.mark.parametrize("schedule", [gpipe, one_forward_one_backward])
@pytest.mark.parametrize(("stages", "micro_batches"), SIZES)
def test_the_bubble_is_the_formulas(schedule, stages, micro_batches):
    orders = schedule(stages, micro_batches)
    for backward in (1.0, 2.0):
        boxes = timed(orders, 1.0, backward)
        assert bubble(boxes) == pytest.approx((stages - 1) / (micro_batches + stages - 1))
        assert len(boxes) == 2 * stages * micro_batches


@pytest.mark.parametrize(("stages", "micro_batches"), SIZES)
def test_1f1b_holds_no_more_than_the_stages_behind(stages, micro_batches):
    assert held(gpipe(stages, micro_batches)) == [micro_batches] * stages
    most = [min(micro_batches, stages - stage) for stage in range(stages)]
    assert held(one_forward_one_backward(stages, micro_batches)) == most


@pytest.mark.parametrize("pieces", [2, 4])
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 2), (2, 8), (4, 8), (8, 16)])
def test_more_pieces_divide_the_bubble(stages, micro_batches, pieces):
    orders = interleaved(stages, micro_batches, pieces)
    ratio = (stages - 1) / pieces / micro_batches  # to the time that would be enough
    assert bubble(timed(orders)) == pytest.approx(ratio / (1 + ratio))
    works = {
        (kind, k, piece) for kind in "FB" for k in range(micro_batches) for piece in range(pieces)
    }
    assert all(set(order) == works and len(order) == len(works) for order in orders)
    assert held(orders)[0] >= held(one_forward_one_backward(stages, micro_batches))[0]


def test_nothing_begins_before_what_it_needs():
    for orders in (gpipe(3, 4), one_forward_one_backward(3, 4), interleaved(2, 4, 2)):
        stages = len(orders)
        ends = {}
        for box in timed(orders):
            place = box.piece * stages + box.stage
            ends[box.kind, box.micro_batch, place] = box.end
        for box in timed(orders):
            place = box.piece * stages + box.stage
            before = ("F", box.micro_batch, place - (box.kind == "F"))
            assert ends.get(before, 0) <= box.start
            if box.kind == "B":
                assert ends.get(("B", box.micro_batch, place + 1), 0) <= box.start


def test_who_waits_for_ever_is_named():
    orders = [[("B", 0), ("F", 0)], [("F", 0), ("B", 0)]]
    with pytest.raises(Deadlock, match=r"stage 0 waits at \('B', 0\); stage 1 waits at \('F', 0\)"):
        timed(orders)
    with pytest.raises(ValueError, match="not a multiple of 4"):
        interleaved(4, 6, 2)
