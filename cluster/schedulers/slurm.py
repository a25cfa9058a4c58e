"""Slurm sites: sbatch, squeue, scancel and sacct, with their refusals turned into advice."""

import re
from pathlib import Path

import click

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile
from cluster.job_file.sbatch_options import as_words
from cluster.jobs import limits
from cluster.schedulers import batch_commands, history
from cluster.schedulers.job_status import Status
from cluster.sites.site import Site

# What sacct is asked for; also what the laptop and PBS sites print.
ACCOUNTING = (
    "jobid,user,account,jobname,partition,state,exitcode,derivedexitcode,submit,start,end,"
    "elapsedraw,timelimitraw,nnodes,ncpus,alloctres,nodelist,submitline"
)
QUEUE = "%.12i %.10P %.16j %.11T %.10M %.5D %.19S %R"  # state, time, expected start, reason

# What sbatch says -> what to do about it.
ADVICE = {
    r"Invalid account": "your accounts: sacctmgr show assoc user=$USER"
    " format=account,partition,qos; choose one: cluster use {site} --account NAME",
    r"invalid partition|Invalid partition": "the partitions here: sinfo -s;"
    " choose one: cluster use {site} --partition NAME",
    r"[Ii]nvalid qos": "your qualities of service: sacctmgr show assoc user=$USER"
    " format=account,qos; choose one: cluster use {site} --qos NAME",
    r"time limit is invalid": "ask for less --time: sinfo -o '%P %l' shows each partition's limit",
    r"[Nn]ode count|node configuration|More processors": "ask for fewer --nodes, ranks, cores or"
    " GPUs: sinfo -o '%P %D %c %G' shows what there is",
    r"generic resource": "ask for GPUs as this site does: sinfo -o '%P %G' shows their names",
    r"dependency": "the job before it is not known (any more): squeue --me; sacct",
    r"QOS policy|AssocMax|QOSMax": "you have too many jobs or use too much: squeue --me;"
    " sacctmgr show qos",
    r"[Rr]eservation": "scontrol show reservation lists them; cluster use {site} without one",
    r"contact slurm controller|Connection refused": "Slurm itself does not answer: wait, then try"
    " again",
    r"[Qq]uota": "your home or project folder is full: quota -s",
}


def submit(
    job: JobFile, options: dict[str, str], arguments: list[str], where: Site, show_on
) -> str:
    batch_commands.need("sbatch", where)
    for remark in limits.remarks(job, options, where):
        show_on(remark)
    extra = where.settings.get("SITE_SUBMIT_OPTIONS", "").split()
    words = ["sbatch", *extra, *as_words(options), str(job.path), *arguments]
    show_on(batch_commands.shown(words, where))
    done = batch_commands.run(words, where.exports)
    number = re.search(r"(?:Submitted batch job |^)(\d+)", done.stdout)
    if done.returncode or not number:
        raise click.ClickException(advise(done.stderr.strip() or "sbatch gave no job id", where))
    return number[1]


def advise(message: str, where: Site) -> str:
    for pattern, advice in ADVICE.items():
        if re.search(pattern, message):
            return f"{message}\n{advice.format(site=where.name)}"
    return message


def statuses(label: str) -> list[Status]:
    """From the queue, which keeps a job some minutes after its end; then from accounting."""
    ask = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%S"]
    listed = batch_commands.run([*ask, f"--jobs={label}"])
    rows = [line.split("|") for line in listed.stdout.splitlines() if line.count("|") == 3]
    if not rows:
        recorded = batch_commands.run(
            ["sacct", "-X", "-n", "-P", f"--jobs={label}", "--format=jobid,state"]
        )
        rows = [[*line.split("|"), "", ""] for line in recorded.stdout.splitlines() if "|" in line]
    if not rows:
        said = (listed.stderr or "").strip()
        raise click.ClickException(
            f"Slurm knows no job {label} of yours ({said or 'sacct, squeue'})"
        )
    return [
        Status(
            label=number,
            state=state.split()[0],  # sacct: CANCELLED by 1000
            reason="" if reason == "None" else reason,
            expected_start="" if start in ("N/A", "") else start,
            output=output_of(number, "output"),
            error=output_of(number, "error"),
        )
        for number, state, reason, start in rows
    ]


def output_of(label: str, stream: str) -> Path | None:
    array, _, index = label.partition("_")
    known = history.with_id(array)
    pattern = getattr(known, stream) if known else None
    if pattern is None:
        return None
    task = (int(array), int(index)) if index.isdigit() else None
    return Path(jobfile.fill(pattern, jobfile.values_of(int(array), "", "*", task)))


def queue() -> None:
    batch_commands.pass_through(["squeue", "--me", f"--format={QUEUE}"])


def cancel(label: str) -> None:
    batch_commands.pass_through(["scancel", label])


def accounting(labels: list[str]) -> None:
    jobs = [f"--jobs={','.join(labels)}"] if labels else []
    batch_commands.pass_through(["sacct", "-X", "-P", *jobs, f"--format={ACCOUNTING}"])
