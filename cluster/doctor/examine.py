"""The examination: alone, or by all ranks of a launch; rank 0 hands the findings on."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, replace

from cluster.doctor import exchange, gpus, probes, runner
from cluster.doctor.findings import Finding, broken
from cluster.doctor.place import Place, host_name, launched
from cluster.doctor.probes import MEASURE, NODE, NODES, RANKS

Show = Callable[[Place, list[Finding]], None]
Finish = Callable[[], None]


def examine(cap: float, show: Show, finish: Finish) -> bool:
    """Run all probes; `show` gets findings when there are some, then `finish` is called.

    False if another rank reports.
    """
    launcher, rank, size = launched()
    mine = tuple(sorted(os.sched_getaffinity(0)))
    place = Place(rank, size, launcher, host_name(), "", (host_name(),), (mine,))
    runner.watch_over(longest(cap))
    if size == 1:
        show(replace(place, launcher=""), of_node(place, cap) + of_ranks(place, cap, []))
        finish()
        return True
    return examine_together(place, mine, cap, show, finish)


def longest(cap: float) -> float:
    return 2 * min(probes.HELLO, cap) + budget(cap, *(NODE, MEASURE, NODES, RANKS)) + 60


def budget(cap: float, *kinds: str) -> float:
    """Seconds within which these probes have ended, whatever hangs."""
    return sum(min(probe.limit, cap) + 2 for probe in probes.of_kind(*kinds))


def of_node(place: Place, cap: float) -> list[Finding]:
    found = runner.run_all(probes.of_kind(NODE), probes.of_kind(MEASURE), place, cap)
    by_name = {finding.probe: finding for finding in found}
    more = [replace(each, probe="gpus") for each in gpus.agree(by_name["gpus"], by_name)]
    return [replace(each, where=(place.host,)) for each in [*found, *more]]


def of_ranks(place: Place, cap: float, later: list[subprocess.Popen]) -> list[Finding]:
    found = []
    if len(place.nodes) > 1 and place.leads:
        for probe in probes.of_kind(NODES):
            here = runner.run(probe, place, cap, later)
            found += [replace(each, where=(place.host,)) for each in here]
    for probe in probes.of_kind(RANKS):
        here = runner.run(probe, place, cap, later if place.size > 1 else None)
        label = f"rank {place.rank}" if place.size > 1 else place.host
        found += [replace(each, where=(label,)) for each in here]
    return found


def examine_together(
    place: Place, mine: tuple[int, ...], cap: float, show: Show, finish: Finish
) -> bool:
    folder = exchange.folder()
    folder.mkdir(exist_ok=True)
    reports = place.rank == 0
    everyone = range(place.size)
    if not exchange.send(folder, "hello", place.rank, {"host": place.host, "mask": mine}):
        show(place, [twice(place)])
        finish()
        return True
    hello = exchange.collect(folder, "hello", everyone, min(probes.HELLO, cap))
    place = replace(
        place,
        folder=str(folder),
        hosts=tuple(hello[rank]["host"] if rank in hello else "?" for rank in everyone),
        affinities=tuple(tuple(h["mask"]) for h in hello.values() if h["host"] == place.host),
    )
    # What one node shows alone.
    found = of_node(place, cap) if place.leads else []
    exchange.send(folder, "looked", place.rank, [asdict(each) for each in found])
    looked = exchange.collect(folder, "looked", hello, budget(cap, NODE, MEASURE) + 10)
    missing = [rank for rank in everyone if rank not in looked]
    if reports:
        show(place, received(looked) + [silent(place, missing, cap)] * bool(missing))
    # What shows only together; pointless when somebody is missing.
    later: list[subprocess.Popen] = []
    if not missing:
        met = of_ranks(place, cap, later)
        exchange.send(folder, "met", place.rank, [asdict(each) for each in met])
        if reports:
            answers = exchange.collect(folder, "met", everyone, budget(cap, NODES, RANKS) + 10)
            gone = [rank for rank in everyone if rank not in answers]
            show(place, received(answers) + [silent(place, gone, cap)] * bool(gone))
    if reports:
        finish()
        shutil.rmtree(folder, ignore_errors=True)
    else:  # stay until the report is out: a launcher may end all ranks when one has ended
        exchange.until_gone(folder, budget(cap, NODES, RANKS) + 20)
    for process in later:
        runner.end(process)
    return reports


def received(answers: dict[int, list[dict]]) -> list[Finding]:
    return [
        Finding(**{**each, "where": tuple(each["where"])})
        for answer in answers.values()
        for each in answer
    ]


def silent(place: Place, missing: list[int], cap: float) -> Finding:
    names = ", ".join(map(str, missing))
    return broken(
        f"rank{'s' * (len(missing) > 1)} {names} of {place.size} did not answer, so the ranks were"
        " not examined together",
        "not started, hanging, on a node that hangs, or without this folder, which all nodes have"
        f" to share: {exchange.folder().parent}",
        ranks=missing,
    )


def twice(place: Place) -> Finding:
    return broken(
        f"several processes call themselves rank {place.rank} of {place.size}",
        f"the launcher starts copies that do not know of each other: see {place.launcher} in"
        " launch_ranks of the site file",
    )
