"""Epochs in which a wait takes the network's place, so that the input is measured alone."""

import time

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Record


def read(batches, wait_s=0.0):
    """Takes every batch and waits after each; the samples' numbers, and the seconds waited."""
    numbers, waited = [], 0.0
    for _, marks in batches:
        numbers.append(marks[:, 1].numpy())
        if wait_s:
            start = time.perf_counter()
            time.sleep(wait_s)
            waited += time.perf_counter() - start
    return numbers, waited


def wait_instead(source, batches, args, facts):
    """Epochs in which a wait takes the network's place."""
    if args.compute_ms:
        source += "-ahead" if args.prefetch else "-in-turn"
    record = Record(
        "04", args, source=source, model="wait", params=0, dataset=facts, image_size=args.size
    )
    # TensorFlow would add a forgotten prefetch by itself, twice. Here `stages` alone decides.
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    batches, last, shares = batches.with_options(options), None, []
    for number in range(args.epochs):
        start = time.perf_counter()
        if args.compute_ms:
            read(batches)
        input_s = time.perf_counter() - start
        with record.epoch() as epoch:
            numbers, waited_s = read(batches, args.compute_ms / 1000)
            epoch.pause()
            steps, numbers = len(numbers), np.concatenate(numbers)
            epoch.log(steps=steps, samples=len(np.unique(numbers)))
        if last is not None and len(last) == len(numbers):  # 1: the same order again
            kept = np.corrcoef(np.argsort(last), np.argsort(numbers))[0, 1]
            record.measure("order_kept", float(kept), "", epoch=number + 1)
        if args.compute_ms and number:
            record.measure("input_s", input_s, "s", epoch=number + 1)
            record.measure("compute_s", waited_s, "s", epoch=number + 1)
            shares.append(epoch.seconds / (input_s + waited_s))
        last = numbers
    if shares:
        record.measure("epoch_over_sum", float(np.median(shares)), "")
    record.end()
