"""Check for a compiler and for disk space before any download. Runs on Python 3.6 or newer."""

import os
import shutil
import subprocess
import tempfile

from cluster.environment.failure import SetUpError

GIGABYTES = 3  # the course's packages and their downloads
GIGABYTES_MORE = {"horovod": 1, "tools": 1}
APT = "on Debian or Ubuntu: sudo apt install g++ make python3-dev"
PROGRAM = "#include <filesystem>\nint main() { return std::filesystem::path().empty() - 1; }\n"


def check(root, parts):
    """Raise SetUpError if these parts cannot be installed on this machine."""
    check_disk(root, parts)
    if "horovod" in parts:
        check_compiler()
    elif missing_tools():
        print(
            "  Note: {} not found. The demo and most lessons work without; lessons 07 to 09 and "
            "`make test` compile Horovod and need {} ({}).".format(
                " and ".join(missing_tools()), "it" if len(missing_tools()) == 1 else "them", APT
            ),
            flush=True,
        )


def check_disk(root, parts):
    """Raise SetUpError if the folder has too little space for a new .venv."""
    if os.path.exists(os.path.join(root, ".venv")):
        return
    needed = GIGABYTES + sum(GIGABYTES_MORE[part] for part in parts)
    free = shutil.disk_usage(root).free / 1e9
    if free < needed:
        raise SetUpError(
            f"{root} has {free:.1f} GB of free space and the set-up needs about {needed}; "
            "free some, or clone the course to another disk"
        )


def compiler():
    return os.environ.get("CXX", "c++")


def missing_tools():
    return [tool for tool in (compiler(), "make") if shutil.which(tool) is None]


def check_compiler():
    """Raise SetUpError unless the compiler can build and link a C++17 program."""
    missing = missing_tools()
    if missing:
        raise SetUpError(
            "Horovod has to be compiled, but there is no {} on PATH; install a C++ compiler and "
            "make ({}; on a cluster: module load gcc)".format(" and no ".join(missing), APT)
        )
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "try.cc")
        with open(source, "w") as handle:
            handle.write(PROGRAM)
        command = [compiler(), "-std=c++17", source, "-o", os.path.join(folder, "try")]
        tried = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
        )
        output = tried.communicate()[0]
    if tried.returncode:
        raise SetUpError(
            "the C++ compiler `{}` cannot compile a C++17 program ({}); install g++ 9 or newer, "
            "or set CXX to another compiler".format(
                compiler(), (output.strip() or "no output").splitlines()[0]
            )
        )
