"""Train as in train.py, with a different share of the images on each rank.

mpirun -np 2 python train_shares.py --epochs 4 --batch-size 32
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which Horovod supports

import horovod.tensorflow.keras as hvd
import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

from train import build_model, make_optimizer, start_alike, start_horovod

keras = tf.keras


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
    start_horovod()
    rank, size = hvd.rank(), hvd.size()
    keras.utils.set_random_seed(args.seed)
    mnist = data.load("mnist", args.train_samples)
    n = len(mnist.x_train) // size * size  # equal shares, so that no rank waits for a last batch

    model = build_model(args.model)
    model.compile(
        optimizer=make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs

    run = Run("07", args, model, source="keras-shares", shard=(rank, n, size))
    start_alike(model)
    model.fit(
        mnist.x_train[rank:n:size],
        mnist.y_train[rank:n:size],
        batch_size=args.batch_size,
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[run.keras()],
    )
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
