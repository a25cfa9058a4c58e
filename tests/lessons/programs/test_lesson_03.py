"""Lesson 03's program: one sentence to mistakes, and what the grader says of them."""

import os
import subprocess
import sys

import pytest
from check_table import rows
from real_runs import ROOT, asked, grade_class, lost, points_of, run_one_by_one

LESSON = ROOT / "solutions" / "03_baseline"
SIZES = ("--size", "32", "--train-samples", "512", "--test-samples", "32", "--batch-size", "64")


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "exercises"), [("03", 6), ("04", 5), ("05", 6)])
def test_every_exercise_of_an_untouched_lesson_is_a_gap(lesson, exercises, lessons_command):
    [folder] = (ROOT / "lessons").glob(f"{lesson}_*")
    found = rows(lessons_command("check", lesson, "--in", folder).output)
    assert [result for result, _ in found.values()] == ["still a gap"] * exercises


@pytest.mark.parametrize("typed", ["3.2", "03.2", "3.4b"])
@pytest.mark.parametrize("where", [[], ["--in", "."]])
def test_an_exercise_instead_of_a_lesson_is_told_what_to_type(typed, where, lessons_command):
    done = lessons_command("check", typed, *where)
    assert done.exit_code == 2
    assert f"{typed} is one exercise" in done.output
    assert " ".join(["Type: lessons check 03", *where]) in done.output


def train(program, *arguments, out, **env):
    """Start a program as a job does; its output goes to a file of the folder `out`."""
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"} | env
    with (out / "03_baseline_1.out").open("w") as sink:
        return subprocess.run(
            [sys.executable, "-u", str(program), *arguments],
            cwd=out, env=environ, stdout=sink, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "env", "sentence"),
    [
        (["--model", "ResNet49V2"], {}, "Keras Applications has no network ResNet49V2"),
        (["--model", "resnet"], {}, "Keras Applications has no network resnet"),
        (["--size", "16"], {}, "--model ResNet50V2 --size 16: Input size must be at least 32x32"),
        (
            [],
            # SLURM_JOB_ID: a download is not tried within a job
            {"COURSE_DATA": "nowhere", "COURSE_DATA_CACHE": "nowhere", "SLURM_JOB_ID": "1",
             "COURSE_DATA_STRICT": "1"},
            "CIFAR-10 is not on this machine",
        ),
    ],
)  # fmt: skip
def test_mistakes_end_with_one_sentence(arguments, env, sentence, tmp_path):
    done = train(LESSON / "train.py", "--train-samples", "64", *arguments, out=tmp_path, **env)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


# What a student may do wrong (a change, more arguments), and the checks of the rubric that say so.
MISTAKES = {
    "none": ("", "", (), set()),
    "another batch": ("", "", ("--batch-size", "256"), {"steps"}),
    "half of the images": ("train.shuffle(", "train.take(256).shuffle(", (), {"steps"}),
    "every image twice": ("train.shuffle(", "train.repeat(2).shuffle(", (), {"steps"}),
    "one epoch": ("", "", ("--epochs", "1"), {"learns", "baseline"}),
    "frozen": ("    model.compile(", "    model.trainable = False\n    model.compile(", (),
               {"learns"}),
    "1000 classes": ("classes=10", "classes=1000", (), set()),
}  # fmt: skip
# The student's own network, light and so with other parameters than asked: what else is told.
OWN = {
    "own task": ((), ()),
    "own task on few": (("--train-samples", "128"), ("unique samples of resnet152 = 512",)),
    "own task in large": (("--size", "40"), ("image size of resnet152 = 32",)),
}


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """What the grader says of each, all run by one process: TensorFlow starts only once."""
    solution, programs = (LESSON / "train.py").read_text(), {}
    for name, (old, new, words, _) in MISTAKES.items():
        assert not old or solution.count(old) == 1
        text = solution.replace(old, new) if old else solution
        if name != "1000 classes":
            # A light network under the name of the asked one: seconds instead of minutes.
            text = text.replace('if name == "cnn":', 'if name == "ResNet50V2":')
        programs[name] = asked(text, *SIZES, "--epochs", "3", *words)
    for name, (words, _) in OWN.items():
        text = solution.replace('if name == "cnn":', "if name:")
        programs[name] = asked(text, "--model", "ResNet152V2", *SIZES, "--epochs", "2", *words)
    files = run_one_by_one(LESSON, programs, 1, out=tmp_path_factory.mktemp("runs"))
    outputs = {name: {"03_baseline_1.out": file} for name, file in files.items()}
    return grade_class(outputs, "03", tmp_path_factory.mktemp("graded"))


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, grades):
    checks = grades[mistake]["checks"]
    assert lost(points_of(grades[mistake])) == MISTAKES[mistake][-1] | {"network"}
    [network] = [check["found"] for check in checks if check["id"] == "network"]
    assert ("25,613,800" in network) == (mistake == "1000 classes")


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_the_own_task_is_asked_at_the_baselines_size(name, grades):
    [own] = [check for check in grades[name]["checks"] if check["id"] == "resnet152"]
    assert own["expected"].split("; ") == ["parameters of resnet152 = 58,352,138", *OWN[name][1]]
