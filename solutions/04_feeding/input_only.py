"""Run epochs with a wait in place of the network, so that the input is measured alone."""

import os
import time

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Run

from sources import RECORD, names_of, order


def read(batches, wait_s=0.0):
    """Read every batch and wait after each. Return the samples' numbers, and the seconds waited."""
    numbers = []
    waited = 0.0
    for _, marks in batches:
        numbers.append(marks[:, 1].numpy())
        if wait_s:
            start = time.perf_counter()
            time.sleep(wait_s)
            waited += time.perf_counter() - start
    return numbers, waited


def one_epoch(run, batches, wait_s):
    """Return an epoch's seconds, the samples' numbers in order, and seconds of input and waits."""
    start = time.perf_counter()
    if wait_s:
        read(batches)
    input_s = time.perf_counter() - start
    with run.epoch() as log:
        numbers, waited_s = read(batches, wait_s)
        log(steps=len(numbers))
    numbers = np.concatenate(numbers)
    log(unique_samples=len(np.unique(numbers)))
    return run.seconds, numbers, input_s, waited_s


def suffix_of(args):
    """Return what the record's source adds to the name of the way: how the waits were met."""
    if not args.compute_ms:
        return ""
    return "-ahead" if args.prefetch else "-in-turn"


def as_they_are(batches):
    """Turn off the prefetch that TensorFlow adds by itself, so that `stages` alone decides."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    return batches.with_options(options)


def order_kept(before, now):
    """Return 1 if the samples came in the same order again, about 0 if it is a new one."""
    return float(np.corrcoef(np.argsort(before), np.argsort(now))[0, 1])


def in_sequence(numbers):
    """Return the share of samples that come directly after the sample stored before them."""
    return float(np.mean(np.diff(numbers) == 1))


def look_at(run, way, batches, cifar, args):
    """Record what the exercises' functions made: files on the disk, orders, and a few batches."""
    if way != "memory":
        sizes = [os.path.getsize(name) for name in names_of(way, cifar, args.folder)]
        run.measure("files", len(sizes), "files")
        run.measure("sizes_apart", (max(sizes) - min(sizes)) / RECORD, "samples")
    orders = [tuple(order(range(32), *drawn)) for drawn in [(0, 1), (1, 1), (0, 2), (0, 1)]]
    run.measure("orders_of_three", len(set(orders[:3])), "orders")
    run.measure("order_again", float(orders[0] == orders[3]))
    for images, marks in batches.take(4):
        labels, numbers = marks.numpy().T
        numbers = numbers.clip(0, len(cifar.y_train) - 1)
        right = tf.cast(cifar.x_train[numbers], tf.float32) / 255
        right = tf.image.resize(right, (args.size, args.size))
        alike = images.shape == right.shape
        away = float(tf.reduce_mean(abs(images - right))) if alike else 1.0
        run.measure("pixels_away", away)
        run.measure("labels_right", float(np.mean(labels == cifar.y_train[numbers])))


def wait_instead(ways, args, cifar):
    """Run epochs with a wait in place of the network.

    The sources take turns, epoch by epoch, so other load affects all of them.
    """
    asked = vars(args) | {"model": "wait"}
    runs = {way: Run("04", asked, None, way + suffix_of(args), params=0) for way in ways}
    ways = {way: as_they_are(batches) for way, batches in ways.items()}
    for way, batches in ways.items():
        look_at(runs[way], way, batches, cifar, args)
    last = {}  # the samples' numbers in the previous epoch
    again = dict.fromkeys(ways, 0)  # most images that an epoch read more than once
    rates = {way: [] for way in ways}
    shares = {way: [] for way in ways}
    for number in range(1, args.epochs + 1):
        for way, batches in ways.items():
            run = runs[way]
            took, numbers, input_s, compute_s = one_epoch(run, batches, args.compute_ms / 1000)
            again[way] = max(again[way], len(numbers) - len(np.unique(numbers)))
            if way in last and len(last[way]) == len(numbers):
                run.measure("order_kept", order_kept(last[way], numbers), epoch=number)
            last[way] = numbers
            run.measure("in_sequence", in_sequence(numbers), epoch=number)
            if number == 1:  # it includes the start
                continue
            rates[way].append(len(np.unique(numbers)) / took)
            if args.compute_ms:
                shares[way].append(took / (input_s + compute_s))
                run.measure("input_s", input_s, "s", epoch=number)
                run.measure("compute_s", compute_s, "s", epoch=number)
    for way, run in runs.items():
        run.measure("images_read_again", again[way], "images")
        if shares[way]:
            run.measure("epoch_over_sum", float(np.median(shares[way])))
        if "files" in ways and rates[way]:
            gains = np.divide(rates[way], rates["files"])
            run.measure("faster_than_files", float(np.median(gains)))
        run.end()
