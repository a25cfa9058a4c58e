"""Lesson 01: a network learns, by hand."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--train-samples", "12800", "--epochs", "3")
UNEVEN = ("--batch-size", "48")  # does not divide 12,800

BATCHES = "range(0, n, batch)"
# What was changed: (what stands there -> what a student wrote, …), more words, the checks.
PLANTED = {
    "gradient not divided by the batch": (
        [("d_scores /= len(labels)", "pass")], (), "accuracy gradients",
    ),
    "uphill": ([("param -= lr", "param += lr")], (), "accuracy gradients"),
    "a new array instead of the old one": (
        [("param -= lr * gradient", "param = param - lr * gradient")], (),
        "accuracy gradients",
    ),
    "sorted by class and not shuffled": (
        [("    params = start(rng)\n",
          "    order = np.argsort(y_train)\n"
          "    x_train, y_train = x_train[order], y_train[order]\n    params = start(rng)\n"),
         ("order = rng.permutation(n)", "order = np.arange(n)")], (), "accuracy order",
    ),
    "wrong size of the net": ([("hidden=64", "hidden=128")], (), "params"),
    "no biases": (
        [("parts = [w1, np.zeros(hidden), w2, np.zeros(outputs)]",
          "parts = [w1, np.zeros(1), w2, np.zeros(1)]"),
         ("d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]",
          "np.zeros(1), hidden.T @ d_scores, np.zeros(1)]")], (), "params gradients",
    ),
    "the last, smaller batch left out": (
        [(BATCHES, "range(0, n - batch + 1, batch)")], UNEVEN, "steps",
    ),
    "batches that overlap": ([(BATCHES, "range(0, n, batch // 2)")], (), "steps"),
}  # fmt: skip

LESSON = Lesson(
    folder="01_learning",
    jobs={"right": Job(words=WORDS), "right in uneven batches": Job(words=WORDS + UNEVEN)}
    | {
        name: Job(tuple(("train.py", *change) for change in changes), WORDS + more)
        for name, (changes, more, _) in PLANTED.items()
    },
    handed_in={"01_numpy_1.out": "right"},
    mistakes={
        "none": Mistake("right", {}),
        "none, in uneven batches": Mistake("right in uneven batches", {}),
    }
    | {
        name: Mistake(name, dict.fromkeys(checks.split(), ""))
        for name, (*_, checks) in PLANTED.items()
    },
)
