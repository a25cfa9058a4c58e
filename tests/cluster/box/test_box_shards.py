"""The job array of docs/large-class.md grades a class to the same bytes as grading it at once."""

import re
import textwrap
from pathlib import Path

import pytest

from tests.autograder.make_record import make_record

pytestmark = pytest.mark.slurm
CLASS = """\
profile: full
roster: ../roster.csv
late:
  due: {02: 2026-03-01T23:59+01:00}
  penalty_a_day: 10%
  free_days: 1
"""


def documented_job(course: Path) -> str:
    text = (course / "docs" / "large-class.md").read_text()
    found = re.search(r"^    #!/bin/bash\n(?:^    .*\n)+", text, re.MULTILINE)
    assert found
    return textwrap.dedent(found[0])


def test_the_documented_array_gives_the_same_bytes(course, student):
    names = [f"student{number:02}" for number in range(11)]
    student.do("mkdir -p " + " ".join(f"CLASS/{name}/02_serial" for name in names))
    for number, name in enumerate(names):
        copied = "77" if number in (3, 8) else str(100 + number)  # these two are in different parts
        lines = make_record(job_id=copied, test_accuracy=0.9 + number / 100)
        student.write(f"CLASS/{name}/02_serial/02_serial_1.out", "\n".join(lines) + "\n")
    student.write("roster.csv", "student,name\n" + "".join(f"{n},{n.title()}\n" for n in names))
    student.write("CLASS/class.yaml", CLASS)
    student.write("grade.sbatch", documented_job(course))

    load = "module load dl-course"
    student.do(f"{load} && sbatch --wait grade.sbatch", seconds=180)
    merged = student.try_to(
        f"{load} && autograder merge PARTS/* --out GRADES --class CLASS/class.yaml"
    )
    assert merged.returncode in (0, 1), merged.stdout + merged.stderr
    whole = student.try_to(f"{load} && autograder grade CLASS --out WHOLE")
    assert whole.returncode == merged.returncode, whole.stdout + whole.stderr
    assert "11 graded" in whole.stderr
    assert student.do("diff -r --exclude='.*' GRADES WHOLE") == ""
    assert "student08" in student.do("grep -h student03 GRADES/index.html")
