"""Collect from a drop folder on the cluster, to which students add with `lessons submit`.

Each attempt is a folder. Its owner is the student, whatever the folder is called, because no
account can give files away. Its time is the latest change time (ctime) of anything in it, because
no account can set that. Files are copied first, so a change made meanwhile also changes the time.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from autograder.collect.download import READ, Item
from autograder.errors import SettingsError
from autograder.safe_text import printable
from autograder.settings.roster import Claim
from autograder.submissions.class_folder import listed
from autograder.submissions.walk import Walk, open_regular, why

MODE = 0o3773  # add, but not list; remove only your own; new folders belong to the teachers' group
MOST = 500_000_000  # bytes of an attempt


def check_drop(drop: Path) -> None:
    """Raise SettingsError if students could see or remove each other's submissions."""
    try:
        mode = os.lstat(drop).st_mode
    except OSError as error:
        raise SettingsError(f"{drop} is no drop folder: {why(error)}") from None
    if not stat.S_ISDIR(mode):
        raise SettingsError(f"{drop} is no drop folder: name a folder, not a file or a link")
    if mode & 0o7777 & ~MODE or ~mode & 0o3000:
        raise SettingsError(
            f"{drop} has the mode {mode & 0o7777:o}: students could see or remove submissions of "
            f"others, or teachers could not read them. Its owner has to run: chmod 3773 {drop}"
        )


def items(drop: Path, stack: ExitStack, nobodys: list[str]) -> Iterator[Item]:
    """Yield copies of all attempts by time. A file that is not in a folder may be another's."""
    check_drop(drop)
    home = Path(stack.enter_context(TemporaryDirectory(prefix="autograder-drop-")))
    attempts = []
    for number, entry in enumerate(listed(drop)):
        if entry.is_dir(follow_symlinks=False):
            attempts.append(copied(Path(entry.path), home / str(number)))
        else:
            nobodys.append(printable(entry.name, 80))
    yield from sorted(attempts, key=lambda item: item.label)  # names are random


def copied(place: Path, target: Path) -> Item:
    """Copy the files that belong to the folder's owner, and return them as an attempt."""
    about, walk, room = place.lstat(), Walk(), MOST
    target.mkdir()
    changed = [about.st_ctime]
    files = walk.files(place, PurePath())
    if about.st_mode & 0o022:
        walk.leave_out(PurePath(place.name), "a folder that other accounts can write to")
        files = iter(())
    for file in files:
        try:
            with open_regular(file.path) as source:
                if os.fstat(source.fileno()).st_uid != about.st_uid:
                    walk.leave_out(file.name, "it belongs to another account")
                    continue
                content = source.read(room + 1) if file.kind in READ else b""
                changed.append(os.fstat(source.fileno()).st_ctime)
        except OSError as error:
            walk.leave_out(file.name, f"cannot be opened: {why(error)}")
            continue
        room -= len(content)
        if room < 0:
            walk.leave_out(file.name, f"more than {MOST:,} bytes; the rest was left out")
            break
        path = target / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        folders = file.path.relative_to(place).parents
        changed += [os.lstat(place / folder).st_ctime for folder in folders]
    time = datetime.fromtimestamp(max(changed), UTC).isoformat(timespec="milliseconds")
    login = login_of(about.st_uid)
    claim = Claim(login, (("login", login),), is_account=True)
    return Item(target, (claim,), submitted=time, label=time, doubts=tuple(walk.doubts))


def login_of(uid: int) -> str:
    import pwd  # Windows has no such module

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"
