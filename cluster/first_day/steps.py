"""Define the steps of the first day at a new centre, in order.

Each step needs the results of the previous ones.
"""

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

from autograder.codes import Outcome
from autograder.measuring.interval import NotMeasured
from autograder.measuring.measure import epoch_time, workers
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.wording import counted
from cluster.doctor import all_probes, run_probes
from cluster.doctor.diagnosis import BROKEN, LOOK
from cluster.doctor.site_check import check
from cluster.environment.stage import last_words
from cluster.first_day.day import Day, Passed, Step, WrongError
from cluster.first_day.grading import calibrate, grade

DOCTOR = Path(__file__).parents[1] / "doctor" / "job.sbatch"
SOFTWARE = ("python", "torch", "tensorflow", "horovod")
TOLD = ("gpus", "launch", "sum")
# One rank examines its whole node. More ranks of the node examine only what they add.
TOGETHER = ("mpi", "gpus", "network", "launch", "sum")
SECONDS_LATE = 20
FINDING = re.compile(r'\{"probe": .*\}')  # a launcher may put the rank before it
LESSON_02 = ("--train-samples", "12800", "--epochs", "3")
LESSON_07 = ("--train-samples", "3200", "--epochs", "4")


def site_file(day: Day) -> Passed:
    problems = check(day.site.file)
    if problems:
        name = day.site.name
        raise WrongError(
            "; ".join(problems), f"docs/sites.md; until cluster site check {name} finds nothing"
        )
    return Passed(f"{day.site.name}.sh, for {day.site.scheduler or 'no batch system'}")


def environment(day: Day) -> Passed:
    """Check the login node, where jobs are submitted and lessons are released."""
    found = [each for name in SOFTWARE for each in run_probes.run(all_probes.BY_NAME[name])]
    for each in found:
        if each.state == BROKEN:
            raise WrongError(f"{each.probe}: {each.found}", each.advice)
    return Passed("; ".join(f"{each.probe}: {each.found}" for each in found))


def one_rank(day: Day) -> Passed:
    return doctor(day, 1, 1)


def gpus_a_node(day: Day) -> int:
    return day.site.number("SITE_GPUS_PER_NODE") or 2


def two_ranks(day: Day) -> Passed:
    if gpus_a_node(day) == 1:
        return Passed("each node has one GPU, and two ranks would have to share it", tried=False)
    return doctor(day, 2, 1, TOGETHER)


def two_nodes(day: Day) -> Passed:
    if day.site.scheduler == "laptop" or day.site.settings.get("SITE_MAX_NODES") == "1":
        return Passed("there is only one node, so there is nothing to test", tried=False)
    return doctor(day, 2, 2)


def doctor(day: Day, ranks: int, nodes: int, probes: tuple[str, ...] = ()) -> Passed:
    """Run the doctor on all ranks of a job.

    A broken item ends the day. The other findings are only reported.
    """
    place = day.folder / "doctor" / f"{ranks}_on_{nodes}"
    place.mkdir(parents=True, exist_ok=True)
    job = place / "job.sbatch"
    if not job.exists():
        # A doctor that finds something broken exits with 1, which would be a failed job.
        job.write_text(DOCTOR.read_text().replace(' "$@"', ' "$@" || true'))
    # Keep the launcher's messages about ranks that exit with 1 out of the report.
    apart = {"output": "%x_%j.out", "error": "%x_%j.err"}
    only = [word for probe in probes for word in ("--only", probe)]
    output = day.job(job, "--json", *only, ntasks=str(ranks), nodes=str(nodes), **apart)
    findings = whole_report(output, ranks)
    here = (len({each["rank"] for each in findings}), len({each["node"] for each in findings}))
    if here != (ranks, nodes):
        found = f"{ranks} on {counted(nodes, 'node')} requested, {here[0]} on {here[1]} found"
        raise WrongError(f"ranks: {found}", f"see {output}, and launch_ranks of the site file")
    for finding in findings:
        if finding["state"] == BROKEN:
            raise WrongError(f"{finding['probe']}: {finding['found']}", finding["advice"])
    looks = [f"{f['probe']}: {f['found']} → {f['advice']}" for f in findings if f["state"] == LOOK]
    told = [f"{f['probe']}: {f['found']}" for f in findings if f["probe"] in TOLD]
    said = "; ".join(dict.fromkeys(told)) or counted(ranks, "rank")
    return Passed(said, tuple(dict.fromkeys(looks)))


def whole_report(output: Path, ranks: int) -> list[dict[str, Any]]:
    """Return the findings of all ranks, waiting for those that arrive after the job has ended."""
    for _ in range(SECONDS_LATE):
        lines = output.read_text(errors="replace").splitlines()
        findings = [json.loads(found[0]) for line in lines if (found := FINDING.search(line))]
        if len({each["rank"] for each in findings if each["probe"] == "launch"}) >= ranks:
            return findings
        time.sleep(1)
    if not findings:
        raise WrongError(
            f"the doctor wrote no finding: {last_words(output.read_text(errors='replace'))}",
            f"see {output} and the .err file beside it",
        )
    return findings


def lesson_07(day: Day) -> Passed:
    lesson(day, "07_horovod", 1, LESSON_07)
    return lesson(day, "07_horovod", 2, LESSON_07)


def lesson(day: Day, name: str, ranks: int, words: tuple[str, ...]) -> Passed:
    own = day.copied(name)
    over = {"nodes": str(ranks)} if gpus_a_node(day) == 1 and ranks > 1 else {}
    run = one_run(day.job(own / "job.sbatch", *words, ntasks=str(ranks), **over))
    if run.outcome != Outcome.COMPLETED:
        raise WrongError(f"the run is {run.outcome}", f"see {', '.join(run.files)}")
    if workers(run) != ranks:
        raise WrongError(
            f"{ranks} ranks were requested and {workers(run)} trained", "cluster doctor"
        )
    numbers = [f"{rank.local_rank} on {rank.host}" for rank in run.ranks]
    if len(set(numbers)) < len(numbers):  # with some MPIs, hvd.local_rank() is always 0
        raise WrongError(
            f"the ranks' local numbers, which choose their GPUs, are {', '.join(numbers)}",
            "compile Horovod with the MPI whose mpirun or srun plug-in starts it",
        )
    try:
        seconds = epoch_time(run)
    except NotMeasured as missing:
        raise WrongError(missing.reason, missing.try_) from None
    accuracy = f", test accuracy {run.test_accuracy.value:.3f}" if run.test_accuracy else ""
    synthetic = run.header.dataset.synthetic
    remarks = ("on the synthetic stand-in, not on the real images",) if synthetic else ()
    found = f"{counted(ranks, 'rank')} on {run.header.device}: "
    found += f"{seconds.value:.3g} s an epoch{accuracy}"
    return Passed(found, remarks)


def one_run(output: Path) -> Run:
    runs = [run for run in read_files([output]) if run.format == "record"]
    runs = [run for run in runs if run.header.source != "probe"]
    if len(runs) != 1:
        raise WrongError(f"{output} holds {counted(len(runs), 'run record')}", "it should hold one")
    return runs[0]


def calibration(day: Day) -> Passed:
    return Passed(calibrate(day.folder / "runs", day.folder / f"{day.site.name}.yaml"))


def grading(day: Day) -> Passed:
    hand_in = day.folder / "hand-in" / "somebody"
    shutil.rmtree(hand_in, ignore_errors=True)
    shutil.copytree(day.folder / "runs", hand_in)
    return Passed(grade(day.folder / "hand-in", day.folder / "grades"))


STEPS = (
    Step("site", "The site file", site_file),
    Step("environment", "The environment here", environment),
    Step("rank", "A job with one rank: are the software, driver and device available?", one_rank),
    Step("ranks", "Two ranks on a node: can they communicate?", two_ranks),
    Step("nodes", "Two nodes: does the network work?", two_nodes),
    Step("02", "Lesson 02, Keras on one rank", lambda day: lesson(day, "02_serial", 1, LESSON_02)),
    Step("07", "Lesson 07, Horovod on one and on two ranks", lesson_07),
    Step("calibration", "What the solution reaches here", calibration),
    Step("grading", "The solution's runs, graded like a student's", grading),
)
