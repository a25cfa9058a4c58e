"""Epochs in which a wait takes the network's place, so that the input is measured alone."""

import time

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Record


def read(batches, wait_s=0.0):
    """Takes every batch and waits after each; the samples' numbers, and the seconds waited."""
    numbers = []
    waited = 0.0
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
        steps = len(numbers)
        numbers = np.concatenate(numbers)
        epoch.log(steps=steps, samples=len(np.unique(numbers)))
    return epoch.seconds, numbers, input_s, waited_s


def suffix_of(args):
    """What the record's source says beside the name of the way: how the waits were met."""
    if not args.compute_ms:
        return ""
    return "-ahead" if args.prefetch else "-in-turn"


def as_they_are(batches):
    """TensorFlow would add a forgotten prefetch by itself, twice. Here `stages` alone decides."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    return batches.with_options(options)


def order_kept(before, now):
    """1: the samples came in the same order again; about 0: in a new one."""
    return float(np.corrcoef(np.argsort(before), np.argsort(now))[0, 1])


def wait_instead(ways, args, facts):
    """Epochs in which a wait takes the network's place. The sources take turns, epoch by epoch:
    what else runs on the machine meets all of them."""
    records = {}
    for way in ways:
        records[way] = Record(
            "04",
            args,
            source=way + suffix_of(args),
            model="wait",
            params=0,
            dataset=facts,
            image_size=args.size,
        )
    ways = {way: as_they_are(batches) for way, batches in ways.items()}
    last = {}  # the samples' numbers in the epoch before
    seconds = {way: [] for way in ways}
    shares = {way: [] for way in ways}
    for number in range(1, args.epochs + 1):
        for way, batches in ways.items():
            record = records[way]
            took, numbers, input_s, compute_s = one_epoch(record, batches, args.compute_ms / 1000)
            if way in last and len(last[way]) == len(numbers):
                record.measure("order_kept", order_kept(last[way], numbers), "", epoch=number)
            last[way] = numbers
            if number == 1:  # it pays for the start
                continue
            seconds[way].append(took)
            if args.compute_ms:
                shares[way].append(took / (input_s + compute_s))
                record.measure("input_s", input_s, "s", epoch=number)
                record.measure("compute_s", compute_s, "s", epoch=number)
    for way, record in records.items():
        if shares[way]:
            record.measure("epoch_over_sum", float(np.median(shares[way])), "")
        if "files" in ways and seconds[way]:
            gains = np.divide(seconds["files"], seconds[way])
            record.measure("faster_than_files", float(np.median(gains)), "")
        record.end()
