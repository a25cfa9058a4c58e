"""Problems that show only when nodes and ranks are compared."""

from dataclasses import replace

import pytest

from cluster.doctor import compare, table
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position
from cluster.doctor.probes import gpus
from cluster.doctor.probes.network import chosen_by_nccl

TWO = Position(size=2, launcher="srun", host="a", hosts=("a", "b"))


def on(node: str, probe: str, diagnosis: Diagnosis) -> Diagnosis:
    return replace(diagnosis, probe=probe, where=(node,))


def test_nodes_that_say_the_same_share_a_row():
    found = [on(node, "python", ok("3.11", alike="3.11")) for node in "ab"]
    assert compare.compared(found) == found
    assert table.lines(found, TWO) == ["ok     python         2 nodes    3.11"]


def test_one_of_many_good_nodes_speaks_for_all_and_bad_ones_each_for_themselves():
    found = [on(node, "memory", ok(f"{node} GB")) for node in "abcd"]
    found.append(on("e", "memory", look("1 GB", "more")))
    (good, bad) = compare.rows(found)
    assert (good.found, good.where) == ("a: a GB", ("a", "b", "c", "d"))
    assert (bad.found, bad.where) == ("1 GB", ("e",))


def test_nodes_that_differ_are_named():
    found = compare.compared(
        [
            on(node, "torch", ok(v, alike=v))
            for node, v in zip("abc", ("2.13", "2.13", "2.9"), strict=True)
        ]
    )
    assert found[-1].state == "look"
    assert found[-1].found == "nodes differ: a, b: 2.13; c: 2.9"


@pytest.mark.parametrize(
    ("addresses", "state"),
    [(("127.0.1.1", "127.0.1.1"), "broken"), (("127.0.66.1", "127.0.66.2"), "ok")],
)
def test_names_that_all_lead_to_loopback_are_broken(addresses, state):
    nodes = zip("ab", addresses, strict=True)
    found = compare.compared([on(node, "network", ok("lo", address=ip)) for node, ip in nodes])
    assert found[-1].state == state


@pytest.mark.parametrize(
    ("bus", "latency", "wire", "state", "share"),
    [
        (4.0, 20, None, "ok", "40 % of copying memory"),
        (0.1, 20, None, "look", "1 % of copying memory"),
        (4.0, 2000, None, "look", "40 % of copying memory"),
        (0.5, 20, 1.0, "ok", "50 % of one TCP connection"),
    ],
)
def test_an_allreduce_is_held_against_what_carries_it(bus, latency, wire, state, share):
    found = [
        on("a", "memory copy", ok("", gb_s=10.0)),
        on("rank 0", "allreduce", ok("x", bus_gb_s=bus, latency_us=latency)),
    ]
    if wire:
        found.append(on("b", "between nodes", ok("", gb_s=wire)))
    judged = compare.compared(found)[-1]
    assert judged.state == state
    assert share in judged.found


@pytest.mark.parametrize(
    ("visible", "torch", "nccl", "said"),
    [
        (None, 4, True, []),
        ("0,1", 2, True, []),
        (None, 0, True, ["4 GPUs are there, but torch sees 0"]),
        ("0,1", 4, False, ["2 GPUs are there, but torch sees 4", "Horovod has no NCCL"]),
    ],
)
def test_gpus_are_seen_by_all_or_it_is_said(visible, torch, nccl, said):
    gpu = ok("4 × H", gpus=4, visible=visible)
    others = {"torch": ok("", gpus=torch), "horovod": ok("", built={"NCCL": nccl})}
    found = gpus.agree({"gpus": gpu} | others)
    assert len(found) == len(said)
    for diagnosis, words in zip(found, said, strict=True):
        assert words in diagnosis.found
        assert diagnosis.advice


@pytest.mark.parametrize(
    ("driver", "torch", "tensorflow", "said"),
    [
        ("580.65.06", "13.0", "12.5.1", []),
        ("535.183.01", "13.0", "12.5.1", ["torch is built for CUDA 13.0, which needs driver 580"]),
        (
            "520.61.05",
            None,
            "12.5.1",
            ["tensorflow is built for CUDA 12.5.1, which needs driver 525"],
        ),
        ("not known", "13.0", None, []),
        ("", "14.1", None, []),
    ],
)
def test_a_driver_older_than_a_frameworks_cuda_is_said(driver, torch, tensorflow, said):
    there = ok("4 × H", gpus=4, visible=None, driver=driver)
    others = {"torch": ok("", gpus=4, cuda=torch), "tensorflow": ok("", gpus=4, cuda=tensorflow)}
    found = gpus.agree({"gpus": there} | others)
    assert [words in each.found for each, words in zip(found, said, strict=True)] == [True] * len(
        said
    )


@pytest.mark.parametrize(
    ("names", "setting", "chosen"),
    [
        (["lo", "eth0", "ib0"], "", "ib0"),
        (["lo", "docker0", "eth0"], "", "eth0"),
        (["lo", "docker0"], "", "docker0"),
        (["lo"], "", "lo"),
        (["eth0", "eth1"], "eth1", "eth1"),
        (["eth0", "ib0"], "^ib", "eth0"),
        (["ib0", "ib01"], "=ib01", "ib01"),
        (["eth0"], "ib", ""),
    ],
)
def test_the_interface_that_nccl_takes(names, setting, chosen):
    assert chosen_by_nccl(names, setting) == chosen


def test_what_is_wrong_comes_with_an_arrow():
    found = [on("a", "scratch", broken("there is no folder", "mkdir"))]
    assert table.lines(found, TWO)[1].strip() == "→ mkdir"
