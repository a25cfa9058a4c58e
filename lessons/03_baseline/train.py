"""Train a network of Keras Applications on CIFAR-10, on one device.

python train.py --model ResNet50V2 --size 128 --batch-size 256
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
    raise NotImplementedError("Exercise 3.3: the untrained network of this name, for these images")


def prepare(dataset, size, batch):
    """Return batches of float32 images in 0…1, `size` by `size`; only the ones in use exist."""

    raise NotImplementedError("Exercise 3.2: batches of the pictures as the network takes them")


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
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    if args.model != "cnn" and not callable(getattr(keras.applications, args.model, None)):
        parser.error(f"Keras Applications has no network {args.model}; one is ResNet50V2")

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    keras.utils.set_random_seed(args.seed)
    cifar = data.load("cifar10", args.train_samples, args.test_samples, as_float=False)
    train = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
    train = prepare(train.shuffle(args.train_samples), args.size, args.batch_size)
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

    run = Run("03", args, model)
    model.fit(train, epochs=args.epochs, verbose=2, callbacks=[run.keras()])
    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
