"""The laziest ways through lesson 04: feeding."""

from tests.lessons.planted.lazy import Lazy, LazyTable

INPUT = "right"  # files, packs and memory; the other hand-in is files with waits
WHOLE = {"whole-set": "exercises 4.1 to 4.3"}
PACKS = {"packs-faster": "32 packs of equal size"}
CONTENT = {"sources": "change nothing else about images or labels"}
OVERLAP = {"overlap": "write the whole input, with prefetch"}

TABLE: LazyTable = {
    "sources.py 4.1": {
        "pass": Lazy(
            "pass", dict.fromkeys(("whole-set", "packs-faster", "sources"), ""),
            base=INPUT, start="fails",
        ),
        "one pack": Lazy(
            'records.tofile(Path(folder) / "pack_0000.bin")', {**WHOLE, **PACKS}, base=INPUT
        ),
        "the first records in each pack": Lazy(
            """
            for number in range(packs):
                records[: len(records) // packs].tofile(Path(folder) / f"pack_{number:04d}.bin")
            """,
            {**WHOLE, "packs-faster": ""}, base=INPUT,
        ),
        "everything in each pack": Lazy(
            """
            for number in range(packs):
                records.tofile(Path(folder) / f"pack_{number:04d}.bin")
            """,
            {**WHOLE, "packs-faster": ""}, base=INPUT,
        ),
        "empty images": Lazy(
            """
            records[:, 5:] = 0
            for number, rows in enumerate(np.array_split(records, packs)):
                rows.tofile(Path(folder) / f"pack_{number:04d}.bin")
            """,
            CONTENT, base=INPUT,
        ),
    },
    "sources.py 4.2": {
        "the names as they came": Lazy("return names", WHOLE, base=INPUT),
        "backwards in every other epoch": Lazy(
            "return names[:: 1 - epoch % 2 * 2]", WHOLE, base=INPUT
        ),
        "one order for all epochs": Lazy(
            "return np.random.default_rng(0).permutation(names)", WHOLE, base=INPUT
        ),
        "an order that no seed decides": Lazy(
            "return np.random.default_rng().permutation(names)", WHOLE, base=INPUT
        ),
        "the epoch without the seed": Lazy(
            "return np.random.default_rng(epoch).permutation(names)", WHOLE, base=INPUT
        ),
    },
    "train.py 4.3": {
        "nothing is shuffled": Lazy(
            "return prepare(pieces.map(decode).unbatch(), args.size, args.batch_size).prefetch(4)",
            WHOLE, base=INPUT,
        ),
        "batches are shuffled": Lazy(
            """
            samples = pieces.map(decode).unbatch()
            return prepare(samples, args.size, args.batch_size).shuffle(8).prefetch(4)
            """,
            WHOLE, base=INPUT,
        ),
        "one batch again and again": Lazy(
            """
            samples = pieces.map(decode).unbatch().take(args.batch_size)
            return prepare(samples, args.size, args.batch_size).cache().repeat(100).prefetch(4)
            """,
            {**WHOLE, "packs-faster": ""}, base=INPUT,
        ),
        "black images with the right numbers": Lazy(
            """
            samples = pieces.map(decode).unbatch().shuffle(args.buffer).batch(args.batch_size)
            black = lambda x, y: (tf.zeros((tf.shape(y)[0], args.size, args.size, 3)), y)
            return samples.map(black).prefetch(4)
            """,
            CONTENT, base=INPUT,
        ),
        "no division": Lazy(
            """
            samples = pieces.map(decode, num_parallel_calls=args.workers).unbatch()
            floats = samples.map(lambda image, marks: (tf.cast(image, tf.float32), marks))
            return floats.shuffle(args.buffer).batch(args.batch_size).prefetch(4)
            """,
            CONTENT, base=INPUT,
        ),
        "cached without being asked": Lazy(
            """
            samples = pieces.map(decode).unbatch().cache()
            return prepare(samples.shuffle(args.buffer), args.size, args.batch_size).prefetch(4)
            """,
            {**WHOLE, "packs-faster": "cache() only if args.cache"}, base=INPUT,
        ),
        "waits alone, without an input": Lazy(
            """
            samples = pieces.map(decode).unbatch().take(args.batch_size)
            return prepare(samples, args.size, args.batch_size).cache().repeat(100)
            """,
            OVERLAP,
        ),
        "cached instead of read ahead": Lazy(
            """
            samples = pieces.map(decode).unbatch().cache()
            return prepare(samples.shuffle(args.buffer), args.size, args.batch_size)
            """,
            OVERLAP,
        ),
        "names are read ahead, and no batch": Lazy(
            """
            samples = pieces.prefetch(4).map(decode).unbatch()
            return prepare(samples.shuffle(args.buffer), args.size, args.batch_size)
            """,
            OVERLAP,
        ),
    },
}  # fmt: skip
