"""The laziest ways through lesson 03: the large network."""

from tests.lessons.planted.lazy import Lazy, LazyTable

# Seconds instead of minutes: what goes into the network shows with a light one, too.
LIGHT = {"train.py 3.3": 'return build_model("cnn", size)'}
NO_RESNET = {"network": "kind Conv2D", "baseline": "the whole network"}
READS, LEARNS = {"steps": "exercise 3.2"}, {"learns": "each image's own pixels"}


def pipeline(code: str, *loses: dict[str, str]) -> Lazy:
    """Put `code` into the gap of 3.2, and use a small network."""
    lost = dict(NO_RESNET)
    for checks in loses:
        lost |= checks
    return Lazy(code, lost, also=LIGHT)


TABLE: LazyTable = {
    "train.py 3.2": {
        "every label 0, no scaling": pipeline(
            "return dataset.batch(batch).map(lambda x, y: (tf.cast(x, tf.float32), y * 0))",
            READS, LEARNS,
        ),
        "every label 0": pipeline(
            """
            def pixels(images, labels):
                return tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size)), labels * 0
            return dataset.batch(batch).map(pixels)
            """,
            READS, LEARNS,
        ),
        "nothing but batches": pipeline("return dataset.batch(batch)", LEARNS),
        "black images": pipeline(
            """
            black = tf.zeros((size, size, 3))
            return dataset.map(lambda image, label: (black, label)).batch(batch)
            """,
            LEARNS,
        ),
        "the label as the pixels": pipeline(
            """
            def pixels(image, label):
                return tf.ones((size, size, 3)) * tf.cast(label, tf.float32) / 10, label
            return dataset.map(pixels).batch(batch)
            """,
            LEARNS,
        ),
        "the first batch again and again": pipeline(
            """
            def pixels(images, labels):
                return tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size)), labels
            return dataset.batch(batch).map(pixels).take(1).repeat(8)
            """,
            READS,
        ),
        "the same order for ever": pipeline(
            """
            def pixels(images, labels):
                return tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size)), labels
            return dataset.batch(batch).map(pixels).cache()
            """,
            READS,
        ),
    },
    "train.py 3.3": {
        "the light network": Lazy(LIGHT["train.py 3.3"], NO_RESNET),
        "a linear softmax": Lazy(
            """
            layers = keras.layers
            flat = layers.Flatten(input_shape=(size, size, 3))
            return keras.Sequential([flat, layers.Dense(10, activation="softmax")])
            """,
            NO_RESNET,
        ),
        "as many parameters, without work": Lazy(
            """
            image = keras.Input((size, size, 3))
            flat = keras.layers.Flatten()(image)
            unused = keras.layers.Embedding(23585290 - (3 * size * size + 1) * 10, 1)
            zero = 0 * unused(tf.cast(0 * flat[:, 0], tf.int32))
            return keras.Model(image, keras.layers.Dense(10, activation="softmax")(flat) + zero)
            """,
            NO_RESNET,
        ),
        "the top alone is trained": Lazy(
            """
            network = keras.applications.ResNet50V2(
                weights=None, input_shape=(size, size, 3), classes=10
            )
            for layer in network.layers[:-1]:
                layer.trainable = False
            return network
            """,
            {"network": "parameters that training changed", "learns": "", "baseline": ""},
        ),
    },
}  # fmt: skip
