"""Rehearse `full` on two nodes: hosts, ranks per node and srun, as an ordinary student."""

from pathlib import Path

import pytest

from tests.lessons.rehearsal.test_full import HERE, RANKS, missed

pytestmark = [pytest.mark.slurm, pytest.mark.nightly]

TWO_GPUS_A_NODE = f"REHEARSAL_ON=box\nsource {HERE}/site.sh\nSITE_GPUS_PER_NODE=2\n"


@pytest.mark.parametrize("lesson", ["00", "07", "08", "10"])
def test_every_cell_runs_on_two_nodes(lesson, student, tmp_path):
    student.write("site.sh", TWO_GPUS_A_NODE)
    ranks = f"-p {RANKS[lesson]}=4" if lesson in RANKS else ""
    run = f"lessons run {lesson} --profile full {ranks} --out run"
    student.do(f"module load dl-course && COURSE_SITE=$PWD/site.sh {run}", seconds=1500)
    [folder] = Path(student.folder, "run").glob(f"{lesson}_*/")
    assert missed(lesson, folder, tmp_path, "host") == []
