"""Measure the length of a run record with many ranks, and the CPU time and memory to read it.

python benchmarks/grading/many_ranks.py

The lines are generated as docs/run-record.md describes; no such run is started. Each output is read
by its own process (`autograder read`), which shows its peak memory. The first row is mostly the
start-up of the process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.autograder.make_record import make_record, write_lines  # noqa: E402

READ = [sys.executable, "-c", "from autograder.cli import main; main()", "read"]
SAMPLES = 60_000


def output(folder: Path, ranks: int, epochs: int) -> Path:
    """Write the output of a job with this many ranks, each with its own share of the samples."""
    shards = [[rank, SAMPLES, ranks] for rank in range(ranks)]
    lines = make_record(
        lesson="08", source="keras-horovod", size=ranks, seconds=(1.0,) * epochs, shards=shards
    )
    return write_lines(folder / f"08_{ranks}.out", lines)


def read(file: Path) -> tuple[float, float, int]:
    """Return CPU seconds and peak MB of reading the file, and the number of workers in it."""
    process = subprocess.Popen([*READ, "--json", str(file)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"autograder read {file} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(said)[0]["workers"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="1,8,64,1024,10000", metavar="N,N,…")
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    print(f"{'ranks':>7}{'kB':>9}{'bytes a rank':>14}{'CPU s':>9}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        alone = 0
        for ranks in map(int, args.ranks.split(",")):
            file = output(Path(folder), ranks, args.epochs)
            size = file.stat().st_size
            alone = alone or size
            each = (size - alone) / (ranks - 1) if ranks > 1 else 0
            seconds, memory, workers = read(file)
            assert workers == ranks, f"{workers} workers were seen, not {ranks}"
            print(f"{ranks:7}{size / 1e3:9.1f}{each:14.0f}{seconds:9.2f}{memory:9.0f}", flush=True)


if __name__ == "__main__":
    main()
