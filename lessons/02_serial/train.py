"""Train a small network on MNIST with Keras, on one device.

python train.py --epochs 4 --batch-size 32
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

keras = tf.keras


def build_model(name):
    """Return mlp512 (one hidden layer, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
    if name == "cnn":
        return keras.Sequential(
            [
                keras.layers.Reshape((28, 28, 1), input_shape=(28, 28)),
                keras.layers.Conv2D(32, 3, activation="relu"),
                keras.layers.Conv2D(64, 3, activation="relu"),
                keras.layers.MaxPooling2D(),
                keras.layers.Flatten(),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(10, activation="softmax"),
            ]
        )
    raise NotImplementedError("Exercise 2.1: one hidden layer with relu, then ten probabilities")


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    keras.utils.set_random_seed(args.seed)
    mnist = data.load("mnist", args.train_samples)

    model = build_model(args.model)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs

    run = Run("02", args, model)
    model.fit(
        mnist.x_train,
        mnist.y_train,
        batch_size=args.batch_size,
        epochs=args.epochs,
        verbose=2,
        callbacks=[run.keras()],
    )
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
