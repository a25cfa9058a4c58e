"""Install packages into .venv with uv, under the user's own pip settings; with pip if uv fails.

uv takes a quarter of the time that pip takes: it downloads and unpacks in parallel, and keeps one
unpacked copy in the user's cache.
"""

import ast
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.environment.failure import DISK_FULL, SetUpError
from cluster.environment.stage import run

UV = "uv==0.13.8"
PIP: list[str | Path] = [sys.executable, "-m", "pip"]
INSTALL: list[str | Path] = [*PIP, "install", "--progress-bar", "off"]
# pip's setting -> uv's option, given once for each value.
OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
    "constraint": "--constraint",
}
# pip's setting -> the environment variable that uv reads.
VARIABLES = {"cert": "SSL_CERT_FILE", "client-cert": "SSL_CLIENT_CERT", "proxy": "ALL_PROXY"}


def install(requirements: Sequence[str | Path], log: Path, *, torch_for_cpus: bool = False) -> None:
    """Install the requirements, which can include options that both uv and pip understand.

    With torch_for_cpus, install PyTorch's CPU build even if pip would choose the CUDA build. The
    CUDA build is several GB larger, and without CUDA, Horovod cannot be compiled against it.
    """
    settings = pip_settings(log.with_suffix(".settings.log"))
    run([*INSTALL, "--no-deps", UV], log.with_suffix(".uv.log"))
    uv = Path(sys.executable).with_name("uv")
    command: list[str | Path] = [uv, "pip", "install", "--python", sys.executable]
    command += ["--compile-bytecode", *uv_options(settings)]
    elsewhere = torch_for_cpus and not pip_finds_cpu_torch(requirements, log)
    if elsewhere:  # uv knows the index on which PyTorch keeps its CPU builds
        command += ["--torch-backend", "cpu"]
    try:
        run([*command, *requirements], log, env=os.environ | uv_variables(settings))
    except SetUpError as error:
        if elsewhere or DISK_FULL in str(error):
            raise
        run([*INSTALL, *requirements], log.with_name(f"{log.stem}-pip.log"))
    finally:
        # uv leaves a lock that everybody can write, and others must not change the environment
        Path(sys.prefix, ".lock").unlink(missing_ok=True)


def pip_settings(log: Path) -> dict[str, list[str]]:
    """Return pip's settings from its files and the environment, each as a list of values."""
    found: dict[str, list[str]] = {}
    lines = run([*PIP, "config", "list"], log).splitlines()[1:]
    # "global.index-url='…'"; settings for `install` override global ones, the environment both.
    for section in ("global.", "install.", ":env:."):
        for line in lines:
            name, equals, value = line.removeprefix(section).partition("=")
            if line.startswith(section) and equals:
                found[name] = str(ast.literal_eval(value)).split()
    return found


def uv_options(settings: Mapping[str, Sequence[str]]) -> list[str]:
    # pip takes the best version from all indexes, uv by default from the first that has any.
    options = ["--index-strategy", "unsafe-best-match"]
    for name, option in OPTIONS.items():
        for value in settings.get(name, ()):
            options += [option, value]
    if settings.get("no-index", ["false"])[0].lower() in ("1", "true", "yes", "on"):
        options.append("--no-index")
    return options


def uv_variables(settings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {
        variable: settings[name][0]
        for name, variable in VARIABLES.items()
        if settings.get(name) and variable not in os.environ
    }


def pip_finds_cpu_torch(requirements: Sequence[str | Path], log: Path) -> bool:
    """Return whether pip, with this user's settings, chooses PyTorch's CPU build."""
    [pin] = [str(each) for each in requirements if str(each).startswith("torch==")]
    report = log.with_name("torch-choice.json")
    dry_run = [*INSTALL, "--dry-run", "--no-deps", "--quiet", "--report", report, pin]
    run(dry_run, log.with_name("torch-choice.log"))
    chosen = json.loads(report.read_text())["install"]
    return not chosen or "+cpu" in chosen[0]["metadata"]["version"]
