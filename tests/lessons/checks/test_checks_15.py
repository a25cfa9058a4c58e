"""Lesson 15's public checks: the solution passes, and each usual mistake gets its advice."""

import types
from pathlib import Path

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_15 as check
from lessons.toolkit.checks.shared.check import CheckFailed, checks_of

LESSON = ROOT / "solutions" / "15_survive"


def changed(name, *changes):
    """Return the solution's module with some of its text changed."""
    text = (LESSON / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    module = types.ModuleType(Path(name).stem)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


CHECKS = {  # exercise -> its check, the file, and what of it the check takes
    "15.1": (check.check_15_1, "snapshot.py", None),
    "15.2": (check.check_15_2, "sampler.py", None),
    "15.3": (check.check_15_3, "atomic.py", None),
    "15.4": (check.check_15_4, "signals.py", None),
    "15.7": (check.check_15_7, "interval.py", "best_interval"),
    "15.8": (check.check_15_8, "background.py", "copied"),
    "15.9": (check.check_15_9, "pieces.py", "add_gradients"),
}


def students(number, *changes):
    """Return the arguments of this exercise's check."""
    function, file, name = CHECKS[number]
    module = changed(file, *changes)
    return function, getattr(module, name) if name else module


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*CHECKS, "15.5", "15.6"}


@pytest.mark.parametrize("number", CHECKS)
def test_the_solution_passes(number):
    function, student = students(number)
    function(student)


def test_the_solution_s_job_file_passes():
    check.check_15_5(str(LESSON / "job.sbatch"))


@pytest.mark.slow  # it calls pkill, which not every machine has
def test_the_solution_s_shell_passes():
    check.check_15_6(str(LESSON / "job_shell.sbatch"))


def test_without_pkill_the_check_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CheckFailed, match="procps"):
        check.check_15_6(str(LESSON / "job_shell.sbatch"))


SET = '        self.generator.set_state(state["generator"])\n'
PLACE = '        self.epoch, self.position = state["epoch"], state["position"]\n'
WEIGHT = " * (len(piece) / len(batch))"
WRONG = [
    ("15.1", '        "optimizer": training.optimizer.state_dict(),\n', "", "KeyError"),
    ("15.1", '    training.optimizer.load_state_dict(saved["optimizer"])\n', "", "running means"),
    ("15.1", '    training.network.load_state_dict(saved["network"])\n', "", "load_state_dict"),
    ("15.2", SET, "", "before this epoch's shuffle"),
    ("15.2", "self.before}", "self.generator.get_state()}", "before this epoch's shuffle"),
    ("15.2", SET + "        self.shuffle()\n" + PLACE, SET + PLACE + "        self.shuffle()\n",
     "sets the position to 0"),
    ("15.3", "        os.fsync(file.fileno())\n", "", "os.fsync"),
    ("15.3", "    os.replace(beside, path)\n", "", "filenotfound|os.replace"),
    ("15.3", 'Path(path).with_suffix(".writing")', "Path(path)", "to another name"),
    ("15.4", "(flag, dist.ReduceOp.MAX)", "(flag, dist.ReduceOp.MIN)", "wait for"),
    ("15.4", "return bool(flag)", "return flag", "Return bool"),
    ("15.4", "    dist.all_reduce(flag, dist.ReduceOp.MAX)\n", "", "wait for its gradients"),
    ("15.7", "node_mtbf_s / nodes", "node_mtbf_s", "n times as often"),
    ("15.7", "node_mtbf_s / nodes", "node_mtbf_s * nodes", "MTBF is shorter"),
    ("15.7", "(2 * write_s", "(write_s", "2 is missing"),
    ("15.8", '.detach().to("cpu", copy=True)', '.detach().to("cpu")', "copy=True"),
    ("15.8", "value.detach().to(", "value.to(", "detach"),
    ("15.8", "isinstance(value, list | tuple)", "isinstance(value, list)", "copy=True"),
    ("15.9", WEIGHT, "", "len(piece) /"),
    ("15.9", "batch[rank::size]", "batch", "batch[rank::size]"),
    ("15.9", ".split(most)", ".split(12)", ".split(most)"),
]  # fmt: skip


def test_an_error_of_the_background_writer_reaches_the_training():
    background = changed("background.py")

    def full(state, folder):
        raise OSError("No space left on device")

    write = background.Background(full)
    write({"step": 1}, "nowhere")
    with pytest.raises(OSError, match="No space left"):
        write.wait()
    with pytest.raises(OSError, match="No space left"):
        write({"step": 2}, "nowhere")


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(("number", "old", "new", "advice"), WRONG)
def test_a_mistake_has_a_name(number, old, new, advice):
    function, student = students(number, (old, new))
    failed = failure(function, student)
    said = str(failed).lower()
    assert any(words in said for words in advice.lower().split("|")), said
    assert_advice(failed, "try")
