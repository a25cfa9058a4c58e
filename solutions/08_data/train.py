"""Train a small network on MNIST with Keras and Horovod; each rank reads its own files.

python make_parts.py; mpirun -np 2 python train.py --epochs 4 --batch-size 32
"""

import math
import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import horovod.tensorflow.keras as hvd
import tensorflow as tf
from horovod.tensorflow import broadcast_variables
from mpi4py import MPI

from lessons.toolkit import data
from lessons.toolkit.ranks import DataDistributor, enough_gpus
from lessons.toolkit.record import Run

from make_parts import list_parts, load_parts

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


def make_optimizer(lr):
    """Do step 3: return an Adam that averages all ranks' gradients, with a rate for the batch."""
    return hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))


def start_alike(model):
    """Do step 4: start every rank with the parameters of rank 0."""
    broadcast_variables(model.variables, root_rank=0)


def checkpoints(path):
    """Do step 5: return a list of callbacks, with which only rank 0 writes the file."""
    checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    return [checkpoint] if hvd.rank() == 0 else []


def my_files(folder):
    """Return this rank's share of the files; an error on rank 0 ends all ranks."""
    ### BEGIN SOLUTION Exercise 8.3: the names of the parts that this rank reads
    return DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)(list_parts)(folder)
    ### END SOLUTION


def common_steps(counts, batch):
    """Return the steps that all ranks can make, including a smaller last one; counts: images."""
    ### BEGIN SOLUTION Exercise 8.4: the steps that no rank has to wait for
    return min(math.ceil(count / batch) for count in counts)
    ### END SOLUTION


def last_weight(counts, batch, rank):
    """Return the weight of this rank's last batch, with which all of its images count equally."""
    before = (common_steps(counts, batch) - 1) * batch
    last = [max(1, min(batch, count - before)) for count in counts]
    return last[rank] * len(last) / sum(last)


def batches_of(x, y, batch, steps, weight):
    """Return an epoch's shuffled batches; the last step's weigh `weight`, others 1."""

    def weigh(step, pair):
        images, labels = pair
        each = tf.where(step == steps - 1, weight, 1.0)
        return images, labels, tf.fill(tf.shape(labels), each)

    shuffled = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y))
    return shuffled.batch(batch).take(steps).enumerate().map(weigh)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--folder", default="data/parts", help="where make_parts.py put the files")
    parser.add_argument("--unsharded", action="store_true", help="every rank reads every file")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    start_horovod()
    rank, size = hvd.rank(), hvd.size()
    keras.utils.set_random_seed(args.seed + rank)  # every rank shuffles in its own order
    files = list_parts(args.folder) if args.unsharded else my_files(args.folder)
    x_train, y_train, ids, samples = load_parts(args.folder, files)
    counts = MPI.COMM_WORLD.allgather(len(ids))
    mnist = data.load("mnist", samples)

    model = build_model(args.model)
    model.compile(
        optimizer=make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs

    kind = "keras-unsharded" if args.unsharded else "keras-sharded"
    run = Run("08", args, model, source=kind, shard=ids, labels=y_train)
    start_alike(model)
    steps = common_steps(counts, args.batch_size)
    weight = last_weight(counts, args.batch_size, rank)
    model.fit(
        batches_of(x_train, y_train, args.batch_size, steps, weight),
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[
            hvd.callbacks.MetricAverageCallback(),
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
