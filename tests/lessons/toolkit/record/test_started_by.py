"""Tests of what the record says about a rank's ancestors: invented tables, real launchers."""

import itertools

import pytest
from record_lines import events, facts, run_program

from autograder.measuring.metrics import METRICS
from lessons.toolkit.record import started_by as module
from lessons.toolkit.record.started_by import started_by
from tests.autograder.make_run import make_run

TERMINAL = "-bash < sshd: you@pts/0 < sshd: listener < systemd"
BATCH = "bash job7/slurm_script < slurmstepd: [7.batch] < systemd"
QUEUE = "bash job.sbatch < python -P -m cluster.schedulers.laptop.supervise 7 3"
QUEUED = "cluster.schedulers.laptop.supervise"
PORTAL = f"python /env/bin/jupyter-lab < {BATCH}"
# The processes above a rank, the nearest first, and the scheduler that its environment names ->
# what the record says, whether a launcher started it, whether it runs in a job.
TABLES = [
    (f"mpirun -np 2 < {TERMINAL}", "slurm", "mpirun", "yes no"),
    ("prted --leave < slurmstepd: [7.0] < systemd", "slurm", "prted srun", "yes yes"),
    ("slurmstepd: [7.0] < systemd", "slurm", "srun", "yes yes"),
    ("bash -c numactl < slurmstepd: [7.12] < systemd", "slurm", "srun", "yes yes"),
    (f"bash by_hand.sh < salloc -n 2 < {TERMINAL}", "slurm", "salloc", "no yes"),
    (f"bash by_hand.sh < {BATCH}", "slurm", "slurm", "no yes"),
    (f"python torch_by_hand.py < {TERMINAL}", "slurm", "", "no no"),
    (f"prterun < {QUEUE} < systemd", "laptop", f"prterun {QUEUED}", "yes yes"),
    (f"prterun < {PORTAL}", "laptop", "prterun slurm", "yes no"),
    (f"sh -c x < python < python /env/bin/horovodrun < {TERMINAL}", "none", "horovodrun", "yes no"),
    (f"python /env/bin/torchrun --x < {TERMINAL}", "none", "torchrun", "yes no"),
    (f"python3 -m torch.distributed.run < {BATCH}", "slurm",
     "torch.distributed.run slurm", "yes yes"),
    (f"hydra_pmi_proxy < mpiexec.hydra < {BATCH}", "slurm",
     "hydra_pmi_proxy mpiexec.hydra slurm", "yes yes"),
    ("palsd < systemd", "pbs", "palsd", "yes yes"),
    (f"appinit < Apptainer runtime parent < prterun < {BATCH}", "slurm",
     "prterun slurm", "yes yes"),
]  # fmt: skip


def table(above, folder, monkeypatch):
    """Return the record's names for a /proc with these ancestors of process 100."""
    chain = ["python -u train.py", *above.split(" < ")]
    pids = [*range(100, 100 + len(chain)), 0]
    for (pid, parent), line in zip(itertools.pairwise(pids), chain, strict=True):
        words = line.split()
        files = {
            "stat": f"{pid} ({words[0]}) S {parent} 1 1 {int('pts' in above)} 0",
            "comm": words[0].rpartition("/")[2].rstrip(":"),
            "cmdline": "\0".join(words),
        }
        (folder / str(pid)).mkdir()
        for name, text in files.items():
            (folder / str(pid) / name).write_text(text)
    namespace = folder / "self/ns/pid"
    namespace.parent.mkdir(parents=True)
    namespace.touch()
    monkeypatch.setattr(module, "FIRST_NAMESPACE", namespace.stat().st_ino)
    return started_by(100, folder)


def run_of(scheduler, above):
    header = {"scheduler": scheduler, "started_by": above}
    return make_run(files=(), format="record", outcome="completed", job_id="7", header=header)


@pytest.mark.parametrize(("above", "scheduler", "names", "words"), TABLES)
def test_who_stands_above_a_rank(above, scheduler, names, words, tmp_path, monkeypatch):
    assert table(above, tmp_path, monkeypatch) == names.split()
    run = run_of(scheduler, names.split())
    found = [METRICS[metric].function(run) for metric in ("launched", "job_known")]
    assert found == words.split()


PROGRAM = """
import os
from lessons.toolkit.record import Run
rank, size = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
Run("00", source="facts", rank=rank, size=size, local_rank=rank).end()
"""
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2")


@pytest.mark.ranks
@pytest.mark.parametrize("wrapper", [(), ("bash", "-c", '"$@"; true', "bash")])
def test_a_real_mpirun_stands_above_its_ranks(wrapper, tmp_path):
    found = facts(events(run_program(PROGRAM, launcher=(*MPIRUN, *wrapper), folder=tmp_path)))
    assert found["started_by"][0] in ("prterun", "mpirun", "orterun")
