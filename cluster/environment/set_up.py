"""Make .venv with the pinned packages and, on request, Horovod and dev tools.

`python3 -m cluster.environment` starts again with the Python of .venv as soon as that exists. Only
what is missing is installed.
"""

import os
import shutil
import signal
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from cluster.environment import horovod_wheel, prerequisites, quick_start
from cluster.environment.complete import fingerprint, is_complete, stamp
from cluster.environment.failure import SetUpError, explain_os_error
from cluster.environment.horovod_recipe import VERSION
from cluster.environment.installer import install
from cluster.environment.stage import Stamps, lock, progress, run
from cluster.environment.verify import verify

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOGS = ROOT / "build" / "set-up"
LOCKED = ROOT / "cluster" / "environment" / "locked.txt"
STAMPS = Stamps(VENV / ".set-up")
EXTRAS = {
    "course": ("lessons", "cpu"),
    "horovod": ("horovod-build",),
    "tools": ("test", "lint", "book"),
}


def set_up(parts: list[str]) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.chdir(ROOT)
    # Packages of other Pythons must not be visible in the new environment.
    for name in ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
        os.environ.pop(name, None)
    try:
        if parts == ["check"]:
            prerequisites.check_python()
            return 0
        prerequisites.check(ROOT, parts)
        with lock(LOGS / "lock", "another set-up is running in this folder"):
            if is_complete(str(ROOT), parts):
                return 0
            if in_venv():
                fill(parts)
            else:
                make_venv()
        if not in_venv():
            os.execv(PYTHON, [str(PYTHON), "-m", "cluster.environment", *parts])
    except KeyboardInterrupt:
        print("\nSet-up interrupted; run it again and it continues from here.", file=sys.stderr)
        return 130
    except (SetUpError, OSError) as error:
        sentence = explain_os_error(error) if isinstance(error, OSError) else error
        print(f"Set-up stopped: {sentence}.", file=sys.stderr)
        return 1
    return 0


def in_venv() -> bool:
    return Path(sys.prefix) == VENV


def make_venv() -> None:
    """Make an empty .venv, unless this folder already has one."""
    # Scripts in .venv contain its absolute path, so a moved folder needs a new one.
    inputs = {"folder": str(VENV)}
    if STAMPS.done("venv", inputs) and os.access(PYTHON, os.X_OK):
        return
    if VENV.is_symlink() or (VENV.exists() and not STAMPS.folder.exists()):
        raise SetUpError(
            f"{VENV} was not made by this set-up; move it away, or delete it with `make clean`"
        )
    print("Setting up .venv", flush=True)
    with progress(f"Python {sys.version.split()[0]}: an empty .venv"):
        shutil.rmtree(VENV, ignore_errors=True)
        STAMPS.folder.mkdir(parents=True)  # marks an unfinished .venv as ours
        run([sys.executable, "-m", "venv", VENV], LOGS / "venv.log")
        STAMPS.write("venv", inputs)


def fill(parts: Iterable[str]) -> None:
    """Install the course and these parts, except what .venv already has."""
    # The user's own pip settings (index, proxy, certificates) stay in effect.
    os.environ["PIP_USER"] = "0"
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for part in ("course", *parts):
        FILL[part](pyproject)
        Path(stamp(str(ROOT), part)).write_text(fingerprint(str(ROOT)) + "\n")


def fill_course(pyproject: dict) -> None:
    pins = pins_of(pyproject, "course")
    inputs = stage_inputs(pins)
    if not STAMPS.done("packages", inputs):
        drop_half_installed()
        with progress(f"packages: PyTorch, TensorFlow and {len(pins) - 2} more (a minute or two)"):
            install(["-c", LOCKED, *pins], LOGS / "packages.log", torch_for_cpus=True)
        STAMPS.write("packages", inputs)
    alone = pyproject["dependency-groups"]["without-dependencies"]
    course = {name: pyproject[name] for name in ("project", "build-system")} | {"alone": alone}
    if not STAMPS.done("course", course):
        with progress("the course itself: lessons, cluster and autograder"):
            # Without dependencies, because tf-keras requires the full tensorflow package.
            flags: list[str | Path] = ["--no-deps", "--no-build-isolation", "-c", LOCKED]
            install([*flags, *alone, "--editable", ROOT], LOGS / "course.log")
        STAMPS.write("course", course)
    quick_start.install(site_packages())


def fill_tools(pyproject: dict) -> None:
    pins = pins_of(pyproject, "tools")
    if not STAMPS.done("tools", stage_inputs(pins)):
        drop_half_installed()
        with progress(f"tools: pytest, ruff, mypy, Sphinx and {len(pins) - 4} more"):
            install(["-c", LOCKED, *pins], LOGS / "tools.log")
        STAMPS.write("tools", stage_inputs(pins))


def fill_horovod(pyproject: dict) -> None:
    inputs = horovod_wheel.inputs()
    if STAMPS.done("horovod", inputs):
        return
    wheel = horovod_wheel.kept_wheel(inputs)
    if wheel is None:
        prerequisites.check_compiler()
        with progress("Horovod: packages for compiling it"):
            install(["-c", LOCKED, *pins_of(pyproject, "horovod")], LOGS / "horovod-tools.log")
        wheel = horovod_wheel.wheel(LOGS)
    with progress(f"Horovod {VERSION}: installing"):
        horovod_wheel.install(wheel, LOGS)
    with progress("Horovod: an allreduce on two ranks, TensorFlow by MPI, PyTorch by Gloo"):
        verify(LOGS)
    STAMPS.write("horovod", inputs)


FILL = {"course": fill_course, "tools": fill_tools, "horovod": fill_horovod}


def pins_of(pyproject: dict, part: str) -> list[str]:
    """Return the pinned packages of one part."""
    project = pyproject["project"]
    pins = {pin for extra in EXTRAS[part] for pin in project["optional-dependencies"][extra]}
    if part == "course":
        pins |= {*project["dependencies"], *pyproject["build-system"]["requires"]}
    return sorted(pins)


def stage_inputs(pins: list[str]) -> dict[str, list[str]]:
    return {"pins": pins, "locked": LOCKED.read_text().splitlines()}


def site_packages() -> Path:
    version = "python{}.{}".format(*sys.version_info)
    return VENV / "lib" / version / "site-packages"


def drop_half_installed() -> None:
    """Remove packages that an interrupted installation left incomplete.

    These packages are then reinstalled. pip and uv write a package's INSTALLER file last.
    """
    for info in site_packages().glob("*.dist-info"):
        if not (info / "INSTALLER").exists():
            shutil.rmtree(info)
    for leftover in site_packages().glob("~*"):
        shutil.rmtree(leftover, ignore_errors=True)
