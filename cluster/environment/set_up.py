"""Make .venv: Python 3.11, the pinned packages, Horovod; verified, and only what is not done yet.

Started by `python3 -m cluster.environment`: first by the Python 3.11 that was found, then, once
.venv exists, by its own Python.
"""

import json
import os
import shutil
import signal
import sys
import tomllib
from pathlib import Path

from cluster.environment import horovod_wheel
from cluster.environment.failure import SetUpError, explain_os_error
from cluster.environment.fingerprint import fingerprint, up_to_date
from cluster.environment.horovod_recipe import VERSION
from cluster.environment.python311 import install_uv
from cluster.environment.stage import Stamps, lock, progress, run
from cluster.environment.verify import verify

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOGS = ROOT / "build" / "set-up"
LOCKED = ROOT / "cluster" / "environment" / "locked.txt"
STAMPS = Stamps(VENV / ".set-up")
EXTRAS = ("lessons", "cpu", "horovod-build", "test", "lint", "book")
GIGABYTES_FREE = 5
PIP: list[str | Path] = [PYTHON, "-m", "pip", "install", "--progress-bar", "off"]


def main() -> int:
    if sys.argv[1:]:
        print(__doc__)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with lock(LOGS / "lock", "another set-up is at work in this folder"):
            if up_to_date(str(ROOT)):
                return 0
            if in_venv():
                fill()
            else:
                print("Setting up .venv", flush=True)
                make_venv()
        if not in_venv():
            os.execv(PYTHON, [str(PYTHON), "-m", "cluster.environment.set_up"])
    except KeyboardInterrupt:
        print("\nSet-up interrupted; run it again and it goes on from here.", file=sys.stderr)
        return 130
    except tomllib.TOMLDecodeError as error:
        print(f"Set-up stopped: pyproject.toml is no TOML: {error}.", file=sys.stderr)
        return 1
    except (SetUpError, OSError) as error:
        sentence = explain_os_error(error) if isinstance(error, OSError) else error
        print(f"Set-up stopped: {sentence}.", file=sys.stderr)
        return 1
    return 0


def in_venv() -> bool:
    return Path(sys.prefix) == VENV


def make_venv() -> None:
    """Make an empty .venv, unless a whole one is there already."""
    horovod_wheel.check_compiler(LOGS)
    # A moved folder or another Python makes another venv: its scripts hold absolute paths.
    inputs = {"folder": str(VENV), "python": "3.11"}
    if STAMPS.done("venv", inputs) and os.access(PYTHON, os.X_OK):
        return
    if VENV.is_symlink() or (VENV.exists() and not STAMPS.folder.exists()):
        raise SetUpError(
            f"{VENV} was not made by this set-up; move it away, or delete it with `make clean`"
        )
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < GIGABYTES_FREE:
        raise SetUpError(
            f"{free:.1f} GB are free where {ROOT} lies and the course needs about "
            f"{GIGABYTES_FREE}; free some, or clone it to another disk"
        )
    with progress(f"Python {sys.version.split()[0]}: an empty .venv"):
        shutil.rmtree(VENV, ignore_errors=True)
        STAMPS.folder.mkdir(parents=True)  # from here on it is ours, even half-made
        run([sys.executable, "-m", "venv", VENV], LOGS / "venv.log")
        STAMPS.write("venv", inputs)


def fill() -> None:
    """Install what .venv lacks: packages, the course itself, Horovod."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins, alone = requirements(pyproject)
    # What follows from the user's own pip settings stays: index, proxy, certificates.
    os.environ["PIP_USER"] = "0"
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"

    inputs = {"pins": pins, "locked": LOCKED.read_text().splitlines()}
    if not STAMPS.done("packages", inputs):
        drop_half_installed()
        torch_for_cpus(next(pin for pin in pins if pin.startswith("torch==")))
        with progress(f"packages: PyTorch, TensorFlow and {len(pins) - 2} more (about 2 minutes)"):
            run([*PIP, "-c", LOCKED, *pins], LOGS / "packages.log")
        STAMPS.write("packages", inputs)

    course = {name: pyproject[name] for name in ("project", "build-system")} | {"alone": alone}
    if not STAMPS.done("course", course):
        with progress("the course itself: lessons, cluster and autograder"):
            # Not through pip's resolver: tf-keras asks for the full tensorflow package.
            alone_flags: list[str | Path] = ["--no-deps", "--no-build-isolation", "-c", LOCKED]
            run([*PIP, *alone_flags, *alone, "--editable", ROOT], LOGS / "course.log")
        STAMPS.write("course", course)

    wheel_inputs = horovod_wheel.inputs()
    if not STAMPS.done("horovod", wheel_inputs):
        wheel = horovod_wheel.wheel(LOGS)
        with progress(f"Horovod {VERSION}: installing"):
            horovod_wheel.install(wheel, LOGS)
        with progress("Horovod: an allreduce on two ranks, TensorFlow by MPI, PyTorch by Gloo"):
            verify(LOGS)
        STAMPS.write("horovod", wheel_inputs)
    (STAMPS.folder / "complete").write_text(fingerprint(str(ROOT)) + "\n")


def requirements(pyproject: dict) -> tuple[list[str], list[str]]:
    """Return the pins to install with what they need, and those to install alone."""
    project = pyproject["project"]
    extras = [pin for extra in EXTRAS for pin in project["optional-dependencies"][extra]]
    return (
        sorted({*project["dependencies"], *extras}),
        pyproject["dependency-groups"]["without-dependencies"],
    )


def torch_for_cpus(pin: str) -> None:
    """Install PyTorch's CPU build where pip, with this user's settings, would take CUDA's.

    That one is several GB larger, and Horovod could not be compiled against it without CUDA.
    uv knows where PyTorch keeps its CPU builds.
    """
    report = LOGS / "torch-choice.json"
    run([*PIP, "--dry-run", "--no-deps", "--report", report, pin], LOGS / "torch-choice.log")
    chosen = json.loads(report.read_text())["install"]
    if not chosen or "+cpu" in chosen[0]["metadata"]["version"]:
        return
    with progress("PyTorch: its build for CPUs"):
        scratch = LOGS / "uv"
        try:
            uv = install_uv(str(PYTHON), str(scratch))
            command = [uv, "pip", "install", "--python", PYTHON, "--torch-backend", "cpu", pin]
            run(command, LOGS / "torch.log")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def drop_half_installed() -> None:
    """Forget packages that an interrupted pip left half-way, so that it installs them again.

    pip writes a package's INSTALLER file after all its other files.
    """
    packages = VENV / "lib" / "python3.11" / "site-packages"
    for info in packages.glob("*.dist-info"):
        if not (info / "INSTALLER").exists():
            shutil.rmtree(info)
    for leftover in packages.glob("~*"):
        shutil.rmtree(leftover, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
