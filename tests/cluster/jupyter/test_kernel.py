"""The installed kernel, started as Jupyter starts it, has the same environment as jobs."""

import json
import sys
import venv
from pathlib import Path
from sysconfig import get_path

import pytest

ROOT = Path(__file__).parents[3]
RUN_CLUSTER = "from cluster.cli import main; main()"
LOOK = """
import json, os, sys
print(json.dumps({"executable": sys.executable, "prefix": sys.prefix, **os.environ}))
"""
# This runs in a separate process, so the home and Jupyter's folders are this user's.
START_AND_RUN = """
import sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name=sys.argv[1], startup_timeout=60)
try:
    def show(message):
        if message["msg_type"] in ("stream", "error"):
            print(message["content"].get("text") or message["content"]["traceback"])

    client.execute_interactive(sys.argv[2], output_hook=show, timeout=60)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def inside(shell, code: str = LOOK, name: str = "dl-course") -> str:
    return shell.run(sys.executable, "-c", START_AND_RUN, name, code).stdout


def kernel_folder(shell) -> Path:
    return shell.home / ".local/share/jupyter/kernels/dl-course"


@pytest.fixture
def shell(shell):
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_PATH", "XDG_DATA_HOME", "LOADEDMODULES"):
        shell.environment.pop(name, None)
    (shell.home / ".dl-course/site.sh").unlink()
    return shell


def test_the_kernel_runs_this_environment(shell):
    shell.cluster("kernel", "install")
    found = json.loads(inside(shell))
    assert found["executable"] == sys.executable
    assert found["prefix"] == sys.prefix
    assert found["PATH"].split(":")[0] == f"{sys.prefix}/bin"
    listed = shell.run(sys.executable, "-m", "jupyter", "kernelspec", "list", "--json").stdout
    spec = json.loads(listed)["kernelspecs"]["dl-course"]["spec"]
    assert spec["display_name"] == "Deep Learning on Supercomputers"


@pytest.mark.slow
def test_it_has_the_site_that_was_chosen_before_or_later(shell):
    shell.cluster("kernel", "install")
    shell.cluster("use", "laptop", "--data", shell.folder)
    found = json.loads(inside(shell))
    assert found["COURSE_SITE_NAME"] == "laptop"
    assert found["COURSE_DATA"] == str(shell.folder)


@pytest.mark.slow
def test_software_of_the_site_is_loaded_and_jobs_have_the_same(shell):
    site = shell.folder / "site.sh"
    body = (ROOT / "cluster/sites/laptop.sh").read_text()
    own = 'load_software() { export LOADED=yes PATH="/from/modules:$PATH"; }\n'
    site.write_text(body.replace("source ", f"{own}source ").replace(
        '"$(dirname "${BASH_SOURCE[0]}")/job.sh"', str(ROOT / "cluster/sites/job.sh")
    ))  # fmt: skip
    shell.environment |= {"COURSE_SITE": str(site), "COURSE_ENVIRONMENT": sys.prefix}
    shell.cluster("kernel", "install")
    found = json.loads(inside(shell))
    assert found["LOADED"] == "yes"
    job = shell.run(
        "env", "SLURM_JOB_ID=1", "bash", "-euc", f'source "{site}"; command -v python; echo "$PATH"'
    ).stdout.splitlines()
    assert found["PATH"].split(":")[:2] == [f"{sys.prefix}/bin", "/from/modules"]
    assert job[1].split(":")[:2] == found["PATH"].split(":")[:2]
    assert Path(job[0]) == Path(found["prefix"], "bin/python")


@pytest.mark.slow
def test_a_kernel_in_a_job_does_not_hand_on_the_shape_of_that_job(shell):
    shell.cluster("kernel", "install")
    shell.environment |= {
        "SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "3", "SLURM_EXPORT_ENV": "NONE",
        "PMIX_RANK": "0", "PBS_JOBID": "8", "PBS_NODEFILE": "/none",
        "SLURM_CONF": "/kept/slurm.conf", "PBS_SERVER": "kept", "CUDA_VISIBLE_DEVICES": "2",
    }  # fmt: skip
    found = json.loads(inside(shell))
    batch = {name: found[name] for name in found if name.startswith(("SLURM", "PMI", "PBS"))}
    assert batch == {"SLURM_CONF": "/kept/slurm.conf", "PBS_SERVER": "kept"}
    assert found["CUDA_VISIBLE_DEVICES"] == "2"


def other_environment(folder: Path, kind: str) -> Path:
    """Make an environment with the course's packages: a venv, or one that looks like conda's."""
    venv.create(folder, symlinks=True)
    packages = Path(get_path("purelib", vars={"base": str(folder)}))
    (packages / "course.pth").write_text(f"import site; site.addsitedir({get_path('purelib')!r})\n")
    if kind == "conda":
        (folder / "conda-meta").mkdir()
        (folder / "etc/conda/activate.d").mkdir(parents=True)
        (folder / "etc/conda/activate.d/gcc.sh").write_text("export ACTIVATED=$CONDA_PREFIX\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "variables"),
    [
        ("venv", {"VIRTUAL_ENV": "{0}"}),
        ("conda", {"CONDA_PREFIX": "{0}", "ACTIVATED": "{0}", "CONDA_DEFAULT_ENV": "with a space"}),
    ],
)
def test_each_kind_of_environment_is_activated(shell, kind, variables):
    folder = other_environment(shell.folder / "with a space", kind)
    shell.run(folder / "bin/python", "-c", RUN_CLUSTER, "kernel", "install")
    found = json.loads(inside(shell))
    assert found["prefix"] == str(folder)
    for name, value in variables.items():
        assert found[name] == value.format(folder)


@pytest.mark.parametrize("text", ['{"argv": ["python"]}', "{"])
def test_another_programs_kernel_is_left_alone(shell, text):
    kernel_folder(shell).mkdir(parents=True)
    (kernel_folder(shell) / "kernel.json").write_text(text)
    assert "another program's kernel" in shell.cluster("kernel", "install", ok=False).stderr
    assert (kernel_folder(shell) / "kernel.json").read_text() == text
