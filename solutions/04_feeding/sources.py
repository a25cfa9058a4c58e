"""CIFAR-10 as one file per sample and as a few packs, read in a new order each epoch.

A record is 3,077 bytes: the sample's number (4), its label (1), its pixels (3,072). A file is
one record, a pack is many records in a row, without anything else.
"""

import hashlib
import itertools
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

RECORD = 4 + 1 + 32 * 32 * 3
PACKS = 32


def to_records(images, labels):
    """Return images (n, 32, 32, 3) and labels as n rows of bytes."""
    numbers = np.arange(len(labels), dtype="<i4").view(np.uint8).reshape(-1, 4)
    pixels = images.reshape(len(labels), -1)
    return np.concatenate([numbers, labels[:, np.newaxis].astype(np.uint8), pixels], axis=1)


def write_packs(records, folder, packs):
    """Write the records, in their order, to `packs` files pack_0000.bin, pack_0001.bin, …"""
    ### BEGIN SOLUTION Exercise 4.1: packs of neighbours, whose sizes differ by at most one record
    for number, rows in enumerate(np.array_split(records, packs)):
        rows.tofile(Path(folder) / f"pack_{number:04d}.bin")
    ### END SOLUTION


def write_files(records, folder):
    """Write one file per record."""
    for number, row in enumerate(records):
        row.tofile(Path(folder) / f"{number:05d}.bin")


def order(names, epoch, seed):
    """Return the names in the order in which this epoch reads them: 0, 1, 2, …"""
    ### BEGIN SOLUTION Exercise 4.2: the names in an order that seed and epoch decide
    return np.random.default_rng([seed, epoch]).permutation(names)
    ### END SOLUTION


def names_of(source, cifar, folder):
    """Return the names of the files or packs, and write those that do not exist."""
    there = Path(folder) / f"{cifar.facts['sha256'][:8]}_{len(cifar.y_train)}_{source}"
    if source == "packs":  # an earlier write_packs may have written wrong packs
        program = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=4).hexdigest()
        there = there.with_name(f"{there.name}_{program}")
    if not there.is_dir():
        unfinished = there.with_name(f"{there.name}.{os.getpid()}")
        try:
            unfinished.mkdir(parents=True)
            records = to_records(cifar.x_train, cifar.y_train)
            if source == "packs":
                write_packs(records, unfinished, PACKS)
            else:
                write_files(records, unfinished)
            unfinished.rename(there)
        except OSError as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if not there.is_dir():  # otherwise another job was faster
                sys.exit(f"train.py: --folder {folder}: {error.strerror}; choose another folder")
    names = sorted(str(path) for path in there.glob("*.bin"))
    if not names:
        sys.exit(f"train.py: nothing was written for --source {source}; fill exercise 4.1")
    return names


def pieces_of(source, cifar, folder, seed):
    """Return the pieces, in a new order each epoch: names, or packs of bytes."""
    epochs = itertools.count()
    if source == "memory":
        packs = np.array_split(to_records(cifar.x_train, cifar.y_train), PACKS)

        def one_pack_after_another():  # called again at the start of each epoch
            for number in order(range(PACKS), next(epochs), seed):
                yield packs[number]

        return tf.data.Dataset.from_generator(
            one_pack_after_another, output_signature=tf.TensorSpec([None, RECORD], tf.uint8)
        )
    names = names_of(source, cifar, folder)

    def all_names():  # called again at the start of each epoch
        yield order(names, next(epochs), seed)

    return tf.data.Dataset.from_generator(
        all_names, output_signature=tf.TensorSpec([None], tf.string)
    ).unbatch()


def decode(piece):
    """Return a piece's samples: images, with their labels and numbers."""
    if piece.dtype == tf.string:  # a name, so the file is opened here
        content = tf.io.read_file(piece)
        piece = tf.reshape(tf.io.decode_raw(content, tf.uint8), (-1, RECORD))
    numbers, labels, pixels = tf.split(piece, [4, 1, RECORD - 5], axis=1)
    numbers = tf.reshape(tf.bitcast(numbers, tf.int32), (-1,))
    labels = tf.cast(labels[:, 0], tf.int64)
    marks = tf.stack([labels, tf.cast(numbers, tf.int64)], axis=1)
    return tf.reshape(pixels, (-1, 32, 32, 3)), marks
