"""Tests that no other program can take the addresses that a kernel will open."""

import pytest

from tests.breadth import breadth
from tests.lessons.small_lessons import write_lesson

ASKS = """from ipykernel.connect import get_connection_info
told = get_connection_info(unpack=True)
assert told["transport"] == "ipc", told"""


@pytest.mark.parametrize(
    "folder", breadth(["t", "a_place_for_temporary_files/" * 4], quick=0), ids=["short", "long"]
)
def test_a_kernel_is_given_no_port_and_leaves_no_socket(
    course, tmp_path, lessons_process, monkeypatch, folder
):
    """This also holds if TMPDIR is longer than a socket's path may be."""
    temporary = tmp_path / folder
    temporary.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    write_lesson(course, "02_asks", ASKS)
    process = lessons_process("run", "02", "--out", course / "out")
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 0, output
    assert list(temporary.iterdir()) == []
