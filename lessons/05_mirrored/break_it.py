"""Train as in train.py with one wrong line, and record its effect: a run for each fault.

python break_it.py --n-gpus 2 --without nothing scope mean
"""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import train

keras = tf.keras
FAULTS = ("nothing", "scope", "batch", "rate", "mean")


class MeanOfReplica(keras.losses.Loss):
    """A loss that is the mean over one replica's images; the replicas' gradients are added up."""

    def __init__(self):
        super().__init__(reduction="sum")

    def call(self, labels, probabilities):
        each = keras.losses.sparse_categorical_crossentropy(labels, probabilities)
        return each / tf.cast(tf.size(labels), each.dtype)


def on_one(args, lr):
    """Return the network on one device, with TensorFlow's default strategy."""
    model = train.build_mirrored(tf.distribute.get_strategy(), args.model, args.size, lr)
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    return model


def build(without, strategy, args, lr):
    """Build the network as in train.py, or outside the scope, or with a loss of one replica."""
    if without == "scope":
        return on_one(args, lr)
    model = train.build_mirrored(strategy, args.model, args.size, lr)
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    if without == "mean":  # with its optimizer, which is a copy on every device already
        model.compile(model.optimizer, MeanOfReplica(), metrics=["accuracy"])
    return model


def batches(cifar, args, batch):
    """Return batches in an order that is the same in every run."""
    pairs = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
    shuffled = pairs.shuffle(len(cifar.y_train), seed=args.seed)
    return train.prepare(shuffled, args.size, batch).take(args.steps)


def first_step(model):
    """Return a list, and a callback that stores loss and parameters after the first step in it."""
    found = []

    def after_batch(number, logs):
        if not found:
            found.extend((float(logs["loss"]), model.get_weights()))

    return found, keras.callbacks.LambdaCallback(on_batch_end=after_batch)


def on_one_device(args, cifar, replicas):
    """Return the parameters after one step of a single device with the whole batch."""
    batch, lr = train.for_all(args.batch_size, args.lr, replicas)
    keras.utils.set_random_seed(args.seed)
    model = on_one(args, lr)
    whole = batches(cifar, args, batch)
    found, keeping = first_step(model)
    model.fit(whole.take(1), verbose=0, callbacks=[keeping])
    return found[1]


def one_run(args, without, strategy, cifar, right):
    replicas = strategy.num_replicas_in_sync
    batch, lr = train.for_all(args.batch_size, args.lr, replicas)
    if without == "batch":
        batch = args.batch_size
    if without == "rate":
        lr = args.lr
    keras.utils.set_random_seed(args.seed)
    model = build(without, strategy, args, lr)
    asked = {"replicas_asked": args.n_gpus, "global_batch": batch}
    run = Run("05", args, model, source="break-it", without=without, **asked)
    found, keeping = first_step(model)
    model.fit(
        batches(cifar, args, batch), epochs=args.epochs, verbose=0, callbacks=[keeping, run.keras()]
    )
    first_loss, weights = found
    away = max(abs(a - b).max() for a, b in zip(weights, right, strict=True))
    run.measure("first_loss", first_loss)
    run.measure("away_after_one_step", float(away))
    scores = model(cifar.x_test / 255)  # for one batch, predict() would compile a graph
    loss, accuracy = data.score(scores.numpy(), cifar.y_test)
    run.end(test_loss=loss, test_accuracy=accuracy)


def command_line():
    parser = train.command_line()
    parser.description = __doc__
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="the faults")
    parser.set_defaults(n_gpus=2, model="cnn", size=32, epochs=1, batch_size=64, lr=0.02)
    parser.set_defaults(train_samples=512, test_samples=256)
    return parser


def main():
    args = command_line().parse_args()
    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    strategy = tf.distribute.MirroredStrategy(train.devices(args.n_gpus))
    cifar = data.load("cifar10", args.train_samples, args.test_samples, as_float=False)
    right = on_one_device(args, cifar, strategy.num_replicas_in_sync)
    for without in args.without:
        one_run(args, without, strategy, cifar, right)


if __name__ == "__main__":
    main()
