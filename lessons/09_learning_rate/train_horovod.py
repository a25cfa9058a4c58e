"""Train lesson 07's network in Keras with a rate for every step: rule, warm-up, decay, LARS.

mpirun -np 2 python train_horovod.py --rule linear --warmup 1 --decay cosine
"""

import math
import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import horovod.tensorflow.keras as hvd
import tensorflow as tf
from horovod.tensorflow import broadcast_variables

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import rates
from lars_keras import LARS

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
    return keras.Sequential(
        [
            keras.layers.Flatten(input_shape=(28, 28)),
            keras.layers.Dense(512, activation="relu"),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )


def start_horovod():
    """Do steps 1 and 2: meet the other ranks, and use one GPU, the one of the local rank."""
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")


def make_optimizer(lr, momentum, trust):
    """Do step 3: average the gradients of all ranks. The rate is set before each step."""
    optimizer = LARS(lr, momentum, trust) if trust else keras.optimizers.SGD(lr, momentum)
    optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    return hvd.DistributedOptimizer(optimizer)


def schedule(model, line):
    """Return a callback that sets rates.lr_at's rate before each step."""

    def set_rate(batch, logs=None):
        model.optimizer.learning_rate = rates.lr_at(int(model.optimizer.iterations), *line)

    return keras.callbacks.LambdaCallback(on_batch_begin=set_rate)


def start_alike(model):
    """Do step 4: start every rank with the parameters of rank 0."""
    broadcast_variables(model.variables, root_rank=0)


def checkpoints(path):
    """Do step 5: return a list of callbacks, with which only rank 0 writes the file."""
    checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    return [checkpoint] if hvd.rank() == 0 else []


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate for one device")
    parser.add_argument("--rule", default="linear", choices=rates.RULES, help="how the rate grows")
    parser.add_argument("--warmup", type=float, default=0.0, help="epochs until the full rate")
    parser.add_argument("--decay", default="none", choices=rates.DECAYS, help="how the rate falls")
    parser.add_argument("--momentum", type=float, default=0.0, help="how much of a step stays")
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: no LARS")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    start_horovod()
    rank, size = hvd.rank(), hvd.size()
    keras.utils.set_random_seed(args.seed + rank)  # every rank shuffles in its own order
    mnist = data.load("mnist", args.train_samples)
    stop = len(mnist.x_train) // size * size  # as many for each rank, so all batches count equally
    x_train, y_train = mnist.x_train[rank:stop:size], mnist.y_train[rank:stop:size]
    per_epoch = math.ceil(len(x_train) / args.batch_size)
    peak = rates.scaled(args.lr, size, args.rule)
    warmup = round(args.warmup * per_epoch)
    line = (args.lr, peak, warmup, args.epochs * per_epoch, args.decay)

    model = build_model(args.model)
    model.compile(
        optimizer=make_optimizer(args.lr, args.momentum, args.lars),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    run = Run("09", args, model, samples=stop, shard=(rank, stop, size), lr=peak)
    start_alike(model)
    model.fit(
        x_train,
        y_train,
        batch_size=args.batch_size,
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[
            schedule(model, line),
            run.keras(),
            *checkpoints(f"checkpoints/{args.model}_{size}.weights.h5"),
        ],
    )
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
