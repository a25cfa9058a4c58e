"""Run records for tests, written from docs/run-record.md alone and not with the course's writer."""

import contextlib
import json
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

MNIST = "c65580678af93f1ea48c2c0d01d543ec89307c6b8a0eb7ca542d7c18c5f4c681"
DATASET = {"name": "mnist", "sha256": MNIST, "synthetic": False, "test_samples": 10000}
# What the programs of lesson 02 measure of their network and of their steps.
ASKED_OF_02 = (
    {"name": "bend", "value": 0.19, "unit": ""},
    {"name": "step_error", "value": 4e-16, "unit": ""},
)
BEGAN_MS = 1772445600000  # 2026-03-02T10:00:00Z


class Writer:
    """Lines of one run, each rank with its own chain."""

    def __init__(self, run: str = "5f0c2a91") -> None:
        self.run = run
        self.lines: list[str] = []
        self.clock: float = BEGAN_MS
        self.chains: dict[int, str] = {}

    def add(self, key: str, value, kind: str = "POINT_IN_TIME", rank: int = 0, **metadata) -> None:
        about = {"file": "train.py", "lineno": 31, "run": self.run, "rank": rank, **metadata}
        event = {
            "namespace": "course",
            "time_ms": round(self.clock),
            "event_type": kind,
            "key": key,
            "value": value,
            "metadata": about,
        }
        text = json.dumps(event, separators=(",", ":"))
        text = text[: -len("}}")]
        before = self.chains.get(rank, self.run)
        chain = blake2b((before + text).encode()).hexdigest()[:12]
        self.chains[rank] = chain
        self.lines.append(f':::MLLOG {text},"chain":"{chain}"}}}}')


def make_record(
    *,
    lesson: str = "02",
    source: str = "keras",
    run: str = "5f0c2a91",
    size: int = 1,
    seconds: tuple[float, ...] = (2.0, 1.0, 1.1),
    samples: int = 60000,
    train_samples: int = 60000,
    batch: int = 32,
    test_accuracy: object = 0.978,
    accuracy: float = 0.9,
    params: int = 407050,
    shards: list[list] | None = None,
    hashes: tuple[str, ...] = ("h",),
    finished: bool = True,
    total: float | None = None,
    end: dict | None = None,
    measures: tuple[dict, ...] | None = None,
    read: bool = False,
    start: str | None = None,
    rank_says: dict | None = None,
    end_says: dict | None = None,
    first_rank_only: bool = False,
    wall: tuple[float, ...] | None = None,
    program: dict | None = None,
    **header,
) -> list[str]:
    """Lines of a run that everything agrees in, unless the arguments say otherwise.

    `rank_says` and `end_says` are more members of each rank's first and last line.
    `wall` are the seconds between the lines at an epoch's start and end, if not `seconds`.
    """
    writer = Writer(run)
    facts = {
        "lesson": lesson,
        "program": "train.py",
        "source": source,
        "record_version": 1,
        "framework": "tensorflow",
        "model": "mlp512",
        "params": params,
        "precision": "float32",
        "world_size": size,
        "ranks_asked": size,
        "scaling": "serial" if size == 1 else "epoch",
        "global_batch": batch * size,
        "local_batch": batch,
        "lr": 0.001 * size,
        "lr_base": 0.001,
        "seed": 1,
        "epochs_asked": len(seconds),
        "dataset": DATASET | {"train_samples": train_samples},
        "hosts": ["n1"],
        "device": "CPU a fast one",
        "job_id": "1234",
        "started": "2026-03-02T10:00:00+00:00",
    } | header
    with contextlib.suppress(TypeError, ValueError):  # the clock begins when the run says so
        writer.clock = 1000 * datetime.fromisoformat(facts["started"]).timestamp()
    began = writer.clock
    writer.add("header", facts)
    if program:
        writer.add("program", program)
    for rank in range(1 if first_rank_only else size):
        shard = shards[rank] if shards else [rank, None, size]
        value = {
            "rank": rank,
            "local_rank": rank,
            "host": "n1",
            "device": f"{facts['device']} #{rank}",
            "samples": samples // size,
            "shard": shard,
            "shard_ids_hash": "all" if shard is None else f"s{rank}",
        }
        writer.add("rank", value | (rank_says or {}), rank=rank)
    for number, time in enumerate(seconds, start=1):
        writer.add("epoch_start", None, "INTERVAL_START", epoch_num=number)
        value = {
            "seconds": time,
            "steps": -(-samples // (batch * size)),
            "unique_samples": samples,
            "loss": 0.5 / number,
            "accuracy": accuracy + 0.02 * number,
            "lr": 0.001,
        }
        if read:  # each epoch in an order of its own, every sample once
            counted = {"total": samples, "distinct": samples, "most": 1, "order": f"o{number}"}
            value["read"] = counted
        writer.clock += 1000 * (time if wall is None else wall[number - 1])
        writer.add("epoch_stop", value, "INTERVAL_END", epoch_num=number)
    if measures is None:
        measures = ASKED_OF_02 if lesson == "02" else ()
    for measure in measures:
        writer.add("measure", measure)
    if finished:
        for rank in range(1 if first_rank_only else size):
            value = {
                "rank": rank,
                "start_hash": start,
                "param_hash": hashes[rank % len(hashes)],
                "samples": samples // size,
                "files_written": None,
            }
            writer.add("rank_end", value | (end_says or {}), rank=rank)
        total = sum(seconds) + 2 if total is None else total
        writer.clock = max(writer.clock, began + 1000 * total)
        value = {
            "seconds": total,
            "test_accuracy": test_accuracy,
            "test_loss": 0.08,
            "param_moved": 0.3,
            "param_spread": 0.0 if size > 1 else None,
            "files_written": 1,
        }
        writer.add("run_stop", value | (end or {}), "INTERVAL_END", status="success")
    return writer.lines


def some_rounds(*seconds: tuple[float, float, float], **more: object) -> tuple[dict, ...]:
    """Measures of a speed job, from the seconds of (alone, silent, together) in each round."""
    usual = {"name": "round", "unit": "s", "steps": 4, "samples": 64, "moved": 0.1, "spread": 0.0}
    return tuple(
        usual | {"value": together, "round": n, "alone_s": alone, "silent_s": silent} | more
        for n, (alone, silent, together) in enumerate(seconds, start=1)
    )


def sealed_again(lines: list[str]) -> list[str]:
    """Changed lines with a chain computed anew, as somebody does who knows how it is made."""
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


RIGHT_ANSWERS = {
    "predict_accuracy": "0.97",
    "keras_epoch_s": "1.05",
    "keras_epoch_s_min": "1.0",
    "keras_epoch_s_max": "1.1",
    "keras_throughput": "57142.9",
    "s4_epoch_s": "7.2",
    "cpu_gpu_is_speedup": "no",
    "interval_14_5_low": "2.45455",
    "interval_14_5_high": "3.22222",
}


def write_lines(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))
    return path


def hand_in(folder: Path, keras=None, torch=None, answers=None) -> Path:
    """A complete lesson 02 with full marks, unless the arguments change it."""
    write_lines(folder / "02_serial_1.out", make_record() if keras is None else keras)
    second = make_record(source="torch", run="77aa77aa", job_id="1235", test_accuracy=0.975)
    write_lines(folder / "02_torch_2.out", second if torch is None else torch)
    given = RIGHT_ANSWERS if answers is None else answers
    write_lines(folder / "answers.txt", [f"{key} = {value}" for key, value in given.items()])
    return folder
