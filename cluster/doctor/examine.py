"""Run the probes in one process or on all ranks. Rank 0 collects the diagnoses."""

import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

from autograder.cpus import usable_cpus
from cluster.doctor import exchange, run_probes
from cluster.doctor.all_probes import MEASURE, NODE, NODES, RANKS, Probe, budget, of_kind
from cluster.doctor.diagnosis import Diagnosis, broken
from cluster.doctor.position import Position, host_name
from cluster.doctor.probes import gpus
from cluster.doctor.report import Report
from cluster.launchers import launched


def examine(chosen: list[Probe], hello: float, report: Report) -> bool:
    """Run these probes and write the report. Return False if another rank writes the report.

    `hello` is the number of seconds within which all ranks have to start.
    """
    launch = launched()
    launcher, rank, size = (launch.launcher, launch.rank, launch.size) if launch else ("", 0, 1)
    mine = tuple(usable_cpus())
    position = Position(rank, size, launcher, host_name(), "", (host_name(),), (mine,))
    run_probes.watch_over(2 * hello + budget(chosen, NODE, MEASURE, NODES, RANKS) + 60)
    if size > 1:
        return examine_together(position, chosen, hello, report)
    everything = of_node(position, chosen) + of_ranks(position, chosen, [])
    report.show(replace(position, launcher=""), everything)
    report.finish()
    return True


def of_node(position: Position, chosen: list[Probe]) -> list[Diagnosis]:
    diagnoses = run_probes.run_all(of_kind(chosen, NODE), of_kind(chosen, MEASURE), position)
    by_name = {diagnosis.probe: diagnosis for diagnosis in diagnoses}
    more = [replace(each, probe="gpus") for each in gpus.agree(by_name)]
    return [replace(each, where=(position.host,)) for each in [*diagnoses, *more]]


def of_ranks(
    position: Position, chosen: list[Probe], later: list[subprocess.Popen]
) -> list[Diagnosis]:
    diagnoses = []
    if len(position.nodes) > 1 and position.leads:
        for probe in of_kind(chosen, NODES):
            here = run_probes.run(probe, position, later)
            diagnoses += [replace(each, where=(position.host,)) for each in here]
    for probe in of_kind(chosen, RANKS):
        here = run_probes.run(probe, position, later if position.size > 1 else None)
        label = f"rank {position.rank}" if position.size > 1 else position.host
        diagnoses += [replace(each, where=(label,)) for each in here]
    return diagnoses


def examine_together(
    position: Position, chosen: list[Probe], seconds: float, report: Report
) -> bool:
    folder = exchange.shared_folder()
    folder.mkdir(exist_ok=True)
    everyone = range(position.size)
    if not introduced(folder, position):
        report.show(position, [twice(position)])
        report.finish()
        return True
    hello = exchange.collect(folder, "hello", everyone, seconds)
    position = among(position, folder, hello)
    # What a single node can show.
    alone = of_node(position, chosen) if position.leads else []
    exchange.send(folder, "looked", position.rank, [asdict(each) for each in alone])
    looked = exchange.collect(folder, "looked", hello, budget(chosen, NODE, MEASURE))
    missing = [rank for rank in everyone if rank not in looked]
    reports = position.rank == 0
    if reports:
        report.show(position, received(looked) + [silent(position, missing)] * bool(missing))
    # What only all ranks together can show; useless if one is missing.
    later: list[subprocess.Popen] = []
    if not missing:
        met = of_ranks(position, chosen, later)
        exchange.send(folder, "met", position.rank, [asdict(each) for each in met])
        if reports:
            answers = exchange.collect(folder, "met", everyone, budget(chosen, NODES, RANKS))
            gone = [rank for rank in everyone if rank not in answers]
            report.show(position, received(answers) + [silent(position, gone)] * bool(gone))
    if reports:
        report.finish()
        shutil.rmtree(folder, ignore_errors=True)
    else:  # wait for the report, because a launcher may end all ranks when one ends
        exchange.until_gone(folder, budget(chosen, NODES, RANKS))
    for process in later:
        run_probes.end(process)
    return reports


def introduced(folder: Path, position: Position) -> bool:
    """Announce this rank. Return False if another process has the same rank."""
    (mine,) = position.affinities
    return exchange.send(folder, "hello", position.rank, {"host": position.host, "mask": mine})


def among(position: Position, folder: Path, hello: dict[int, dict]) -> Position:
    """Return the position with the hosts and affinities that the other ranks reported."""
    return replace(
        position,
        folder=str(folder),
        hosts=tuple(hello[rank]["host"] if rank in hello else "?" for rank in range(position.size)),
        affinities=tuple(
            tuple(said["mask"]) for said in hello.values() if said["host"] == position.host
        ),
    )


def received(answers: dict[int, list[dict]]) -> list[Diagnosis]:
    return [
        Diagnosis(**{**each, "where": tuple(each["where"])})
        for answer in answers.values()
        for each in answer
    ]


def silent(position: Position, missing: list[int]) -> Diagnosis:
    which = f"rank{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
    return replace(
        broken(
            f"{which} of {position.size} did not answer, so the ranks were not examined together",
            f"they did not start, they or their node hang, or they do not see this folder, which "
            f"all nodes have to share: {exchange.shared_folder().parent}",
            ranks=missing,
        ),
        probe="ranks",
    )


def twice(position: Position) -> Diagnosis:
    return replace(
        broken(
            f"several processes are rank {position.rank} of {position.size}",
            f"the launcher starts independent copies: see {position.launcher} in"
            " launch_ranks of the site file",
        ),
        probe="ranks",
    )
