"""Lesson 11, the stages of a pipeline: on two ranks against one, and its speed."""

from tests.lessons.planted.table import Job, Mistake

WORDS = ("--train-samples", "6400", "--test-samples", "1000", "--epochs", "2")
ROUNDS = ("--rounds", "5")
TINY = ("--rounds", "3", "--width", "64", "--batch-size", "64", "--micro-batches", "1", "4")
UNLIKE = {"as-serial": "relative error against one process"}
NOTHING = dict.fromkeys(("parts", "as-serial"), "ranks that took part: 1 rank")  # the run on one
PLANTED = {  # a file of the lesson, what stands in it, what a student wrote, what that costs
    "a mean of each micro-batch": (
        "pipeline.py", "outputs = outputs / len(x)", "outputs = outputs / len(ys[k])", UNLIKE,
    ),
    "the gradient divided once more": (
        "pipeline.py", "outputs.backward(gradient)",
        "outputs.backward(None if gradient is None else gradient / 4)", UNLIKE,
    ),
    "replicas side by side": (
        "plan.py", "stage, replica = rank % stages, rank // stages",
        "stage, replica = rank // replicas, rank % replicas", {"schedule": "wrong place in"},
    ),
    "gradients not set to zero": (
        "pipeline.py", "    optimizer.zero_grad()\n", "", UNLIKE,
    ),
}  # fmt: skip
SENDS = [
    ("pipeline.py", f"sent.append(dist.isend({what}))", f"dist.send({what})")
    for what in (
        "outputs.detach(), stage.after, group=stage.down",
        "x.grad, stage.before, group=stage.up",
    )
]


def train(*changes: tuple[str, str, str], words: tuple[str, ...] = WORDS, ranks: int = 2) -> Job:
    return Job(changes, words, ranks)


JOBS = {
    "one rank": train(ranks=1),
    "right stages": train(),
    "speed": Job((), ROUNDS, 2, "apart", program="speed.py"),
    "another seed": train(words=(*WORDS, "--seed", "2")),
    "a rate of 0": train(words=(*WORDS, "--lr", "0")),
    "stages cut by hand": Job((), (*TINY, "--cuts", "5"), 2, "apart", program="speed.py"),
    "few sizes and rounds": Job((), TINY, 2, "apart", program="speed.py"),
    "sends that wait": Job((*SENDS, ("pipeline.py", "seconds=60", "seconds=3")), WORDS, 2, "fails"),
    "no gradient of what came in": Job(
        (("pipeline.py", "        x.requires_grad_()\n", ""),), WORDS, 2, "fails"
    ),
} | {name: train((file, old, new)) for name, (file, old, new, _) in PLANTED.items()}
HANDED_IN = {
    "11_speed_1.out": "speed",
    "11_pipeline_1.out": "one rank",
    "11_pipeline_2.out": "right stages",
}
MISTAKES = {
    name: Mistake(name, loses, "11_pipeline_2.out") for name, (*_, loses) in PLANTED.items()
} | {
    "none": Mistake("right stages", {}, "11_pipeline_2.out"),
    "one rank alone": Mistake(
        "one rank",
        dict.fromkeys(("parts", "as-serial"), "ranks that took part: 1 rank"),
        "11_pipeline_2.out",
    ),
    "another seed": Mistake(
        "another seed", {"as-serial": "training loss of the last epoch"}, "11_pipeline_2.out"
    ),
    "a rate of 0": Mistake(
        "a rate of 0",
        {"as-serial": "largest change in a parameter"},
        "11_pipeline_2.out",
    ),
    "sends that wait": Mistake(
        "sends that wait", dict.fromkeys(NOTHING, "Timed out waiting"), "11_pipeline_2.out"
    ),
    "no gradient of what came in": Mistake(
        "no gradient of what came in",
        dict.fromkeys(NOTHING, "TypeError: Invalid function argument"),
        "11_pipeline_2.out",
    ),
    "stages cut by hand": Mistake(
        "stages cut by hand", dict.fromkeys(("schedule", "speed"), "speed"), "11_speed_1.out"
    ),
    "few sizes and rounds": Mistake(
        "few sizes and rounds", {"speed": "numbers of micro-batches tried"}, "11_speed_1.out"
    ),
}
