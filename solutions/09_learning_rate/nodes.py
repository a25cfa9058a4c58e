"""Train lesson 03's network on all nodes of a job, with a rate for every step.

mpirun -np 2 python nodes.py --model cnn --size 32 --train-samples 512 --epochs 3 --warmup 1
"""

import math
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train_horovod.py

import horovod.tensorflow.keras as hvd
import tensorflow as tf

from lessons.toolkit import data, photographs
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run

import rates
import train_horovod as train

keras = tf.keras


def command_line():
    parser = photographs.command_line(__doc__, epochs=12, lr=0.01)
    parser.add_argument("--rule", default="linear", choices=rates.RULES, help="how the rate grows")
    parser.add_argument("--warmup", type=float, default=1.0, help="epochs until the full rate")
    parser.add_argument("--decay", default="cosine", choices=rates.DECAYS, help="how it falls")
    parser.add_argument("--momentum", type=float, default=0.9, help="how much of a step stays")
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: no LARS")
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
    test = photographs.prepare(tf, test.batch(args.batch_size), args.size)
    per_epoch = math.ceil(len(y_train) / args.batch_size)
    peak = rates.scaled(args.lr, size, args.rule)
    warmup = round(args.warmup * per_epoch)
    line = (args.lr, peak, warmup, args.epochs * per_epoch, args.decay)

    model = photographs.network(keras, args.model, args.size, size)
    model.compile(
        optimizer=train.make_optimizer(args.lr, args.momentum, args.lars),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    run = Run("09", args, model, source="keras-nodes", samples=share[1], shard=share, lr=peak)
    train.start_alike(model)

    model.fit(
        photographs.prepare(tf, images.batch(args.batch_size), args.size),
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        validation_data=test,  # after each epoch, while the record's clock is stopped
        callbacks=[
            hvd.callbacks.MetricAverageCallback(),
            train.schedule(model, line),
            run.keras(),
            *train.checkpoints(f"checkpoints/{args.model}_{size}.weights.h5"),
        ],
    )
    loss, accuracy = model.evaluate(test, verbose=0)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
