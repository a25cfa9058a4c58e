"""Tests that checkpoint files are counted on the disk, whatever a program claims."""

import threading

import numpy as np
import pytest

from lessons.toolkit.record import files


class Ranks:
    """Threads that wait for each other, as ranks do in a collective."""

    def __init__(self, size):
        self.barrier = threading.Barrier(size, timeout=30)
        self.rows = [None] * size

    def gather(self, rank):
        def rows_of_all(row):
            self.rows[rank] = row
            self.barrier.wait()
            rows = np.concatenate(self.rows)
            self.barrier.wait()
            return rows

        return rows_of_all


def counted(folder, size, write, before=lambda folder: None):
    """Return each rank's count after all have called write(folder, rank)."""
    before(folder)
    ranks, told = Ranks(size), [None] * size

    def write_rank(rank):
        with files.new_files(folder, ranks.gather(rank), looks=rank == size - 1) as found:
            write(folder, rank)
        told[rank] = found[0]

    threads = [threading.Thread(target=write_rank, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def only_rank_0(folder, rank):
    if rank == 0:
        (folder / "new_0.h5").write_text("parameters")


def every_rank(folder, rank):
    (folder / f"new_{rank}.h5").write_text("parameters")


def nobody(folder, rank):
    pass


def old_ones(folder):
    (folder / "old.h5").write_text("of a run before")
    (folder / "new_0.h5").write_text("of a run that was killed")


@pytest.mark.parametrize("before", [nobody, old_ones])
@pytest.mark.parametrize(("write", "found"), [(only_rank_0, 1), (every_rank, 3), (nobody, 0)])
def test_new_files_are_counted_by_another_rank(write, found, before, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.3)
    first = before if before is old_ones else lambda folder: None
    assert counted(tmp_path, 3, write, first) == [found] * 3
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "tmp"))]
