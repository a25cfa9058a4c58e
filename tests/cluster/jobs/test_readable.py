"""People see every line of an output except those of the run record."""

import pytest

from cluster.jobs.readable import readable

RECORD = b':::MLLOG {"namespace":"course","key":"epoch_stop"}\n'
EXAMPLES = [
    (b"Epoch 1\nEpoch 2\n", b"Epoch 1\nEpoch 2\n"),
    (b"before\n" + RECORD + b"after\n", b"before\nafter\n"),
    (b"before\n\n" + RECORD + b"\n" + RECORD + b"after\n", b"before\nafter\n"),
    (b"a paragraph\n\n\n" + RECORD + b"another\n", b"a paragraph\n\nanother\n"),
    (b"a paragraph\n\nanother\n", b"a paragraph\n\nanother\n"),
    (b"10/20 [===>  ]\n" + RECORD + b"20/20\n", b"10/20 [===>  ]\n20/20\n"),
    (b"without an end", b"without an end"),
    (b"ends with a blank line\n\n", b"ends with a blank line\n\n"),
    (b"killed while it wrote\n" + RECORD[:30], b"killed while it wrote\n"),
    (b"", b""),
    (RECORD * 3, b""),
]


@pytest.mark.parametrize("size", [1, 3, 7, 1 << 16])
@pytest.mark.parametrize(("output", "shown"), EXAMPLES)
def test_the_record_is_left_out_however_the_output_arrives(output, shown, size):
    chunks = [output[at : at + size] for at in range(0, len(output), size)]
    assert b"".join(readable(chunks)) == shown
