"""Tests of a rank's GPU, with replacements for the driver's program and the frameworks."""

import os
from types import SimpleNamespace as Fake

import pytest

from autograder.measuring.metrics import METRICS
from autograder.records import Rank, Run
from lessons.toolkit.record import devices, run_record

TWO = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-1111-2222-3333-444444444444)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbbbbbb-1111-2222-3333-444444444444)
"""
PARTS = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-1111-2222-3333-444444444444)
  MIG 3g.20gb     Device  0: (UUID: MIG-cccccccc-1111-2222-3333-444444444444)
  MIG 3g.20gb     Device  1: (UUID: MIG-dddddddd-1111-2222-3333-444444444444)
"""


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Put an nvidia-smi on the PATH, with its output and a count of its calls."""

    def says(text, code=0):
        file, asked = tmp_path / "nvidia-smi", tmp_path / "asked"
        file.write_text(f"#!/bin/sh\necho x >> {asked}\ncat <<'END'\n{text}END\nexit {code}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return lambda: asked.read_text().count("x") if asked.exists() else 0

    devices.listed_uuids.cache_clear()
    yield says
    devices.listed_uuids.cache_clear()


@pytest.mark.parametrize(
    ("listed", "index", "visible", "identity"),
    [
        (TWO, 0, "", "aaaaaaaa"),
        (TWO, 0, "1", "bbbbbbbb"),
        (TWO, 1, "1,0", "aaaaaaaa"),
        (TWO, 0, "GPU-bbbbbbbb-1111-2222-3333-444444444444", "bbbbbbbb"),
        (TWO, 0, "MIG-eeeeeeee-1111-2222-3333-444444444444", "eeeeeeee"),
        (TWO, 0, "GPU-bb", "GPU-bb"),  # an abbreviation
        (TWO.splitlines(keepends=True)[0], 0, "3", "3"),  # the job sees one GPU, as its own 3
        (PARTS, 0, "", "cccccccc"),
        ("No devices were found\n", 0, "", "0"),
        ("", 1, "", "1"),
    ],
)
def test_a_gpu_is_told_by_its_uuid(listed, index, visible, identity, driver):
    driver(listed)
    assert devices.gpu_of(index, visible) == identity


def test_the_driver_is_asked_once_and_only_of_a_gpu(driver, monkeypatch):
    asked = driver(TWO)
    experimental = Fake(get_device_details=lambda gpu: {"device_name": "A100"})
    config = Fake(get_visible_devices=lambda kind: [], experimental=experimental)
    monkeypatch.setitem(devices.sys.modules, "tensorflow", Fake(config=config))
    assert devices.device("tensorflow")[1].startswith("CPU ")
    assert devices.device("numpy")[1].startswith("CPU ")
    assert asked() == 0
    config.get_visible_devices = lambda kind: [Fake(name="/physical_device:GPU:1")]
    assert [devices.device("tensorflow") for _ in range(3)] == [("A100", "A100 #bbbbbbbb")] * 3
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert devices.device("tensorflow") == ("A100", "A100 #aaaaaaaa")
    assert asked() == 1


def test_a_gpu_that_the_program_does_not_use_is_not_named_and_not_touched(monkeypatch):
    """CUDA is not started: each question but `is_initialized` would open a context on GPU 0."""
    cuda = Fake(is_available=lambda: True, is_initialized=lambda: False)
    monkeypatch.setitem(devices.sys.modules, "torch", Fake(cuda=cuda))
    assert devices.device("torch")[1].startswith("CPU ")
    run_record.synchronise()


def ranks(*told):
    made = tuple(Rank(n, host, local, device) for n, (host, local, device) in enumerate(told))
    return Run(files=(), format="record", outcome="completed", ranks=made)


@pytest.mark.parametrize(
    ("told", "places", "from_0"),
    [
        ([("a", 0, "CPU x"), ("a", 1, "CPU x")], 2, "yes"),
        ([("a", 0, "CPU x"), ("a", 0, "CPU x")], 1, "no"),
        ([("a", 1, "CPU x"), ("a", 2, "CPU x")], 2, "no"),
        ([("a", 0, "CPU x"), ("a", 1, "CPU x"), ("b", 2, "CPU x"), ("b", 3, "CPU x")], 4, "no"),
        ([("a", 1, "CPU x"), ("b", 0, "CPU x"), ("a", 0, "CPU x")], 3, "yes"),
        ([("a", 0, "A100 #aaaaaaaa"), ("a", 1, "A100 #aaaaaaaa")], 1, "yes"),  # both on one GPU
        ([("a", 0, "A100 #aaaaaaaa"), ("a", 1, "A100 #bbbbbbbb")], 2, "yes"),
        ([("a", 0, "A100 #aaaaaaaa"), ("b", 0, "A100 #bbbbbbbb")], 2, "yes"),
        ([("a", 0, "A100 #0"), ("a", 1, "A100 #0")], 2, "yes"),  # each sees its own one as 0
        ([("a", None, None), ("a", None, None)], 1, "no"),
    ],
)
def test_places_of_ranks(told, places, from_0):
    assert METRICS["devices_distinct"].function(ranks(*told)).value == places
    assert METRICS["local_ranks"].function(ranks(*told)) == from_0


def test_the_device_is_that_of_the_parameters_and_not_the_current_one(driver, monkeypatch):
    driver(TWO)
    cuda = Fake(
        is_initialized=lambda: True, current_device=lambda: 0, get_device_name=lambda: "A100"
    )
    monkeypatch.setitem(devices.sys.modules, "torch", Fake(cuda=cuda))
    second, cpu = Fake(type="cuda", index=1), Fake(type="cpu", index=None)
    assert devices.device("torch", second) == ("A100", "A100 #bbbbbbbb")
    assert devices.device("torch") == ("A100", "A100 #aaaaaaaa")
    name, same = devices.device("torch", cpu)
    assert name.startswith("CPU ")
    assert name == same
