"""After a failed job, the rank that failed first comes first, with the student's own line."""

from pathlib import Path

import pytest

from autograder.codes import Outcome
from autograder.reading.failed_ranks import failed_ranks
from autograder.reading.files import read_files

PROGRAM = Path(__file__).with_name("failing_ranks.py")
# How the program fails -> the first line's rank, and what it names.
CASES = {
    "name": (1, "UnboundLocalError", "the name"),
    "index": (None, "ValueError", "the index"),
    "address": (0, "address already in use", "the start"),
    "ports": (None, "Timed out|timed out", "the start"),  # no label says whose error it is
    "killed": (1, "signal 9", None),
    "silent": (1, "xit code: 3|xit code 3", None),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_rank_that_failed_first_is_on_top(shell, case):
    rank, error, marked = CASES[case]
    (shell.folder / "train.py").write_text(PROGRAM.read_text())
    body = 'source "$COURSE_SITE"\nlaunch python train.py "$@"'
    job = shell.write("job.sbatch", body, "-n 2", "-o %j.out", "-e %j.err")
    shell.environment["COURSE_SITE"] = str(shell.home / ".dl-course/site.sh")
    submitted = shell.submit(job, case)
    said = shell.wait(submitted, ok=False)
    said = said[said.index("job 1: FAILED") :].splitlines()[1:]
    first = said[0].removeprefix("job 1: ")
    assert first.startswith("" if rank is None else f"rank {rank} failed")
    assert any(words in first for words in error.split("|"))
    if marked:
        lines = PROGRAM.read_text().splitlines()
        number = next(at for at, line in enumerate(lines, 1) if line.endswith(f"  # {marked}"))
        assert f"in line {number} of your train.py" in first
    (run,) = read_files([shell.folder / "1.out", shell.folder / "1.err"])
    assert (run.outcome, run.failed_ranks[0]) == (Outcome.FAILED, first)
    ends = [at for at, line in enumerate(said) if line.startswith("The end of ")]
    advice = {"address": "MASTER_PORT", "ports": "MASTER_ADDR"}.get(case, "")
    assert advice in "\n".join(said[1 : ends[0]])
    assert "SOCKET_IFNAME" not in "\n".join(said)


FRAME = '  File "/home/ada/train.py", line {}, in main\n    step()\n'
TRACEBACK = "Traceback (most recent call last):\n"


def of(text: str) -> list[str]:
    return list(failed_ranks(text.splitlines()))


def labelled(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def test_an_error_that_another_rank_caused_comes_last():
    echo = TRACEBACK + FRAME.format(9) + "RuntimeError: Connection closed by peer [::1]:5"
    cause = TRACEBACK + FRAME.format(7) + "KeyError: 'loss'"
    first, second = of(labelled(0, echo) + labelled(1, cause))
    assert first.startswith("rank 1 failed first: KeyError: 'loss', in line 7 of your train.py")
    assert second.startswith("rank 0: RuntimeError")
    assert of(labelled(0, echo))[0].startswith("another rank ended first")


def test_lines_of_two_ranks_may_alternate():
    texts = [TRACEBACK + FRAME.format(n) + f"ValueError: {n}" for n in (4, 5)]
    pairs = zip(*(labelled(r, t).splitlines() for r, t in enumerate(texts)), strict=True)
    first, second = of("\n".join(line for pair in pairs for line in pair))
    assert "ValueError: 4, in line 4" in first
    assert "ValueError: 5, in line 5" in second


def test_an_exception_raised_while_another_is_handled_replaces_it():
    chained = "\nDuring handling of the above exception, another exception occurred:\n\n"
    (only,) = of(TRACEBACK + FRAME.format(3) + "KeyError: 1\n" + chained + TRACEBACK
                 + FRAME.format(5) + "ValueError: 2")  # fmt: skip
    assert "ValueError: 2, in line 5" in only


@pytest.mark.parametrize(
    ("report", "rank"),
    [
        ("srun: error: n1: task 3: Exited with exit code 1", 3),
        ("srun: error: n1: task 2: Killed", 2),
        ("   Process name: [[29154,1],1]\n   Exit code:    1", 1),
        ("Root Cause (first observed failure):\n[0]:\n  time      : 2026\n  host      : n1\n"
         "  rank      : 5 (local_rank: 1)\n  exitcode  : -9 (pid: 7)", 5),
    ],
)  # fmt: skip
def test_a_launcher_names_a_rank_that_printed_nothing(report, rank):
    assert of(report)[0].startswith(f"rank {rank} failed: it ended without an error message")


@pytest.mark.parametrize(
    "harmless",
    ["Exception ignored in: <function f>\n" + TRACEBACK + FRAME.format(3) + "OSError: closed",
     "Epoch 1: loss 0.3\nnote: fine", ""],
)  # fmt: skip
def test_what_ended_nothing_is_no_failure(harmless):
    assert of(harmless) == []
