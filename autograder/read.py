"""Read what jobs printed: files of one submission in, runs with located problems out."""

import io
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from autograder import lines
from autograder.readers import mllog, record
from autograder.records import Problem, Run, Where


def read_files(paths: Iterable[Path | str]) -> list[Run]:
    runs: list[Run] = []
    streams: list[tuple[str, BinaryIO]] = []
    for path in paths:
        path = Path(path)
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                runs.append(unread(path, "this is no regular file"))
                continue
            streams.append((str(path), path.open("rb")))
        except OSError as error:
            runs.append(unread(path, f"cannot be read: {error.strerror}"))
    try:
        return read_streams(streams) + runs
    finally:
        for _, stream in streams:
            stream.close()


def read_bytes(files: Mapping[str, bytes]) -> list[Run]:
    return read_streams([(name, io.BytesIO(data)) for name, data in files.items()])


def unread(path: Path, reason: str) -> Run:
    where = Where(str(path), 0)
    return Run((str(path),), "unknown", "empty", problems=(Problem(where, "", reason),))


def read_streams(streams: list[tuple[str, BinaryIO]]) -> list[Run]:
    launches: dict[str, record.Launch] = {}
    for name, stream in streams:
        for block in lines.blocks(stream):
            at, number = 0, block.number
            data = block.data
            while (tag := data.find(mllog.TAG, at)) >= 0:
                number += data.count(b"\n", at, tag)
                end = data.find(b"\n", tag)
                end = len(data) if end < 0 else end
                payload = data[tag + len(mllog.TAG) : end].strip()
                where = Where(name, number)
                at = end
                try:
                    event = mllog.decode(payload)
                except mllog.BadLineError:
                    continue
                if record.is_ours(event):
                    record.take(launches, event, payload, where)
    return [record.to_run(launch) for launch in launches.values()]
