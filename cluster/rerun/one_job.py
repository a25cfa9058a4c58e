"""Run one job of a rerun in the account that it belongs to: python -m cluster.rerun.one_job.

It reads a request as JSON, submits the job in a new folder, and prints what it left as JSON.
"""

import json
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from cluster.job_file.jobfile import clock
from cluster.jobs.submit import on_error_stream, submit
from cluster.jobs.wait import wait_for, watch
from cluster.rerun.account import COURSE
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files

LARGEST_OUTPUT = 50_000_000  # bytes
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
command -v bwrap >/dev/null || {{ echo "rerun: install bubblewrap on this node" >&2; exit 1; }}
# Read-only but for the program's folder. Its own processes, network and temporary files.
sandbox=(bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL
    --die-with-parent --new-session --ro-bind / / --dev-bind /dev /dev --proc /proc
    --tmpfs /tmp --tmpfs /var/tmp --tmpfs /dev/shm)
prefixes=$("$python" -I -c 'import sys; print(sys.prefix, sys.base_prefix)')
for each in {course} ${{COURSE_DATA:-}} ${{COURSE_ENVIRONMENT:-}} $prefixes; do
    sandbox+=(--ro-bind "$each" "$each")
done
for each in {unseen} {hidden}; do # a folder that the account cannot reach needs no cover
    [ ! -d "$each" ] || sandbox+=(--tmpfs "$each")
done
sandbox+=(--bind {folder} {folder})
"${{sandbox[@]}}" bash -c {body} rerun "$@"
"""
BODY = """\
set -euo pipefail
source {site}
facts
{before}launch python -u "$@"
"""


def run_job(base: Path, asked: dict[str, Any]) -> dict[str, str]:
    """Run a job on one node. `own` is hidden from it, and it can change `program` alone."""
    own, program, job = base / "own", base / "program", asked["job"]
    for name, text in asked["programs"].items():
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_bytes(text.encode("latin-1"))
    own.mkdir()
    (own / "job.sbatch").write_text(job_text(asked, str(program)))
    os.environ["HOME"] = str(own)
    os.chdir(own)
    seconds = max(SHORTEST, int(TIMES_AS_LONG * job["seconds"]))
    options = {"nodes": "1", "ntasks": str(job["ranks"]), "cpus-per-task": str(job["threads"])}
    options |= {"time": clock(seconds), "job-name": "rerun"}
    options |= {"output": "rerun_%j.out", "error": "rerun_%j.err"}
    site = site_files.current()
    job_id = submit(Path("job.sbatch"), [job["program"], *job["arguments"]], options, site)
    try:
        [status] = wait_for(job_id, site, on_error_stream)
    except BaseException:  # interrupted
        scheduler_of(site).cancel(job_id)
        list(watch(job_id, site))  # until nothing is written to its folder
        raise
    done = {"job_id": job_id, "state": status.state}
    for end in ("out", "err"):
        with open(f"rerun_{job_id}.{end}", "ab+") as file:  # a job that never began has none
            file.seek(0)
            done[end] = file.read(LARGEST_OUTPUT).decode("latin-1")
    return done


def job_text(asked: dict[str, Any], program: str) -> str:
    first, launcher = asked["job"]["before"], asked["job"]["launcher"]
    before = f"python -u {shlex.join(first)}\n" if first else ""
    site = shlex.quote(str(COURSE / "cluster/rerun/site.sh"))
    variables = (f"export {name}={shlex.quote(text)}" for name, text in asked["variables"].items())
    return JOB.format(
        variables="\n".join(variables),
        folder=shlex.quote(program),
        launcher=launcher,
        hidden=shlex.join([*asked["hide"], str(Path.home())]),
        course=shlex.quote(str(COURSE)),
        unseen=shlex.join([str(COURSE / name) for name in UNSEEN]),
        body=shlex.quote(BODY.format(site=site, before=before)),
    )


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl+C: the job is cancelled
    try:
        # also empties folders that a program has closed to their owner
        with tempfile.TemporaryDirectory(prefix="rerun-", dir=Path.home()) as base:
            done = run_job(Path(base), json.load(sys.stdin))
    except (click.ClickException, OSError) as error:
        sys.exit(error.format_message() if isinstance(error, click.ClickException) else str(error))
    print(json.dumps(done))


if __name__ == "__main__":
    main()
