"""Zip files that are the same bytes for the same content, written whole or not at all."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from lessons.edition.build import replace_file

BEGINNING = (1980, 1, 1, 0, 0, 0)  # the oldest time a zip can hold: the real one would differ


def write_zip(target: Path, files: Mapping[str, bytes], executable: frozenset[str]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, BEGINNING)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the permissions below are read
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, files[name])
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, packed.getvalue())
