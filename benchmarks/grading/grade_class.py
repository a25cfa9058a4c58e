"""Grade a generated class, and measure seconds, memory, and growth with the number of students.

python benchmarks/grading/grade_class.py --students 1000
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.autograder.make_record import RIGHT_ANSWERS, make_record, write_lines  # noqa: E402

LESSONS = [f"{number:02d}" for number in range(2, 9)]
BYTES = 30_000


def rubrics(folder: Path) -> None:
    """Write rubrics for seven lessons: lesson 02's under seven names."""
    source = ROOT / "autograder" / "rubrics"
    for lesson in LESSONS:
        text = (source / "02.yaml").read_text().replace('lesson: "02"', f'lesson: "{lesson}"')
        write_lines(folder / f"{lesson}.yaml", [text])
        write_lines(
            folder / "expected" / f"{lesson}.yaml", [(source / "expected/02.yaml").read_text()]
        )


def padded(lines: list[str], noise: list[str], rng: random.Random) -> list[str]:
    """Return the record surrounded by as many progress bars as in real outputs."""
    room = max(0, BYTES - sum(map(len, lines))) // len(noise[0])
    start = rng.randrange(len(noise) - room)
    return [*lines[:5], *noise[start : start + room], *lines[5:]]


def keras_log(rng: random.Random, noise: list[str]) -> list[str]:
    lines = []
    for epoch in range(1, 6):
        lines += [f"Epoch {epoch}/5", *rng.sample(noise, 60)]
        lines.append(f"1875/1875 - {rng.randrange(7, 9)}s - 4ms/step - loss: 0.1 - accuracy: 0.97")
    return lines


def make_class(folder: Path, students: int) -> None:
    rng = random.Random(1)
    noise = [
        f"{step:4d}/1875 [======>.......] - ETA: {step % 60:2d}s - loss: {rng.random():.4f}"
        for step in range(4000)
    ]
    for number in range(students):
        for lesson in LESSONS:
            place = folder / f"s{number:05d}" / lesson
            kinds = (
                ("keras", "5f0c2a91", 1),
                ("torch", "77aa77aa", 1),
                ("keras-horovod", "c0c0c0c0", 2),
            )
            for index, (source, run, size) in enumerate(kinds):
                if index == 2 and number % 3 == 0:
                    write_lines(place / "plain_3.out", keras_log(rng, noise))
                    continue
                seconds = tuple(round(rng.uniform(0.9, 1.1), 6) for _ in range(5))
                job = f"{number}{lesson}{index}"
                lines = make_record(
                    lesson=lesson, source=source, run=run, size=size, seconds=seconds, job_id=job
                )
                write_lines(place / f"{source}_{index}.out", padded(lines, noise, rng))
            write_lines(place / "answers.txt", [f"{k} = {v}" for k, v in RIGHT_ANSWERS.items()])


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu_seconds: float  # of all processes; depends less on other load on the machine
    peak_mb: float  # resident memory of the largest process


def run(*words: object) -> Cost:
    command = ["/usr/bin/time", "-f", "%U %S %M", sys.executable, "-m", "autograder", "grade"]
    begin = time.monotonic()
    # Compiled modules are kept, as after a first run.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command += [*map(str, words), "--profile", "full"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    user, system, kilobytes = map(float, done.stderr.splitlines()[-1].split())
    return Cost(seconds, user + system, kilobytes / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--scratch", type=Path)
    args = parser.parse_args()
    if args.scratch:
        args.scratch.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=args.scratch))
    took = []
    try:
        rubrics(scratch / "rubrics")
        for count in (args.students // 10, args.students):
            make_class(scratch / f"class{count}", count)
            words = (scratch / f"class{count}", "--rubrics", scratch / "rubrics")
            cost = run(*words, "--out", scratch / f"out{count}")
            took.append(cost)
            print(
                f"{count:6d} students x {len(LESSONS)} lessons: {cost.seconds:7.2f} s "
                f"({cost.cpu_seconds:.1f} s of CPU), peak {cost.peak_mb:.0f} MB",
                flush=True,
            )
        more, less = took[1], took[0]
        print(
            f"ten times the students: {more.seconds / less.seconds:.1f} times the seconds, "
            f"{more.cpu_seconds / less.cpu_seconds:.1f} times the CPU"
        )
        one = next((scratch / f"class{args.students // 10}").rglob("keras_0.out"))
        alone = shutil.copytree(one.parent, scratch / "one" / "s" / one.parent.name).parents[1]
        single = sorted(run(alone, "--rubrics", scratch / "rubrics").seconds for _ in range(5))
        print(f"one small submission: {single[2]:.2f} s (median of 5)")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
