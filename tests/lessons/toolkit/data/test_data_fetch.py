"""Tests of fetching from a good mirror, and from bad ones."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from local_mirror import (
    Mirror,
    busy,
    changed,
    cut_first,
    endless,
    forbidden,
    good,
    stalls,
    trickles,
    without_range,
)

from lessons.toolkit import data
from lessons.toolkit.data import catalogue, fetch, places
from lessons.toolkit.data.download import Patience

QUICK = Patience(silence=0.5, tries=3, pause=0.01, window=0.2, least=1000)
LOAD = "import sys; from lessons.toolkit import data; print(data.load(sys.argv[1]).facts)"
IMAGES = "mnist/train-images-idx3-ubyte.gz"


def get(name: str = "mnist", mend: bool = False) -> None:
    entry = catalogue.entry(name)
    fetch.fetch(entry, places.cache_folder(), places.places(), QUICK, mend)


def names_in(folder) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file() and path.name[0] != "."}


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_load_fetches_what_is_missing_once(mirror, world, name):
    for _ in range(2):
        loaded = data.load(name, as_float=False)
        assert (loaded.x_train == world.arrays[name]["x_train"]).all()
        assert loaded.facts["synthetic"] is False
    assert Counter(mirror.requests) == Counter(
        (path, None) for path in mirror.files if path.startswith(name)
    )


def test_only_missing_files_are_fetched(mirror, world, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "train-images-idx3-ubyte.gz").write_bytes(mirror.files[IMAGES])
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "here"))
    data.load("mnist")
    assert IMAGES not in {path for path, _ in mirror.requests}


def test_an_archive_is_kept_unpacked_only(mirror, world, tmp_path):
    get("cifar10")
    assert names_in(tmp_path / "cache") == {name.split("/")[1] for name in world.cifar}


def test_a_cut_download_goes_on_where_it_ended(mirror, world):
    mirror.manner = cut_first(good)
    get()
    half = len(mirror.files[IMAGES]) // 2
    assert [asked for path, asked in mirror.requests if path == IMAGES] == [None, f"bytes={half}-"]
    data.load("mnist")


def test_a_cut_download_begins_again_where_ranges_are_unknown(mirror, world):
    mirror.manner = cut_first(without_range)
    get()
    data.load("mnist")
    assert len(mirror.requests) == 8


def test_a_killed_fetch_loses_nothing(mirror, world, tmp_path):
    mirror.manner = stalls
    process = subprocess.Popen([sys.executable, "-c", LOAD, "mnist"], stderr=subprocess.PIPE)
    half = len(mirror.files[IMAGES]) // 2
    part = tmp_path / "cache" / f"{IMAGES}.part"
    end = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size == half) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    mirror.manner = good
    get()
    assert mirror.requests[1] == (IMAGES, f"bytes={half}-")
    data.load("mnist")


def test_a_part_of_another_file_is_thrown_away(mirror, world, tmp_path):
    part = tmp_path / "cache" / f"{IMAGES}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"something else")
    get()
    assert [asked for path, asked in mirror.requests if path == IMAGES] == ["bytes=14-", None]
    data.load("mnist")


def test_a_part_that_is_too_long_is_thrown_away(mirror, world, tmp_path):
    part = tmp_path / "cache" / f"{IMAGES}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(len(mirror.files[IMAGES]) + 1))
    get()
    data.load("mnist")


@pytest.mark.parametrize(
    ("manner", "sentence", "requests"),
    [
        (changed, "sent a file with another checksum", 1),
        (endless, "sends more than the", 1),
        (stalls, "broke off (timed out)", 3),
        (trickles, "broke off (", 3),
        (busy, "answered 503", 3),
    ],
)
def test_a_bad_mirror_is_left_with_a_sentence(mirror, manner, sentence, requests, tmp_path):
    mirror.manner = manner
    mirror.files = {path: content for path, content in mirror.files.items() if path == IMAGES}
    with pytest.raises(data.DataError) as error:
        get()
    assert f"MNIST cannot be downloaded: {mirror.address}/{IMAGES} {sentence}" in str(error.value)
    assert [path for path, _ in mirror.requests].count(IMAGES) == requests
    assert not any(name.endswith(".gz") for name in names_in(tmp_path / "cache"))


def test_the_next_mirror_is_asked(mirror, world, monkeypatch):
    bad = Mirror(mirror.files, changed)
    empty = Mirror({})
    nobody = "http://127.0.0.1:9"  # nothing answers at the discard port
    addresses = [nobody, bad.address, empty.address, mirror.address]
    monkeypatch.setenv("COURSE_MIRRORS", " ".join(addresses))
    get()
    data.load("mnist")
    assert len(bad.requests) == len(empty.requests) == len(mirror.requests) == 4
    bad.close()
    empty.close()


def test_an_address_where_nothing_answers_is_tried_once(world, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_MIRRORS", "http://127.0.0.1:9")
    with pytest.raises(data.DataError, match=r"127\.0\.0\.1:9 cannot be reached \(.*refused\)"):
        get()
    assert capsys.readouterr().err.count("Getting") == 1


def test_mirrors_from_a_file_with_placeholders(mirror, world, tmp_path, monkeypatch):
    plain = {path.split("/")[1]: content for path, content in mirror.files.items()}
    mirror.files = {f"all/{name}?key=1": content for name, content in plain.items()}
    listed = tmp_path / "mirrors.txt"
    listed.write_text(f"# ours\n\n{mirror.address}/all/{{file}}?key=1  # no login\n")
    monkeypatch.setenv("COURSE_MIRRORS", str(listed))
    get()
    data.load("mnist")


def test_a_mirror_that_is_no_address(world, monkeypatch):
    monkeypatch.setenv("COURSE_MIRRORS", "ftp://example.org")
    with pytest.raises(data.DataError, match=r"COURSE_MIRRORS holds 'ftp://example\.org'"):
        get()


def test_a_broken_file_in_the_cache_is_replaced(mirror, world, tmp_path):
    get()
    (tmp_path / "cache" / IMAGES).write_bytes(b"broken")
    with pytest.raises(data.DataError, match="Run `lessons data fetch mnist`, which replaces it"):
        data.load("mnist")
    get(mend=True)
    data.load("mnist")
    assert Counter(path for path, _ in mirror.requests)[IMAGES] == 2


def test_a_compute_node_does_not_try(mirror, world, monkeypatch, capsys):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert data.load("mnist").facts["synthetic"] is True
    assert mirror.requests == []
    shown = " ".join(capsys.readouterr().err.split())
    assert (
        "Batch jobs do not download data: run `lessons data fetch mnist` on a login node" in shown
    )


def test_a_folder_that_cannot_be_written(mirror, world, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(data.DataError, match=r"cannot be written.*COURSE_DATA_CACHE name another"):
        get()


def when_seven_wait(folder, manner):
    """Hold the first answer back until the other seven programs wait for the first."""

    def held(mirror, request, path, content):
        end = time.monotonic() + 60
        while time.monotonic() < end and len(mirror.requests) == 1:
            errors = [file.read_text() for file in folder.glob("rank*.err")]
            if sum("waiting for it" in text for text in errors) == 7:
                break
            time.sleep(0.05)
        manner(mirror, request, path, content)

    return held


def start_eight(folder, name: str) -> tuple[set[int], list[str], list[str]]:
    """Start eight programs that load at once, as ranks do; return codes, outputs and errors."""
    processes = []
    for rank in range(8):
        environ = os.environ | {
            "OMPI_COMM_WORLD_SIZE": "8",
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        }
        with (folder / f"rank{rank}.err").open("w") as errors:
            command = [sys.executable, "-c", LOAD, name]
            start = subprocess.Popen(
                command, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        processes.append(start)
    outputs = [process.communicate(timeout=90)[0] for process in processes]
    errors_of_all = [(folder / f"rank{rank}.err").read_text() for rank in range(8)]
    return {process.returncode for process in processes}, outputs, errors_of_all


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_eight_processes_download_once(mirror, world, tmp_path, name):
    mirror.manner = when_seven_wait(tmp_path, good)
    codes, outputs, errors = start_eight(tmp_path, name)
    assert codes == {0}
    assert len(set(outputs)) == 1
    assert "'synthetic': False" in outputs[0]
    wanted = [path for path in mirror.files if path.startswith(name)]
    assert sorted(path for path, _ in mirror.requests) == sorted(wanted)
    assert sum("Getting" in text for text in errors) == 1
    assert sum("waiting for it" in text for text in errors) == 7


@pytest.mark.slow
def test_eight_processes_fail_once_and_say_so_once(mirror, world, tmp_path):
    mirror.manner = when_seven_wait(tmp_path, forbidden)
    codes, outputs, errors = start_eight(tmp_path, "mnist")
    assert codes == {0}
    assert len(set(outputs)) == 1
    assert "'synthetic': True" in outputs[0]
    assert len(mirror.requests) == 4
    assert sum("SYNTHETIC DATA" in text for text in errors) == 1
