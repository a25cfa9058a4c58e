"""The public checks: right solutions pass, gaps are called gaps, each usual mistake gets advice
about that mistake."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from lessons.toolkit.checks import lesson_00, lesson_02
from lessons.toolkit.checks.check import CheckFailed, checks_of, exercise

ROOT = Path(__file__).parents[2]


def failure(check, *students, **options):
    with pytest.raises(CheckFailed) as caught:
        check(*students, **options)
    return caught.value


def assert_advice(failed, words):
    """Three lines, of which the last is about this mistake."""
    lines = [line.split(maxsplit=1)[0] for line in failed.lines()]
    assert lines == ["Exercise", "expected", "found", "try"], str(failed)
    assert words.lower() in str(failed).lower(), str(failed)


def gap(*arguments):
    raise NotImplementedError("Exercise 2.4: each number may be off by half a second")


def test_every_check_has_a_number_and_says_what_it_wants():
    for module, numbers in ((lesson_00, "0.1 0.2 0.3 0.4 0.5"), (lesson_02, "2.1 2.2 2.3 2.4 2.5")):
        checks = checks_of(module)
        assert sorted(checks) == numbers.split()
        for number, check in checks.items():
            assert check.__name__ == f"check_{number.replace('.', '_')}"
            assert len(check.__doc__) > 40


def test_a_gap_is_called_a_gap():
    failed = failure(lesson_02.check_2_4, gap, gap)
    assert str(failed).startswith("Exercise 2.4 is still a gap: each number may be off by half a")


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


def test_an_error_in_the_students_code_names_its_line():
    failed = failure(lesson_02.check_2_5, broken)
    assert "name 'sample' is not defined" in str(failed)
    assert "return us * sample / 1e6" in str(failed)
    assert_advice(failed, "misspelt")


def test_a_function_that_takes_other_arguments():
    assert_advice(failure(lesson_02.check_2_5, lambda us: us), "as its first line")


def test_a_fault_deep_in_a_library_names_the_students_line():
    import numpy as np

    def seconds(us, samples):
        return np.linalg.inv(np.ones(3))

    assert "np.linalg.inv" in str(failure(lesson_02.check_2_5, seconds))


def test_success_is_one_line(capsys):
    lesson_02.check_2_5(lambda us, samples: us * samples / 1e6)
    assert (
        capsys.readouterr().out
        == "Exercise 2.5: right. 9.12, 5.82 and 3.84 s, where whole seconds would say 9, 6 and 4.\n"
    )


# Exercises 2.3 to 2.5: (function, wrong solution, what the advice must be about)
RIGHT = {
    "epoch_time": lambda seconds: statistics.median(seconds[1:]),
    "throughput": lambda samples, seconds: samples / seconds,
    "speedup": lambda base, seconds: base / seconds,
    "efficiency": lambda base, seconds, devices: base / seconds / devices,
    "interval": lambda a, b: ((a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)),
    "throughput_interval": lambda n, s: (n / (s + 0.5), n / (s - 0.5)),
    "seconds_from_us": lambda us, samples: us * samples / 1e6,
}
CHECKS = {
    lesson_02.check_2_3: ("epoch_time", "throughput", "speedup", "efficiency"),
    lesson_02.check_2_4: ("interval", "throughput_interval"),
    lesson_02.check_2_5: ("seconds_from_us",),
}
WRONG = [
    ("epoch_time", lambda s: statistics.mean(s), "mean of all epochs"),
    ("epoch_time", lambda s: statistics.mean(s[1:]), "mean without the first"),
    ("epoch_time", lambda s: statistics.median(s), "first one pays for compiling"),
    ("epoch_time", lambda s: min(s), "fastest"),
    ("epoch_time", lambda s: sum(s), "sum of all"),
    ("epoch_time", lambda s: s[0], "the only one that does not count"),
    ("epoch_time", lambda s: None, "return"),
    ("throughput", lambda n, s: s / n, "the other way round"),
    ("throughput", lambda n, s: (n + 10_000) / s, "test images"),
    ("throughput", lambda n, s: n * s, "divide by the seconds"),
    ("throughput", lambda n, s: f"{n / s} images/s", "not text"),
    ("throughput", lambda n, s: float("nan"), "one number"),
    ("speedup", lambda base, s: s / base, "other way round"),
    ("speedup", lambda base, s: base - s, "difference"),
    ("speedup", lambda base, s: (base - s) / base, "time saved"),
    ("efficiency", lambda base, s, n: base / s, "divide it by the number of devices"),
    ("efficiency", lambda base, s, n: 100 * base / s / n, "not per cent"),
    ("efficiency", lambda base, s, n: s / base / n, "upside down"),
    ("efficiency", lambda base, s, n: base / s * n, "instead of multiplying"),
    ("interval", lambda a, b: ((a - 0.5) / (b - 0.5), (a + 0.5) / (b + 0.5)), "LARGEST"),
    ("interval", lambda a, b: ((a + 0.5) / (b + 0.5), (a - 0.5) / (b - 0.5)), "LARGEST"),
    ("interval", lambda a, b: ((a + 0.5) / (b - 0.5), (a - 0.5) / (b + 0.5)), "exchanged"),
    ("interval", lambda a, b: ((a - 1) / (b + 1), (a + 1) / (b - 1)), "half a second"),
    ("interval", lambda a, b: (a / (b + 1), (a + 1) / b), "cutting off"),
    ("interval", lambda a, b: a / b, "both ends"),
    ("interval", lambda a, b: None, "return"),
    ("throughput_interval", lambda n, s: (n / (s - 0.5), n / (s + 0.5)), "exchanged"),
    ("throughput_interval", lambda n, s: (n / (s + 1), n / (s - 1)), "half a second"),
    ("throughput_interval", lambda n, s: ((s + 0.5) / n, (s - 0.5) / n), "seconds a sample"),
    ("seconds_from_us", lambda us, n: us * n, "microseconds"),
    ("seconds_from_us", lambda us, n: us * n / 1000, "milliseconds"),
    ("seconds_from_us", lambda us, n: us / n / 1e6, "multiply"),
    ("seconds_from_us", lambda us, n: us / 1e6, "one sample"),
    ("seconds_from_us", lambda us, n: round(us * n / 1e6), "do not round"),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.number)
def test_right_functions_pass(check):
    check(*(RIGHT[name] for name in CHECKS[check]))


@pytest.mark.parametrize(("name", "function", "advice"), WRONG)
def test_each_wrong_function_gets_its_advice(name, function, advice):
    [check] = [check for check, names in CHECKS.items() if name in names]
    assert_advice(failure(check, *({**RIGHT, name: function}[n] for n in CHECKS[check])), advice)


# Exercise 2.2
def torch_step(lines):
    """A training step made of these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    scope = {}
    exec(f"def train_step(model, optimizer, loss_function, x, y):\n{body}", scope)
    return scope["train_step"]


ZERO, FORWARD, LOSS = (
    "optimizer.zero_grad()",
    "outputs = model(x)",
    "loss = loss_function(outputs, y)",
)
BACKWARD, STEP, RETURN = "loss.backward()", "optimizer.step()", "return loss, outputs"
FRESH = "loss = loss_function(outputs.detach(), y)"
STEPS = [
    ([FORWARD, LOSS, BACKWARD, STEP, RETURN], "zero_grad()` is missing"),
    ([ZERO, FORWARD, LOSS, STEP, RETURN], "backward()` is missing"),
    ([ZERO, FORWARD, LOSS, BACKWARD, RETURN], "step()` is missing"),
    ([FORWARD, LOSS, BACKWARD, ZERO, STEP, RETURN], "throws the new gradients away"),
    ([ZERO, FORWARD, LOSS, STEP, BACKWARD, RETURN], "`step` needs the gradients"),
    ([ZERO, FORWARD, LOSS, BACKWARD, STEP], "return loss, outputs"),
    ([ZERO, FORWARD, LOSS, BACKWARD, STEP, "return loss.item()"], "return loss, outputs"),
    ([ZERO, FORWARD, LOSS, BACKWARD, STEP, "return outputs, loss"], "return loss, outputs"),
    ([ZERO, FORWARD, FRESH, BACKWARD, STEP, RETURN], "does not require grad"),
    ([ZERO, FORWARD, LOSS, "loss = -loss", BACKWARD, STEP, RETURN], "the loss of these outputs"),
    ([ZERO, "outputs = model()", LOSS, BACKWARD, STEP, RETURN], "line 3 of train_step"),
]


@pytest.mark.parametrize(("lines", "advice"), STEPS)
def test_training_steps_that_do_not_train(lines, advice):
    assert_advice(failure(lesson_02.check_2_2, torch_step(lines)), advice)


@pytest.mark.parametrize(
    "lines",
    [
        [ZERO, FORWARD, LOSS, BACKWARD, STEP, RETURN],
        [FORWARD, LOSS, ZERO, BACKWARD, STEP, RETURN],
        [FORWARD, LOSS, BACKWARD, STEP, ZERO, RETURN],
    ],
)
def test_orders_of_a_training_step_that_train(lines):
    lesson_02.check_2_2(torch_step(lines))


# Exercise 2.1, in one process of its own: TensorFlow takes seconds to import.
NETWORKS = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from lessons.toolkit.checks.lesson_02 import check_2_1
L, S = tf.keras.layers, tf.keras.Sequential
first, hidden = L.Flatten(input_shape=(28, 28)), L.Dense(512, activation="relu")
networks = [
    ([hidden, L.Dense(10, "softmax")], None),
    ([L.Dense(512), L.ReLU(), L.Dense(10), L.Softmax()], None),
    ([L.Dense(64, "relu"), L.Dense(10, "softmax")], "64 units; it should have 512"),
    ([L.Dense(512, "relu"), L.Dense(10)], 'activation="softmax"'),
    ([L.Dense(512, "relu"), L.Dense(10, "sigmoid")], 'activation="softmax"'),
    ([L.Dense(512), L.Dense(10, "softmax")], "no activation"),
    ([L.Dense(512, "tanh"), L.Dense(10, "softmax")], "another activation"),
    ([L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(10, "softmax")], "too many"),
    ([L.Dense(512, "relu"), L.Dense(1, "softmax")], "10 units"),
    ([L.Dense(512, "relu")], "10 units"),
    ([L.Dense(10, "softmax")], "hidden layer is missing"),
    ([L.Dense(512, "relu", use_bias=False), L.Dense(10, "softmax", use_bias=False)], "biases"),
]
failures = 0
def check(build, advice):
    try:
        check_2_1(build)
        said = None
    except Exception as failed:
        said = str(failed)
    if (said is None) != (advice is None) or (advice and advice not in said):
        print("expected", advice, "got", said)
        globals()["failures"] += 1

for layers, advice in networks:
    check(lambda name: S([L.Flatten(input_shape=(28, 28)), *layers]), advice)
flat = S([L.InputLayer((28, 28)), L.Dense(512, "relu"), L.Dense(10, "softmax")])
check(lambda name: flat, "not flattened")
check(lambda name: None, "Keras model")

def unset(name):
    if name == "cnn":
        layers = []
    return S(layers)
check(unset, "before anything was assigned")
raise SystemExit(failures)
"""


def test_networks():
    environ = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    command = [sys.executable, "-c", NETWORKS]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


# Exercise 0.1
JOB = """#!/bin/bash
#SBATCH --job-name=00_cluster
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:05:00
#SBATCH --output=00_cluster_%j.out
#SBATCH --error=00_cluster_%j.err
set -euo pipefail
launch python -u train.py
"""
JOBS = [
    ("--ntasks=2", "--ntasks=", "value after the ="),
    ("per-node=2", "per-node=1", "1 x 1 is not 2"),
    ("--ntasks=2", "--ntasks=two", "whole number"),
    ("--time=00:05:00", "--time=05:00:00", "hours come first"),
    ("--time=00:05:00", "--time=00:05", "minutes:seconds"),
    ("--time=00:05:00", "--time=5min", "--time=5min"),
    ("--time=00:05:00", "--time=UNLIMITED", "no limit"),
    ("%j.out", "1.out", "%j in --output"),
    ("%j.err", "%x.err", "%j in --error"),
    ("%j.err", "%j.out", "two files"),
    ("#SBATCH --error", "# SBATCH --error", "without a space after #"),
    ("#SBATCH --job", "set -e\n#SBATCH --job", "before the first command"),
    ("#!/bin/bash\n", "", "#!/bin/bash"),
]


@pytest.mark.parametrize(("right", "wrong", "advice"), JOBS)
def test_job_files(right, wrong, advice, tmp_path):
    path = tmp_path / "job.sbatch"
    path.write_text(JOB)
    lesson_00.check_0_1(path)
    path.write_text(JOB.replace(right, wrong, 1))
    assert_advice(failure(lesson_00.check_0_1, path), advice)


def test_the_untouched_job_file_is_a_gap(tmp_path):
    path = tmp_path / "job.sbatch"
    lines = [line.split("=")[0] + "=" if line[:9] == "#SBATCH -" and "nodes=" not in line else line
             for line in JOB.splitlines()]  # fmt: skip
    path.write_text("\n".join(lines))
    assert "still a gap" in str(failure(lesson_00.check_0_1, path))
    assert_advice(failure(lesson_00.check_0_1, tmp_path / "nothing"), "no such job file")


# Exercise 0.2
def expand(nodelist, zeros=True, last=1, ranges=True, prefix=True, brackets=True):
    name, bracket, inside = nodelist.rstrip("]").partition("[")
    if not bracket:
        return [nodelist]
    names = []
    for part in inside.split(","):
        first, dash, end = part.partition("-")
        numbers = range(int(first), int(end) + last) if dash and ranges else [part]
        for number in numbers:
            text = str(number).zfill(len(first)) if zeros else str(int(number))
            names.append((name if prefix else "") + (bracket if not brackets else "") + text)
    return names


def read_squeue(line):
    job, _, _, _, state, _, nodes, short = line.split(maxsplit=7)
    return {"job_id": job, "state": state, "nodes": int(nodes), "hosts": expand(short)}


NODE_LISTS = [
    (lambda text: expand(text, zeros=False), "leading zeros"),
    (lambda text: expand(text, last=0), "range(first, last + 1)"),
    (lambda text: expand(text, ranges=False), "01-03 is a range"),
    (lambda text: expand(text, prefix=False), "in front of each number"),
    (lambda text: expand(text, brackets=False), "brackets are still there"),
    (lambda text: text, "list of names"),
    (lambda text: print("nothing") if "[" in text else [text], "return"),
]


@pytest.mark.parametrize(("wrong", "advice"), NODE_LISTS)
def test_node_lists(wrong, advice):
    lesson_00.check_0_2(expand, read_squeue)
    assert_advice(failure(lesson_00.check_0_2, wrong, read_squeue), advice)


SQUEUES = [
    (lambda line: line.split(), "dictionary"),
    (lambda line: read_squeue(line) | {"state": "username"}, "fifth column"),
    (lambda line: read_squeue(line) | {"nodes": "2"}, "int()"),
    (lambda line: read_squeue(line) | {"hosts": "jwc09n[006,009]"}, "expand()"),
    (lambda line: read_squeue(line) | {"job_id": "develgpus"}, "first word"),
]


@pytest.mark.parametrize(("wrong", "advice"), SQUEUES)
def test_lines_of_squeue(wrong, advice):
    assert_advice(failure(lesson_00.check_0_2, expand, wrong), advice)


# Exercise 0.3
NAMES = {
    "rank": ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
    "size": ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"),
    "local_rank": ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"),
}
NOBODY = {"rank": 0, "size": 1, "local_rank": 0}


def facts(environ, convert=int, order=1, default=NOBODY):
    found = dict(default)
    for fact, names in NAMES.items():
        for name in names[::order]:
            if name in environ:
                found[fact] = convert(environ[name])
                break
    return found


FACTS = [
    (lambda environ: facts(environ, convert=str), "int()"),
    (lambda environ: facts(os.environ), "os.environ"),
    (lambda environ: facts(environ, order=-1), "SLURM_PROCID is 0 in every process"),
    (lambda environ: dict(NOBODY), "store what you find"),
    (lambda environ: facts(environ, default={"rank": None, "size": 1, "local_rank": 0}), "rank 0"),
    (lambda environ: {"rank": int(environ["SLURM_PROCID"])}, "if name in environ"),
    (lambda environ: None, "return found"),
]


@pytest.mark.parametrize(("wrong", "advice"), FACTS)
def test_facts_of_a_task(wrong, advice):
    lesson_00.check_0_3(facts)
    assert_advice(failure(lesson_00.check_0_3, wrong), advice)


# Exercise 0.4: what a shell makes of the program's two streams
PROGRAM = f"""
import sys
from lessons.toolkit.record import Record
record = Record("00", source="facts")
print("{lesson_00.WARNING}: it belongs to the error stream.", file=sys.stderr)
record.end()
"""
REDIRECTIONS = [
    ("> out.txt 2> err.txt", None),
    ("> out.txt 2>&1; touch err.txt", "2>&1"),
    ("&> out.txt; touch err.txt", "2>&1"),
    ("> err.txt 2> out.txt", "exchanged"),
    ("> out.txt; touch err.txt", "elsewhere"),
    ("> out.txt", "none"),
    ("> /dev/null; touch out.txt err.txt", "both are empty"),
    ("--crash > out.txt 2> err.txt", "program that runs"),
]


@pytest.mark.parametrize(("redirection", "advice"), REDIRECTIONS)
def test_streams(redirection, advice, tmp_path):
    crash = "import sys\nif '--crash' in sys.argv: raise ValueError('seconds')\n"
    (tmp_path / "train.py").write_text(crash + PROGRAM)
    command = f"{sys.executable} -u train.py {redirection}"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, stdout=subprocess.DEVNULL)
    arguments = (tmp_path / "out.txt", tmp_path / "err.txt")
    if advice is None:
        lesson_00.check_0_4(*arguments)
    else:
        assert_advice(failure(lesson_00.check_0_4, *arguments), advice)


# Exercise 0.5
GOOD = {
    "python": "/env/bin/python",
    "prefix": "/env",
    "course": True,
    "own": True,
    "kernels": ["dl-course"],
}


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ({"course": False}, "environment.yml"),
        ({"own": False}, "base installation"),
        ({"kernels": []}, "cluster kernel install"),
    ],
)
def test_environments(wrong, advice):
    lesson_00.check_0_5(GOOD)
    assert_advice(failure(lesson_00.check_0_5, GOOD | wrong), advice)


def test_this_environment_is_the_courses():
    lesson_00.check_0_5()


def test_a_check_that_is_broken_itself_is_not_silent():
    @exercise("9.9")
    def check(student):
        """Something that goes wrong in the check and not in the student's function."""
        return student() + 1

    assert_advice(failure(check, lambda: "text"), "cannot be used")
