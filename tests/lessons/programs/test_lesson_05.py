"""Lesson 05's program: N replicas are one training, and the grader names what makes it another."""

import os
import subprocess
import sys

import pytest
from real_runs import ROOT, asked, grade_class, lost, points_of, run_one_by_one

LESSON = ROOT / "solutions" / "05_mirrored"
PROGRAM = (LESSON / "train.py").read_text()
# A network of a few thousand parameters in the place of the light one: what it learns is not asked.
TINY = PROGRAM.replace("Conv2D(32, 3,", "Conv2D(4, 5, strides=4,").replace("Dense(128,", "Dense(8,")
SIZES = ["--model", "cnn", "--size", "32", "--train-samples", "2048", "--test-samples", "64"]
THREE = ["--batch-size", "128", "--epochs", "3"]
TEN = ["--epochs", "1", "--steps", "10"]
TEN_ONE = [*TEN, "--batch-size", "128", "--lr", "0.02"]
TEN_TWO = [*TEN, "--batch-size", "64", "--lr", "0.01"]


# After three steps on the same batches, parameters of n replicas against those of one. One n in
# a process: TensorFlow's collectives take a group of one size only.
EQUAL = f"""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import sys
sys.path.insert(0, {str(LESSON)!r})
import numpy as np
import train
tf, keras = train.tf, train.keras

images = np.random.default_rng(5).integers(0, 256, (36, 32, 32, 3), np.uint8)
labels = np.arange(36) % 10
several = int(sys.argv[1])
names = train.devices(several)
found = {{}}
for n in (1, several):
    strategy = tf.distribute.MirroredStrategy(names[:n])
    keras.utils.set_random_seed(1)
    batch, lr = train.for_all(12 // n, 0.06 / n, n)
    data = train.prepare(tf.data.Dataset.from_tensor_slices((images, labels)), 32, batch)
    model = train.build_mirrored(strategy, "cnn", 32, lr)
    start = model.get_weights()
    model.fit(data, verbose=0)
    copies = [train.copies(strategy, variable) for variable in model.variables]
    assert {{len(each) for each in copies}} == {{n}}
    assert max(np.ptp(each, axis=0).max() for each in copies) == 0
    found[n] = model.get_weights()
    moved = max(abs(a - b).max() for a, b in zip(start, found[n]))
    away = max(abs(a - b).max() for a, b in zip(found[1], found[n]))
    print(n, "replicas moved by", moved, "and are away from one by", away)
    assert away <= 1e-6 < 1e-3 < moved
"""


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [2, 3])
def test_replicas_equal_one_replica_on_the_whole_batch(replicas):
    done = subprocess.run(
        [sys.executable, "-c", EQUAL, str(replicas)],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def train(source, folder, number, n_gpus, *words):
    """Start a program as a job does; the folder keeps its output."""
    folder.mkdir(exist_ok=True)
    program = folder / "train.py"
    program.write_text(source)
    with (folder / f"05_mirrored_{number}.out").open("w") as sink:
        return subprocess.run(
            [sys.executable, "-u", str(program), "--n-gpus", str(n_gpus), *SIZES, *words],
            cwd=folder, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=sink, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_gpus", "words", "sentence"),
    [
        (0, [], "--n-gpus 0 cannot be had: this job sees 2"),
        (1, ["--model", "ResNet49V2"], "Keras Applications has no network ResNet49V2"),
        (2, ["--model", "ResNet50V2", "--size", "16"], "Input size must be at least 32x32"),
    ],
)
def test_mistakes_end_with_one_sentence(n_gpus, words, sentence, tmp_path):
    done = train(PROGRAM, tmp_path, 1, n_gpus, *words)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


SCOPE = "    with strategy.scope():\n        model = build_model(name, size)\n"
# What a student may do wrong: the job that is another, the change, and the checks that say so.
MISTAKES = {
    "none": (1, "", "", set()),
    "built and compiled outside": (
        2, SCOPE, "    if True:\n        model = build_model(name, size)\n",
        {"replicas", "batch-and-rate"},
    ),
    "all devices instead of the asked one": (
        1, "tf.distribute.MirroredStrategy(devices(args.n_gpus))",
        "devices(args.n_gpus) and tf.distribute.MirroredStrategy()", {"replicas"},
    ),
    "no strategy": (
        2, "MirroredStrategy(devices(args.n_gpus))", "OneDeviceStrategy(devices(2)[0])",
        {"replicas"},
    ),
    "rate not scaled": (2, "return batch * replicas, lr * replicas",
                        "return batch * replicas, lr", {"batch-and-rate"}),
    "batch not scaled": (2, "return batch * replicas, lr * replicas",
                         "return batch, lr * replicas", {"batch-and-rate"}),
    "the pipeline makes batches of a replica": (
        2, "args.size, batch).take", "args.size, args.batch_size).take", {"batch-and-rate"},
    ),
    "ten steps with another batch": (4, "", "", {"same-training"}),
}  # fmt: skip


JOBS = {1: [1, *THREE], 2: [2, *THREE], 3: [1, *TEN_ONE], 4: [2, *TEN_TWO]}


def job(number, *words, text=TINY):
    """The program with the arguments of one of the lesson's jobs, and more."""
    return asked(text, "--n-gpus", *JOBS[number], *SIZES, *words)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What the four jobs and those with a mistake print, in one process: TensorFlow starts once."""
    programs = {f"right {number}": job(number) for number in JOBS}
    for name, (number, old, new, _) in MISTAKES.items():
        assert not old or TINY.count(old) == 1
        words = ["--batch-size", "128"] if number == 4 else []
        programs[name] = job(number, *words, text=TINY.replace(old, new) if old else TINY)
    return run_one_by_one(LESSON, programs, 1, out=tmp_path_factory.mktemp("runs"))


def outputs_with(runs, number, output):
    """The outputs of the four right jobs, one of them replaced."""
    files = {n: runs[f"right {n}"] for n in JOBS} | {number: output}
    return {f"05_mirrored_{n}.out": file for n, file in files.items()}


@pytest.fixture(scope="module")
def grades(runs, tmp_path_factory):
    outputs = {name: outputs_with(runs, MISTAKES[name][0], runs[name]) for name in MISTAKES}
    return grade_class(outputs, "05", tmp_path_factory.mktemp("graded"))


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, grades):
    assert lost(points_of(grades[mistake])) == MISTAKES[mistake][-1]


@pytest.mark.slow
def test_a_network_built_outside_the_scope_ends_the_job(runs, tmp_path):
    outside = TINY.replace(
        SCOPE, "    model = build_model(name, size)\n    with strategy.scope():\n"
    )
    folder = tmp_path / "one"
    done = train(outside, folder, 2, 2, *THREE)
    assert done.returncode == 1
    assert "not created in the distribution strategy scope" in done.stderr
    outputs = {"you": outputs_with(runs, 2, folder / "05_mirrored_2.out")}
    assert lost(points_of(grade_class(outputs, "05", tmp_path)["you"])) == {"replicas"}
