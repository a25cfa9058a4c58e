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


def one_epoch(record, batches, wait_s):
    """Its seconds, the samples' numbers in order, and the seconds of input and of waits alone."""
    start = time.perf_counter()
    if wait_s:
        read(batches)
    input_s = time.perf_counter() - start
    with record.epoch() as epoch:
        numbers, waited_s = read(batches, wait_s)
        epoch.pause()
        steps, numbers = len(numbers), np.concatenate(numbers)
        epoch.log(steps=steps, samples=len(np.unique(numbers)))
    return epoch.seconds, numbers, (input_s, waited_s)


def wait_instead(ways, args, facts):
    """Epochs in which a wait takes the network's place. The sources take turns, epoch by epoch:
    what else runs on the machine meets all of them."""
    suffix = "" if not args.compute_ms else "-ahead" if args.prefetch else "-in-turn"
    fixed = {"model": "wait", "params": 0, "dataset": facts, "image_size": args.size}
    records = {way: Record("04", args, source=way + suffix, **fixed) for way in ways}
    # TensorFlow would add a forgotten prefetch by itself, twice. Here `stages` alone decides.
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    ways = {way: batches.with_options(options) for way, batches in ways.items()}
    last, seconds, shares = {}, {way: [] for way in ways}, {way: [] for way in ways}
    for number in range(1, args.epochs + 1):
        for way, batches in ways.items():
            record = records[way]
            took, numbers, alone = one_epoch(record, batches, args.compute_ms / 1000)
            if way in last and len(last[way]) == len(numbers):  # 1: the same order again
                kept = np.corrcoef(np.argsort(last[way]), np.argsort(numbers))[0, 1]
                record.measure("order_kept", float(kept), "", epoch=number)
            last[way] = numbers
            if number > 1:
                seconds[way].append(took)
            if number > 1 and args.compute_ms:
                shares[way].append(took / sum(alone))
                record.measure("input_s", alone[0], "s", epoch=number)
                record.measure("compute_s", alone[1], "s", epoch=number)
    for way, record in records.items():
        if shares[way]:
            record.measure("epoch_over_sum", float(np.median(shares[way])), "")
        if "files" in ways and seconds[way]:
            gains = np.divide(seconds["files"], seconds[way])
            record.measure("faster_than_files", float(np.median(gains)), "")
        record.end()
