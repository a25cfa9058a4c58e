"""Grade a generated class: seconds, memory, growth with the number of students, nothing changed.

python benchmarks/grade_class.py --students 1000
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.autograder.make_record import RIGHT_ANSWERS, make_record, write_lines  # noqa: E402

LESSONS = [f"{number:02d}" for number in range(2, 9)]
BYTES = 30_000


def rubrics(folder: Path) -> None:
    """Seven lessons' rubrics: lesson 02's under seven names."""
    source = ROOT / "autograder" / "rubrics"
    for lesson in LESSONS:
        text = (source / "02.yaml").read_text().replace('lesson: "02"', f'lesson: "{lesson}"')
        write_lines(folder / f"{lesson}.yaml", [text])
        write_lines(
            folder / "expected" / f"{lesson}.yaml", [(source / "expected/02.yaml").read_text()]
        )


def padded(lines: list[str], noise: list[str], rng: random.Random) -> list[str]:
    """The record among as much progress bar as real outputs have."""
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


def run(*words: object) -> tuple[float, float]:
    """Seconds, and peak resident MB of the largest process."""
    command = ["/usr/bin/time", "-v", sys.executable, "-m", "autograder", "grade", *map(str, words)]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    peak = re.search(r"Maximum resident set size \(kbytes\): (\d+)", done.stderr)
    return seconds, int(peak[1]) / 1024 if peak else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--scratch", type=Path)
    args = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(dir=args.scratch))
    took = []
    try:
        rubrics(scratch / "rubrics")
        for count in (args.students // 10, args.students):
            make_class(scratch / f"class{count}", count)
            time.sleep(2)
            words = (scratch / f"class{count}", "--rubrics", scratch / "rubrics")
            words = (*words, "--out", scratch / f"out{count}", "--junit")
            first, again = run(*words), run(*words)
            took.append(first[0])
            print(
                f"{count:6d} students x {len(LESSONS)} lessons: {first[0]:7.2f} s, "
                f"peak {first[1]:5.0f} MB; nothing changed: {again[0]:5.2f} s"
            )
        print(f"ten times the students take {took[1] / took[0]:.1f} times as long")
        one = next((scratch / f"class{args.students // 10}").rglob("keras_0.out"))
        single = sorted(run(one, "--rubrics", scratch / "rubrics")[0] for _ in range(5))
        print(f"one small submission: {single[2]:.2f} s (median of 5)")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
