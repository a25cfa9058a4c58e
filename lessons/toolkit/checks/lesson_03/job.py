"""Checks of the steps of an epoch (3.4) and of the job's arguments (3.5)."""

from lessons.toolkit.checks.lesson_03.networks import count_is
from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
    check_number,
    exercise,
    shown,
)


@exercise("3.4")
def check_3_4(steps: Function) -> str:
    """50,000 images are 196 batches of 256; the last one is smaller."""
    for n, batch in ((50_000, 256), (50_000, 2048), (512, 64), (50_000, 1)):
        mistakes = {
            n // batch: "This leaves out the last, smaller batch. Round up.",
            n / batch: "The number of steps is a whole number: round up.",
            n // batch + 1: "This is one step too many if n is a multiple of the batch size: use "
            "math.ceil.",
        }
        check_number(steps, "steps", (n, batch), -(-n // batch), mistakes)
    return "196 steps at batch 256, 25 at 2,048."


# Defaults of job.sbatch and train.py, and the required values, as in the rubric.
DEFAULTS = "--size 128 --batch-size 256 --train-samples 50000 --test-samples 10000"
ASKED = {
    "smoke": "--size 32 --batch-size 32 --train-samples 256 --test-samples 128",
    "full": "--size 128 --train-samples 50000",
}
WHY_ASKED = {
    "smoke": "Add *train_words, which keep the job small: otherwise it reaches its time limit.",
    "full": "The job is compared with a ResNet50V2 job: add *train_words to use the same image "
    "size and all images.",
}


@exercise("3.5")
def check_3_5(job_words: Function, build_model: Function, profile: str = "smoke") -> str:
    """The job's arguments train ResNet152V2, which has 58,352,138 parameters."""
    words = job_words()
    if words is None:
        advice = "Is there a `return` in front of it? A list's `.extend` returns None."
        raise CheckFailed("a list of words", "None", advice)
    one_each = 'Write one string for each word: ["--model", "ResNet152V2", *train_words].'
    if not isinstance(words, list | tuple):
        raise CheckFailed("a list of words", shown(words), one_each)
    if strange := [word for word in words if str(word).split() != [str(word)]]:
        raise CheckFailed("a list of single words", f"{strange[0]!r} as one word", one_each)
    said = options([*DEFAULTS.split(), *map(str, words)])
    model = said.get("--model")
    if model != "ResNet152V2":
        advice = "Write the name as Keras Applications writes it: ResNet152V2."
        raise CheckFailed("--model ResNet152V2", f"--model {model}", advice)
    batch = said["--batch-size"]
    if not batch.isdigit() or not 1 <= int(batch) <= 4096:
        advice = "Write a whole number, such as 256."
        raise CheckFailed("a batch size", f"--batch-size {batch}", advice)
    for name, value in options(ASKED[profile].split()).items():
        if said[name] != value:
            raise CheckFailed(f"{name} {value}", f"{name} {said[name]}", WHY_ASKED[profile])
    count_is(model, build_model(model, 32).count_params())
    behind = " ".join(map(str, words))
    return f"58,352,138 parameters. To run it: sbatch job.sbatch {behind}"


def options(words: list[str]) -> dict[str, str]:
    """Return the options in the arguments, from --name value and --name=value."""
    found: dict[str, str] = {}
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            following = words[place + 1] if place + 1 < len(words) else ""
            found[name] = value if equals else following
    return found
