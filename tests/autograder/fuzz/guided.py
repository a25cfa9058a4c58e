"""Coverage-guided fuzz targets for reading and grading, to run by hand for any length of time.

    pip install atheris
    cd tests/autograder
    python fuzz/guided.py /tmp/corpus reading/formats/samples -max_len=4000
    python fuzz/guided.py grading /tmp/classes fuzz/found -max_len=600 -timeout=20

Reading takes the input for a job's outputs. Grading takes it for choices from which whole
submissions are made (submissions.py), and grades those. An input that fails belongs in fuzz/found,
where test_fuzz_grading.py grades it from then on. Without atheris, inputs are generated blindly:

    python fuzz/guided.py [grading] --seconds 600
"""

import argparse
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))
SAMPLES = ROOT / "tests" / "autograder" / "reading" / "formats" / "samples"


def examples() -> list[bytes]:
    """Return outputs in all formats."""
    from autograder.reading.formats import presets

    found = [path.read_bytes() for path in sorted(SAMPLES.iterdir())]
    return [*found, *(preset["example"].encode() for preset in presets.data())]


SLOW = 2.0  # seconds: an input of a few kilobytes that takes longer is a finding


def one_input(data: bytes) -> None:
    """Read one input; its first byte says where output ends and error output begins."""
    from tests.autograder.fuzz.invariants import read_and_check

    cut = len(data) * (data[0] if data else 0) // 255
    start = time.monotonic()
    read_and_check({"a_1234.out": data[1:cut], "a_1234.err": data[cut:]})
    if time.monotonic() - start > SLOW:
        raise RuntimeError(f"{len(data)} bytes took {time.monotonic() - start:.1f} s")


def one_class(data: bytes) -> None:
    from tests.autograder.fuzz.submissions import grade_and_check

    start = time.monotonic()
    grade_and_check(data)
    if time.monotonic() - start > 5 * SLOW:
        raise RuntimeError(f"{len(data)} bytes took {time.monotonic() - start:.1f} s")


def mutate(data: bytes, others: list[bytes], dice: random.Random) -> bytes:
    piece = bytearray(data)
    for _ in range(dice.randrange(1, 8)):
        at, length = dice.randrange(len(piece) + 1), dice.randrange(1, 60)
        other = dice.choice(others)
        start = dice.randrange(len(other) + 1)
        piece[at : at + dice.choice((0, 0, 1, length))] = dice.choice(
            (
                bytes([dice.randrange(256)]),
                other[start : start + length],
                bytes(piece[at : at + length]) * dice.randrange(1, 20),
                b"%d" % dice.choice((0, -1, 2**31, 10**20, dice.randrange(100))),
                dice.choice((b"\r", b"\n", b"\b" * 30, b"\0", b"nan", b'"', b"{", b":::MLLOG ")),
            )
        )
    return bytes(piece[:6000])


def blindly(seconds: float, seed: int, target: Callable[[bytes], None]) -> None:
    dice = random.Random(seed)
    samples = [b"\x80" + sample for sample in examples()]
    from tests.autograder.make_record import make_record

    samples.append(b"\xff" + "\n".join(make_record(size=2)).encode())
    if target is one_class:
        samples = [dice.randbytes(200) for _ in range(20)]
    end, count, findings = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        data = mutate(dice.choice(samples), samples, dice)
        if target is one_class and dice.random() < 0.5:
            data = dice.randbytes(dice.randrange(20, 400))
        count += 1
        try:
            target(data)
        except Exception:
            findings += 1
            path = ROOT / "build" / f"crash-{seed}-{count}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            print(f"{path}:\n{traceback.format_exc()}", flush=True)
    print(f"{count} inputs in {seconds:.0f} s, {findings} findings")
    sys.exit(bool(findings))


def main() -> None:
    target = one_input
    if sys.argv[1:2] == ["grading"]:
        target = one_class
        del sys.argv[1]
    if "--seconds" in sys.argv or "--seed" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("--seconds", type=float, default=60)
        parser.add_argument("--seed", type=int, default=1)
        args = parser.parse_args()
        blindly(args.seconds, args.seed, target)
        return
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed; `--seconds 600` mutates blindly instead.")
    with atheris.instrument_imports(include=["autograder", "json"]):
        import tests.autograder.fuzz.invariants
        import tests.autograder.fuzz.submissions  # noqa: F401
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
