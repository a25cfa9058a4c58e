"""Run one job of a rerun: prepare its programs and folders, and collect its outputs."""

import io
import json
import re
import shlex
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from cluster.job_file.jobfile import clock
from cluster.rerun.account import COURSE, Account
from cluster.rerun.hand_in import NotRepeatableError, Repeated, Taken
from cluster.sites.site_files import Site

HERE = COURSE / "cluster" / "rerun"
LARGEST_OUTPUT = 50_000_000  # bytes
SHORTEST, TIMES_AS_LONG = 600, 3  # at least this many seconds, and this many times the recorded run
MOST_RANKS = 1024
SLACK_CORES = 0.25  # cores for the node's daemons
UNSEEN = ("solutions", "tests", "autograder/rubrics/expected", ".git", "build")  # in the course

JOB = """\
#!/bin/bash
set -euo pipefail
{variables}
source "$COURSE_SITE"
python=$(command -v python)
{exports}
cd {folder}
exec "$python" -I {sandbox} {options} \\
    ${{COURSE_DATA:+--show "$COURSE_DATA"}} ${{COURSE_ENVIRONMENT:+--show "$COURSE_ENVIRONMENT"}} \\
    $("$python" -I -c 'import sys; print("--show", sys.prefix, "--show", sys.base_prefix)') \\
    -- bash -c {body} rerun "$@"
"""
BODY = """\
set -euo pipefail
source {site}
facts
{before}launch python -u "$@"
"""


@dataclass(frozen=True)
class Terms:
    """The settings that apply to all jobs of one call."""

    account: Account
    site: Site
    parent: str  # the parent of the account's folders, the same on all nodes
    hide: list[Path]  # hidden from programs, whatever the permissions
    network: bool
    seconds: int | None  # time limit


@dataclass(frozen=True)
class Place:
    """Two folders that the account owns and no other user can open."""

    own: str  # home of the commands that manage the job, and its output; hidden from the job
    program: str  # the submitted programs; the job's home, and the only folder it can write to


@dataclass(frozen=True)
class Ended:
    job_id: str
    state: str
    submitted: float
    ended: float
    accounting: str  # the scheduler's line about the job
    output: bytes
    error: bytes
    undisturbed: bool  # it had all requested cores to itself, so its speed is meaningful


@contextmanager
def place_of(account: Account, parent: str) -> Iterator[Place]:
    """Create the job's two folders under the rerun account, and remove them at the end."""
    base = account.do("mktemp", "-d", f"{parent}/rerun-XXXXXXXX")
    place = Place(f"{base}/own", f"{base}/program")
    try:
        account.do("mkdir", "-m", "700", place.own, place.program)
        yield place
    finally:
        # a program may have closed its own folders even to their owner
        account.run("chmod", "-R", "u+rwX", base, seconds=600)
        account.run("rm", "-rf", base, seconds=600)


def put(account: Account, place: Place, programs: dict[str, bytes]) -> None:
    """Write the programs into the account's own folder, acting as that account."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in programs.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o600
            archive.addfile(info, io.BytesIO(text))
    words = ("tar", "-x", "--no-same-owner", "-C", place.program)
    account.do(*words, data=packed.getvalue())


# --- the job file -------------------------------------------------------------------------------


def job_text(job: Repeated, place: Place, terms: Terms) -> str:
    alone = {} if terms.network else {"COURSE_RERUN_ALONE": "yes"}
    exports = (
        alone
        | {"LAUNCHER": job.launcher}
        | {
            "HOME": place.program,
            "TMPDIR": "/tmp",
            "COURSE_RERUN_FOLDER": place.program,
            # See path/sitecustomize.py.
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": f"{HERE / 'path'}:{COURSE}",
        }
    )
    shown, hidden = [COURSE, place.program], [COURSE / name for name in UNSEEN]
    hidden += [*terms.hide, Path(terms.account.home), Path(terms.parent)]
    options = [f"--report={place.own}/report.json"]
    options += [f"--show={path}" for path in shown] + [f"--hide={path}" for path in hidden]
    if terms.network:
        options = ["--limits-only"]
    before = f"python -u {shlex.join(job.before)}\n" if job.before else ""
    return JOB.format(
        variables=exported(terms.account.variables),
        exports=exported(exports),
        folder=shlex.quote(place.program),
        sandbox=shlex.quote(str(HERE / "sandbox.py")),
        options=shlex.join(options),
        body=shlex.quote(BODY.format(site=shlex.quote(str(HERE / "site.sh")), before=before)),
    )


def exported(variables: dict[str, str]) -> str:
    return "\n".join(f"export {name}={shlex.quote(text)}" for name, text in variables.items())


def options_of(job: Repeated, terms: Terms) -> list[str]:
    """Return the scheduler's options: one node or, with a network, as many nodes as recorded."""
    cores = terms.site.number("SITE_CORES_PER_NODE")
    nodes = job.hosts if terms.network else 1
    if job.ranks > MOST_RANKS:
        raise NotRepeatableError(f"{job.ranks} ranks are more than {MOST_RANKS}")
    if cores and -(-job.ranks // nodes) > cores:
        raise NotRepeatableError(
            f"{job.ranks} ranks are more than the {cores} cores of a node: with --network they may"
            " be on several"
        )
    threads = job.threads if not cores or job.threads * -(-job.ranks // nodes) <= cores else 1
    seconds = terms.seconds or max(SHORTEST, int(TIMES_AS_LONG * job.seconds))
    return [
        f"--nodes={nodes}",
        f"--ntasks={job.ranks}",
        f"--cpus-per-task={threads}",
        f"--time={clock(seconds)}",
        "--job-name=rerun",
        "--output=rerun_%j.out",
        "--error=rerun_%j.err",
    ]


# --- from submission to results -----------------------------------------------------------------


def run_job(terms: Terms, taken: Taken, job: Repeated) -> Ended:
    account, options = terms.account, options_of(job, terms)
    with place_of(account, terms.parent) as place:
        put(account, place, taken.programs)
        text = job_text(job, place, terms)
        file = f"{place.own}/job.sbatch"
        account.do("tee", file, data=text.encode())
        words = ["--parsable", *options, file, "--"]
        submitted = time.time()
        said = account.cluster(
            "submit", *words, job.program, *job.arguments, home=place.own, show=True
        )
        last = said.stdout.decode(errors="replace").split()[-1:]
        if said.returncode or not last:
            raise click.ClickException("the job was not submitted; the reason is above")
        job_id = last[0]
        try:
            account.cluster("wait", job_id, home=place.own, show=True, seconds=None)
        except BaseException:  # cancelled or ended by the scheduler
            account.cluster("cancel", job_id, home=place.own, show=True)
            raise
        ended = time.time()
        row = accounting(account, place, job_id)
        output = read(account, f"{place.own}/rerun_{job_id}.out")
        error = read(account, f"{place.own}/rerun_{job_id}.err")
        undisturbed = had_its_cores(read(account, f"{place.own}/report.json"), job)
    state = re.split(r"\|", row)[5] if row.count("|") > 5 else "UNKNOWN"
    return Ended(job_id, state.split(" ")[0], submitted, ended, row, output, error, undisturbed)


def accounting(account: Account, place: Place, job_id: str) -> str:
    """Return the job's accounting line, which is complete only a few seconds after the job ends."""
    for _ in range(20):
        done = account.cluster("accounting", "--parsable", job_id, home=place.own)
        rows = done.stdout.decode(errors="replace").splitlines()
        row = next((line for line in rows if line.startswith(f"{job_id}|")), "")
        if row and "RUNNING" not in row and "COMPLETING" not in row:
            return row
        time.sleep(0.5)
    return row


def had_its_cores(report: bytes, job: Repeated) -> bool:
    """Return whether the job had its cores to itself, as sandbox.py reports; False if unknown."""
    try:
        told = json.loads(report)
        return told["others"] + job.ranks * job.threads <= told["cores"] + SLACK_CORES
    except (ValueError, LookupError, TypeError):
        return False


def read(account: Account, path: str) -> bytes:
    """Read a file with the account's permissions, up to a limit."""
    return account.run("head", "-c", str(LARGEST_OUTPUT), path).stdout


# --- results to keep ----------------------------------------------------------------------------


def keep(folder: Path, taken: Taken, terms: Terms, ended: list[Ended]) -> None:
    """Write RERUNS/STUDENT/NN: the outputs, and the facts about them that the grader needs."""
    outputs = folder / "outputs"
    outputs.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in outputs.iterdir():
        old.unlink()
    jobs = []
    for number, (job, one) in enumerate(zip(taken.jobs, ended, strict=True), 1):
        # With a queue for each job, as on the laptop, all jobs have number 1.
        name = f"rerun{number}_{one.job_id}"
        (outputs / f"{name}.out").write_bytes(one.output)
        (outputs / f"{name}.err").write_bytes(one.error)
        jobs.append(
            {
                "job_id": one.job_id,
                "files": [f"{name}.out", f"{name}.err"],
                "state": one.state,
                "submitted": one.submitted,
                "ended": one.ended,
                "program": job.program,
                "arguments": job.arguments,
                "ranks": job.ranks,
                "launches": job.launches,
                "undisturbed": one.undisturbed,
                "accounting": one.accounting,
            }
        )
    told = {
        "student": taken.student,
        "lesson": taken.lesson,
        "site": terms.site.name,
        "account": terms.account.name,
        "network": terms.network,
        "programs": taken.digests(),
        "jobs": jobs,
    }
    (folder / "rerun.json").write_text(json.dumps(told, indent=1) + "\n")
