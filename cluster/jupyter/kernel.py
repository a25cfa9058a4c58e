"""`cluster kernel`: install the course's environment as a Jupyter kernel.

Notebooks, jobs and ranks then use the same environment.
"""

import json
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from autograder import data_files
from cluster.sites import site_files

NAME = "dl-course"
DISPLAY_NAME = "Deep Learning on Supercomputers"
OURS = "dl-on-supercomputers"  # marks a kernel that this command may replace

# Starts a program (the kernel, or Open OnDemand's Jupyter) in a job file's environment.
START = """\
#!/bin/bash
# Starts a program in the environment of the course. Written by `cluster kernel install`.
environment={environment}

# A notebook often runs in a job itself. The jobs that it submits are separate and must not inherit
# the shape of this one: a left-over SLURM_CPUS_PER_TASK or SLURM_EXPORT_ENV breaks srun.
for name in $(compgen -e); do
    case $name in
        SLURM_CONF | PBS_CONF_FILE | PBS_EXEC | PBS_SERVER) ;;
        SLURM_* | SLURMD_* | SRUN_* | PBS_* | PMI_* | PMIX_* | OMPI_* | PRTE_*) unset "$name" ;;
    esac
done

# The site's software and your account, as chosen by `cluster use`.
site=${{COURSE_SITE:-$HOME/.dl-course/site.sh}}
if [ -r "$site" ]; then
    source "$site" >&2
    if declare -F load_software >/dev/null && ! load_software >&2; then
        echo "kernel: the software of site $SITE_NAME could not be loaded; see $site" >&2
        exit 1
    fi
{modules}fi
{activation}
export PATH="$environment/bin:$PATH:{laptop_bin}" # a real Slurm comes first
exec "$@"
"""
MODULES = """\
elif ! {{ declare -F module || source /etc/profile; }} >/dev/null || ! module load {names} >&2; then
    echo "kernel: these modules could not be loaded: {names}" >&2
    exit 1
"""
CONDA = """\
export CONDA_PREFIX="$environment" CONDA_DEFAULT_ENV="${environment##*/}"
for script in "$environment"/etc/conda/activate.d/*.sh; do
    [ ! -r "$script" ] || source "$script" >&2
done"""
VENV = """\
export VIRTUAL_ENV="$environment"
unset PYTHONHOME"""


@click.group("kernel")
def kernel_group() -> None:
    """Install the course's environment as a Jupyter kernel."""


@kernel_group.command("install")
def install_command() -> None:
    """Install this environment as a kernel for every Jupyter that you use."""
    if not find_spec("ipykernel"):
        raise click.ClickException(
            f"{sys.executable} has no ipykernel: install the course's environment (make .venv, or"
            " pip install -e '.[site]'), then run the `cluster` in it"
        )
    from jupyter_core.paths import jupyter_data_dir

    folder = Path(jupyter_data_dir()) / "kernels" / NAME
    if folder.exists() and OURS not in (folder / "kernel.json").read_text():
        raise click.ClickException(f"{folder} is another program's kernel: move it away")
    write(folder)
    click.echo(f"{DISPLAY_NAME}: {sys.prefix}")
    click.echo(f"Written: {folder}. Select it in Jupyter under Kernel, Change Kernel.")


def write(folder: Path) -> None:
    start = folder / "start.sh"
    spec = {
        # Through bash, because some homes are mounted without the right to execute.
        "argv": [
            *("/bin/bash", str(start), sys.executable),
            *("-m", "ipykernel_launcher", "-f", "{connection_file}"),
        ],
        "display_name": DISPLAY_NAME,
        "language": "python",
        "metadata": {"debugger": True, OURS: {"environment": sys.prefix}},
    }
    data_files.write(start, start_script())
    start.chmod(0o755)
    data_files.write(folder / "kernel.json", json.dumps(spec, indent=1) + "\n")


def start_script() -> str:
    if (Path(sys.prefix) / "conda-meta").is_dir():
        activation = CONDA
    else:
        activation = VENV if sys.prefix != sys.base_prefix else ""
    loaded = [shlex.quote(name) for name in os.environ.get("LOADEDMODULES", "").split(":") if name]
    modules = MODULES.format(names=" ".join(loaded)) if loaded else ""
    return START.format(
        environment=shlex.quote(sys.prefix),
        modules=modules,
        activation=activation,
        laptop_bin=site_files.LAPTOP_BIN,
    )
