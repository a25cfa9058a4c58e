"""The laziest ways through lesson 05: mirrored replicas."""

from tests.lessons.planted.lazy import Lazy, LazyTable

# A network of a few thousand parameters in the place of the light one. It is not the asked one, and
# in so few steps it learns nothing: what a mistake loses besides is told by words of the reason.
TINY = (
    ("train.py", "Conv2D(32, 3,", "Conv2D(4, 5, strides=4,"),
    ("train.py", "Dense(128,", "Dense(8,"),
)
# The collectives of one process know the sizes of one network: each network has its processes.
NETWORKS = {name: {"NETWORK": name} for name in ("tiny", "linear", "unused", "top")}
TAKES = {
    1: {"replicas": "", "same-training": ""},
    2: {"replicas": "", "equal": "", "same-training": ""},
}
REPLICAS = {"replicas": "copies of the network", "equal": "copies of the network"}
SEVERAL, TEN = "right 2", "right 4"  # two replicas: whole epochs, and ten steps
COMPILED = 'loss="sparse_categorical_crossentropy", metrics=["accuracy"])'


def linear(rate: str) -> str:
    return f"""
        with strategy.scope():
            flat = keras.layers.Flatten(input_shape=(size, size, 3))
            model = keras.Sequential([flat, keras.layers.Dense(10, activation="softmax")])
            model.compile(keras.optimizers.SGD({rate}), {COMPILED}
    """


def compiled(words: str, scope: str = "strategy.scope()") -> str:
    return f"""
        with {scope}:
            model = build_model(name, size)
            model.compile({words}
    """


def tiny(code: str, loses: dict[str, str], network: str = "tiny") -> Lazy:
    """Use a network that takes seconds, so other points are lost, too."""
    lost = TAKES[2] | loses
    return Lazy(code, lost, beside=TINY, base=SEVERAL, environ=NETWORKS[network])


NETWORK = {"replicas": "kind Conv2D"}
RATE = {"batch-and-rate": "learning rate at the end"}
STOOD_STILL = {"equal": "largest change in a parameter"}
IN_PART = {"equal": "parameters that training changed"}
BATCH_OR_RATE = {"batch-and-rate": "multiply both by the number of replicas"}

TABLE: LazyTable = {
    "train.py 5.2": {
        "a linear softmax, rate 0": Lazy(
            linear("0.0"),
            NETWORK | RATE | STOOD_STILL | {"same-training": "test loss"},
            base=SEVERAL, environ=NETWORKS["linear"],
        ),
        "a linear softmax in ten steps": Lazy(
            linear("lr"), {"same-training": "kind Conv2D"}, base=TEN,
            environ=NETWORKS["linear"],
        ),
        "as many parameters, without a convolution": Lazy(
            f"""
            class Unused(keras.layers.Layer):
                def build(self, shape):
                    self.more = self.add_weight("more", (1626442 - (3 * size * size + 1) * 10,))

                def call(self, classes):
                    return classes + 0 * self.more[0]

            with strategy.scope():
                flat = keras.layers.Flatten(input_shape=(size, size, 3))
                classes = keras.layers.Dense(10, activation="softmax")
                model = keras.Sequential([flat, classes, Unused()])
                model.compile(keras.optimizers.SGD(lr), {COMPILED}
            """,
            NETWORK | IN_PART | {"same-training": "test loss"},
            base=SEVERAL, environ=NETWORKS["unused"],
        ),
        "rate 0": tiny(compiled(f"keras.optimizers.SGD(0.0), {COMPILED}"), RATE | STOOD_STILL),
        "whatever rate": tiny(compiled(f"keras.optimizers.SGD(), {COMPILED}"), RATE),
        "a loss that is 0": tiny(
            compiled("keras.optimizers.SGD(lr), loss=lambda y, p: 0 * p[:, 0])"), STOOD_STILL
        ),
        "the top alone is trained": tiny(
            f"""
            with strategy.scope():
                model = build_model(name, size)
                for layer in model.layers[:-1]:
                    layer.trainable = False
                model.compile(keras.optimizers.SGD(lr), {COMPILED}
            """,
            IN_PART, "top",
        ),
        "another strategy, on one device": tiny(
            compiled(
                f"keras.optimizers.SGD(lr), {COMPILED}",
                "tf.distribute.OneDeviceStrategy(devices(2)[0]).scope()",
            ),
            REPLICAS | {"batch-and-rate": ""},
        ),
        "the optimizer outside of the scope": tiny(
            f"""
            optimizer = keras.optimizers.SGD(lr)
            with strategy.scope():
                model = build_model(name, size)
                model.compile(optimizer, {COMPILED}
            """,
            REPLICAS | {"batch-and-rate": ""},
        ),
    },
    "train.py 5.3": {
        "what came in": tiny("return batch, lr", BATCH_OR_RATE),
        "rate 0": tiny("return batch * replicas, 0.0", BATCH_OR_RATE | STOOD_STILL),
        "what one replica of ten steps has": tiny("return 128, 0.02", BATCH_OR_RATE),
        "both too large": tiny("return batch * replicas**2, lr * replicas**2", BATCH_OR_RATE),
        "what came in, in ten steps": Lazy(
            "return batch, lr", {"same-training": "batch size of all ranks"}, base=TEN
        ),
    },
}  # fmt: skip
