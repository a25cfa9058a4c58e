"""Train a network of Keras Applications on CIFAR-10 that comes from files, packs or memory.

python train.py --source packs --model ResNet50V2 --size 128 --batch-size 256
python train.py --source files packs memory --compute-ms 0   # no network: the input alone
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, BooleanOptionalAction

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

from input_only import wait_instead
from sources import decode, pieces_of

keras = tf.keras


def build_model(name, size):
    """Return an untrained network: cnn (two convolutions), or one of Keras Applications."""
    if name == "cnn":
        return keras.Sequential(
            [
                keras.layers.Conv2D(32, 3, activation="relu", input_shape=(size, size, 3)),
                keras.layers.Conv2D(64, 3, activation="relu"),
                keras.layers.MaxPooling2D(),
                keras.layers.Flatten(),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(10, activation="softmax"),
            ]
        )
    network = getattr(keras.applications, name)
    return network(weights=None, input_shape=(size, size, 3), classes=10)


def prepare(dataset, size, batch):
    """Return batches of float32 images in 0…1, `size` by `size`; only the ones in use exist."""

    def pixels(images, labels):
        return tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size)), labels

    return dataset.batch(batch).map(pixels)


def stages(pieces, decode, args):
    """Return batches, prepared ahead of time, from pieces (names of files)."""
    ### BEGIN SOLUTION Exercise 4.3: the stages of the table, each where it belongs
    samples = pieces.map(decode, num_parallel_calls=args.workers).unbatch()
    if args.cache:
        samples = samples.cache()
    batches = prepare(samples.shuffle(args.buffer), args.size, args.batch_size)
    return batches.prefetch(4) if args.prefetch else batches
    ### END SOLUTION


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="ResNet50V2", help="cnn or one of Keras Applications")
    parser.add_argument("--size", type=int, default=128, help="pixels of an image's side")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=256, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=50000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    sources = ["files", "packs", "memory"]
    parser.add_argument("--source", nargs="+", default=["packs"], choices=sources, help="the input")
    parser.add_argument("--folder", default="data/input", help="where files and packs are")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--workers", type=int, default=cores, help="threads that read and decode")
    parser.add_argument("--buffer", type=int, default=4096, help="samples to shuffle among")
    parser.add_argument("--cache", action="store_true", help="keep decoded samples in memory")
    parser.add_argument(
        "--prefetch", action=BooleanOptionalAction, default=True, help="make batches ahead"
    )
    parser.add_argument("--compute-ms", type=float, help="no network: wait so long per step")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.model != "cnn" and not callable(getattr(keras.applications, args.model, None)):
        parser.error(f"Keras Applications has no network {args.model}; one is ResNet50V2")
    if args.compute_ms is None and len(args.source) > 1:
        parser.error("--source: a network is trained from one source")

    keras.utils.set_random_seed(args.seed)
    cifar = data.load("cifar10", args.train_samples, args.test_samples, as_float=False)
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.workers  # separate from the network's threads
    ways = {}
    for source in args.source:
        pieces = pieces_of(source, cifar, args.folder, args.seed)
        ways[source] = stages(pieces, decode, args).with_options(options)
    if args.compute_ms is not None:
        wait_instead(ways, args, cifar)
        return
    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    test = tf.data.Dataset.from_tensor_slices((cifar.x_test, cifar.y_test))
    test = prepare(test, args.size, args.batch_size)

    try:
        model = build_model(args.model, args.size)
    except ValueError as error:  # too few pixels for this network
        parser.error(f"--model {args.model} --size {args.size}: {error}")
    model.compile(
        optimizer=keras.optimizers.SGD(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs

    run = Run("04", args, model, f"keras-{source}")
    train = ways[source].map(lambda images, marks: (images, marks[:, 0]))  # the labels only
    model.fit(train, epochs=args.epochs, verbose=2, callbacks=[run.keras()])
    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
