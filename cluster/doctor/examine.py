"""The examination: alone, or by all ranks of a launch; rank 0 hands the findings on."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, replace

from cluster.doctor import exchange, gpus, runner
from cluster.doctor.findings import Finding, broken
from cluster.doctor.place import Place, host_name, launched
from cluster.doctor.probes import MEASURE, NODE, NODES, RANKS, Probe, budget, of_kind

Show = Callable[[Place, list[Finding]], None]
Finish = Callable[[], None]


def examine(chosen: list[Probe], hello: float, show: Show, finish: Finish) -> bool:
    """Run these probes; `show` gets findings when there are some, then `finish` is called.

    False if another rank reports. `hello`: seconds in which all ranks have to begin.
    """
    launcher, rank, size = launched()
    mine = tuple(sorted(os.sched_getaffinity(0)))
    place = Place(rank, size, launcher, host_name(), "", (host_name(),), (mine,))
    runner.watch_over(2 * hello + budget(chosen, NODE, MEASURE, NODES, RANKS) + 60)
    if size == 1:
        show(replace(place, launcher=""), of_node(place, chosen) + of_ranks(place, chosen, []))
        finish()
        return True
    return examine_together(place, mine, chosen, hello, show, finish)


def of_node(place: Place, chosen: list[Probe]) -> list[Finding]:
    found = runner.run_all(of_kind(chosen, NODE), of_kind(chosen, MEASURE), place)
    by_name = {finding.probe: finding for finding in found}
    more = [replace(each, probe="gpus") for each in gpus.agree(by_name)]
    return [replace(each, where=(place.host,)) for each in [*found, *more]]


def of_ranks(place: Place, chosen: list[Probe], later: list[subprocess.Popen]) -> list[Finding]:
    found = []
    if len(place.nodes) > 1 and place.leads:
        for probe in of_kind(chosen, NODES):
            here = runner.run(probe, place, later)
            found += [replace(each, where=(place.host,)) for each in here]
    for probe in of_kind(chosen, RANKS):
        here = runner.run(probe, place, later if place.size > 1 else None)
        label = f"rank {place.rank}" if place.size > 1 else place.host
        found += [replace(each, where=(label,)) for each in here]
    return found


def examine_together(
    place: Place,
    mine: tuple[int, ...],
    chosen: list[Probe],
    seconds: float,
    show: Show,
    finish: Finish,
) -> bool:
    folder = exchange.folder()
    folder.mkdir(exist_ok=True)
    reports = place.rank == 0
    everyone = range(place.size)
    if not exchange.send(folder, "hello", place.rank, {"host": place.host, "mask": mine}):
        show(place, [twice(place)])
        finish()
        return True
    hello = exchange.collect(folder, "hello", everyone, seconds)
    place = replace(
        place,
        folder=str(folder),
        hosts=tuple(hello[rank]["host"] if rank in hello else "?" for rank in everyone),
        affinities=tuple(tuple(h["mask"]) for h in hello.values() if h["host"] == place.host),
    )
    # What one node shows alone.
    found = of_node(place, chosen) if place.leads else []
    exchange.send(folder, "looked", place.rank, [asdict(each) for each in found])
    looked = exchange.collect(folder, "looked", hello, budget(chosen, NODE, MEASURE))
    missing = [rank for rank in everyone if rank not in looked]
    if reports:
        show(place, received(looked) + [silent(place, missing)] * bool(missing))
    # What shows only together; pointless when somebody is missing.
    later: list[subprocess.Popen] = []
    if not missing:
        met = of_ranks(place, chosen, later)
        exchange.send(folder, "met", place.rank, [asdict(each) for each in met])
        if reports:
            answers = exchange.collect(folder, "met", everyone, budget(chosen, NODES, RANKS))
            gone = [rank for rank in everyone if rank not in answers]
            show(place, received(answers) + [silent(place, gone)] * bool(gone))
    if reports:
        finish()
        shutil.rmtree(folder, ignore_errors=True)
    else:  # stay until the report is out: a launcher may end all ranks when one has ended
        exchange.until_gone(folder, budget(chosen, NODES, RANKS))
    for process in later:
        runner.end(process)
    return reports


def received(answers: dict[int, list[dict]]) -> list[Finding]:
    return [
        Finding(**{**each, "where": tuple(each["where"])})
        for answer in answers.values()
        for each in answer
    ]


def silent(place: Place, missing: list[int]) -> Finding:
    which = f"rank{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
    return replace(
        broken(
            f"{which} of {place.size} did not answer, so the ranks were not examined together",
            "not started, hanging, on a node that hangs, or without this folder, which all nodes"
            f" have to share: {exchange.folder().parent}",
            ranks=missing,
        ),
        probe="ranks",
    )


def twice(place: Place) -> Finding:
    return replace(
        broken(
            f"several processes call themselves rank {place.rank} of {place.size}",
            f"the launcher starts copies that do not know of each other: see {place.launcher} in"
            " launch_ranks of the site file",
        ),
        probe="ranks",
    )
