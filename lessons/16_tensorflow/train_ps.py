"""Train a small network on MNIST with a parameter server: chief, workers, one server.

mpirun -np 4 python train_ps.py --synchronous --asynchronous --epochs 4 --batch-size 32
"""

import os
import sys

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # the Keras of train_multiworker.py
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"  # otherwise there is a warning for every finished order

import numpy as np
import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.record import Run

import train_multiworker
from staleness import tell_staleness
from tf_cluster import in_time, join_cluster, serve, take_gpu, this_rank

keras = tf.keras
WAYS = {  # with both options: one after the other, in one launch
    "synchronous": "one update from all workers; the default",
    "asynchronous": "each worker updates alone",
}
tf.get_logger().setLevel("ERROR")


def make_work(strategy, model, optimizer, made, sums):
    """Return the functions that workers run. They read the parameters from the server, and `made`,
    the number of updates there. Each result is one tensor, because each tensor is fetched over the
    network: the loss, the number of right images, and the updates made before reading."""
    loss_function = keras.losses.SparseCategoricalCrossentropy(reduction="sum")

    def forward_and_backward(x, y):
        read = made.read_value()
        with tf.control_dependencies([read]), tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = loss_function(y, outputs)
        right = tf.reduce_sum(keras.metrics.sparse_categorical_accuracy(y, outputs))
        return tape.gradient(loss, model.trainable_variables), loss, right, read

    def update(gradients):
        with tf.control_dependencies(gradients):
            before = made.assign_add(1, read_value=True) - 1
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return before

    def gradient_and_update(x, y, images):
        gradients, loss, right, read = forward_and_backward(x, y)
        late = update([gradient / images for gradient in gradients]) - read
        return tf.stack([loss, right, tf.cast(late, loss.dtype)])

    def gradient_alone(x, y, images):
        gradients, loss, right, read = forward_and_backward(x, y)
        for total, gradient in zip(sums, gradients, strict=True):
            total.assign_add(gradient / images)
        return tf.stack([loss, right, tf.cast(read, loss.dtype)])

    def update_alone():
        before = update([total.read_value() for total in sums])
        for total in sums:
            total.assign(tf.zeros_like(total))
        return before

    def on_a_worker(work):
        return tf.function(lambda *args: strategy.run(work, args))

    return map(on_a_worker, (gradient_and_update, gradient_alone, update_alone))


def asynchronous_epoch(coordinator, work, batches):
    """Make an update from every batch, by the next free worker. Nobody waits for another."""
    orders = [coordinator.schedule(work, args=(*batch, len(batch[1]))) for batch in batches]
    coordinator.join()
    return [(who(order), *order.fetch()) for order in orders]


def synchronous_epoch(coordinator, gradient, update, batches, workers):
    """Make an update from `workers` batches at a time. Return what asynchronous_epoch returns."""
    raise NotImplementedError("Exercise 16.3: the gradients of all workers, a wait, one update")


def who(order):
    """Return the worker that did it: the place of the result. (TensorFlow has no public way.)"""
    return tf.DeviceSpec.from_string(order._get_values().device).task


def command_line():
    parser = train_multiworker.command_line()
    parser.description = __doc__
    for way, text in WAYS.items():
        parser.add_argument(f"--{way}", dest="ways", action="append_const", const=way, help=text)
    return parser


def train(args, way, workers, coordinator, mnist, run_of):
    """Train as the chief: put a new network on the server, and send orders to the workers."""
    strategy = coordinator.strategy
    keras.utils.set_random_seed(args.seed)
    with strategy.scope():
        model = train_multiworker.build_model(args.model)
        optimizer = keras.optimizers.Adam(args.lr, jit_compile=False)  # as on CPUs: no XLA
        optimizer.build(model.trainable_variables)
        alone = {"trainable": False, "aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA}
        made = tf.Variable(0, dtype=tf.int64, **alone)
        sums = [tf.Variable(tf.zeros_like(param), **alone) for param in model.trainable_variables]

    both, gradient, update = make_work(strategy, model, optimizer, made, sums)
    run = run_of(way, model)
    everything = []
    for number in range(args.epochs):
        order = np.random.default_rng(args.seed + number).permutation(args.train_samples)
        cuts = range(args.batch_size, len(order), args.batch_size)
        with run.epoch() as log:
            batches = [
                (tf.constant(mnist.x_train[part]), tf.constant(mnist.y_train[part]))
                for part in np.split(order, cuts)
            ]
            before = int(made)
            if way == "asynchronous":
                results = asynchronous_epoch(coordinator, both, batches)
            else:
                results = synchronous_epoch(coordinator, gradient, update, batches, workers)
            worker, loss, right, late = np.array(results, dtype=float).T
            updates, total = int(made) - before, len(order)
            log(loss=loss.sum() / total, accuracy=right.sum() / total, steps=updates)
        everything += zip(worker, late, strict=True)
    tell_staleness(run, everything)
    outputs = np.concatenate([model(part) for part in np.split(mnist.x_test, 10)])
    loss, accuracy = data.score(outputs, mnist.y_test)
    print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


def main():
    parser = command_line()
    args = parser.parse_args()
    rank, local_rank, size = this_rank()
    workers = size - 2
    if workers < 1:
        parser.error(f"{size} task(s), and 3 are the fewest: a chief, a worker, a server")
    args.ways = args.ways or ["synchronous"]
    kinds = ["chief", *["worker"] * workers, "ps"]
    config, gpu = join_cluster(kinds), take_gpu(kinds)
    mnist = data.load("mnist", train_samples=args.train_samples)

    def run_of(way, model=None):
        facts = {"rank": rank, "size": size, "local_rank": local_rank, "workers": workers}
        facts["global_batch"] = args.batch_size * (1 if way == "asynchronous" else workers)
        return Run("16", args, model, f"ps-{way}", optimizer="adam", **facts)

    if rank > 0:
        runs = [run_of(way) for way in args.ways]
        serve(config, args.wait, gpu)
        for run in runs:
            run.end()
        return

    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    with in_time(config, args.wait):
        strategy = tf.distribute.ParameterServerStrategy(cluster)
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    try:
        for way in args.ways:
            train(args, way, workers, coordinator, mnist, run_of)
    except (tf.errors.InternalError, tf.errors.UnavailableError) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:150]
        sys.exit(f"the tasks lost touch with each other, so submit the job once more ({why})")


if __name__ == "__main__":
    main()
