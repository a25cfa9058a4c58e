"""pyproject.toml, locked.txt, environment.yml and the installed packages agree."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from cluster.doctor.probes import frameworks
from cluster.environment import set_up

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from pip itself
ROOT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
CONDA_TEXT = " ".join((ROOT / "environment.yml").read_text().replace("\n#", "\n").split())
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA_PIP = next(part["pip"] for part in CONDA["dependencies"] if isinstance(part, dict))


def versions(pins):
    """Return {package: version}, with names normalised as package indexes do."""
    pairs = (pin.split("==") for pin in pins)
    return {plain(name): version for name, version in pairs}


def plain(name):
    return re.sub(r"[-_.]+", "-", name.split("[")[0]).lower()


RANGES = PYPROJECT["project"]["dependencies"]  # what the grader alone needs


def all_pins():
    pins = [pin for part in set_up.EXTRAS for pin in set_up.pins_of(PYPROJECT, part)]
    alone = PYPROJECT["dependency-groups"]["without-dependencies"]
    return [pin for pin in (*pins, *alone) if pin not in RANGES]


# cmake compiles Horovod, and is missing if the wheel came from the cache.
MAY_BE_ABSENT = {"cmake"}
LOCKED = versions(
    line for line in set_up.LOCKED.read_text().splitlines() if not line.startswith("#")
)


def test_every_package_is_pinned_exactly():
    exact = re.compile(r"[A-Za-z0-9_.-]+(\[[a-z,-]+\])?==[0-9][0-9a-z.]*")
    more = EXTRAS["gpu-torch"] + EXTRAS["gpu-tensorflow"] + PYPROJECT["build-system"]["requires"]
    assert [pin for pin in all_pins() + more if not exact.fullmatch(pin)] == []


def test_the_lock_has_a_version_from_each_range():
    of_the_course = {Requirement(pin).name for pin in set_up.pins_of(PYPROJECT, "course")}
    for requirement in map(Requirement, RANGES):
        assert {spec.operator for spec in requirement.specifier} == {">=", "<"}
        assert LOCKED[plain(requirement.name)] in requirement.specifier, requirement
        assert requirement.name in of_the_course


def test_the_pinned_version_is_locked_and_installed():
    for name, version in versions(all_pins()).items():
        assert LOCKED.get(name, version) == version, name
        if name not in MAY_BE_ABSENT or is_installed(name):
            assert metadata.version(name).split("+")[0] == version, name


def is_installed(name):
    return any(metadata.distributions(name=name))


def test_everything_that_comes_along_is_locked():
    installed = {plain(part.metadata["Name"]) for part in metadata.distributions()}
    # pip comes with Python, uv installs the other packages (installer.py pins it), horovod is built
    # here, and torch's CPU build has a name of its own.
    ours = {"pip", "uv", "setuptools", "wheel", "horovod", "torch", "dl-on-supercomputers"}
    assert installed - ours - set(LOCKED) == set()


@pytest.mark.slow
def test_an_installed_package_has_all_files(tmp_path):
    """An environment that conda-pack moves to a centre has no clone beside it."""
    source = tmp_path / "course"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    for name in tracked.stdout.splitlines():
        if name.startswith(("autograder/", "cluster/", "lessons/")) or "/" not in name:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "--wheel-dir", tmp_path, source], check=True, capture_output=True)
    [file] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(file).namelist())
    data = [name for name in tracked.stdout.splitlines() if re.match(DATA, name)]
    assert "cluster/sites/job.sh" in data
    assert [name for name in data if name not in packed] == []


# What the packages read beside their modules. The lessons themselves are copied, not installed.
DATA = r"(autograder|cluster|lessons)/(?!\d\d_).*(?<!\.py)(?<!\.md)$"


FRAMEWORKS = ("torch", "tensorflow")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_gpu_extras_have_the_frameworks_of_the_cpu_extra(framework):
    cpu, gpu = versions(EXTRAS["cpu"]), versions(EXTRAS[f"gpu-{framework}"])
    assert gpu["tensorflow"] == cpu["tensorflow-cpu"]
    assert gpu.get("torch", cpu["torch"]) == cpu["torch"]
    alone = versions(PYPROJECT["dependency-groups"]["without-dependencies"])
    assert gpu["tf-keras"] == alone["tf-keras"]


def as_conda_hands_over(framework, folder, monkeypatch):
    """Return what pip reads from the file that conda writes for the list below `pip:`.

    pip's own parser is used, which fills in variables.
    """
    from pip._internal.network.session import PipSession
    from pip._internal.req.req_file import parse_requirements

    monkeypatch.chdir(folder)
    if framework:
        monkeypatch.setenv("COURSE_FRAMEWORK", framework)
    else:
        monkeypatch.delenv("COURSE_FRAMEWORK", raising=False)
    file = folder / "condaenv.requirements.txt"  # conda writes it beside environment.yml
    file.write_text("\n".join(CONDA_PIP))
    return list(parse_requirements(str(file), session=PipSession()))


@pytest.fixture
def beside_the_yml(tmp_path):
    (tmp_path / "cluster").symlink_to(ROOT / "cluster")
    return tmp_path


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_conda_installs_the_course_with_its_pins(framework, beside_the_yml, monkeypatch):
    parts = as_conda_hands_over(framework, beside_the_yml, monkeypatch)
    constraints = versions(part.requirement for part in parts if part.constraint)
    assert constraints.items() >= LOCKED.items()
    assert any(name.startswith("nvidia-nccl-cu") for name in constraints)
    [course] = [part for part in parts if not part.constraint]
    assert course.is_editable
    extras = set(re.fullmatch(r"\.\[(.*)\]", course.requirement)[1].split(","))
    assert extras == {"lessons", f"gpu-{framework}", "horovod-build"} <= set(EXTRAS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_frameworks_environment_has_one_cuda_pinned(framework):
    text = (set_up.LOCKED.parent / f"locked-{framework}.txt").read_text().splitlines()
    pins = versions(line for line in text if not line.startswith("#"))
    cuda = {"torch": "13", "tensorflow": "12"}[framework]
    assert {name[-2:] for name in pins if re.search(r"-cu\d+$", name)} == {cuda}
    assert not pins.keys() & LOCKED.keys(), "one place for each"
    driver = {"13": frameworks.DRIVERS["13"], "12": frameworks.ON_H100}[cuda]
    assert f"a driver of {driver} or newer" in text[0]
    assert f"CUDA {cuda} ({'driver ' if cuda == '13' else ''}{driver} or newer" in CONDA_TEXT
