"""Check the site file, batch system, Python, compiler and Jupyter kernel."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster.doctor import site_check
from cluster.doctor.ask_program import answer
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position
from cluster.jupyter import kernel
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files

CHOOSE = "cluster sites lists them; then: cluster use SITE"


def site_file(_: Position) -> Diagnosis:
    try:
        file = site_files.chosen_file(None)
    except site_files.NoSiteError:
        return look("no site is chosen, so no job can be submitted", CHOOSE)
    problems = [each for each in site_check.check(file) if "not on this machine" not in each]
    if problems:
        return look(
            f"{file}: {'; '.join(problems)}", "correct it until `cluster site check` finds nothing"
        )
    site = site_files.load(file)
    return ok(f"{site.name} ({file})", alike=site.name, scheduler=site.scheduler)


def batch_system(_: Position) -> Diagnosis:
    site = site_files.chosen_or_none()
    if site is None:
        return look("no site is chosen, so the batch system is not known", CHOOSE)
    question = scheduler_of(site).HEALTH
    if question is None:
        return ok("no batch system: the laptop's own queue runs the jobs")
    command, good = question
    said = answer(*command.split())
    if said is None:
        return look(
            f"{command.split()[0]} is not on this machine, so it cannot be asked",
            f"log in to {site.name}, or choose this machine: cluster use laptop",
        )
    first = next((line for line in said[1].splitlines() if line.strip()), "no answer").strip()
    if said[0] or not re.search(good, said[1]):
        return broken(f"{command}: {first}", "wait, then tell the site's support")
    return ok(first)


def python(_: Position) -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    python_here = f"Python {version} in {sys.prefix}"
    facts = {"alike": python_here, "version": version, "prefix": sys.prefix}
    jobs_use = os.environ.get("COURSE_ENVIRONMENT")
    if sys.version_info[:2] not in ((3, 11), (3, 12)):
        return broken(
            f"{python_here}: the course needs 3.11 or 3.12",
            "run make .venv, then use the `cluster` in it",
        )
    if jobs_use and Path(jobs_use).resolve() != Path(sys.prefix).resolve():
        advice = f"cluster use SITE --environment {sys.prefix}"
        return look(f"{python_here}, but jobs use {jobs_use}", advice, **facts)
    other = os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW")
    if other and not Path(other, "bin", "python").is_file():
        sentence = f"{python_here}; COURSE_ENVIRONMENT_TENSORFLOW={other} contains no bin/python"
        return broken(sentence, "cluster use SITE --tensorflow-environment FOLDER", **facts)
    for name in ("PYTHONHOME", "PYTHONPATH"):
        if os.environ.get(name):
            sentence = f"{python_here}; {name}={os.environ[name]} adds other packages"
            return look(sentence, f"unset {name}; a module may set it: module list", **facts)
    return ok(python_here, **facts)


PROGRAM = "#include <vector>\nint main() { return std::vector<int>{0}[0]; }\n"


def compiler(_: Position) -> Diagnosis:
    name = os.environ.get("CXX") or "g++"
    said = answer(name, "--version")
    if said is None:
        return look(
            f"there is no {name} here",
            "only needed where Horovod is compiled: module load GCC, or set CXX",
        )
    version = said[1].splitlines()[0] if said[1] else name
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "program.cpp")
        source.write_text(PROGRAM)
        built = answer(name, "-std=c++17", str(source), "-o", str(source.with_suffix("")))
        assert built
        ran = None if built[0] else subprocess.run([source.with_suffix("")]).returncode
    if ran != 0:
        last = built[1].splitlines()[-1] if built[1] else f"its program ended with {ran}"
        return look(
            f"{version} does not compile a small program: {last}",
            "only needed where Horovod is compiled: load one compiler module, not several",
        )
    return ok(version)


def jupyter_kernel(_: Position) -> Diagnosis:
    known = kernel.read(kernel.kernels_folder() / kernel.NAME)
    if not known:
        return ok("not installed (Open OnDemand needs it: cluster kernel install)")
    if known.state != "this environment":
        return look(
            f"the notebooks' kernel {known.name} starts {known.environment}, not {sys.prefix}",
            "let notebooks and jobs use one environment: cluster kernel install",
        )
    return ok(f"{known.name} starts this environment")
