"""What `load` does in order: look, unpack, download, or stand in."""

import os

import numpy as np

from lessons.toolkit.data import arrays, catalogue, launch, places, standin
from lessons.toolkit.data.catalogue import Entry
from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.progress import say

__all__ = ["arrays_of", "catalogue", "counts", "standin"]


def counts(entry: Entry, train: int | None, test: int | None) -> dict[str, int]:
    """How many samples of each split; DataError if there are not as many."""
    wanted = {"train": train, "test": test}
    result = {}
    for split, count in wanted.items():
        most = getattr(entry, f"{split}_samples")
        if count is None:
            count = most
        if not 1 <= count <= most:
            raise DataError(
                f"{entry.title} has {most:,} {split} samples, so {split}_samples={count} cannot "
                f"be had; ask for 1 to {most}."
            )
        result[split] = int(count)
    return result


def arrays_of(
    entry: Entry, counts: dict[str, int], stand_in: bool | None
) -> tuple[dict[str, np.ndarray], bool]:
    """The arrays, and whether they are the real ones."""
    strict = stand_in is False or os.environ.get("COURSE_DATA_STRICT", "0") not in ("", "0")
    forced = stand_in is True or os.environ.get("COURSE_STAND_IN", "0") not in ("", "0")
    if forced and strict:
        raise DataError(
            f"A synthetic stand-in for {entry.title} is both asked for and forbidden; unset "
            "COURSE_STAND_IN or COURSE_DATA_STRICT."
        )
    reason = "not tried: a stand-in was asked for" if forced else _make_available(entry)
    if reason is None:
        return arrays.read(entry, places.find(entry, places.places()), counts), True
    if strict:
        raise DataError(
            f"{entry.title} is not on this machine and a stand-in is forbidden. Looked in "
            f"{', '.join(_looked())}; download {reason.rstrip('.')}. Run `lessons data fetch "
            f"{entry.name}` where there is internet (on a cluster: a login node)."
        )
    if launch.local_rank() == 0:
        say(_announcement(entry, reason, forced))
    return standin.stand_in(entry, counts), False


def _make_available(entry: Entry) -> str | None:
    """Make sure that all files can be read; else the reason why they cannot be had."""
    where = places.places()
    found = places.find(entry, where)
    if len(found) < len(entry.files):
        if launch.on_compute_node():
            return "not tried: this is a compute node of a batch job"
        from lessons.toolkit.data import download, fetch

        try:
            fetch.fetch(entry, places.cache_folder(), where, download.IN_A_HURRY)
        except DataError as error:
            return f"failed: {error}"
    elif any(places.is_archive(path) for path in found.values()):
        from lessons.toolkit.data import fetch

        try:
            fetch.unpack(entry, places.cache_folder(), where)
        except OSError as error:
            folder = error.filename or places.cache_folder()
            say(f"Reading from the archive each time: {folder} cannot be written to.")
    return None


def _looked() -> list[str]:
    return [
        f"{place.folder} ({place.why}{'' if place.folder.is_dir() else ': no such folder'})"
        for place in places.places()
    ]


def _announcement(entry: Entry, reason: str, forced: bool) -> str:
    rows = [("looked in", folder) for folder in _looked() if not forced]
    rows.append(("download", reason))
    rows.append(
        ("to do", f"`lessons data fetch {entry.name}` where there is internet (login node)")
    )
    line = "=" * 78
    body = "\n".join(f"  {name:<10} {text}" for name, text in rows)
    return (
        f"{line}\nSYNTHETIC DATA: this run does not use {entry.title} but a stand-in of its shape."
        f"\n{body}\n  Accuracies of this run say nothing about {entry.title}; its record is marked "
        f"synthetic.\n{line}"
    )
