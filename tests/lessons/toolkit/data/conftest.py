"""Fixtures: generated data sets, and an environment in which only these can be found."""

import os

import pytest
from generated_data import World, make_world
from local_mirror import Mirror

from cluster.launchers import LAUNCHERS
from lessons.toolkit.data.loading import JOB


@pytest.fixture(scope="session")
def generated(tmp_path_factory) -> World:
    return make_world(tmp_path_factory.mktemp("generated"))


@pytest.fixture
def world(generated, tmp_path, monkeypatch) -> World:
    """Catalogue the generated sets, without files and with an empty cache."""
    for name in list(os.environ):
        if name.startswith("COURSE_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    ranks = {
        name for way in LAUNCHERS for name in (way.mark, *way.rank, *way.local_rank, *way.size)
    }
    for name in (*ranks, *JOB):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COURSE_CATALOGUE", str(generated.catalogue))
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COURSE_MIRRORS", "none")
    return generated


@pytest.fixture
def mirror(world, monkeypatch):
    """Start a well-behaved mirror of the generated sets, the only one in use."""
    server = Mirror(world.packs())
    monkeypatch.setenv("COURSE_MIRRORS", server.address)
    yield server
    server.close()
