"""Run one job of a rerun: prepare its programs and folders, and collect its outputs."""

import io
import json
import shlex
import tarfile
from dataclasses import dataclass
from pathlib import Path

import click

from cluster.job_file.jobfile import clock
from cluster.rerun.account import COURSE, Account
from cluster.rerun.repeated import Repeated, Taken

LARGEST_OUTPUT = 50_000_000  # bytes
TICKS_A_SECOND, SLACK_CORES = 100, 0.25  # of /proc/stat; cores for the node's daemons
SHORTEST, TIMES_AS_LONG = 600, 3  # at least this many seconds, and this many times the recorded run
UNSEEN = ("solutions", "tests", "autograder/rubrics/expected", ".git", "build")  # in the course

JOB = """\
#!/bin/bash
set -euo pipefail
{variables}
source "$COURSE_SITE"
export HOME={folder} TMPDIR=/tmp LAUNCHER={launcher}
python=$(command -v python)
cd {folder}
ulimit -c 0 -f 4194304 -u 8192 # core dumps, KiB per file, processes of the account
command -v bwrap >/dev/null || {{
    echo "rerun: this node has no bwrap, which shields the network and other files: install the" \\
        "package bubblewrap" >&2
    exit 1
}}
# Read-only but for the program's folder. Its own processes, network and temporary files.
sandbox=(bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL
    --die-with-parent --new-session --ro-bind / / --dev-bind /dev /dev --proc /proc
    --tmpfs /tmp --tmpfs /var/tmp --tmpfs /dev/shm)
hide() {{ # a folder that the account cannot reach needs no cover
    for each in "$@"; do [ ! -d "$each" ] || sandbox+=(--tmpfs "$each"); done
}}
hide {hidden}
prefixes=$("$python" -I -c 'import sys; print(sys.prefix, sys.base_prefix)')
for each in {course} ${{COURSE_DATA:-}} ${{COURSE_ENVIRONMENT:-}} $prefixes; do
    sandbox+=(--ro-bind "$each" "$each")
done
hide {unseen} {hidden}
sandbox+=(--bind {folder} {folder})
ticks() {{ awk '/^cpu /{{print $2 + $3 + $4 + $7 + $8 + $9, $5 + $6}}' /proc/stat; }} # busy, idle
before=$(ticks)
code=0
"${{sandbox[@]}}" bash -c {body} rerun "$@" || code=$?
{{ echo "$before $(ticks) $(nproc --all)"; times; }} >{report}
exit $code
"""
BODY = """\
set -euo pipefail
source {site}
facts
{before}launch python -u "$@"
"""


@dataclass(frozen=True)
class Ended:
    job_id: str
    state: str
    output: bytes
    error: bytes
    undisturbed: bool  # it had all requested cores to itself, so its speed is meaningful


def run_job(account: Account, hide: list[Path], taken: Taken, job: Repeated) -> Ended:
    """Run a job on one node, with the ranks and threads of the record.

    `hide` are folders that no program may see, whatever their permissions. Only the account can
    open the job's own folders: `own` has the output and is hidden from the job, and `program` is
    the job's home and the only folder that it can change.
    """
    base = account.do("mktemp", "-d", f"{account.home}/rerun-XXXXXXXX")
    own, program = f"{base}/own", f"{base}/program"
    try:
        account.do("mkdir", "-m", "700", own, program)
        account.do("tar", "-x", "--no-same-owner", "-C", program, data=packed(taken.programs))
        text = job_text(account, hide, job, own, program)
        account.do("tee", f"{own}/job.sbatch", data=text.encode())
        options = [
            *(f"--nodes=1 --ntasks={job.ranks} --cpus-per-task={job.threads}".split()),
            f"--time={clock(max(SHORTEST, int(TIMES_AS_LONG * job.seconds)))}",
            *["--job-name=rerun", "--output=rerun_%j.out", "--error=rerun_%j.err"],
        ]
        words = (*options, f"{own}/job.sbatch", job.program, *job.arguments)
        submit = ("-m", "cluster.rerun.one_job", *words)
        ran = account.python(*submit, home=own, show=True, seconds=None)
        if ran.returncode:
            raise click.ClickException("the job was not submitted; the reason is above")
        job_id, state = ran.stdout.decode(errors="replace").split()[-2:]
        # read with the account's permissions, up to a limit
        output, error, report = (
            account.run("head", "-c", str(LARGEST_OUTPUT), f"{own}/{name}").stdout
            for name in (f"rerun_{job_id}.out", f"rerun_{job_id}.err", "report")
        )
    finally:
        # a program may have closed its own folders even to their owner
        account.run("chmod", "-R", "u+rwX", base, seconds=600)
        account.run("rm", "-rf", base, seconds=600)
    undisturbed = had_its_cores(report.decode(errors="replace"), job)
    return Ended(job_id, state, output, error, undisturbed)


def packed(programs: dict[str, bytes]) -> bytes:
    """Return the programs as a tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, text in programs.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o600
            archive.addfile(info, io.BytesIO(text))
    return file.getvalue()


def job_text(account: Account, hide: list[Path], job: Repeated, own: str, program: str) -> str:
    before = f"python -u {shlex.join(job.before)}\n" if job.before else ""
    site = shlex.quote(str(COURSE / "cluster" / "rerun" / "site.sh"))
    variables = (f"export {name}={shlex.quote(text)}" for name, text in account.variables.items())
    return JOB.format(
        variables="\n".join(variables),
        folder=shlex.quote(program),
        launcher=job.launcher,
        hidden=shlex.join([*map(str, hide), account.home]),
        course=shlex.quote(str(COURSE)),
        unseen=shlex.join([str(COURSE / name) for name in UNSEEN]),
        body=shlex.quote(BODY.format(site=site, before=before)),
        report=shlex.quote(f"{own}/report"),
    )


def had_its_cores(report: str, job: Repeated) -> bool:
    """Return whether other work left the job its cores; False if the report is incomplete.

    The report has the node's busy and idle ticks before and after, the number of its cores, and
    what the shell's `times` prints: the CPU time of the job's own processes is the last line.
    """
    try:
        ticks, _, own = report.splitlines()
        busy, idle, busy_after, idle_after, cores = map(float, ticks.split())
        seconds = (busy_after + idle_after - busy - idle) / TICKS_A_SECOND / cores
        used = sum(60 * float(m) + float(s[:-1]) for m, s in (w.split("m") for w in own.split()))
        others = max((busy_after - busy) / TICKS_A_SECOND - used, 0) / seconds
        return others + job.ranks * job.threads <= cores + SLACK_CORES
    except (ValueError, ZeroDivisionError):
        return False


def keep(folder: Path, taken: Taken, ended: list[Ended]) -> None:
    """Write RERUNS/STUDENT/NN: the outputs, and what the grader needs to know about the jobs."""
    outputs = folder / "outputs"
    outputs.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in outputs.iterdir():
        old.unlink()
    facts: dict = {"student": taken.student, "lesson": taken.lesson, "jobs": []}
    for number, (job, one) in enumerate(zip(taken.jobs, ended, strict=True), 1):
        # With a queue for each job, as on the laptop, all jobs have number 1.
        name = f"rerun{number}_{one.job_id}"
        (outputs / f"{name}.out").write_bytes(one.output)
        (outputs / f"{name}.err").write_bytes(one.error)
        files = [f"{name}.out", f"{name}.err"]
        known = {"job_id": one.job_id, "state": one.state, "undisturbed": one.undisturbed}
        facts["jobs"].append(known | {"files": files, "launches": job.launches})
    (folder / "rerun.json").write_text(json.dumps(facts, indent=1) + "\n")
