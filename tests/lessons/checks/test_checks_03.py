"""The public checks of lesson 03: right solutions pass, each usual mistake gets its advice."""

import ast
import math

import pytest
import yaml
from advice import ROOT, assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_03
from lessons.toolkit.checks.lesson_03 import job, networks


def gap(*_):
    raise NotImplementedError("Exercise 3.5: return a list")


# Exercise 3.1
def decode(row):
    return row.reshape(3, 32, 32).transpose(1, 2, 0)


DECODERS = [
    (lambda row: row.reshape(32, 32, 3), "colour noise"),
    (lambda row: row.reshape(3, 32, 32), "still come first"),
    (lambda row: row.reshape(3, 32, 32).T, "picture is on its side"),
]


def test_decode():
    lesson_03.check_3_1(decode)


@pytest.mark.parametrize(("wrong", "advice"), DECODERS)
def test_wrong_decoders(wrong, advice):
    assert_advice(failure(lesson_03.check_3_1, wrong), advice)


# Exercises 3.2 and 3.3: mistakes in the program, in one process: TensorFlow is slow to import.
RESIZED = "tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size))"
PROGRAM_MISTAKES = [
    ("3.2", " / 255", "", "Divide the pixels by 255, once"),
    ("3.2", " / 255", " / 255 / 255", "once"),
    ("3.2", RESIZED, "tf.cast(images, tf.float32) / 255", "tf.image.resize(images"),
    ("3.3", ", classes=10", "", "1,000 classes"),
    ("3.3", "classes=10", "include_top=False", "leave include_top alone"),
    ("3.3", "weights=None", 'weights="imagenet"', "weights"),
]  # fmt: skip
SCRIPT = f"""
import os, re, sys, types
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
from lessons.toolkit.checks import lesson_03
from lessons.toolkit.checks.lesson_03 import networks
from lessons.toolkit.checks.shared import check
checks = check.checks_of(lesson_03)
source = open("solutions/03_baseline/train.py").read()

def said(number, text):
    program = types.ModuleType("train")
    exec(compile(text, "train.py", "exec"), program.__dict__)
    try:
        checks[number](program.prepare if number == "3.2" else program)
    except check.CheckFailed as failed:
        return str(failed)
    return None

failures = 0
def expect(what, found, advice):
    global failures
    if (found is None) != (advice is None) or (advice and advice.lower() not in found.lower()):
        print(what, "expected:", advice, "got:", found)
        failures += 1

for number in ("3.2", "3.3"):
    expect(number, said(number, source), None)
    gap = re.sub(r"( *)### BEGIN SOLUTION (.*)\\n(?:.*\\n)*? *### END SOLUTION",
                 r'\\1raise NotImplementedError("\\2")', source)
    expect(number, said(number, gap), "still a gap")
for number, old, new, advice in {PROGRAM_MISTAKES!r}:
    assert source.count(old) >= 1, old
    expect((number, old, new), said(number, source.replace(old, new)), advice)

# What the check of 3.6 holds to be right is what Keras gives.
from tensorflow import keras
settings = {{"a": dict(input_shape=(128, 128, 3), classes=10),
            "b": dict(input_shape=(128, 128, 3), include_top=False),
            "c": dict(input_shape=(128, 128, 3), include_top=False, pooling="avg"),
            "d": dict(input_shape=(32, 32, 3), include_top=False)}}
for letter, setting in settings.items():
    shape = keras.applications.ResNet50V2(weights=None, **setting).output_shape
    if shape != networks.SHAPES[letter]:
        print(letter, shape)
        failures += 1
sys.exit(failures)
"""


@pytest.mark.slow
def test_the_programs_functions():
    assert_passes(SCRIPT)


# Exercise 3.4
STEPS = [
    (lambda n, batch: n // batch, "Round up"),
    (lambda n, batch: n / batch, "is a whole number"),
    (lambda n, batch: n // batch + 1, "math.ceil"),
]


def test_steps():
    lesson_03.check_3_4(lambda n, batch: math.ceil(n / batch))


@pytest.mark.parametrize(("wrong", "advice"), STEPS)
def test_wrong_steps(wrong, advice):
    assert_advice(failure(lesson_03.check_3_4, wrong), advice)


# Exercise 3.5: what a network is built of does not matter here, only what it counts.
class Built:
    def __init__(self, parameters):
        self.parameters = parameters

    def count_params(self):
        return self.parameters


def build(name, size):
    return Built(58_352_138)


NETWORK_WORDS = ["--model", "ResNet152V2"]
SMALL = ["--size", "32", "--train-samples", "256", "--test-samples", "128", "--batch-size", "32"]
RIGHT_WORDS = [*NETWORK_WORDS, *SMALL]
WORDS = [
    (None, "is there a `return`"),
    ("--model ResNet152V2", "a list of words"),
    (["--model ResNet152V2", *SMALL], "One string for each word"),
]
FULL_WORDS = [
    ([*NETWORK_WORDS, "--size", "32"], "same image size"),
    ([*NETWORK_WORDS, "--train-samples", "512"], "same image size"),
    (RIGHT_WORDS, "same image size"),
]


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("smoke", RIGHT_WORDS),
        ("smoke", ["--epochs", 2, *SMALL, "--model=ResNet152V2"]),
        ("full", NETWORK_WORDS),
        ("full", (*NETWORK_WORDS, "--size", 128, "--batch-size", "128", "--epochs", "5")),
    ],
)
def test_words(profile, words, capsys):
    lesson_03.check_3_5(lambda: words, build, profile)
    typed = " ".join(map(str, words))
    assert capsys.readouterr().out.endswith(f"sbatch job.sbatch {typed}\n")


@pytest.mark.parametrize(("words", "advice"), WORDS)
def test_wrong_words(words, advice):
    assert_advice(failure(lesson_03.check_3_5, lambda: words, build, "smoke"), advice)


@pytest.mark.parametrize(("words", "advice"), FULL_WORDS)
def test_wrong_words_in_full(words, advice):
    assert_advice(failure(lesson_03.check_3_5, lambda: words, build, "full"), advice)


@pytest.mark.parametrize(
    ("parameters", "advice"), [(60_380_648, "classes=10"), (58_391_434, "without V2")]
)
def test_another_network_of_that_name(parameters, advice):
    def other(name, size):
        return Built(parameters)

    assert_advice(failure(lesson_03.check_3_5, lambda: RIGHT_WORDS, other), advice)


def test_the_check_asks_for_what_the_rubric_wants():
    rubric = yaml.safe_load((ROOT / "autograder" / "rubrics" / "03.yaml").read_text())
    [own] = [check for check in rubric["checks"] if check["id"] == "resnet152"]
    wanted = {part["metric"]: part["equal"] for part in own["require"]}
    for profile in ("smoke", "full"):
        asked = job.options(job.ASKED[profile].split())
        assert int(asked["--size"]) == wanted["image_size"][profile]
        assert int(asked["--train-samples"]) == wanted["unique_samples"][profile]
        assert int(asked["--train-samples"]) == rubric["train_samples"][profile]
    assert wanted["params"] == networks.PARAMETERS["ResNet152V2"]


def test_what_the_check_takes_for_unsaid_is_what_job_and_program_do():
    folder = ROOT / "solutions" / "03_baseline"
    lines = (folder / "job.sbatch").read_text().splitlines()
    launched = next(line for line in lines if line.startswith("launch "))
    calls = [
        node
        for node in ast.walk(ast.parse((folder / "train.py").read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
    ]
    defaults = {
        call.args[0].value: str(ast.literal_eval(word.value))
        for call in calls
        for word in call.keywords
        if word.arg == "default"
    }
    defaults |= job.options(launched.split())
    assumed = job.options(job.DEFAULTS.split())
    assert assumed == {name: defaults[name] for name in assumed}  # fmt: skip


# Exercise 3.6
RIGHT = {"a": (None, 10), "b": (None, 4, 4, 2048), "c": (None, 2048), "d": (None, 1, 1, 2048)}
SHAPES = [
    ({"a": (None, 1000)}, "1,000 is only the default"),
    ({"a": (10,)}, "the batch"),
    ({"b": (None, 2048)}, "2,048 pictures"),
]
NO_SHAPES = [
    ((None, 10), "a dictionary"),
    (None, "is there a `return`"),
    ({letter.upper(): shape for letter, shape in RIGHT.items()}, "lower-case letters"),
]


def test_shapes():
    lesson_03.check_3_6(lambda: RIGHT)
    lesson_03.check_3_6(lambda: {letter: list(shape) for letter, shape in RIGHT.items()})


@pytest.mark.parametrize(("wrong", "advice"), SHAPES)
def test_wrong_shapes(wrong, advice):
    assert_advice(failure(lesson_03.check_3_6, lambda: RIGHT | wrong), advice)


@pytest.mark.parametrize(("wrong", "advice"), NO_SHAPES)
def test_what_is_no_dictionary_of_shapes(wrong, advice):
    assert_advice(failure(lesson_03.check_3_6, lambda: wrong), advice)
