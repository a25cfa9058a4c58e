"""Copies of a job's output beside it, and collections of outputs: each run counts once."""

import pytest

from autograder.codes import FindingCode, Outcome
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import hand_in, make_record, write_lines


def output(**facts) -> bytes:
    return ("\n".join(make_record(**facts)) + "\n").encode()


ONE = output(size=2)
OTHER = output(run="77aa77aa", source="torch", job_id="1235")
UNTIL = ONE.index(b"epoch_stop")  # copied while the job still ran, in the middle of a line

COPIED = {
    "saved twice": ({"02_serial_1234.out": ONE, "02_serial_1234 (1).out": ONE}, 1),
    "saved three times": ({"x (1).out": ONE, "x_1234.out": ONE, "y.out": ONE}, 1),
    "collected": ({"all.txt": ONE + OTHER, "b_1234.out": ONE, "c_1235.out": OTHER}, 2),
    "collected twice": ({"a.txt": 2 * (ONE + OTHER), "b_1234.out": ONE, "c_1235.out": OTHER}, 2),
    "copied too early": ({"a.txt": ONE[:UNTIL], "b_1234.out": ONE}, 1),
    "none has a number": ({"a.txt": ONE[: ONE.rindex(b"\n", 0, UNTIL) + 1], "b.txt": ONE}, 1),
}


@pytest.mark.parametrize(("files", "count"), COPIED.values(), ids=COPIED.keys())
def test_each_run_counts_once(files, count):
    runs = read_bytes(files)
    assert len({run.launch for run in runs}) == len(runs) == count
    for run in runs:
        assert (run.outcome, run.chain_intact, run.problems) == (Outcome.COMPLETED, True, ())
        assert len(run.epochs) == 3


def test_a_copy_costs_no_points_and_no_look(tmp_path, grade):
    folder = hand_in(tmp_path / "class/ada/02")
    (alone,) = grade(tmp_path / "class").table
    outputs = sorted(folder.glob("*.out"))
    (folder / "02_serial_1 (1).out").write_bytes(outputs[0].read_bytes())
    (folder / "all.txt").write_bytes(b"".join(path.read_bytes() for path in outputs))
    (beside,) = grade(tmp_path / "class").table
    assert beside == alone
    assert beside[2] == "10/10"
    write_lines(folder / "all.txt", make_record(test_accuracy=0.99))
    (edited,) = grade(tmp_path / "class").table
    assert FindingCode.CHAIN_BROKEN.heading in edited[-1]
