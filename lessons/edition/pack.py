"""Write zip files that have the same bytes for the same content and dates.

A zip file is written completely or not at all.
"""

import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from lessons.edition.build import replace_file

OLDEST, LATEST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)  # limits of a zip


def write_zip(
    target: Path,
    files: Mapping[str, bytes],
    executable: frozenset[str],
    dates: Mapping[str, float],
) -> None:
    """Write the zip file.

    `dates` has the time of each file's last change, in seconds since 1970.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date_in_zip(dates[name]))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the permissions below are used
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, files[name])
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, packed.getvalue())


def date_in_zip(seconds: float) -> tuple[int, int, int, int, int, int]:
    """Convert a time to local time, because that is how programs read the dates in a zip."""
    there = time.localtime(seconds)
    return min(max((*there[:5], min(there.tm_sec, 59)), OLDEST), LATEST)
