"""Submit into the class's drop folder (COURSE_DROP), and print a receipt."""

import hashlib
import os
import secrets
import shutil
from datetime import datetime
from errno import EDQUOT, ENOSPC
from pathlib import Path

import click

from autograder.collect.drop import check_drop


def hand_in(drop: Path, packed: Path) -> str:
    """Copy the zip into a new folder that the teachers' group can read. Return the receipt.

    The folder gets its name when it is complete, and is an attempt of its own.
    """
    check_drop(drop)
    if drop.stat().st_gid in {os.getegid(), *os.getgroups()}:
        raise click.ClickException(
            f"nothing was submitted to {drop}: your own group can read it. It should belong "
            f"to a group of teachers: tell your instructor. Your zip file is complete: {packed}"
        )
    content = packed.read_bytes()
    place = drop / f"{packed.stem}-{secrets.token_hex(6)}"
    hidden = drop / f".{place.name}"
    before = os.umask(0o027)
    try:
        hidden.mkdir(0o750)  # it inherits the group: a later chmod would take that away
        with (hidden / packed.name).open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # some file systems check a quota only now
        if hidden.stat().st_gid != drop.stat().st_gid:
            raise PermissionError(None, "new folders do not belong to the teachers' group")
        hidden.rename(place)
    except OSError as error:
        shutil.rmtree(hidden, ignore_errors=True)
        full = "it is full, or your quota is: free some space (`quota -s`) and submit again"
        reason = error.strerror or str(error)
        advice = full if error.errno in (ENOSPC, EDQUOT) else f"{reason}: ask your instructor"
        raise click.ClickException(
            f"nothing was submitted to {drop}: {advice}. Your zip file is complete: {packed}"
        ) from None
    finally:
        os.umask(before)
    submitted = place / packed.name
    time = datetime.fromtimestamp(max(path.stat().st_ctime for path in (place, submitted)))
    return (
        f"Submitted to {submitted}\n"
        f"  received {time.astimezone().isoformat(timespec='seconds')}, "
        f"SHA-256 {hashlib.sha256(content).hexdigest()}"
    )
