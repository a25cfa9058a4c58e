"""The steps that `load` tries in order: search, unpack, download, or use a stand-in."""

import os
import textwrap

import numpy as np

from lessons.toolkit.data import arrays, launch, places, standin
from lessons.toolkit.data.catalogue import Entry
from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.progress import say


def counts(entry: Entry, train: int | None, test: int | None) -> dict[str, int]:
    """Return the number of samples per split. Raise DataError if a split cannot provide them."""
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
    """Return the arrays, and whether they hold real data instead of a synthetic stand-in."""
    strict = stand_in is False or os.environ.get("COURSE_DATA_STRICT", "0") not in ("", "0")
    forced = stand_in is True or os.environ.get("COURSE_STAND_IN", "0") not in ("", "0")
    if forced and strict:
        raise DataError(
            f"A synthetic stand-in for {entry.title} is both requested and forbidden; unset "
            "COURSE_STAND_IN or COURSE_DATA_STRICT."
        )
    reason = "It was requested." if forced else _make_available(entry)
    if reason is None:
        return arrays.read(entry, places.find(entry, places.places()), counts), True
    if strict:
        raise DataError(
            f"{entry.title} is not on this machine (looked in {' and '.join(_looked())}) and a "
            f"stand-in is forbidden. {reason}"
        )
    if launch.local_rank() == 0:
        say(_announcement(entry, reason, forced))
    return standin.stand_in(entry, counts), False


def _make_available(entry: Entry) -> str | None:
    """Make all files readable, or return a sentence that says why that is impossible."""
    where = places.places()
    found = places.find(entry, where)
    if len(found) < len(entry.files):
        if launch.on_compute_node():
            return (
                "Batch jobs do not download data: run `lessons data fetch "
                f"{entry.name}` on a login node first."
            )
        from lessons.toolkit.data import download, fetch

        try:
            fetch.fetch(entry, places.cache_folder(), where, download.IN_A_HURRY)
        except DataError as error:
            return str(error)
    elif any(places.is_archive(path) for path in found.values()):
        from lessons.toolkit.data import fetch

        try:
            fetch.unpack(entry, places.cache_folder(), where)
        except OSError as error:
            folder = error.filename or places.cache_folder()
            say(f"{folder} is not writable, so each start reads from the archive.")
    return None


def _looked() -> list[str]:
    return [
        f"{place.folder} ({place.why}{'' if os.path.isdir(place.folder) else ': no such folder'})"
        for place in places.places()
    ]


def _announcement(entry: Entry, reason: str, forced: bool) -> str:
    line = "=" * 78
    parts = [
        f"SYNTHETIC DATA: this run does not use {entry.title} but a stand-in of its shape.",
        *(f"  looked in {folder}" for folder in _looked() if not forced),
        *textwrap.wrap(reason, 76, initial_indent="  ", subsequent_indent="  "),
        f"  Accuracies of this run say nothing about {entry.title}; its record says synthetic.",
    ]
    return "\n".join([line, *parts, line])
