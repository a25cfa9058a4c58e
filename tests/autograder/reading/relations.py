"""Changes to an output that keep its meaning, and the facts that may differ afterwards.

A relation is a function that changes an output's bytes, with the names of the facts that may
differ. It can be tested on any output, because nobody needs to know which facts are true.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.reading.files import read_bytes
from autograder.reading.formats import presets
from autograder.records import Epoch, Number, Run
from tests.autograder.reading.known_outputs import LOGS

HERE = Path(__file__).parent
PLANTED = HERE.parents[1] / "lessons" / "planted" / "outputs"
BIGGEST = 600_000  # bytes: longer outputs are cut at the end of a line

Facts = dict[str, Any]


# --- facts ----------------------------------------------------------------------------------------


def facts(run: Run) -> Facts:
    """Return everything that is read of a run except its position."""
    return {
        "format": run.format,
        "outcome": run.outcome,
        "workers": run.workers,
        "job_id": run.job_id,
        "epochs": [epoch_facts(epoch) for epoch in run.epochs],
        "unfinished": run.unfinished and epoch_facts(run.unfinished),
        "sparse": run.sparse,
        "ranks": len(run.ranks),
        "launch": run.launch,
        "chain_intact": run.chain_intact,
        **{name: value(getattr(run, name)) for name in ("test_accuracy", "test_loss")},
        **{name: value(getattr(run, name)) for name in ("throughput", "total_seconds")},
    }


def epoch_facts(epoch: Epoch) -> tuple[Any, ...]:
    members = (field.name for field in dataclasses.fields(epoch) if field.name != "where")
    return tuple(value(getattr(epoch, name)) for name in members)


def value(thing: Any) -> Any:
    return (thing.value, thing.half_width) if isinstance(thing, Number) else thing


def read(data: bytes, name: str = "job.out") -> list[Facts]:
    return [facts(run) for run in read_bytes({name: data})]


def trained(run: Facts) -> bool:
    """Return whether more is known about the run than how it ended."""
    return bool(run["epochs"] or run["unfinished"] or run["ranks"])


def differences(before: Facts, after: Facts, *, without: tuple[str, ...] = ()) -> list[str]:
    """Return the differing facts in words that explain a failed test.

    An outcome may become unknown when other lines follow.
    """
    if after["outcome"] == "unknown":
        without = (*without, "outcome")
    return [
        f"{name}: {shown(before[name])} became {shown(after[name])}"
        for name in before
        if name not in without and before[name] != after[name]
    ]


def shown(thing: Any) -> str:
    return f"{len(thing)} of {str(thing)[:80]}" if isinstance(thing, list) else str(thing)[:80]


# --- outputs --------------------------------------------------------------------------------------


def outputs() -> dict[str, bytes]:
    """Return all outputs: samples of formats, outputs of planted mistakes, and other people's."""
    found = {f"sample {path.stem}": path for path in (HERE / "formats" / "samples").iterdir()}
    examples = {f"sample {p['name']}": p["example"].encode() for p in presets.data()}
    for path in PLANTED.rglob("*.txt"):
        found[f"planted {path.parent.name} {path.stem}"] = path
    if LOGS is not None:
        found |= {f"log {path.name}": path for path in LOGS.glob("[0-9]*")}
    return examples | {name: beginning(found[name].read_bytes()) for name in sorted(found)}


def beginning(data: bytes) -> bytes:
    """Return the output's beginning with a final newline, so that appended text is a new line."""
    if len(data) > BIGGEST:
        data = data[: data.rfind(b"\n", 0, BIGGEST) + 1]
    return data if data.endswith(b"\n") else data + b"\n"


# --- relations ------------------------------------------------------------------------------------


def each_line(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(data: bytes) -> bytes:
        return b"".join(change(line) + b"\n" for line in data.split(b"\n")[:-1])

    return changed


def crlf(line: bytes) -> bytes:
    return line if line.endswith(b"\r") else line + b"\r"


def coloured(line: bytes) -> bytes:
    """Colour a line as a logger does; lines that are redrawn in place stay as they are."""
    if not line.strip() or b"\r" in line or b"\b" in line or b":::ML" in line:
        return line
    return b"\x1b[32m" + line + b"\x1b[0m"


def labelled(rank: int) -> Callable[[bytes], bytes]:
    """Label a line as `srun --label` does, unless mpirun has already labelled it."""
    return lambda line: line if line.startswith(b"[1,") else b"%d: " % rank + line


def with_a_second_rank(data: bytes) -> bytes:
    """Print every line twice, labelled as ranks 0 and 1."""
    one, other = labelled(0), labelled(1)
    return each_line(lambda line: one(line) + b"\n" + other(line))(data)


NOISE = b"INFO:root: the queue holds nothing that is of interest here\n"
MODULES = b"Loading python/3.11\n  Loading requirement: gcc/12 openmpi/4\n" + NOISE * 3


@dataclasses.dataclass(frozen=True)
class Relation:
    """A change to an output, and the facts that it may change."""

    change: Callable[[bytes], bytes]
    without: tuple[str, ...] = ()  # the facts that may change
    records: bool = True  # also applied to the course's own record


RELATIONS: dict[str, Relation] = {
    "line ends of another system": Relation(each_line(crlf)),
    "colours": Relation(each_line(coloured)),
    "a blank line after each": Relation(each_line(lambda line: line + b"\n")),
    "srun --label on one rank": Relation(each_line(labelled(0))),
    "a second rank, labelled": Relation(with_a_second_rank, without=("workers",), records=False),
    "modules loaded ahead": Relation(lambda data: MODULES + data),
    "words of the job file behind": Relation(lambda data: data + NOISE * 20),
}
