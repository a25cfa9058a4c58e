"""The laziest ways through lesson 09: the learning rate at scale."""

from tests.lessons.planted.lazy import Lazy, LazyTable

EIGHT, WARM, LAST = "eight", "right, with a warm-up", "task 7"
UPDATE, LARS = "error of the parameter update", "relative error of the LARS update"
UNMOVED = {
    "sweep": "largest change in a parameter",
    "learnt": "test accuracy",
    "linear": "",
}

TABLE: LazyTable = {
    "rates.py 9.1": {
        "the same for all": Lazy(
            "return lr",
            {"sweep": "learning rate", "learnt": "n8-linear", "linear": "learning rate"},
            base=EIGHT,
        ),
        "linear for all": Lazy("return lr * workers", {"sweep": "learning rate"}, base=EIGHT),
        "a rate of 0": Lazy("return 0 * lr", UNMOVED),
    },
    "rates.py 9.2": {
        "always the peak": Lazy("return peak", {"schedule": "rate, point start"}, base=WARM),
        "always the base": Lazy("return base", {"schedule": "rate, point warm"}, base=WARM),
        "the base in the sweep": Lazy(
            "return base",
            {"sweep": "learning rate, point end", "learnt": "n8-linear", "linear": ""},
            base=EIGHT,
        ),
        "the cosine alone": Lazy(
            """
            if step < warmup:
                return base + (peak - base) * step / warmup
            done = (step - warmup) / (total - warmup)
            return peak * (1 + math.cos(math.pi * done)) / 2
            """,
            {"schedule": "largest error of the learning rate / its peak"},
            base=WARM,
        ),
    },
    "rates.py 9.3: first the speeds, then the parameters": {
        "pass": Lazy("pass", UNMOVED),
        "all 0": Lazy(
            "for param in params:\n    param *= 0",
            {"sweep": UPDATE, "learnt": "test accuracy", "linear": ""},
        ),
        "no momentum": Lazy(
            "for param, gradient in zip(params, gradients):\n    param -= lr * gradient",
            {"sweep": UPDATE},
        ),
        "a rate of its own": Lazy(
            "for param, gradient in zip(params, gradients):\n    param -= 0.1 * gradient",
            {"sweep": UPDATE},
        ),
    },
    "rates.py 9.3: a list of gradients, each as long as trust times its weights": {
        "nothing given": Lazy("pass", {"sweep": LARS}),
        "as they came": Lazy("return gradients", {"sweep": LARS}),
        "times trust": Lazy("return [trust * gradient for gradient in gradients]", {"sweep": LARS}),
    },
    "rates.py 9.5": {
        "one setting": Lazy("return 0.1, 0.0", {"array": "array-7"}, base=LAST),
        "no momentum": Lazy("return rates[task // 2], 0.0", {"array": "array-7"}, base=LAST),
    },
}
