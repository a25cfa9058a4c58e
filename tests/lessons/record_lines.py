"""Read a program's output by the contract: MLPerf's parser, the schema and the chain."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
from mlperf_logging.compliance_checker.mlp_parser import parse_file

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs/schemas/run-record.schema.json").read_text())
)
TAG = ":::MLLOG "
BIN = Path(sys.executable).parent


def run_program(
    text: str, *, folder: Path, launcher: tuple[str, ...] = (), fails: bool = False, **environ: str
) -> str:
    """Write a program into the folder, run it under a launcher, and return its output."""
    program = folder / "train.py"
    program.write_text(text)
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*launcher, sys.executable, str(program)],
        env={**os.environ, "PATH": path, **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout


def tagged(output: str) -> list[str]:
    return [line[line.rindex(TAG) :] for line in output.split("\n") if TAG in line]


def events(output: str) -> list[dict]:
    """Check everything that the format promises, and return the events of an output."""
    lines = tagged(output)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(output)
        file.flush()
        parsed, failed = parse_file(file.name, ruleset="6.1.0")
    assert not failed, failed
    assert [line.full_string for line in parsed] == lines
    found = []
    for line in lines:
        assert line.isascii(), line
        assert len(line) <= 1000, line
        event = json.loads(line.removeprefix(TAG), parse_constant=refuse)
        assert list(event) == ["namespace", "time_ms", "event_type", "key", "value", "metadata"]
        assert list(event["metadata"])[-1] == "chain"
        SCHEMA.validate(event)
        found.append(event)
    assert chain_breaks(lines) == []
    return found


def chain_breaks(lines: list[str]) -> list[int]:
    """Return the numbers of lines with a wrong hash of the line before and this one, by rank."""
    last: dict[tuple, str] = {}
    broken = []
    for number, line in enumerate(lines):
        body = line.removeprefix(TAG)
        about = json.loads(body)["metadata"]
        rank = (about["run"], about["rank"])
        sealed = last.get(rank, about["run"]) + body[: body.rindex(',"chain":')]
        last[rank] = about["chain"]
        if hashlib.blake2b(sealed.encode()).hexdigest()[:12] != about["chain"]:
            broken.append(number)
    return broken


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def of(found: list[dict], key: str) -> list[dict]:
    return [event for event in found if event["key"] == key]


def facts(found: list[dict]) -> dict:
    """Return the header's facts from its two lines."""
    return of(found, "machine")[0]["value"] | of(found, "header")[0]["value"]
