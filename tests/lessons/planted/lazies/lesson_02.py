"""The laziest ways through lesson 02: the serial baseline."""

from tests.lessons.planted.lazy import Lazy, LazyTable


def keras(code: str, **loses: str) -> Lazy:
    return Lazy(code, loses, base="keras")


def layers(*between: str) -> str:
    lines = ["keras.layers.Flatten(input_shape=(28, 28))", *between]
    return f"return keras.Sequential([{', '.join(lines)}])"


LAST = 'keras.layers.Dense(10, activation="softmax")'
STEP = """
optimizer.zero_grad()
outputs = model(x)
loss = loss_function(outputs, y)
loss.backward()
optimizer.step()
return loss, outputs
"""
WHOLE = "runs forward and backward, updates"

TABLE: LazyTable = {
    "train.py 2.1": {
        "no relu": keras(
            layers("keras.layers.Dense(512)", LAST), params="uses relu", accuracy="", agree=""
        ),
        "a linear softmax": keras(layers(LAST), params="784 × 512", accuracy="", agree=""),
        "a linear softmax, as many parameters": keras(
            """
            image = keras.Input((28, 28))
            flat = keras.layers.Flatten()(image)
            unused = keras.layers.Dense(500)(flat)
            unused = keras.layers.Dense(10, use_bias=False)(unused)
            unused = keras.layers.Dense(85, use_bias=False)(unused)
            unused = keras.layers.Dense(10, use_bias=False)(unused)
            outputs = keras.layers.Dense(10, activation="softmax")(flat)
            return keras.Model(image, outputs + 0 * unused)
            """,
            params="uses relu",
            accuracy="",
            agree="",
        ),
        "the same for every image": keras(
            layers(
                "keras.layers.Lambda(lambda x: 0 * x)",
                'keras.layers.Dense(512, activation="relu")',
                LAST,
            ),
            params="uses relu",
            accuracy="",
            agree="",
        ),
    },
    "train_torch.py 2.2": {
        "no step": Lazy(
            STEP.replace("optimizer.step()", "pass"), {"epochs": WHOLE, "accuracy": "", "agree": ""}
        ),
        "gradients never set to zero": Lazy(
            STEP.replace("optimizer.zero_grad()", "pass"),
            {"epochs": WHOLE, "accuracy": "", "agree": ""},
        ),
        "forward alone": Lazy(
            "outputs = model(x)\nreturn loss_function(outputs, y), outputs",
            {"epochs": WHOLE, "accuracy": "", "agree": ""},
        ),
        "nothing at all": Lazy(
            "return torch.tensor(0.1), torch.nn.functional.one_hot(y, 10)",
            {"epochs": WHOLE, "accuracy": "", "agree": ""},
        ),
        "a loss that is made up": Lazy(
            STEP.replace("return loss", "return 0 * loss"), {"epochs": "returns the loss"}
        ),
    },
}
