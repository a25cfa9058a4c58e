"""Find Python 3.11, or fetch it.

Runs on any Python 3.6 or newer: on a machine whose own Python is another one, this is what finds
the right one.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

from cluster.environment.failure import SetUpError, explain

UV = "uv==0.13.8"

# What the set-up needs of a Python: its version, the two modules that make a virtual environment
# (Debian packs them apart) and the headers that Horovod is compiled against.
PROBE = """
import importlib.util, os, sys, sysconfig
assert sys.version_info[:2] == (3, 11)
header = os.path.join(sysconfig.get_path("include"), "Python.h")
print(sys._base_executable)
print(*[name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None],
      *([] if os.path.exists(header) else ["Python.h"]))
"""


def cache_folder():
    """Return the folder that clones of the course share."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.path.abspath(base), "dl-course")


def fetched():
    """Return the Python 3.11 fetched by an earlier set-up, if any."""
    found = glob.glob(os.path.join(cache_folder(), "python", "cpython-3.11*", "bin", "python3.11"))
    return sorted(found)[-1:]


def candidates():
    """Return the Pythons to look at, best first."""
    on_path = [
        os.path.join(folder, "python3.11")
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if os.access(os.path.join(folder, "python3.11"), os.X_OK)
    ]
    running = [sys.executable] if sys.version_info[:2] == (3, 11) else []
    return running + on_path + fetched()


def probe(python):
    """Return (true path, list of what it lacks), or None when it is no Python 3.11 at all."""
    try:
        output = subprocess.check_output(
            [python, "-I", "-c", PROBE], stderr=subprocess.DEVNULL, universal_newlines=True
        )
        path, lacks = output.splitlines()
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return path, lacks.split()


def find(say=print):
    """Return a complete Python 3.11; fetch one when this machine has none."""
    incomplete = []
    for python in candidates():
        seen = probe(python)
        if seen and not seen[1]:
            return seen[0]
        if seen:
            incomplete.append(seen)
    say(f"  Python 3.11: {why_fetch(incomplete)}; fetching it ...")
    try:
        return fetch()
    except SetUpError as failed:
        raise SetUpError(
            f"{why_fetch(incomplete)}, and it cannot be fetched: {failed}" + way_out(incomplete)
        ) from None


def why_fetch(incomplete):
    if not incomplete:
        return "there is no Python 3.11 on PATH (`python3` is {}.{})".format(*sys.version_info[:2])
    return "{} lacks {}".format(incomplete[0][0], " and ".join(incomplete[0][1]))


def way_out(incomplete):
    if incomplete:
        return "; on Debian or Ubuntu `sudo apt install python3.11-venv python3.11-dev` gives both"
    return "; install Python 3.11, put it on PATH and run `make` again"


def fetch():
    """Fetch Python 3.11 into the cache folder through uv and return its path."""
    folder = os.path.join(cache_folder(), "python")
    os.makedirs(folder, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="uv-", dir=folder)
    try:
        uv = install_uv(sys.executable, scratch)
        call([uv, "python", "install", "--no-bin", "--install-dir", folder, "3.11"])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for python in fetched():
        seen = probe(python)
        if seen and not seen[1]:
            return seen[0]
    raise SetUpError("uv left no usable Python 3.11 in " + folder)


def install_uv(python, folder):
    """Install uv by pip into a throw-away folder and return the path of the command."""
    pip = [python, "-m", "pip"]
    if subprocess.call([*pip, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        venv = os.path.join(folder, "venv")
        if subprocess.call([python, "-m", "venv", venv], stdout=subprocess.DEVNULL):
            raise SetUpError(
                f"{python} has neither pip nor a working venv module; "
                "on Debian or Ubuntu `sudo apt install python3-venv` gives both"
            )
        pip = [os.path.join(venv, "bin", "python"), "-m", "pip"]
    # --target works where pip may not touch the system's own packages.
    call([*pip, "install", "--quiet", "--no-deps", "--target", os.path.join(folder, "uv"), UV])
    return os.path.join(folder, "uv", "bin", "uv")


def call(command):
    """Run a command; say in one sentence why it failed."""
    env = dict(os.environ, PIP_USER="0")
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, env=env
    )
    output = process.communicate()[0]
    if process.returncode:
        log = os.path.join(cache_folder(), "python", "fetch.log")
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, "w") as handle:
            handle.write("$ {}\n{}".format(" ".join(command), output))
        cause = explain(output) or "`{}` failed".format(" ".join(command[:3]))
        raise SetUpError(f"{cause} (the log is {log})")
