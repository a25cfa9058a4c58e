"""Measure the seconds of an epoch for several networks and batches: one run record each.

python compare.py cnn:16 cnn:64 cnn:256 MobileNet:64
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

from train import build_model, keras, prepare, tf


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="MODEL:BATCH", help="network and images a step")
    parser.add_argument("--size", type=int, default=128, help="pixels of an image's side")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the training images")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=50000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()
    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    cifar = data.load("cifar10", args.train_samples, as_float=False)

    for pair in args.pairs:
        name, _, batch = pair.partition(":")
        keras.backend.clear_session()  # free the previous network
        keras.utils.set_random_seed(args.seed)
        train = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
        train = prepare(train.shuffle(args.train_samples), args.size, int(batch))
        model = build_model(name, args.size)
        model.compile(
            optimizer=keras.optimizers.SGD(args.lr),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )
        model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
        run = Run("03", args, model, source="compare", model=name, local_batch=int(batch))
        model.fit(train, epochs=args.epochs, verbose=2, callbacks=[run.keras()])
        run.end()


if __name__ == "__main__":
    main()
