"""The laziest ways through lesson 12: the scaling study."""

from tests.lessons.planted.lazy import Lazy, LazyTable

ONE_SIZE = {"study": "1 size"}

TABLE: LazyTable = {
    "train.py 12.1": {
        "pass": Lazy("pass", {"accuracy": "ranks that took part"}, start="fails"),
        "as it came, strong": Lazy(
            "return [(batch, samples) for size in sizes]", ONE_SIZE, base="right study, strong"
        ),
        "as it came, weak": Lazy(
            "return [(batch, samples) for size in sizes]",
            ONE_SIZE | {"speed": "1 size"},
            base="right study, weak",
        ),
        "always strong": Lazy(
            "return [(batch // size, samples) for size in sizes]",
            ONE_SIZE,
            base="right study, epoch",
        ),
        "always weak": Lazy(
            "return [(batch, samples * size) for size in sizes]",
            ONE_SIZE,
            base="right study, strong",
        ),
        "hardly any work": Lazy(
            "return [(4 // size, 8) for size in sizes]",
            {"study": "8 samples"},
            base="right study, strong",
        ),
        "a smaller batch on more ranks": Lazy(
            "return [(batch // size, samples) for size in sizes]",
            {"accuracy": "batch size on one rank"},
        ),
        "fewer images on more ranks": Lazy(
            "return [(batch, samples // size) for size in sizes]",
            {"accuracy": "different samples read"},
        ),
    },
}
