"""Check the data sets, free space on the disks, and the scratch folder."""

import os
import re
import shutil
import time
from collections import Counter
from pathlib import Path

from cluster.doctor.ask_program import answer, beside_python
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position
from cluster.sites import site_files

GB = 1e9
FETCH = "on a machine with internet: lessons data fetch (docs/install.md)"
PIECE = 64 * 10**6  # bytes written to measure the scratch folder


def data(_: Position) -> Diagnosis:
    """Report what `lessons data status` finds: each file's size and checksum."""
    named = os.environ.get("COURSE_DATA")
    if named:
        try:
            os.listdir(named)
        except OSError as error:
            return broken(
                f"COURSE_DATA={named}: {error.strerror}",
                "name the folder of the data sets",
                path=named,
            )
    program = beside_python("lessons")
    said = answer(program, "data", "status") if program else None
    if said is None:
        return look("there is no `lessons` command", "make .venv")
    rows = [re.split(r"\s{2,}", line.strip()) for line in said[1].splitlines()]
    states = Counter(row[3] for row in rows[1:] if len(row) > 3)
    words = ", ".join(f"{number} files {state}" for state, number in states.items())
    place = named or "the cache"
    if not states:
        return broken(f"lessons data status: {said[1].splitlines()[-1:]}", FETCH)
    if states["missing"] or states["broken"]:
        return look(f"{words} in {place}: programs use a synthetic stand-in", FETCH, **states)
    return ok(f"{words} in {place}", **states)


def disk(_: Position) -> Diagnosis:
    """Check the free space and write a test file, because only writing reveals a full quota."""
    facts = {}
    for folder in dict.fromkeys((Path.home(), Path.cwd())):
        trouble = cannot_write(folder, 10**6)
        if trouble:
            return broken(
                f"{folder}: 1 MB could not be written ({trouble})",
                "delete or move what is not needed: quota -s; du -sh * | sort -h",
            )
        usage, inodes = shutil.disk_usage(folder), os.statvfs(folder)
        facts[str(folder)] = usage.free
        if usage.free < 2 * GB or (inodes.f_files and inodes.f_favail < 0.01 * inodes.f_files):
            return look(
                f"{folder}: {usage.free / GB:.1f} GB and {inodes.f_favail:,} files are left",
                "make room: du -sh * | sort -h",
                free=facts,
            )
    quotas = answer("quota", "-w")
    over = (
        [line.strip() for line in quotas[1].splitlines() if re.search(r"\d\*", line)]
        if quotas
        else []
    )
    if over:
        return broken(f"a quota is exceeded: {over[0]}", "delete what is not needed: quota -s")
    return ok(
        "; ".join(f"{folder}: {free / GB:.0f} GB free" for folder, free in facts.items()),
        free=facts,
    )


def cannot_write(folder: Path, size: int) -> str | None:
    """Return why a file cannot be written; None if it can."""
    file = folder / f".doctor-write-{os.uname().nodename}-{os.getpid()}"
    try:
        with open(file, "wb") as opened:
            opened.write(b"\1" * size)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        return error.strerror or str(error)
    finally:
        file.unlink(missing_ok=True)
    return None


def scratch(_: Position) -> Diagnosis:
    site = site_files.chosen_or_none()
    of_site = site.settings.get("SITE_SCRATCH") if site else ""
    folder = Path(of_site or os.environ.get("TMPDIR") or "/tmp")
    named_in = f"the file of {site.name}" if site else "the site's file"
    if not folder.is_dir():
        return broken(
            f"there is no folder {folder}",
            f"mkdir -p {folder}, or correct SITE_SCRATCH in {named_in}",
        )
    start = time.perf_counter()
    trouble = cannot_write(folder, PIECE)
    rate = PIECE / (time.perf_counter() - start) / 1e6
    if trouble:
        return broken(
            f"{folder}: {PIECE / 1e6:.0f} MB could not be written ({trouble})",
            f"choose another folder: SITE_SCRATCH in {named_in}; quota -s",
        )
    free = shutil.disk_usage(folder).free
    facts = {"folder": str(folder), "mb_s": rate, "free": free}
    words = f"{folder}: written at {rate:.0f} MB/s, {free / GB:.0f} GB free"
    if rate < 50:
        return look(
            words, "slow: set SITE_SCRATCH to a folder on the site's fast file system", **facts
        )
    if free < 5 * GB:
        return look(
            words, "free some space there, or choose another folder (SITE_SCRATCH)", **facts
        )
    return ok(words, **facts)
