"""Run records for tests, written from docs/run-record.md alone, without the course's writer."""

import contextlib
import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

MNIST = "c65580678af93f1ea48c2c0d01d543ec89307c6b8a0eb7ca542d7c18c5f4c681"
DATASET = {"name": "mnist", "sha256": MNIST, "synthetic": False, "test_samples": 10000}
# What lesson 02's programs measure about their network and their steps.
ASKED_OF_02 = (
    {"name": "bend", "value": 0.19, "unit": ""},
    {"name": "step_error", "value": 4e-16, "unit": ""},
)
BEGAN_MS = 1772445600000  # 2026-03-02T10:00:00Z


class Writer:
    """The lines of one run, in which each rank has its own chain."""

    def __init__(self, run: str = "5f0c2a91") -> None:
        self.run = run
        self.lines: list[str] = []
        self.clock: float = BEGAN_MS
        self.chains: dict[int, str] = {}

    def add(self, key: str, value, kind: str = "POINT_IN_TIME", rank: int = 0, **metadata) -> None:
        about = {"file": "train.py", "lineno": 31, "run": self.run, "rank": rank, **metadata}
        event = {"namespace": "course", "time_ms": round(self.clock), "event_type": kind}
        event |= {"key": key, "value": value, "metadata": about}
        text = json.dumps(event, separators=(",", ":"))
        text = text[: -len("}}")]
        before = self.chains.get(rank, self.run)
        chain = blake2b((before + text).encode()).hexdigest()[:12]
        self.chains[rank] = chain
        self.lines.append(f':::MLLOG {text},"chain":"{chain}"}}}}')


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A run whose facts all agree unless a field says otherwise."""

    lesson: str = "02"
    source: str = "keras"
    run: str = "5f0c2a91"
    size: int = 1
    seconds: tuple[float, ...] = (2.0, 1.0, 1.1)
    samples: int = 60000
    train_samples: int = 60000
    batch: int = 32
    test_accuracy: object = 0.978
    accuracy: float = 0.9
    params: int = 407050
    shards: list[list] | None = None
    hashes: tuple[str, ...] = ("h",)
    finished: bool = True
    total: float | None = None
    end: dict = field(default_factory=dict)
    measures: tuple[dict, ...] | None = None
    read: bool = False
    start: str | None = None
    rank_says: dict = field(default_factory=dict)  # more members of each rank's first line
    end_says: dict = field(default_factory=dict)  # and of its last line
    first_rank_only: bool = False
    wall: tuple[float, ...] | None = None  # between an epoch's lines, if not `seconds`
    program: dict | None = None
    header: dict = field(default_factory=dict)

    @property
    def ranks(self) -> range:
        return range(1 if self.first_rank_only else self.size)

    @property
    def facts(self) -> dict:
        """Return the header's value."""
        batch, scaling = self.batch * self.size, "serial" if self.size == 1 else "epoch"
        return (
            {"lesson": self.lesson, "program": "train.py", "source": self.source}
            | {"record_version": 1, "framework": "tensorflow", "model": "mlp512"}
            | {"params": self.params, "precision": "float32", "world_size": self.size}
            | {"ranks_asked": self.size, "scaling": scaling, "global_batch": batch}
            | {"local_batch": self.batch, "lr": 0.001 * self.size, "lr_base": 0.001, "seed": 1}
            | {"epochs_asked": len(self.seconds), "hosts": ["n1"], "device": "CPU a fast one"}
            | {"dataset": DATASET | {"train_samples": self.train_samples}, "job_id": "1234"}
            | {"started": "2026-03-02T10:00:00+00:00"}
            | self.header
        )


NAMES = {each.name for each in fields(Recorded)}


def make_record(**given) -> list[str]:
    """Return a run's lines.

    Names that are not fields of `Recorded` become members of the header.
    """
    header = {name: value for name, value in given.items() if name not in NAMES}
    about = Recorded(**{name: given[name] for name in given.keys() & NAMES}, header=header)
    writer = Writer(about.run)
    facts = about.facts
    with contextlib.suppress(TypeError, ValueError):  # the clock starts at the run's `started`
        writer.clock = 1000 * datetime.fromisoformat(facts["started"]).timestamp()
    began = writer.clock
    writer.add("header", facts)
    if about.program:
        writer.add("program", about.program)
    add_ranks(writer, about, facts["device"])
    for number in range(1, len(about.seconds) + 1):
        add_epoch(writer, about, number)
    measures = about.measures
    if measures is None:
        measures = ASKED_OF_02 if about.lesson == "02" else ()
    for measure in measures:
        writer.add("measure", measure)
    if about.finished:
        add_end(writer, about, began)
    return writer.lines


def add_ranks(writer: Writer, about: Recorded, device: object) -> None:
    for rank in about.ranks:
        shard = about.shards[rank] if about.shards else [rank, None, about.size]
        value = {"rank": rank, "local_rank": rank, "host": "n1", "device": f"{device} #{rank}"}
        value |= {"samples": about.samples // about.size, "shard": shard}
        value |= {"shard_ids_hash": "all" if shard is None else f"s{rank}"}
        writer.add("rank", value | about.rank_says, rank=rank)


def add_epoch(writer: Writer, about: Recorded, number: int) -> None:
    seconds, samples = about.seconds[number - 1], about.samples
    writer.add("epoch_start", None, "INTERVAL_START", epoch_num=number)
    steps, accuracy = -(-samples // (about.batch * about.size)), about.accuracy + 0.02 * number
    value = {"seconds": seconds, "steps": steps, "unique_samples": samples}
    value |= {"loss": 0.5 / number, "accuracy": accuracy, "lr": 0.001}
    if about.read:  # each epoch in its own order, with every sample once
        counted = {"total": samples, "distinct": samples, "most": 1, "order": f"o{number}"}
        value["read"] = counted
    writer.clock += 1000 * (seconds if about.wall is None else about.wall[number - 1])
    writer.add("epoch_stop", value, "INTERVAL_END", epoch_num=number)


def add_end(writer: Writer, about: Recorded, began: float) -> None:
    for rank in about.ranks:
        value = {"rank": rank, "samples": about.samples // about.size}
        value |= {"start_hash": about.start, "param_hash": about.hashes[rank % len(about.hashes)]}
        writer.add("rank_end", value | about.end_says, rank=rank)
    total = sum(about.seconds) + 2 if about.total is None else about.total
    writer.clock = max(writer.clock, began + 1000 * total)
    value = {"seconds": total, "test_accuracy": about.test_accuracy, "test_loss": 0.08}
    value |= {"param_moved": 0.3, "param_spread": 0.0 if about.size > 1 else None}
    writer.add("run_stop", value | about.end, "INTERVAL_END", status="success")


def some_rounds(*seconds: tuple[float, float, float], **more: object) -> tuple[dict, ...]:
    """Return the measures of a speed job from each round's seconds (alone, silent, together)."""
    usual = {"name": "round", "unit": "s", "steps": 4, "samples": 64, "moved": 0.1, "spread": 0.0}
    return tuple(
        usual | {"value": together, "round": n, "alone_s": alone, "silent_s": silent} | more
        for n, (alone, silent, together) in enumerate(seconds, start=1)
    )


def sealed_again(lines: list[str]) -> list[str]:
    """Return changed lines with the chain computed anew, as someone who knows the method can do."""
    chains: dict[int, str] = {}
    done = []
    for line in lines:
        text = line[line.index("{") : line.rindex(',"chain":')]
        about = json.loads(text + "}}")["metadata"]
        rank = about["rank"]
        before = chains.get(rank, about["run"])
        chains[rank] = blake2b((before + text).encode()).hexdigest()[:12]
        done.append(f':::MLLOG {text},"chain":"{chains[rank]}"}}}}')
    return done


RIGHT_ANSWERS = {"predict_accuracy": "0.97", "keras_epoch_s": "1.05"}
RIGHT_ANSWERS |= {"keras_throughput": "57142.9", "s4_epoch_s": "7.23"}
RIGHT_ANSWERS |= {"faults_serial": "DACB", "interval_14_5_low": "2.45455"}
RIGHT_ANSWERS |= {"interval_14_5_high": "3.22222", "hidden_units": "300"}


def write_lines(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))
    return path


def hand_in(folder: Path, keras=None, torch=None, answers=None) -> Path:
    """Write a complete lesson 02 with full marks, unless the arguments change it."""
    given = RIGHT_ANSWERS if answers is None else answers
    second = make_record(source="torch", run="77aa77aa", job_id="1235", test_accuracy=0.975)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in {
        "02_serial_1.out": make_record() if keras is None else keras,
        "02_torch_2.out": second if torch is None else torch,
        "answers.txt": [f"{key} = {value}" for key, value in given.items()],
    }.items():
        if lines:  # an empty file is another fault than a missing one
            write_lines(folder / name, lines)
    return folder
