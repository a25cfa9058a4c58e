"""Slurm's notation for lists of nodes."""

import pytest

from autograder.slurm_notation import node_names


@pytest.mark.parametrize(
    ("short", "names"),
    [
        ("login1", ["login1"]),
        ("jwc09n[006,009]", ["jwc09n006", "jwc09n009"]),
        ("n[01-03,07]", ["n01", "n02", "n03", "n07"]),
        ("a1,b[1-2]x,c", ["a1", "b1x", "b2x", "c"]),
        ("r[1-2]n[8-9]", ["r1n8", "r1n9", "r2n8", "r2n9"]),
        ("n[08-10]-ib", ["n08-ib", "n09-ib", "n10-ib"]),
        ("None assigned", ["None assigned"]),
        ("n[]", ["n"]),
        ("", []),
    ],
)
def test_node_lists(short, names):
    assert node_names(short) == names


@pytest.mark.parametrize("short", ["n[1-999999999]", "n[1-9999]m[1-9999]", "n[1-60000,1-60000]"])
def test_no_job_has_a_million_nodes(short):
    with pytest.raises(ValueError, match="too long"):
        node_names(short)
