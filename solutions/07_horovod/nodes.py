"""Train lesson 03's network on all nodes of a job, with the five steps of train.py.

mpirun -np 2 python nodes.py --model cnn --size 32 --train-samples 512 --epochs 2
"""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import tensorflow as tf

from lessons.toolkit import data, photographs
from lessons.toolkit.ranks import enough_gpus, ranks_heard
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run

import train

keras = tf.keras


def command_line():
    parser = photographs.command_line(__doc__, epochs=5, lr=0.0003)
    # 80 fewer than 50,000: up to 256 ranks read equally many, so all sizes do the same work.
    parser.add_argument("--train-samples", type=int, default=49920, help="training images in use")
    return parser


def main():
    args = command_line().parse_args()

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    train.start_horovod()
    rank, size = hvd.rank(), hvd.size()
    if args.size < 32 or args.train_samples < size:
        asked = f"--size {args.size} --train-samples {args.train_samples}"
        leave(rank, f"{asked}: at least 32 pixels, and an image for each rank")
    keras.utils.set_random_seed(args.seed + rank)  # every rank shuffles in its own order
    cifar = data.load("cifar10", args.train_samples, args.test_samples, as_float=False)
    x_train, y_train, share = photographs.every_nth(cifar.x_train, cifar.y_train, rank, size)
    images = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(y_train))
    test = tf.data.Dataset.from_tensor_slices((cifar.x_test, cifar.y_test))

    model = photographs.network(keras, args.model, args.size, size)
    model.compile(
        optimizer=train.make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    peak = float(model.optimizer.learning_rate)  # reached after one epoch of warm-up
    run = Run("07", args, model, source="keras-nodes", samples=share[1], shard=share, lr=peak)
    train.start_alike(model)

    optimizer = train.make_optimizer(args.lr)
    run.measure("ranks_heard", ranks_heard(keras, optimizer, rank, size), "ranks")
    model.fit(
        photographs.prepare(tf, images.batch(args.batch_size), args.size),
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[
            hvd.callbacks.MetricAverageCallback(),
            hvd.callbacks.LearningRateWarmupCallback(peak, 1, momentum_correction=False),
            run.keras(),
            *train.checkpoints(f"checkpoints/{args.model}_{size}.weights.h5"),
        ],
    )
    test = photographs.prepare(tf, test.batch(args.batch_size), args.size)
    loss, accuracy = model.evaluate(test, verbose=0)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
