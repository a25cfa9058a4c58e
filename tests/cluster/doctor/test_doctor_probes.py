"""Each probe of the doctor in situations that are really broken, and with programs that hang."""

import json
import os
import time
from pathlib import Path

import jsonschema
import pytest

from cluster.doctor import all_probes, run_probes
from cluster.doctor.position import Position, host_name
from cluster.doctor.probes import frameworks, network
from tests.breadth import breadth

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/doctor.schema.json").read_text())
SITES = Path(__file__).parents[3] / "cluster/sites"
HANGS = "#!/bin/sh\nexec sleep 300\n"
MINE = tuple(sorted(os.sched_getaffinity(0)))


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


def ask(name: str, limit: float = 60, **position):
    given = {"host": host_name(), "hosts": (host_name(),), "affinities": (MINE,)} | position
    (probe,) = all_probes.chosen(limit, (name,))
    return run_probes.run(probe, Position(**given))


ECHO = "#!/bin/sh\necho '{}'\nexit {}\n"
SITE = 'SITE_SCRATCH={}\nsource "{}/laptop.sh"\nSITE_SCRATCH={}\n'


@pytest.mark.parametrize(
    ("probe", "programs", "environment", "state", "found", "advice"),
    breadth([
        ("gpus", {"nvidia-smi": HANGS}, {}, "broken", "did not answer in 2 s", "another node"),
        ("compiler", {"g++": HANGS}, {}, "broken", "did not answer in 2 s", "a file system hangs"),
        ("mpi", {"srun": HANGS}, {}, "broken", "did not answer in 2 s", "srun --mpi=list"),
        ("gpus", {"nvidia-smi": ECHO.format("no driver", 9)}, {}, "broken", "no driver", "report"),
        ("gpus", {}, {"SLURM_GPUS_ON_NODE": "3"}, "look", "gave 3 GPUs", "GPUs are simulated"),
        ("compiler", {"g++": ECHO.format("g++ 0", 1)}, {}, "look", "does not compile", "Horovod"),
        ("compiler", {}, {"CXX": "no-such"}, "look", "there is no no-such here", "module load"),
        ("mpi", {"mpirun": ECHO.format("HYDRA build details", 0)}, {}, "broken",
         "mpirun is MPICH's", "which -a mpirun"),
        ("mpi", {"srun": ECHO.format("no Slurm", 1), "mpirun": ECHO.format("Open MPI", 0)}, {},
         "ok", "lists no plug-ins; mpirun on PATH", ""),
        ("mpi", {"srun": ECHO.format("", 1)}, {"SLURM_JOB_ID": "1"}, "look", "lists no", "srun"),
        ("mpi", {"srun": ECHO.format("pmi2", 0)}, {}, "broken", "none of them starts", "mpirun"),
        ("mpi", {"srun": ECHO.format("pmi2\npmix", 0)}, {"SLURM_MPI_TYPE": "pmi2"}, "broken",
         "this job uses pmi2", "srun --mpi=pmix"),
        ("mpi", {"srun": ECHO.format("none\npmix", 0)}, {}, "ok", "pmix fits", ""),
        ("python", {}, {"COURSE_ENVIRONMENT": "/usr"}, "look", "but jobs use /usr", "cluster use"),
        ("python", {}, {"COURSE_ENVIRONMENT_TENSORFLOW": "/no"}, "broken", "contains no bin/python",
         "--tensorflow-environment"),
        ("python", {}, {"PYTHONPATH": "/tmp/x"}, "look", "PYTHONPATH=/tmp/x", "unset PYTHONPATH"),
        ("network", {}, {"GLOO_SOCKET_IFNAME": "ib7"}, "broken", "GLOO_SOCKET_IFNAME=ib7", "ip -b"),
        ("network", {}, {"NCCL_SOCKET_IFNAME": "ib7"}, "broken", "NCCL_SOCKET_IFNAME=ib7", "site"),
        ("data", {}, {"COURSE_DATA": "/no/such"}, "broken", "No such file", "name the folder"),
        ("data", {}, {"COURSE_DATA": "/proc/self/root/etc/hosts"}, "broken", "Not a dir", "name"),
        ("data", {}, {}, "look", "10 files missing", "lessons data fetch"),
        ("scratch", {}, {"TMPDIR": "/no/such"}, "broken", "no folder /no/such", "mkdir -p"),
        ("scratch", {}, {"TMPDIR": "/proc"}, "broken", "could not be written", "SITE_SCRATCH"),
        ("disk", {"quota": ECHO.format("  /dev/sda1 999* 500 600", 1)}, {}, "broken",
         "a quota is exceeded", "quota -s"),
        ("site", {}, {"COURSE_SITE": "/none"}, "broken", "error: COURSE_SITE=/none: there", "ls"),
        ("site", {}, {"COURSE_SITE": "bad.sh"}, "look", "SITE_NAME is not set", "site check"),
        ("scheduler", {"scontrol": ECHO.format("Slurmctld is DOWN", 1)}, {"COURSE_SITE": "box.sh"},
         "broken", "DOWN", "wait"),
        ("scheduler", {"scontrol": HANGS}, {"COURSE_SITE": "box.sh"}, "broken", "did not", "wait"),
        ("site", {"sbatch": HANGS}, {"COURSE_SITE": ""}, "look", "no site is", "cluster use"),
        ("scheduler", {"sbatch": HANGS}, {"COURSE_SITE": ""}, "look", "no site is", "cluster use"),
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
    slow = probe in ("data", "scratch", "compiler", "mpi") and HANGS not in programs.values()
    (said,) = ask(probe, 30 if slow else 2)
    assert (said.probe, said.state) == (probe, state), said
    assert found in said.found
    assert advice in said.advice


@pytest.mark.parametrize(
    ("wheels", "cuda", "state", "words"),
    [
        (["nvidia-cudnn-cu13"], "13.0", "ok", "built for CUDA 13.0 (driver 580 or newer), sees 0"),
        (["nvidia-cudnn-cu12"], "12.8", "ok", "built for CUDA 12.8 (driver 525 or newer), sees 0"),
        (["nvidia-cudnn-cu12", "nvidia-cudnn-cu13"], "13.0", "look",
         "nvidia-cudnn-cu12 9 and nvidia-cudnn-cu13 9 write the same files"),
        ([], None, "ok", "built for CPUs"),
    ],
)  # fmt: skip
def test_the_driver_a_framework_needs_and_two_cudas_in_one_folder(
    monkeypatch, wheels, cuda, state, words
):
    import torch

    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(frameworks, "installed", lambda name: "9" if name in wheels else None)
    said = frameworks.torch(Position())
    assert (said.state, words in said.found) == (state, True), said


def test_tensorflow_is_looked_at_in_its_own_environment(here, monkeypatch):
    (here / "own").mkdir()
    words = '":::doctor {\\"state\\": \\"ok\\", \\"found\\": \\"own\\"}" ":::doctor "'
    program(here / "own/bin", "python", f"#!/bin/bash\nprintf '%s\\n' {words}\n")
    monkeypatch.setenv("COURSE_ENVIRONMENT_TENSORFLOW", str(here / "own"))
    assert [said.found for said in ask("tensorflow")] == ["own"]
    assert ask("python")[0].found != "own"


@pytest.mark.parametrize(
    ("ranks", "environment", "state", "words"),
    [
        ([(0, 1)], {}, "ok", "1 rank on 2 CPUs"),
        ([(0,), (1,)], {"OMP_NUM_THREADS": "1"}, "ok", "each pinned to its own"),
        ([(0, 1), (0, 1)], {"OMP_NUM_THREADS": "1"}, "ok", "not pinned apart"),
        ([(0,)], {}, "look", "this process is pinned to CPU 0 of 2"),
        ([(0,), (0,)], {}, "broken", "2 ranks are pinned to CPU 0 of 2"),
        ([(0, 1)] * 4, {}, "look", "4 ranks on 2 CPUs: no speedup can be shown"),
        ([(0, 1)] * 2, {}, "look", "would start 4 threads on 2 CPUs (OMP_NUM_THREADS is not set)"),
        ([(0, 1)] * 2, {"OMP_NUM_THREADS": "8"}, "look", "16 threads on 2 CPUs"),
        ([(0,), (1,)], {"SLURM_CPUS_PER_TASK": "2"}, "broken", "the job asks for 2 cores per rank"),
    ],
)
def test_ranks_that_get_in_each_others_way(monkeypatch, ranks, environment, state, words):
    from cluster.doctor.probes import machine

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for name in ("OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = machine.cores(Position(host="a", hosts=("a",) * len(ranks), affinities=tuple(ranks)))
    assert said.state == state
    assert words in said.found


@pytest.mark.namespaces
def test_no_interface_is_broken(shell):
    """The doctor runs in a network namespace in which no interface is up."""
    done = shell.run("unshare", "-rn", "cluster", "doctor", "--only", "network", ok=False)
    assert "broken network        no network interface is up" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("addresses", "speeds", "mine", "state", "words"),
    [
        ({"eth0": "10.0.0.1"}, {"eth0": 1000}, "10.0.0.1", "ok", "Gloo would take eth0"),
        ({"eth0": "10.0.0.1", "ib0": "10.1.0.1"}, {"eth0": 1000, "ib0": 200_000}, "10.0.0.1",
         "look", "Gloo would take eth0 (1 Gbit/s), but ib0 (200 Gbit/s) is faster"),
        ({"eth0": "10.0.0.1"}, {}, "10.9.9.9", "broken", "is no address of this node"),
        ({"lo": "127.0.0.1"}, {}, "127.0.0.1", "look", "only the loopback interface is up"),
    ],
)  # fmt: skip
def test_the_interface_that_ranks_would_take(monkeypatch, addresses, speeds, mine, state, words):
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(network, "up_with_addresses", lambda: addresses)
    monkeypatch.setattr(network, "interface_speeds", lambda: speeds)
    monkeypatch.setattr(network, "address_of_this_node", lambda: mine)
    said = network.interfaces(Position(host="a", hosts=("a", "b"), size=2))
    assert said.state == state
    assert words in said.found


@pytest.mark.slow
def test_several_hang_and_it_ends_with_valid_json(shell):
    """Everything that a node may call hangs, and still the report is complete and in time."""
    programs = shell.home / "bin"
    for name in ("nvidia-smi", "g++", "mpirun", "srun", "quota", "lessons", "scontrol"):
        program(programs, name, HANGS)
    shell.environment |= {"PATH": f"{programs}:{shell.environment['PATH']}", "NAP": "doctor-nap"}
    start = time.monotonic()
    done = shell.cluster("doctor", "--json", "--limit", "3", ok=False)
    assert done.returncode == 1
    assert time.monotonic() - start < 100  # at most 21 probes of 3 s
    report = json.loads(done.stdout)
    jsonschema.validate(report, SCHEMA)
    assert report["state"] == "broken"
    found = {each["probe"]: each for each in report["findings"]}
    for probe in ("gpus", "compiler", "mpi", "allreduce", "disk"):
        assert found[probe]["found"] == "did not answer in 3 s", probe
    naps = [path for path in Path("/proc").glob("[0-9]*/environ") if b"doctor-nap" in read(path)]
    assert naps == []


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # already ended
        return b""


@pytest.mark.slow
def test_alone_every_probe_answers(shell):
    done = shell.cluster("doctor", ok=None)
    lines = done.stdout.splitlines()
    assert lines[0] == f"doctor: alone on {host_name()}"
    states = {line[:6].strip() for line in lines[1:-1]} - {""}
    assert states <= {"ok", "look", "broken"}
    for probe in all_probes.PROBES:
        if probe.kind != all_probes.NODES and probe.name != "nccl":  # needs GPUs
            assert any(line[7:].startswith(f"{probe.name} ") for line in lines), probe.name
    assert "did not answer" not in done.stdout
    assert "\x1b" not in done.stdout
    assert done.returncode == (states != {"ok"})
    assert all("→" in lines[n + 1] for n, line in enumerate(lines) if line.startswith("broken"))


@pytest.mark.slow
def test_one_core_and_a_file_that_cannot_grow_as_when_a_quota_is_full(shell):
    """It runs on one core, like a pinned rank. No file may exceed 100 kB, as with a full quota."""
    assert len(MINE) > 1, "this machine has one core: there is nothing to be pinned to"
    only = "--only cores --only processes --only disk"
    narrow = f"ulimit -f 100; trap '' XFSZ; cluster doctor --json {only}"
    done = shell.run("taskset", "-c", MINE[0], "bash", "-c", narrow, ok=False)
    found = {each["probe"]: each for each in json.loads(done.stdout)["findings"]}
    assert found["cores"]["state"] == "look"
    assert "this process is pinned to" in found["cores"]["found"]
    assert found["processes"]["facts"]["processes"] == 1
    assert found["disk"]["state"] == "broken"
    assert "1 MB could not be written (File too large)" in found["disk"]["found"]


def test_the_job_file_is_one(shell):
    from cluster.job_file import jobfile

    printed = shell.cluster("doctor", "--job").stdout
    assert jobfile.request(jobfile.parse(printed)).ntasks == 2


@pytest.mark.parametrize("words", [["now"], ["--limit", "0"], ["--only", "luck"]])
def test_wrong_words_are_a_matter_of_usage(shell, words):
    assert shell.cluster("doctor", *words, ok=None).returncode == 2


def test_all_well_is_zero_and_a_thing_to_look_at_is_one(shell):
    assert shell.cluster("doctor", "--only", "memory").stdout.endswith(
        "1 ok, 0 to look at, 0 broken\n"
    )
    shell.environment["PYTHONPATH"] = "/nowhere"
    said = shell.cluster("doctor", "--only", "python", ok=None)
    assert said.returncode == 1
    assert said.stdout.endswith("0 ok, 1 to look at, 0 broken\n")
