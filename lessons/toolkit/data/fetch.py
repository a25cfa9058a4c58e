"""Complete a data set in a folder, from an archive on this machine or from a mirror."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from lessons.toolkit.data import contents, places
from lessons.toolkit.data.catalogue import Entry, File, Pack
from lessons.toolkit.data.download import Patience, UnavailableError, UnreachableError, download
from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.lock import one_at_a_time
from lessons.toolkit.data.places import DataFolder
from lessons.toolkit.data.progress import progress, say


def fetch(
    entry: Entry, folder: Path, where: list[DataFolder], patience: Patience, mend: bool = False
) -> None:
    """Ensure that every file is in one of the folders in `where`; put missing ones in `folder`.

    Only one process at a time does this for a folder. Raises DataError if a file cannot be
    obtained. With `mend`, broken files in `folder` count as missing and are deleted.
    """
    try:
        with one_at_a_time(folder, entry.name):
            if mend:
                _delete_broken(entry, folder, where)
            found = places.find(entry, where)
            missing = [file for file in entry.files if file not in found]
            if missing:
                _get(entry, missing, places.home(entry, folder), patience)
    except OSError as error:
        raise cannot_write(folder, error) from error


def unpack(entry: Entry, folder: Path, where: list[DataFolder]) -> None:
    """Unpack files that exist only in an archive into `folder`, where later runs find them."""
    with one_at_a_time(folder, entry.name):
        found = places.find(entry, where)
        packed = {file: path for file, path in found.items() if places.is_archive(path)}
        if packed:
            archives = ", ".join(str(path) for path in dict.fromkeys(packed.values()))
            say(f"Unpacking {archives} into {folder}, once.")
            _keep(entry, packed, places.home(entry, folder))


def mirrors(entry: Entry) -> list[str]:
    """Return the mirrors: those in COURSE_MIRRORS, or else the catalogue's.

    COURSE_MIRRORS contains addresses, or names a file with one per line. An address without
    `{file}` is a folder laid out like COURSE_DATA. The word `none` means offline.
    """
    given = os.environ.get("COURSE_MIRRORS")
    if given is None:
        return list(entry.mirrors)
    if os.path.isfile(given):
        lines = Path(given).read_text().splitlines()
        given = " ".join(line.split("#")[0] for line in lines)
    addresses = [address for address in given.replace(",", " ").split() if address != "none"]
    for address in addresses:
        if not address.startswith(("http://", "https://")):
            raise DataError(
                f"COURSE_MIRRORS holds {address!r}, which is neither an address (https://…) nor a "
                "file of addresses; correct it, or set it to `none` to work offline."
            )
    return [
        address if "{file}" in address else f"{address.rstrip('/')}/{entry.folders[0]}/{{file}}"
        for address in addresses
    ]


def cannot_write(folder: Path, error: OSError) -> DataError:
    return DataError(
        f"Data cannot be written to {error.filename or folder}: {error.strerror}. Make room there, "
        "or let COURSE_DATA_CACHE name another folder."
    )


def _get(entry: Entry, missing: list[File], home: Path, patience: Patience) -> None:
    """Download the packs that contain the missing files.

    A second pack is used only if the first fails.
    """
    home.mkdir(parents=True, exist_ok=True)
    addresses = mirrors(entry)
    reasons = [] if addresses else ["COURSE_MIRRORS names no mirror"]
    left = set(missing)
    for pack in entry.packs:
        if not left & set(entry.inside(pack)):
            continue
        path = _ask_mirrors(pack, addresses, home, patience, reasons)
        if path is None:
            continue
        if pack.is_archive:
            _keep(entry, dict.fromkeys(entry.files, path), home)
            path.unlink()
        left -= set(entry.inside(pack))
    if left:
        raise DataError(
            f"{entry.title} cannot be downloaded: {'; '.join(reasons)}. Run `lessons data fetch "
            f"{entry.name}` where there is internet (on a cluster: a login node), let "
            "COURSE_MIRRORS name another mirror, or let COURSE_DATA name a folder with a copy."
        )


def _ask_mirrors(
    pack: Pack, addresses: list[str], home: Path, patience: Patience, reasons: list[str]
) -> Path | None:
    """Return the downloaded pack, or None.

    Addresses that do not answer are removed from the list.
    """
    part = home / f"{pack.name}.part"
    for address in list(addresses):
        url = address.format(file=pack.name)
        say(f"Getting {url} ({pack.bytes / 1e6:.1f} MB)")
        try:
            with progress(pack.name, pack.bytes) as update:
                download(pack, url, part, patience, update)
        except UnavailableError as error:
            say(f"  {error}")
            if isinstance(error, UnreachableError):
                addresses.remove(address)
                url = urlsplit(url).netloc
            reasons.append(f"{url} {error}")
        else:
            os.replace(part, home / pack.name)
            return home / pack.name
    return None


def _keep(entry: Entry, packed: dict[File, Path], home: Path) -> None:
    """Write verified files under their catalogued names, each complete or not at all."""
    for file, data in contents.read(entry, packed):
        path = home / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_bytes(data)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def _delete_broken(entry: Entry, folder: Path, where: list[DataFolder]) -> None:
    for file, path in places.find(entry, where).items():
        if path.is_relative_to(folder) and path.exists():
            try:
                for _ in contents.read(entry, {file: path}):
                    pass
            except DataError as error:
                say(f"{error} Deleted.")
                path.unlink()
