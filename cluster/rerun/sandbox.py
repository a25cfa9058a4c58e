"""Run a command in isolation: `python -I sandbox.py [OPTIONS] -- COMMAND …`.

An ordinary account creates Linux namespaces. The command sees only the loopback network, its own
processes, and its own /tmp and shared memory. Other folders are hidden or shown as requested. When
the command ends, everything that it left running ends too.

This program uses only the standard library, because none of the course's modules can be imported
yet.
"""

import argparse
import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PROCESSES, NEW_NETWORK = (
    0x00020000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
NOSUID, NODEV, BIND, RECURSIVE, PRIVATE = 2, 4, 0x1000, 0x4000, 0x40000
DIE_WITH_PARENT, NO_NEW_PRIVILEGES = 1, 38  # options of prctl
OWN = ("/tmp", "/var/tmp", "/dev/shm")
GIGABYTE = 1 << 30
LIBC = ctypes.CDLL(None, use_errno=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hide", action="append", default=[], help="a folder that is empty inside")
    parser.add_argument("--show", action="append", default=[], help="but not this one within it")
    parser.add_argument("--report", help="file for the CPU use of other processes during the run")
    parser.add_argument("--limits-only", action="store_true", help="network and files stay")
    parser.add_argument("--largest-file", type=int, default=4, help="gigabytes")
    parser.add_argument("--processes", type=int, default=8192, help="threads count too")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    # opened before it is hidden; the command cannot reach it
    report = os.open(asked.report, os.O_WRONLY | os.O_CREAT) if asked.report else None
    try:
        if not asked.limits_only:
            enter(asked.hide, asked.show)
    except OSError as error:
        sys.exit(cannot(error))
    limit(asked.largest_file, asked.processes)
    if asked.limits_only:
        os.execvp(asked.command[0], asked.command)
    before = seconds_of_node()
    code = run_as_first_process(asked.command)
    if report is not None:
        os.write(report, json.dumps(computed_since(before)).encode())
    sys.exit(code)


def cannot(error):
    return (
        f"sandbox: this node does not let ordinary users create namespaces ({error}), so the"
        " network cannot be switched off; `cluster rerun --network` keeps it"
    )


def call(name, *words):
    if getattr(LIBC, name)(*words) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def enter(hide, show):
    user, group = os.getuid(), os.getgid()
    call("unshare", NEW_USER | NEW_MOUNTS | NEW_IPC | NEW_PROCESSES | NEW_NETWORK)
    # The account keeps its id, and has no root rights once the command runs.
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{user} {user} 1")
    write("/proc/self/gid_map", f"{group} {group} 1")
    loopback_up()
    mount("none", "/", None, RECURSIVE | PRIVATE)
    arrange(hide, show)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def loopback_up():
    """Switch on the loopback interface, through which the ranks of one node communicate."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name_and_flags = struct.pack("16sh14x", b"lo", 1 | 64)  # up, running
        fcntl.ioctl(any_socket, 0x8914, name_and_flags)  # SIOCSIFFLAGS


def mount(source, target, kind, flags, data=None):
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    call("mount", *words, ctypes.c_ulong(flags), None if data is None else data.encode())


def arrange(hide, show):
    """Hide and show folders, outermost first.

    A shown folder may be inside a hidden one, and may contain hidden folders itself.
    """
    show = [os.path.realpath(folder) for folder in show]
    hide = [os.path.realpath(folder) for folder in (*OWN, *hide)]
    kept = {folder: os.open(folder, os.O_PATH) for folder in show}  # opened before they are covered
    for folder in sorted({*hide, *show}, key=lambda folder: (folder.count("/"), folder)):
        if folder in kept:
            if any(folder == other or folder.startswith(other + "/") for other in hide):
                os.makedirs(folder, exist_ok=True)
                mount(f"/proc/self/fd/{kept[folder]}", folder, None, BIND | RECURSIVE)
            continue
        mode = "1777" if folder in OWN else "755"
        try:
            mount("tmpfs", folder, "tmpfs", NOSUID | NODEV, "mode=" + mode)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EACCES, errno.ENOTDIR):
                raise  # the account cannot reach it anyway
    for descriptor in kept.values():
        os.close(descriptor)


def limit(largest_file, processes):
    """Set limits for each process.

    Only the limit on the number of processes applies to the account as a whole.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, largest_file * GIGABYTE),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_DATA, memory * 3 // 4),
    ):
        allowed = resource.getrlimit(what)[1]
        most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(what, (most, most))


def run_as_first_process(command):
    """Run the command and return its exit code. When the first process ends, all others end too."""
    first = os.fork()  # processes forked after `unshare` are inside
    if first == 0:
        LIBC.prctl(DIE_WITH_PARENT, signal.SIGKILL)
        try:
            mount("proc", "/proc", "proc", 0)
        except OSError as error:
            print(cannot(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(wait_for(start(command)))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda number, frame: os.kill(first, signal.SIGKILL))
    return wait_for(first)


def seconds_of_node():
    """Return the processors' busy seconds and total seconds since the machine started."""
    with open("/proc/stat") as file:
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in file.readline().split()[1:9]]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, sum(ticks)


def computed_since(before):
    """Return how many processors were busy with other processes, and how many there are."""
    busy, total = seconds_of_node()
    busy, total = busy - before[0], total - before[1]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = os.sysconf("SC_NPROCESSORS_ONLN")
    others = max(busy - used.ru_utime - used.ru_stime, 0.0) / max(total, 0.01) * cores
    return {"others": round(others, 3), "cores": cores}


def start(command):
    program = os.fork()
    if program == 0:
        LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        os.closerange(3, 1024)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"sandbox: {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)
    return program


def wait_for(program):
    """Reap orphans until the program ends, then return its exit code as a shell would."""
    while True:
        process, status = os.wait()
        if process == program:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


if __name__ == "__main__":
    main()
