"""Train a small network on MNIST with Keras and Horovod, on any number of devices.

mpirun -np 2 python train.py --epochs 4 --batch-size 32
"""

import argparse
import math
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import horovod.tensorflow.keras as hvd
import tensorflow as tf
from horovod.tensorflow import broadcast_object, broadcast_variables

from lessons.toolkit import data
from lessons.toolkit.probes.drawn_fit import DrawnSteps
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record, param_hash

import checkpoint

keras = tf.keras


def build_model(name):
    """Return mlp512 (784-512-10, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
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
    ### BEGIN SOLUTION Exercise 7.2: the rate times the number of ranks, Adam wrapped by Horovod
    return hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))
    ### END SOLUTION


def start_alike(model):
    """Do step 4: start every rank with the parameters of rank 0."""
    ### BEGIN SOLUTION Exercise 7.3: broadcast the model's variables from rank 0
    broadcast_variables(model.variables, root_rank=0)
    ### END SOLUTION


def save_checkpoint(model, path):
    """Do step 5: rank 0 writes one file. Return how many files this rank wrote."""
    ### BEGIN SOLUTION Exercise 7.4: only rank 0 saves the weights; return 1 there and else 0
    if hvd.rank() != 0:
        return 0
    model.save_weights(path)
    return 1
    ### END SOLUTION


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes of all ranks together")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    start_horovod()
    rank, size = hvd.rank(), hvd.size()
    keras.utils.set_random_seed(args.seed + rank)
    mnist = data.load("mnist", train_samples=args.train_samples)

    model = build_model(args.model)
    model.compile(
        optimizer=make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA, so GPUs run the same code as CPUs
    os.makedirs("checkpoints", exist_ok=True)
    path = f"checkpoints/{args.model}.weights.h5"
    new = f"checkpoints/new_{rank}.weights.h5"  # a place where this rank may write
    done = 0
    if args.resume:
        model.optimizer.build(model.trainable_variables)
        found = checkpoint.read(path, model.load_weights, hvd, broadcast_object)
        done = found["epochs"]
        args.seed = found["seed"]
        broadcast_variables(model.optimizer.variables, root_rank=0)
    built = param_hash(model.trainable_variables)
    start_alike(model)

    record = Record(
        "07",
        args,
        source="keras-horovod",
        params=model.count_params(),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=hvd.local_rank(),
        built=built,
        lr=float(model.optimizer.learning_rate),
    )
    record.epochs = done
    drawn_steps = DrawnSteps(model, len(mnist.x_train), args.batch_size)  # to compute again
    files = 0
    for epoch in range(done, math.ceil(args.epochs / size)):  # passes of all ranks, as requested
        keras.utils.set_random_seed(args.seed + rank + size * epoch)  # in its own order
        model.fit(
            mnist.x_train,
            mnist.y_train,
            batch_size=args.batch_size,
            initial_epoch=epoch,
            epochs=epoch + 1,
            verbose=2 if rank == 0 else 0,
            callbacks=[record.keras_callback(hvd.allgather), drawn_steps],
        )
        with record.saving("checkpoints", hvd.allgather):
            files = save_checkpoint(model, new)
        if files:
            checkpoint.finish(new, path, epochs=epoch + 1, seed=args.seed, ranks=size)
    for name, value in drawn_steps.measures().items():
        record.measure(name, value, "")
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
        files_written=files,
        checkpoint_hash=checkpoint.params_in(path, model, hvd),
    )


if __name__ == "__main__":
    main()
