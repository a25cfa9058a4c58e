"""Train a network of Keras Applications on CIFAR-10, on the GPUs of one node.

python train.py --n-gpus 4 --model ResNet50V2 --size 128 --batch-size 2048
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

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

    ready = dataset.batch(batch).map(pixels, num_parallel_calls=tf.data.AUTOTUNE)
    return ready.prefetch(tf.data.AUTOTUNE)  # as in lesson 04: read while the devices compute


def devices(n):
    """Return the first n GPUs, or n logical CPUs, which share the cores, if there are no GPUs."""
    cpus, gpus = (tf.config.list_physical_devices(kind) for kind in ("CPU", "GPU"))
    if not gpus and tf.config.get_logical_device_configuration(cpus[0]) is None:
        share = tf.config.LogicalDeviceConfiguration()
        tf.config.set_logical_device_configuration(cpus[0], [share] * max(2, n))
    found = tf.config.list_logical_devices("GPU" if gpus else "CPU")
    if not 1 <= n <= len(found):
        raise SystemExit(f"train.py: --n-gpus {n} cannot be had: this job sees {len(found)}")
    return [device.name for device in found[:n]]


def build_mirrored(strategy, name, size, lr):
    """Return the compiled network, with a copy of every variable on each device."""
    ### BEGIN SOLUTION Exercise 5.2: the network and its optimizer, copied to every device
    with strategy.scope():
        model = build_model(name, size)
        model.compile(
            optimizer=keras.optimizers.SGD(lr),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )
    ### END SOLUTION
    return model


def for_all(batch, lr, replicas):
    """Return the global batch and rate from those of one replica."""
    ### BEGIN SOLUTION Exercise 5.3: the batch of all replicas, and a rate for it
    return batch * replicas, lr * replicas
    ### END SOLUTION


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--n-gpus", type=int, default=1, help="devices, each with a replica")
    parser.add_argument("--model", default="ResNet50V2", help="cnn or one of Keras Applications")
    parser.add_argument("--size", type=int, default=128, help="pixels of an image's side")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=256, help="images per step of a replica")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate for one replica")
    parser.add_argument("--train-samples", type=int, default=50000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--steps", type=int, default=-1, help="steps per epoch; -1: all")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.model != "cnn" and not callable(getattr(keras.applications, args.model, None)):
        parser.error(f"Keras Applications has no network {args.model}; one is ResNet50V2")

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    strategy = tf.distribute.MirroredStrategy(devices(args.n_gpus))
    batch, lr = for_all(args.batch_size, args.lr, strategy.num_replicas_in_sync)
    keras.utils.set_random_seed(args.seed)
    cifar = data.load("cifar10", args.train_samples, args.test_samples, as_float=False)
    train = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
    train = prepare(train.shuffle(args.train_samples), args.size, batch).take(args.steps)
    test = tf.data.Dataset.from_tensor_slices((cifar.x_test, cifar.y_test))
    test = prepare(test, args.size, batch)

    try:
        model = build_mirrored(strategy, args.model, args.size, lr)
    except ValueError as error:
        if "scope" in str(error):
            raise
        parser.error(f"--model {args.model} --size {args.size}: {error}")
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs

    run = Run("05", args, model, replicas_asked=args.n_gpus, global_batch=batch)
    model.fit(train, epochs=args.epochs, verbose=2, callbacks=[run.keras()])
    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
