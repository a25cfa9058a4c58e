"""Lesson 03's program: a small diff, one sentence to mistakes, and what the grader says of them."""

import json
import os
import subprocess
import sys

import pytest
from real_runs import ROOT, changed, grade, lost
from test_check import rows

LESSON = ROOT / "solutions" / "03_baseline"
SIZES = ("--size", "32", "--train-samples", "512", "--test-samples", "32", "--batch_size", "64")


def test_the_lesson_is_a_small_diff():
    assert 20 < changed(ROOT / "solutions" / "02_serial" / "train.py", LESSON / "train.py") <= 75


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


# What a student may do wrong, and the checks of the rubric that say so.
MISTAKES = {
    "another batch": ("", "", ("--batch_size", "256"), {"steps"}),
    "half of the images": ("train.shuffle(", "train.take(256).shuffle(", (), {"steps"}),
    "every image twice": ("train.shuffle(", "train.repeat(2).shuffle(", (), {"steps"}),
    "one epoch": ("", "", ("--epochs", "1"), {"learns", "baseline"}),
    "frozen": ("    model.compile(", "    model.trainable = False\n    model.compile(", (),
               {"learns"}),
}  # fmt: skip


def wrong_checks(source, folder, *arguments):
    folder.mkdir()
    program = folder.parent / "train.py"
    program.write_text(source)
    done = train(program, *SIZES, "--epochs", "3", *arguments, out=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    return lost(grade(folder, "03"))


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [None, *MISTAKES])
def test_the_grader_names_a_mistake(mistake, tmp_path):
    source = (LESSON / "train.py").read_text()
    # A light network under the name of the asked one: seconds instead of minutes, and it shows.
    source = source.replace('if name == "cnn":', 'if name == "ResNet50V2":')
    old, new, arguments, failed = MISTAKES.get(mistake, ("", "", (), set()))
    assert not old or source.count(old) == 1
    source = source.replace(old, new) if old else source
    assert wrong_checks(source, tmp_path / "you", *arguments) == failed | {"network"}


@pytest.mark.slow
def test_the_grader_names_1000_classes(tmp_path):
    source = (LESSON / "train.py").read_text()
    assert source.count("classes=10") == 1
    source = source.replace("classes=10", "classes=1000")
    assert wrong_checks(source, tmp_path / "you") == {"network"}
    assert "25,613,800" in (tmp_path / "grades" / "students" / "you.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), ()),
        (("--train-samples", "128"), ("unique samples of resnet152 = 512",)),
        (("--size", "40"), ("image size of resnet152 = 32",)),
    ],
)
def test_the_own_task_is_asked_at_the_baselines_size(arguments, told, tmp_path):
    source = (LESSON / "train.py").read_text().replace('if name == "cnn":', "if name:")
    (tmp_path / "train.py").write_text(source)  # light, and so with other parameters than asked
    (tmp_path / "you").mkdir()
    words = ("--model", "ResNet152V2", *SIZES, "--epochs", "2", *arguments)
    done = train(tmp_path / "train.py", *words, out=tmp_path / "you")
    assert done.returncode == 0, done.stderr[-2000:]
    grade(tmp_path / "you", "03")
    [record] = (tmp_path / "grades" / "records").glob("*.json")
    [own] = [c for c in json.loads(record.read_text())["grades"][0]["checks"]
             if c["id"] == "resnet152"]  # fmt: skip
    assert own["expected"].split("; ") == ["parameters of resnet152 = 58,352,138", *told]
