"""The laziest ways through lesson 01: a network learns, by hand."""

from tests.lessons.planted.lazy import Lazy, LazyTable

SCORES = """
d_scores = probabilities.copy()
d_scores[np.arange(len(labels)), labels] -= 1
d_scores /= len(labels)
"""
LAST = "hidden.T @ d_scores, d_scores.sum(axis=0)"
ZEROS = "np.zeros((x.shape[1], hidden.shape[1])), np.zeros(hidden.shape[1])"
GRADIENTS = {"gradients": "with relu's mask and the biases"}

TABLE: LazyTable = {
    "train.py 1.3": {
        "no relu mask": Lazy(
            f"""{SCORES}
d_hidden = d_scores @ w2.T
return [x.T @ d_hidden, d_hidden.sum(axis=0), {LAST}]
""",
            GRADIENTS,
        ),
        "no bias gradients": Lazy(
            f"""{SCORES}
d_hidden = d_scores @ w2.T * (hidden > 0)
biases = [np.zeros(hidden.shape[1]), np.zeros(w2.shape[1])]
return [x.T @ d_hidden, biases[0], hidden.T @ d_scores, biases[1]]
""",
            GRADIENTS,
        ),
        "no mask and no biases": Lazy(
            f"""{SCORES}
return [x.T @ (d_scores @ w2.T), 0, hidden.T @ d_scores, 0]
""",
            GRADIENTS,
        ),
        "the last layer alone": Lazy(
            f"{SCORES}\nreturn [{ZEROS}, {LAST}]\n", GRADIENTS | {"accuracy": ""}
        ),
        "no gradient": Lazy("return [0, 0, 0, 0]", GRADIENTS | {"accuracy": "1.3"}),
    },
    "train.py 1.4": {
        "drawn with replacement": Lazy(
            "return [rng.integers(0, n, batch) for _ in range(n // batch)]",
            {"steps": "every image once per epoch"},
        ),
        "never shuffled": Lazy(
            "return np.array_split(np.arange(n), range(batch, n, batch))",
            {"order": "shuffle the indices again in each call"},
        ),
        "shuffled once": Lazy(
            """
            order = np.random.default_rng(7).permutation(n)
            return [order[first : first + batch] for first in range(0, n, batch)]
            """,
            {"order": "shuffle the indices again in each call"},
        ),
        "one batch again and again": Lazy(
            "return [np.arange(batch)] * (n // batch)",
            {"steps": "", "order": "", "accuracy": ""},
        ),
        "only the first images": Lazy(
            "return [rng.permutation(batch * 40)[:batch] for _ in range(n // batch)]",
            {"steps": "different samples read", "accuracy": ""},
        ),
    },
    "train.py 1.5": {
        "nothing": Lazy("pass", {"gradients": "exercise 1.5", "accuracy": "exercise 1.3"}),
        "a rate of its own": Lazy(
            """
            for param, gradient in zip(params, gradients, strict=True):
                param -= 0.1 * gradient
            """,
            {"gradients": "In exercise 1.5, subtract lr times the gradient"},
        ),
        "weights alone": Lazy(
            """
            params[0] -= lr * gradients[0]
            params[2] -= lr * gradients[2]
            """,
            {"gradients": "exercise 1.5"},
        ),
        "a rate of 0": Lazy(
            """
            for param, gradient in zip(params, gradients, strict=True):
                param -= 0 * lr * gradient
            """,
            {"gradients": "exercise 1.5", "accuracy": ""},
        ),
    },
}
