"""Read IDX, the format of MNIST: a magic number, the sizes, then plain bytes."""

import math
import struct

import numpy as np

UNSIGNED_BYTE = 0x08
MOST_DIMENSIONS = 4


def parse(data: bytes) -> np.ndarray:
    """Return the array of unsigned bytes in an IDX file.

    For any other file, a ValueError says what is wrong with it.
    """
    if len(data) < 4:
        raise ValueError(f"ends after {len(data)} bytes, before its header is complete")
    zero, kind, dimensions = struct.unpack(">HBB", data[:4])
    if zero != 0 or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            "is not an IDX file (it does not start with the four bytes of that format)"
        )
    if kind != UNSIGNED_BYTE:
        raise ValueError(f"holds numbers of kind 0x{kind:02x}, not unsigned bytes (0x08)")
    start = 4 + 4 * dimensions
    if len(data) < start:
        raise ValueError(f"ends after {len(data)} bytes, before its header is complete")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    asked = start + math.prod(shape)
    if len(data) != asked:
        sizes = " x ".join(map(str, shape))
        raise ValueError(f"has {len(data):,} bytes where its header ({sizes}) asks for {asked:,}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)
