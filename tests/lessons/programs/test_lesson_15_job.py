"""Lesson 15's job file decides whether it starts again, or tests what the job has lost."""

import os
import subprocess

import pytest
from real_runs import ROOT

SITE = """
facts() { :; }
scontrol() { echo "scontrol $*" >>calls; exit 0; }
launch() {
    echo "$*" >>calls
    touch "$CHECKPOINTS/step_000010.pt"
    case "$*" in *probe.py*) ;; *) return 75 ;; esac
}
"""


@pytest.mark.parametrize(("restarts", "last"), [(4, "scontrol requeue 7"), (5, "probe.py")])
def test_the_job_that_is_not_requeued_again_is_probed(restarts, last, tmp_path):
    (tmp_path / "site.sh").write_text(SITE)
    (tmp_path / "kept").mkdir()
    environ = {"COURSE_SITE": "site.sh", "CHECKPOINTS": "kept", "SLURM_JOB_ID": "7"}
    environ |= {"SLURM_RESTART_COUNT": str(restarts)}
    words = ["bash", ROOT / "solutions" / "15_survive" / "job.sbatch"]
    subprocess.run(words, cwd=tmp_path, env=os.environ | environ, timeout=60)
    assert last in (tmp_path / "calls").read_text().splitlines()[-1]
