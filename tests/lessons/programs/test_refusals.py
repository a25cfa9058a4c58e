"""Tests of what lessons 11 and 12 refuse: each program ends on all ranks with one sentence."""

import json
import subprocess
import sys

import pytest
from real_runs import ROOT, copy_changed, environment, launch, meet

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

PROGRAM = ROOT / "tests" / "lessons" / "ranks" / "refusals.py"
SCALING = ROOT / "solutions" / "12_scaling"
FAILING = "12_with_a_plan_that_fails"
# Ranks, the program and its words, and parts of the sentence.
REFUSED = [
    (1, "11_pipeline/train.py --replicas 2", "1 ranks cannot be 2 replicas"),
    (1, "11_pipeline/train.py --layers 0", "0 layers cannot be divided among 1 stages"),
    (1, "11_pipeline/train_library.py --micro-batches 3", "micro-batches of one size"),
    (1, "11_pipeline/deadlock.py", "deadlock.py wants two ranks"),
    (1, "11_pipeline/tensor_parallel.py", "start at least two, by mpirun or srun"),
    (1, "11_pipeline/tensor_parallel.py --depth 3", "--depth is an even number"),
    (2, "11_pipeline/tensor_parallel.py --width 1", "--width 1 cannot be cut into 2 parts"),
    (1, "12_scaling/study.py", "study.py compares numbers of ranks"),
    (2, "12_scaling/train.py --scaling strong --batch-size 1", "cannot be divided among 2"),
    (2, "12_scaling/study.py --train-samples 30000", "50,000. Ask for at most 25000."),
    (2, f"{FAILING}/study.py", "study.py needs `plan` of train.py"),
]


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """Return what each rank of each program of the table said."""
    root = tmp_path_factory.mktemp("refusals")
    fails = ("def plan(", "raise NotImplementedError(12.1)\n\ndef plan(")
    copy_changed(SCALING, root / FAILING, "train.py", fails)
    found = {}
    for ranks in (1, 2):
        asked = [words for size, words, _ in REFUSED if size == ranks]
        programs = [
            [str((root if FAILING in words else ROOT / "solutions") / program), *more]
            for words in asked
            for program, *more in [words.split()]
        ]
        done = subprocess.run(
            [*launch(ranks, "mpirun"), sys.executable, PROGRAM, "out.json", json.dumps(programs)],
            cwd=root, env=environment(**meet()), capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        said = [json.loads((root / f"out.json.{rank}").read_text()) for rank in range(ranks)]
        found |= zip(asked, zip(*said, strict=True), strict=True)
    return found


@pytest.mark.parametrize(("ranks", "words", "said"), REFUSED)
def test_what_cannot_be_is_one_sentence(ranks, words, said, refusals):
    first, *others = refusals[words]
    assert said in (first or "")
    assert ("Traceback" in first) == (FAILING in words)
    assert ("NotImplementedError: 12.1" in first) == (FAILING in words)
    assert FAILING in words or set(others) <= {None, first}
