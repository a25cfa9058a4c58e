"""Change a job's real output like a forger, event by event, and recompute the chain of hashes.

This module knows nothing about the grader.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[2] / "lessons" / "planted" / "outputs"
TAG = ":::MLLOG "
Event = dict[str, Any]
Lines = list[str | Event]  # printed lines, or events of the record


def kept(lesson: str, job: str) -> Lines:
    """Return the output of a real run of a lesson's program."""
    text = (KEPT / lesson / f"{job}.out.txt").read_text("utf-8").partition("\n")[2]
    return parsed(text)


def parsed(text: str) -> Lines:
    return [
        json.loads(line.partition(TAG)[2]) if TAG in line else line for line in text.splitlines()
    ]


def written(lines: Lines) -> str:
    """Return the output as text, with every rank's chain computed anew."""
    chains: dict[tuple[str, int], str] = {}
    done = []
    for line in lines:
        if isinstance(line, str):
            done.append(line)
            continue
        about = {k: v for k, v in line["metadata"].items() if k != "chain"}
        text = json.dumps({**line, "metadata": about}, separators=(",", ":"))[:-2]
        key = about["run"], about["rank"]
        chains[key] = blake2b((chains.get(key, key[0]) + text).encode()).hexdigest()[:12]
        done.append(f'{TAG}{text},"chain":"{chains[key]}"}}}}')
    return "\n".join(done) + "\n"


def events(lines: Lines, *keys: str) -> Iterator[Event]:
    for line in lines:
        if isinstance(line, dict) and (not keys or line["key"] in keys):
            yield line


def event_of(lines: Lines, key: str) -> Event:
    return next(events(lines, key))


def put(lines: Lines, *keys: str, **members: Any) -> None:
    """Set members of these events' values; a function computes the new value from the old one."""
    for event in events(lines, *keys):
        for name, value in members.items():
            if name in event["value"]:
                old = event["value"][name]
                event["value"][name] = value(old) if callable(value) else value


# --- a real output as a job's output --------------------------------------------------------


def as_job(lines: Lines, job: int, name: str) -> Lines:
    """Return the same run as a job on a cluster prints it.

    The job file's facts precede it, and the record has the scheduler, the launcher and the job's
    number.
    """
    ranks = event_of(lines, "header")["value"]["world_size"]
    if isinstance(lines[0], str) and lines[0].startswith("site: "):  # it was a job's output already
        lines = lines[next(n for n, line in enumerate(lines) if not isinstance(line, str)) :]
    for event in events(lines, "machine"):
        event["value"] |= {"scheduler": "slurm", "launcher": "srun", "site": "snellius"}
        event["value"] |= {"job_id": str(job)}
    put(lines, "header", ranks_asked=ranks)
    started = event_of(lines, "machine")["value"]["started"]
    facts = (
        *("site: snellius (slurm)", f"job: {job} {name}", "nodes: 1 (vm)", f"ranks: {ranks}"),
        *("cores per rank: 1", "gpus on this node: none", "launcher: srun", "modules: none"),
        *("git: planted", "python: …/bin/python", f"started: {started}"),
    )
    return [*facts, *lines]


def slowed(lines: Lines, times: float) -> Lines:
    """Return the run of a slower machine, with all of its seconds and its clock scaled."""
    first = event_of(lines, "header")["time_ms"]
    for event in events(lines):
        event["time_ms"] = round(first + times * (event["time_ms"] - first))
    put(lines, "epoch_stop", "run_stop", seconds=lambda s: round(s * times, 6))
    return lines


def later(lines: Lines, seconds: int) -> Lines:
    """Move the run to a later time of day: the clock and `started`."""
    for event in events(lines):
        event["time_ms"] += 1000 * seconds
    for event in events(lines, "machine"):
        event["value"]["started"] = clock(event["time_ms"])
    return lines


def clock(ms: float) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).isoformat(timespec="seconds")


# --- forging ---------------------------------------------------------------------------------


def new_id(lines: Lines, run: str = "deadbeef") -> None:
    """Give the first run of a file this id, and each further one, such as a probe, its own."""
    ids: dict[str, str] = {}
    for event in events(lines):
        number = int(run, 16) + len(ids)
        event["metadata"]["run"] = ids.setdefault(event["metadata"]["run"], f"{number:08x}"[-8:])
