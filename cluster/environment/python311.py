"""Find Python 3.11, or download it. Runs on Python 3.6 or newer."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

from cluster.environment.failure import SetUpError, explain

UV = "uv==0.13.8"
DEV = "on Debian or Ubuntu: sudo apt install python3-dev"

# A usable Python has the right version, the two modules that make a virtual environment (separate
# packages on Debian) and, to compile Horovod, the header files.
PROBE = """
import importlib.util, os, sys, sysconfig
assert sys.version_info[:2] == (3, 11)
header = os.path.join(sysconfig.get_path("include"), "Python.h")
print(sys._base_executable)
print(*[name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None],
      *([] if os.path.exists(header) else ["Python.h"]))
"""


def cache_folder():
    """Return the cache folder that all clones of the course share."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.path.abspath(base), "dl-course")


def downloaded():
    """Return the Python 3.11 that an earlier set-up downloaded, as a list of at most one item."""
    found = glob.glob(os.path.join(cache_folder(), "python", "cpython-3.11*", "bin", "python3.11"))
    return sorted(found)[-1:]


def candidates():
    """Return the Python interpreters to check, best first."""
    on_path = [
        os.path.join(folder, "python3.11")
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if os.access(os.path.join(folder, "python3.11"), os.X_OK)
    ]
    running = [sys.executable] if sys.version_info[:2] == (3, 11) else []
    return running + on_path + downloaded()


def probe(python):
    """Return (real path, list of missing parts), or None if this is not Python 3.11."""
    try:
        output = subprocess.check_output(
            [python, "-I", "-c", PROBE], stderr=subprocess.DEVNULL, universal_newlines=True
        )
        path, missing = output.splitlines()
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return path, missing.split()


def say_at_once(line):
    print(line, flush=True)  # buffered output would be lost when set_up.py takes over


def find(root, with_headers, say=say_at_once):
    """Return a usable Python 3.11, after downloading one if this machine has none."""
    of_venv = probe(os.path.join(root, ".venv", "bin", "python"))
    if of_venv:
        return require_headers(*of_venv) if with_headers else of_venv[0]
    probed = [found for found in map(probe, candidates()) if found]
    for path, missing in probed:
        if not missing:
            return path
    for path, missing in probed:
        if missing == ["Python.h"] and not with_headers:
            say(
                f"  Note: {path} has no header files (Python.h). Lessons 07 to 09 need them: " + DEV
            )
            return path
    say(f"  Python 3.11: {why_download(probed)}; downloading one ...")
    try:
        return download()
    except SetUpError as failed:
        raise SetUpError(
            f"{why_download(probed)}, and it cannot be downloaded: {failed}" + way_out(probed)
        ) from None


def require_headers(path, missing):
    """Return the path. Raise SetUpError if Horovod cannot be compiled against this Python."""
    if "Python.h" in missing:
        raise SetUpError(f"{path}, which .venv uses, has no header files (Python.h); {DEV}")
    return path


def why_download(probed):
    if not probed:
        return "there is no Python 3.11 on PATH (`python3` is {}.{})".format(*sys.version_info[:2])
    return "{} lacks {}".format(probed[0][0], " and ".join(probed[0][1]))


def way_out(probed):
    if probed:
        return "; on Debian or Ubuntu `sudo apt install python3-venv python3-dev` installs both"
    return "; install Python 3.11, put it on PATH and run `make` again"


def download():
    """Download Python 3.11 into the cache folder with uv and return its path."""
    folder = os.path.join(cache_folder(), "python")
    os.makedirs(folder, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="uv-", dir=folder)
    try:
        uv = install_uv(sys.executable, scratch)
        call([uv, "python", "install", "--no-bin", "--install-dir", folder, "3.11"])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for python in downloaded():
        found = probe(python)
        if found and not found[1]:
            return found[0]
    raise SetUpError("uv did not install a usable Python 3.11 in " + folder)


def install_uv(python, folder):
    """Install uv with pip into a temporary folder and return the path of the command."""
    pip = [python, "-m", "pip"]
    if subprocess.call([*pip, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        venv = os.path.join(folder, "venv")
        if subprocess.call([python, "-m", "venv", venv], stdout=subprocess.DEVNULL):
            raise SetUpError(f"{python} has neither pip nor a working venv module")
        pip = [os.path.join(venv, "bin", "python"), "-m", "pip"]
    # --target works where pip may not touch the system's own packages.
    call([*pip, "install", "--quiet", "--no-deps", "--target", os.path.join(folder, "uv"), UV])
    return os.path.join(folder, "uv", "bin", "uv")


def call(command):
    """Run a command. Raise SetUpError with the cause if it fails."""
    env = dict(os.environ, PIP_USER="0")
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, env=env
    )
    output = process.communicate()[0]
    if process.returncode:
        log = os.path.join(cache_folder(), "python", "download.log")
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, "w") as handle:
            handle.write("$ {}\n{}".format(" ".join(command), output))
        cause = explain(output) or "`{}` failed".format(" ".join(command[:3]))
        raise SetUpError(f"{cause} (the log is {log})")
