"""Tests of the synthetic stand-in: learnable, the same everywhere, announced and recorded."""

import numpy as np
import pytest

from lessons.toolkit import data
from lessons.toolkit.data import catalogue
from tests.breadth import breadth


@pytest.fixture
def real_shapes(world, monkeypatch):
    """Use the course's own catalogue, without any of its files."""
    monkeypatch.delenv("COURSE_CATALOGUE")


@pytest.mark.parametrize("name", breadth(["mnist", "cifar10"]))
def test_it_has_the_real_sets_shapes_and_types(real_shapes, name):
    stand_in = data.load(name, train_samples=1500, as_float=False, stand_in=True)
    image = catalogue.entry(name).image
    assert stand_in.x_train.shape == (1500, *image)
    assert stand_in.x_test.shape == (10000, *image)
    assert stand_in.x_train.dtype == stand_in.x_test.dtype == np.uint8
    assert stand_in.y_train.dtype == stand_in.y_test.dtype == np.int64
    assert set(stand_in.y_test) == set(range(10))
    as_float = data.load(name, train_samples=10, stand_in=True).x_train
    np.testing.assert_array_equal(as_float, stand_in.x_train[:10] / np.float32(255))


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("mnist", "3fa51f1b075614def70ec0f62a88fef984579c969d77cd7401086d2e4fdcfacd"),
        ("cifar10", "1a789d6ded1be009ca66bf1442bb7cfedbb687a8bc41a0a0f4a3dfe7ee1e5501"),
    ],
)
def test_it_is_the_same_on_every_machine(real_shapes, name, digest):
    facts = data.load(name, train_samples=2000, test_samples=100, stand_in=True).facts
    assert facts["sha256"] == digest


def test_facts_and_announcement(world, capsys):
    loaded = data.load("mnist", train_samples=100)
    assert loaded.facts["synthetic"] is True
    assert loaded.facts["sha256"] != catalogue.entry("mnist").sha256
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("SYNTHETIC DATA") == 1
    assert "Run `lessons data fetch mnist`" in " ".join(shown.err.split())


def test_only_one_rank_of_a_node_announces(world, capsys, monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert data.load("mnist").facts["synthetic"] is True
    assert "SYNTHETIC" not in capsys.readouterr().err


def test_it_is_never_used_when_the_data_are_there(world, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DATA", str(world.lay_out(tmp_path / "here")))
    assert data.load("mnist").facts["synthetic"] is False
    assert capsys.readouterr().err == ""


def test_it_can_be_asked_for(world, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(world.lay_out(tmp_path / "here")))
    monkeypatch.setenv("COURSE_STAND_IN", "1")
    assert data.load("mnist").facts["synthetic"] is True


def test_it_can_be_forbidden(world, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nothing"))
    with pytest.raises(data.DataError, match="stand-in for MNIST is forbidden") as error:
        data.load("mnist", stand_in=False)
    assert f"{tmp_path}/nothing (no such folder)" in str(error.value)
    monkeypatch.setenv("COURSE_DATA_STRICT", "1")
    with pytest.raises(data.DataError, match=r"`lessons data fetch mnist` where there is internet"):
        data.load("mnist")
    with pytest.raises(data.DataError, match=r"forbidden.*It was requested"):
        data.load("mnist", stand_in=True)
