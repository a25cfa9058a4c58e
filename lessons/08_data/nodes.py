"""Train lesson 03's network on all nodes of a job: each rank reads its own files.

mpirun -np 2 python nodes.py --model cnn --size 32 --folder data/photographs --epochs 2
"""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import tensorflow as tf
from mpi4py import MPI

from lessons.toolkit import data, photographs
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run

import train
from make_parts import load_parts

keras = tf.keras


def command_line():
    parser = photographs.command_line(__doc__, epochs=5, lr=0.0003)
    parser.add_argument("--folder", default="data/photographs", help="where the files are")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    train.start_horovod()
    rank, size = hvd.rank(), hvd.size()
    if args.size < 32:
        leave(rank, f"--size {args.size}: at least 32 pixels")
    keras.utils.set_random_seed(args.seed + rank)  # every rank shuffles in its own order
    files = train.my_files(args.folder)
    x_train, y_train, ids, samples = load_parts(args.folder, files)
    counts = MPI.COMM_WORLD.allgather(len(ids))
    steps = train.common_steps(counts, args.batch_size)
    weight = train.last_weight(counts, args.batch_size, rank)
    images = train.batches_of(x_train, y_train, args.batch_size, steps, weight)
    cifar = data.load("cifar10", samples, args.test_samples)
    test = tf.data.Dataset.from_tensor_slices((cifar.x_test, cifar.y_test))

    model = photographs.network(keras, args.model, args.size, size)
    model.compile(
        optimizer=train.make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    peak = float(model.optimizer.learning_rate)  # reached after one epoch of warm-up
    run = Run("08", args, model, source="keras-nodes", shard=ids, labels=y_train, lr=peak)
    train.start_alike(model)

    model.fit(
        photographs.prepare(tf, images, args.size),
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[
            hvd.callbacks.MetricAverageCallback(),
            hvd.callbacks.LearningRateWarmupCallback(peak, 1, momentum_correction=False),
            run.keras(),
            *train.checkpoints(f"checkpoints/{args.model}_{size}.weights.h5"),
        ],
    )
    scores = model.predict(
        photographs.prepare(tf, test.batch(args.batch_size), args.size), verbose=0
    )
    loss, accuracy = data.score(scores, cifar.y_test)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
