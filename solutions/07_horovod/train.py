"""Train a small network on MNIST with Keras and Horovod, on any number of devices.

mpirun -np 2 python train.py --epochs 4 --batch-size 32
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
    ### BEGIN SOLUTION Exercise 7.1: initialise Horovod, then make one GPU of this node visible
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    ### END SOLUTION


def make_optimizer(lr):
    """Do step 3: return an Adam that averages all ranks' gradients, with a rate for the batch."""
    ### BEGIN SOLUTION Exercise 7.2: Adam that averages, with a rate for the larger batch
    return hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))
    ### END SOLUTION


def start_alike(model):
    """Do step 4: start every rank with the parameters of rank 0."""
    ### BEGIN SOLUTION Exercise 7.3: give every rank the same parameters
    broadcast_variables(model.variables, root_rank=0)
    ### END SOLUTION


def checkpoints(path):
    """Do step 5: return a list of callbacks, with which only rank 0 writes the file."""
    ### BEGIN SOLUTION Exercise 7.4: callbacks that write the weights, on one rank
    checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    return [checkpoint] if hvd.rank() == 0 else []
    ### END SOLUTION


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    start_horovod()
    keras.utils.set_random_seed(args.seed + hvd.rank())  # every rank shuffles in its own order
    mnist = data.load("mnist", args.train_samples)

    model = build_model(args.model)
    model.compile(
        optimizer=make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    path = f"checkpoints/{args.model}_{hvd.size()}.weights.h5"  # saves Adam's state, too
    if args.resume and not os.path.exists(path):
        raise SystemExit(f"There is no checkpoint {path}: run once without --resume.")
    if args.resume:
        model.optimizer.build(model.trainable_variables)
        model.load_weights(path)  # on all ranks, with Adam's moments and its count of steps
    done = int(model.optimizer.iterations) // math.ceil(len(mnist.x_train) / args.batch_size)

    run = Run("07", args, model)
    start_alike(model)
    model.fit(
        mnist.x_train,
        mnist.y_train,
        batch_size=args.batch_size,
        initial_epoch=done,
        epochs=math.ceil(args.epochs / hvd.size()),  # because every rank reads all images
        verbose=2 if hvd.rank() == 0 else 0,
        callbacks=[run.keras(), *checkpoints(path)],
    )
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    if hvd.rank() == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
