"""pyproject.toml, locked.txt, environment.yml and what is installed say the same."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from cluster.environment import set_up

ROOT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA_PIP = next(part["pip"] for part in CONDA["dependencies"] if isinstance(part, dict))


def versions(pins):
    """{package: version}, with names as package indexes compare them."""
    pairs = (pin.split("==") for pin in pins)
    return {plain(name): version for name, version in pairs}


def plain(name):
    return re.sub(r"[-_.]+", "-", name.split("[")[0]).lower()


def all_pins():
    pins, alone = set_up.requirements(PYPROJECT)
    return [*pins, *alone]


LOCKED = versions(
    line for line in set_up.LOCKED.read_text().splitlines() if not line.startswith("#")
)


@pytest.mark.parametrize(
    "pin", [*all_pins(), *EXTRAS["gpu"], *PYPROJECT["build-system"]["requires"]]
)
def test_every_package_is_pinned_exactly(pin):
    assert re.fullmatch(r"[A-Za-z0-9_.-]+(\[[a-z-]+\])?==[0-9][0-9a-z.]*", pin)


@pytest.mark.parametrize(("name", "version"), versions(all_pins()).items())
def test_the_pinned_version_is_locked_and_installed(name, version):
    assert LOCKED.get(name, version) == version
    assert metadata.version(name).split("+")[0] == version


def test_everything_that_comes_along_is_locked():
    installed = {plain(part.metadata["Name"]) for part in metadata.distributions()}
    # pip comes with Python, horovod is built, torch has its own name for its CPU build.
    ours = {"pip", "setuptools", "wheel", "horovod", "torch", "dl-on-supercomputers"}
    assert installed - ours - set(LOCKED) == set()


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_what_is_locked_runs_on_debians_python(name):
    part = metadata.distribution(name)
    assert part.version == LOCKED[name]
    assert "3.11.2" in SpecifierSet(part.metadata.get("Requires-Python", ""))


def test_one_version_of_each_package():
    seen = {}
    for pins in (*EXTRAS.values(), PYPROJECT["project"]["dependencies"], all_pins()):
        for name, version in versions(pins).items():
            assert seen.setdefault(name, version) == version


def test_the_gpu_extra_has_the_frameworks_of_the_cpu_extra():
    cpu, gpu = versions(EXTRAS["cpu"]), versions(EXTRAS["gpu"])
    assert gpu["tensorflow"] == cpu["tensorflow-cpu"]
    assert gpu["torch"] == cpu["torch"]
    alone = versions(PYPROJECT["dependency-groups"]["without-dependencies"])
    assert gpu["tf-keras"] == alone["tf-keras"]


def test_conda_installs_the_course_with_its_pins():
    constraint, course = CONDA_PIP
    assert (ROOT / constraint.removeprefix("--constraint ")) == set_up.LOCKED
    found = re.fullmatch(r"--editable \.\[(.*)\]", course)
    assert set(found[1].split(",")) == {"lessons", "gpu", "horovod-build"} <= set(EXTRAS)


def test_conda_brings_the_same_python_and_no_version_of_its_own():
    own = [part for part in CONDA["dependencies"] if isinstance(part, str)]
    assert [part for part in own if "=" in part] == ["python=3.11"]
    assert PYPROJECT["project"]["requires-python"] == ">=3.11,<3.12"
    assert not versions(all_pins()).keys() & set(own)
