"""Each probe of the doctor in situations that are really broken, and with programs that hang."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.doctor import all_probes, run_probes
from cluster.doctor.diagnosis import Diagnosis, ok
from cluster.doctor.probes import gpus
from tests.breadth import breadth

SITES = Path(__file__).parents[3] / "cluster/sites"
HANGS = "#!/bin/sh\nexec sleep 300\n"


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder that is also the home, with its folder `bin` first on PATH."""
    for name in [name for name in os.environ if name.startswith(("SLURM_", "COURSE_", "SITE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COURSE_SITE", str(SITES / "laptop.sh"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(name: str, limit: float = 60) -> list[Diagnosis]:
    return run_probes.run(replace(all_probes.BY_NAME[name], limit=limit))


ECHO = "#!/bin/sh\necho '{}'\nexit {}\n"


@pytest.mark.parametrize(
    ("probe", "programs", "environment", "state", "found", "advice"),
    breadth([
        ("gpus", {"nvidia-smi": HANGS}, {}, "broken", "did not answer in 2 s", "another"),
        ("gpus", {"nvidia-smi": ECHO.format("no driver", 9)}, {}, "broken", "no driver", "report"),
        ("gpus", {}, {"SLURM_GPUS_ON_NODE": "3"}, "look", "gave 3 GPUs", "GPUs are simulated"),
        ("mpi", {"mpirun": ECHO.format("HYDRA build details", 0)}, {}, "broken",
         "mpirun is MPICH's", "which -a mpirun"),
        ("mpi", {"srun": ECHO.format("no Slurm", 1), "mpirun": ECHO.format("Open MPI", 0)}, {},
         "ok", "lists no plug-ins; mpirun on PATH", ""),
        ("mpi", {"srun": ECHO.format("pmi2", 0)}, {}, "broken", "none of them starts", "mpirun"),
        ("mpi", {"srun": ECHO.format("pmi2\npmix", 0)}, {"SLURM_MPI_TYPE": "pmi2"}, "broken",
         "this job uses pmi2", "srun --mpi=pmix"),
        ("mpi", {"srun": ECHO.format("none\npmix", 0)}, {}, "ok", "pmix fits", ""),
        ("python", {}, {"COURSE_ENVIRONMENT": "/usr"}, "look", "but jobs use /usr", "cluster use"),
        ("python", {}, {"PYTHONPATH": "/tmp/x"}, "look", "PYTHONPATH=/tmp/x", "unset PYTHONPATH"),
        ("network", {}, {"GLOO_SOCKET_IFNAME": "ib7"}, "broken", "GLOO_SOCKET_IFNAME=ib7", "site"),
        ("data", {}, {"COURSE_DATA": "/no/such"}, "broken", "No such file", "name the folder"),
        ("data", {}, {}, "look", "6 cifar10 files missing", "lessons data fetch"),
        ("site", {}, {"COURSE_SITE": "bad.sh"}, "look", "SITE_NAME is not set", "site check"),
        ("site", {"sbatch": HANGS, "scontrol": ECHO.format("Slurmctld is DOWN", 1)},
         {"COURSE_SITE": "box.sh"}, "look", "DOWN", "site check"),
        ("site", {"sbatch": HANGS}, {"COURSE_SITE": ""}, "look", "no site is", "cluster use"),
    ], quick=8),
)  # fmt: skip
def test_what_is_broken_is_named_with_what_to_do(
    here, monkeypatch, probe, programs, environment, state, found, advice
):
    for name, text in programs.items():
        program(here / "bin", name, text)
    (here / "box.sh").write_text(f"source {SITES}/box.sh\n")
    (here / "bad.sh").write_text(f"source {SITES}/laptop.sh\nunset SITE_NAME\n")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (said,) = ask(probe, 2 if "did not" in found else 30)
    assert (said.probe, said.state) == (probe, state), said
    assert found in said.found
    assert advice in said.advice


@pytest.mark.parametrize(
    ("visible", "torch", "nccl", "said"),
    [
        (None, 4, True, []),
        ("0,1", 2, True, []),
        (None, 0, True, ["4 GPUs are there, but torch sees 0"]),
        ("0,1", 4, False, ["2 GPUs are there, but torch sees 4", "Horovod has no NCCL"]),
    ],
)
def test_gpus_are_seen_by_all_or_it_is_said(visible, torch, nccl, said):
    gpu = ok("4 × H", gpus=4, visible=visible)
    others = {"torch": ok("", gpus=torch), "horovod": ok("", built={"NCCL": nccl})}
    found = gpus.agree({"gpus": gpu} | others)
    assert len(found) == len(said)
    for diagnosis, words in zip(found, said, strict=True):
        assert words in diagnosis.found
        assert diagnosis.advice


@pytest.mark.parametrize(
    ("name", "framework", "cuda", "driver", "needed"),
    [
        ("H100", "torch", "13.0", "570.1", "580"),
        ("H100", "torch", "12.8", "535.1", ""),
        ("A100", "tensorflow", "12.5.1", "535.1", ""),
        ("H100", "tensorflow", "12.5.1", "535.1", "555"),
        ("H100", "tensorflow", "12.5.1", "555.1", ""),
    ],
)
def test_a_driver_that_is_too_old_is_broken(name, framework, cuda, driver, needed):
    gpu = ok(f"4 × NVIDIA {name}", gpus=4, driver=driver, visible=None)
    found = gpus.agree({"gpus": gpu, framework: ok("", gpus=4, cuda=cuda)})
    assert [said.state for said in found] == (["broken"] if needed else [])
    assert all(f"driver {needed} or newer" in said.found for said in found)


@pytest.mark.namespaces
def test_no_interface_is_broken(shell):
    """The doctor runs in a network namespace in which no interface is up."""
    done = shell.run("unshare", "-rn", "cluster", "doctor", "--only", "network", ok=False)
    assert "broken network    no network interface is up" in done.stdout, done.stdout


@pytest.mark.slow
def test_everything_that_a_node_may_call_hangs_and_nothing_is_left_of_it(here, monkeypatch):
    monkeypatch.setenv("NAP", "doctor-nap")
    for name in ("nvidia-smi", "mpirun", "srun", "bash"):
        program(here / "bin", name, HANGS)
    probes = [replace(probe, limit=min(probe.limit, 3)) for probe in all_probes.PROBES]
    start = time.monotonic()
    found = {each.probe: each for several in run_probes.run_all(probes) for each in several}
    assert time.monotonic() - start < 60
    for probe in ("gpus", "mpi", "site"):
        assert found[probe].found == "did not answer in 3 s", probe
    while naps():  # a killed process is still seen for some ms
        assert time.monotonic() - start < 90
        time.sleep(0.05)


def naps() -> list[Path]:
    others = [
        at for at in Path("/proc").glob("[0-9]*/environ") if at.parent.name != f"{os.getpid()}"
    ]
    return [path for path in others if b"doctor-nap" in read(path)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # already ended
        return b""


@pytest.mark.slow
def test_alone_every_probe_answers(shell):
    done = shell.cluster("doctor", ok=None)
    title, *lines, summary = done.stdout.splitlines()
    assert title.startswith("doctor: alone, on ")
    states = [line[:6].strip() for line in lines if not line.startswith(" ")]
    assert set(states) <= {"ok", "look", "broken"}
    for probe in all_probes.BY_NAME:
        if probe != "sum":  # needs several ranks
            assert any(line[7:].startswith(f"{probe} ") for line in lines), probe
    assert "did not answer" not in done.stdout
    assert done.returncode == ("broken" in states)
    assert summary.endswith(
        f" {states.count('ok')} ok, {states.count('look')} to look at, 0 broken"
    )
    assert all("→" in lines[n + 1] for n, line in enumerate(lines) if line.startswith("look"))


def test_only_what_is_broken_fails(shell):
    python = ("doctor", "--only", "python", "--json")
    (all_well,) = shell.cluster(*python).stdout.splitlines()
    assert json.loads(all_well)["state"] == "ok"
    shell.environment["PYTHONPATH"] = "/nowhere"
    look = json.loads(shell.cluster(*python).stdout)
    assert (look["state"], look["probe"], look["rank"], look["ranks"]) == ("look", "python", 0, 1)
    shell.environment["COURSE_DATA"] = "/nowhere"
    done = shell.cluster("doctor", "--only", "data", "--json", ok=False)
    assert (json.loads(done.stdout)["state"], done.returncode) == ("broken", 1)
    assert shell.cluster("doctor", "--only", "luck", ok=None).returncode == 2
