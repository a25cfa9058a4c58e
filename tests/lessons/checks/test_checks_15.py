"""Lesson 15's public checks: the solution passes, and each usual mistake gets its advice."""

import pytest
from advice import ROOT, assert_advice, changed, failure

from lessons.toolkit.checks import lesson_15 as check
from lessons.toolkit.checks.shared.check import CheckFailed, checks_of
from tests.breadth import slow

LESSON = ROOT / "solutions" / "15_survive"
CHECKS = {  # exercise -> its check, the file, and what of it the check takes
    "15.1": (check.check_15_1, "sampler.py", None),
    "15.2": (check.check_15_2, "atomic.py", None),
    "15.3": (check.check_15_3, "atomic.py", None),
    "15.4": (check.check_15_4, "signals.py", None),
    "15.7": (check.check_15_7, "sharded.py", None),
    "15.8": (check.check_15_8, "pieces.py", "add_gradients"),
}
ON_RANKS = ("15.3", "15.4", "15.7")


@pytest.fixture
def students(tmp_path):
    """Return a function that returns an exercise's check and its argument, with changes."""

    def get(number, *changes):
        function, file, name = CHECKS[number]
        module = changed(tmp_path, LESSON.name, file, *changes)
        return function, getattr(module, name) if name else module

    return get


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*CHECKS, "15.5", "15.6"}


@pytest.mark.parametrize("number", [slow(n) if n in ON_RANKS else n for n in CHECKS])
def test_the_solution_passes(number, students):
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
PLACE = '        self.position = state["position"]\n'
BESIDE = 'Path(path).with_suffix(".writing")'
WEIGHT = " * (len(piece) / len(batch))"
WRONG = [
    ("15.1", SET, "", "the generator look like"),
    ("15.1", "self.before}", "self.generator.get_state()}", "the generator look like"),
    ("15.1", SET + "        self.shuffle()\n" + PLACE, SET + PLACE + "        self.shuffle()\n",
     "else does shuffle() change"),
    ("15.2", "        os.fsync(file.fileno())\n", "", "right after os.replace"),
    ("15.2", "torch.save(state, file)\n",
     'torch.save(state, saved := __import__("io").BytesIO())\n'
     "        file.write(saved.getvalue())\n",
     "right after os.replace"),
    ("15.2", "    os.replace(beside, path)\n", "", "gets its name last"),
    ("15.2", BESIDE, "Path(path)", "files_in"),
    ("15.2", BESIDE, 'Path(path).with_name("step_new.pt")', "files_in"),
    ("15.2", ', map_location="cpu")\n        except', ")\n        except", "Compare newest"),
    ("15.2", "except Exception as error", "except KeyError as error", "central directory"),
    ("15.3", "newest(folder) if dist.get_rank() == 0 else None", "newest(folder)", "Only rank 0"),
    ("15.3", "dist.broadcast_object_list(chosen)\n",
     "dist.broadcast_object_list(chosen)\n    dist.broadcast_object_list([saved])\n",
     "read the file themselves"),
    ("15.4", "(flag, dist.ReduceOp.MAX)", "(flag, dist.ReduceOp.MIN)", "wait for its gradients"),
    ("15.4", "return bool(flag)", "return flag", "True or False"),
    ("15.4", "    dist.all_reduce(flag, dist.ReduceOp.MAX)\n", "", "wait for its gradients"),
    ("15.7", "dcp.async_save(state, checkpoint_id=beside, process_group=self.group)",
     "dcp.save(state, checkpoint_id=beside)", "AttributeError"),
    ("15.7", ", process_group=self.group)", ")", "Every rank calls the same collectives"),
    ("15.7", '"model": parameters, "optimizer": state}\n', '"model": parameters}\n',
     "RuntimeError: Missing key"),
    ("15.7", 'self.path.with_suffix(".writing")\n', "self.path\n", "FileNotFoundError"),
    ("15.7", "        self.written.result()\n", "", "when do all ranks know"),
    ("15.8", WEIGHT, "", "share of the batch's mean"),
    ("15.8", "part.split", "batch.split", "batch[rank::size]"),
    ("15.8", "total += loss.detach()", "total += loss", "keeps the activations"),
    ("15.8", ".split(most)", ".split(12)", "short enough"),
]  # fmt: skip


def test_an_error_of_the_background_writer_reaches_the_training(tmp_path):
    background = changed(tmp_path, LESSON.name, "background.py")

    def full(state, folder):
        raise OSError("No space left on device")

    write = background.Background(full)
    write({"step": 1}, "nowhere")
    with pytest.raises(OSError, match="No space left"):
        write.wait()
    with pytest.raises(OSError, match="No space left"):
        write({"step": 2}, "nowhere")


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(
    ("number", "old", "new", "advice"),
    [slow(case) if case[0] in ON_RANKS else case for case in WRONG],
)
def test_a_mistake_has_a_name(number, old, new, advice, students):
    function, student = students(number, (old, new))
    assert_advice(failure(function, student), advice)
