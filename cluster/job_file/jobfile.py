"""Read a job file's `#SBATCH` lines as `sbatch` does, and work out what they request."""

import glob
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from autograder.errors import SettingsError
from cluster.job_file.sbatch_options import OptionError, take_options, unknown

T = TypeVar("T")
MARK = "#SBATCH"
# Options that need a value.
FILLED = ("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "time", "output", "error", "array")


class JobFileError(SettingsError):
    """A job file that cannot be submitted, explained in one sentence with file and line."""


@dataclass(frozen=True)
class JobFile:
    path: Path
    options: dict[str, str]  # long name -> value, "" for a flag
    lines: dict[str, int]  # long name -> line number, for messages
    notes: tuple[str, ...]  # lines that look like directives but are ignored


@dataclass(frozen=True)
class JobRequest:
    """The resources that a job requests, after all its options have been combined."""

    name: str
    nodes: int
    nodes_given: bool  # None: the scheduler chooses, and `nodes` is the minimum
    ntasks: int
    cpus_per_task: int
    seconds: int | None  # None: no --time, or unlimited
    output: str
    error: str | None  # None: same as the output file
    folder: str | None
    dependency: str | None
    array: tuple[int, ...] | None
    at_once: int | None  # array tasks that may run at the same time
    signal: tuple[str, int, bool] | None  # name, seconds before the end, batch shell only
    append: bool


def read(path: Path) -> JobFile:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise JobFileError(f"{path}: there is no such job file in {Path.cwd()}") from None
    except OSError as error:
        raise JobFileError(f"{path}: cannot be read ({error.strerror})") from None
    return parse(text, path)


def parse(text: str, path: Path = Path("job.sbatch")) -> JobFile:
    if not text.strip():
        raise JobFileError(f"{path}: the file is empty")
    if not text.startswith("#!"):
        if path.suffix in (".py", ".ipynb"):
            said = "this is a program; submit the job file that starts it, such as job.sbatch"
            raise JobFileError(f"{path}: {said}")
        raise JobFileError(f"{path} line 1: a job file begins with an interpreter: #!/bin/bash")
    if "\r\n" in text:
        raise JobFileError(f"{path}: lines end as on Windows; convert: sed -i 's/\\r$//' {path}")
    options: dict[str, str] = {}
    lines: dict[str, int] = {}
    notes = []
    in_head = True
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith(MARK) and in_head:
            here = _directive(line, f"{path} line {number}")
            options.update(here)
            lines.update(dict.fromkeys(here, number))
        elif line.startswith(MARK):
            notes.append(f"{path} line {number}: ignored, it comes after the first command: {line}")
        elif in_head and re.match(r"\s*#\s*SBATCH\s", line, re.IGNORECASE):
            notes.append(f"{path} line {number}: ignored, directives begin with {MARK}: {line}")
        elif line.strip() and not line.lstrip().startswith("#"):
            in_head = False
    return JobFile(path, options, lines, tuple(notes))


def _directive(line: str, where: str) -> dict[str, str]:
    options: dict[str, str] = {}
    try:
        words = shlex.split(line[len(MARK) :], comments=True)
        while words:
            taken, words = take_options(words)
            options |= taken
            if words and unknown(dict([*taken.items()][-1:])):  # its value, without `=`
                options[[*taken][-1]] = words.pop(0)
            elif words:
                raise JobFileError(f"{where}: sbatch: not an option: {words[0]!r} in {line}")
    except (ValueError, OptionError) as error:
        # shlex's own message is "No closing quotation"
        raise JobFileError(f"{where}: sbatch: {error}: {line}") from None
    return options


@dataclass(frozen=True)
class Weighed:
    """A job file's options, overridden by those on the command line, and where each was given."""

    job: JobFile
    more: dict[str, str]

    @property
    def options(self) -> dict[str, str]:
        return {**self.job.options, **self.more}

    def error(self, name: str, why: object) -> JobFileError:
        line = self.job.lines.get(name, "?")
        where = "" if name in self.more else f"{self.job.path} line {line}: "
        return JobFileError(f"{where}--{name}={self.options[name]}: {why}")

    def converted(self, name: str, convert: Callable[[str], T]) -> T | None:
        try:
            return convert(self.options[name]) if name in self.options else None
        except ValueError as error:
            raise self.error(name, error) from None

    def number(self, name: str, default: int) -> int:
        return self.converted(name, number) or default


def number(text: str) -> int:
    """Convert 2, or 1-2: at least one."""
    first = text.split("-")[0]
    if not first.isdecimal() or not int(first):
        raise ValueError("a whole number above 0 is needed")
    return int(first)


def request(job: JobFile, more: dict[str, str] | None = None) -> JobRequest:
    """Return what the file requests. Command-line options in `more` override the file's."""
    weighed = Weighed(job, more or {})
    options = weighed.options
    refuse_gaps(job, options)
    nodes, per_node = weighed.number("nodes", 1), weighed.number("ntasks-per-node", 1)
    ranks = weighed.number("ntasks", nodes * per_node)
    if "nodes" not in options and "ntasks-per-node" in options:
        nodes = -(-ranks // per_node)
    array, at_once = weighed.converted("array", array_indices) or (None, None)
    for stream in ("output", "error"):
        if options.get(stream) == "":
            raise weighed.error(stream, "a file name is needed, such as %x_%j.out")
    return JobRequest(
        name=options.get("job-name") or job.path.name,
        nodes=nodes,
        nodes_given="nodes" in options or "ntasks-per-node" in options,
        ntasks=ranks,
        cpus_per_task=weighed.number("cpus-per-task", 1),
        seconds=weighed.converted("time", seconds),
        output=options.get("output") or ("slurm-%A_%a.out" if array else "slurm-%j.out"),
        error=options.get("error"),
        folder=options.get("chdir"),
        dependency=options.get("dependency"),
        array=array,
        at_once=at_once,
        signal=weighed.converted("signal", signal_request),
        append=options.get("open-mode", "truncate").startswith("a"),
    )


def refuse_gaps(job: JobFile, options: dict[str, str]) -> None:
    """Raise a JobFileError that names every line without a value, if there is any."""
    gaps = [name for name in FILLED if options.get(name) == "" and name in job.lines]
    if len(gaps) > 1:
        lines = sorted((job.lines[name], name) for name in gaps)
        named = ", ".join(f"line {number} --{name}=" for number, name in lines)
        raise JobFileError(f"{job.path}: these have no value yet: {named}")


def seconds(text: str) -> int | None:
    """Convert Slurm's times: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS.

    None means unlimited.
    """
    if text.upper() in ("UNLIMITED", "INFINITE", "-1"):
        return None
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text)
    if not match:
        raise ValueError("a time is minutes, HH:MM:SS or D-HH:MM:SS")
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:
        numbers.insert(0, 0)  # minutes and seconds
    hours, minutes, rest = numbers + [0] * (3 - len(numbers))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest


def clock(seconds: int) -> str:
    """Format seconds for --time: 3725 becomes 01:02:05."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours:02}:{rest // 60:02}:{rest % 60:02}"


def array_indices(text: str) -> tuple[tuple[int, ...], int | None]:
    """Convert `1,3-7:2%2` into ((1, 3, 5, 7), 2)."""
    ranges, _, limit = text.partition("%")
    indices: set[int] = set()
    for part in ranges.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part)
        if not match or (match[3] and not int(match[3])):
            raise ValueError("an array is given as 0-7, 1,3,5 or 0-15:4, with %2 for two at a time")
        first, last = int(match[1]), int(match[2] or match[1])
        indices.update(range(first, last + 1, int(match[3] or 1)))
    if not indices or len(indices) > 1000:
        raise ValueError(f"an array has 1 to 1000 tasks, not {len(indices)}")
    if limit and not (limit.isdigit() and int(limit)):
        raise ValueError("after % comes the number of tasks that may run at the same time")
    return tuple(sorted(indices)), int(limit) if limit else None


def signal_request(text: str) -> tuple[str, int, bool]:
    """Convert `B:USR1@60` into ("USR1", 60, True)."""
    match = re.fullmatch(r"(?:([RB]+):)?(?:SIG)?([A-Z]+[12]?|\d+)(?:@(\d+))?", text.upper())
    if not match:
        raise ValueError("a signal is given as USR1@60 or B:USR1@60")
    return match[2], int(match[3] or 60), "B" in (match[1] or "")


def fill(pattern: str, values: dict[str, str]) -> str:
    """Fill in sbatch's patterns: %x %j %A %a %N %n %t %u %s, %5j for leading zeros, %%."""
    if "\\" in pattern:  # sbatch: a backslash switches the patterns off
        return pattern.replace("\\", "")

    def replacement(match: re.Match) -> str:
        width, letter = match.groups()
        if letter == "%":
            return "%"
        if letter not in values:
            return match[0]
        value = values[letter]
        return value.zfill(min(int(width), 10)) if width and value.isdigit() else value

    return re.sub(r"%(\d*)([A-Za-z%])", replacement, pattern)


def values_of(job_id: int, name: str, host: str, task: tuple[int, int] | None) -> dict[str, str]:
    """Return the text that `fill` substitutes for each letter. `task` is (array job id, index)."""
    array_job, index = task if task else (job_id, 4294967294)  # sbatch's number for "no array"
    user = os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid())
    of_job = {"A": str(array_job), "a": str(index), "x": name, "N": host, "s": "batch", "u": user}
    return of_job | dict.fromkeys("jJ", str(job_id)) | dict.fromkeys("nt", "0")


def existing_outputs(job: JobFile, folder: Path) -> list[Path]:
    """Return the files in `folder` that earlier runs of this job wrote, oldest job first."""
    asked = request(job)
    values = values_of(0, glob.escape(asked.name), "", None) | dict.fromkeys("jJAaNnts", "*")
    pattern = fill(re.sub(r"([*?\[])", r"[\1]", asked.output), values)
    files = [Path(name) for name in glob.glob(str(Path(glob.escape(str(folder))) / pattern))]
    numbers = re.compile(r"\d+")
    return sorted(
        (path for path in files if path.is_file()),
        key=lambda path: [int(digits) for digits in numbers.findall(path.name)],
    )
