"""Support PBS: turn `#SBATCH` lines into a qsub command, and PBS's answers into Slurm's terms."""

import getpass
import json
import re
import signal
import time

import click

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.schedulers import history, real_command
from cluster.schedulers.contract import JobStatus, Show
from cluster.sites.site_files import FOLDER, Site

SUBMIT_PROGRAM = "qsub"
RUNS_HERE = False
ASK_EVERY = 10.0
HEALTH: tuple[str, str] | None = ("qstat -B", "Active")

STATES = dict.fromkeys("QHWTM", "PENDING") | dict.fromkeys("SU", "SUSPENDED")
STATES |= dict.fromkeys("RB", "RUNNING") | {"E": "COMPLETING"}
TRES = {"cpu": "ncpus", "gres/gpu": "ngpus"}  # Slurm's names for resources
# PBS's exit codes; 256 and a signal's number if the job was ended. All others are failures.
ENDS = {0: "COMPLETED", -29: "TIMEOUT", 256 + 9: "CANCELLED", 256 + 15: "CANCELLED"}

SAME = {"account": "-A", "partition": "-q"}  # options that have another name in qsub
# Options that `resources`, the wrapper or the launcher handle, or that are PBS's default.
ELSEWHERE = {
    *("job-name", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "time", "array"),
    *("output", "error", "open-mode", "dependency", "kill-on-invalid-dep", "export", "chdir"),
    *("gres", "gpus", "gpus-per-node", "gpus-per-task", "exclusive", "parsable", "requeue"),
}

ADVICE = {
    r"[Uu]nknown queue": "the queues here: qstat -Q; choose one:"
    " cluster use {site} --partition NAME",
    r"[Aa]ccount|allocation|[Pp]roject": "your projects: see the centre's accounting command;"
    " choose one: cluster use {site} --account NAME",
    r"walltime|resource limits|exceeds": "ask for less --time or fewer --nodes: qstat -Qf shows"
    " each queue's limits",
    r"filesystems": "set SITE_PBS_FILESYSTEMS in the site file",
}


def submit(
    job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
) -> str:
    words, left_out = qsub(job, options, arguments, site)
    for name in left_out:
        show(f"{site.name}: PBS has no option like --{name}, so it is left out")
    show(real_command.shown(words))
    return real_command.job_id(real_command.run(words, site.exports), ADVICE, site, show)


def qsub(
    job: JobFile, options: dict[str, str], arguments: list[str], site: Site
) -> tuple[list[str], list[str]]:
    """Return the qsub command, and the options that have no counterpart in PBS."""
    asked = jobfile.request(job, options)
    own = {name: value for name in SAME if (value := site.variable(f"SBATCH_{name.upper()}"))}
    weighed = job.options | own | options  # with the same priorities as sbatch
    if "test-only" in weighed:
        raise jobfile.JobFileError("--test-only: PBS cannot try a submission; leave it out")
    words = ["qsub", "-N", re.sub(r"\s", "_", asked.name)]
    for resource in resources(asked, site):
        words += ["-l", resource]
    for name, letter in SAME.items():
        if weighed.get(name):
            words += [letter, weighed[name]]
    if asked.array:
        words += ["-J", array_range(asked.array)]
    if asked.dependency:
        words += ["-W", f"depend={asked.dependency}"]
    words += ["-j", "oe", "-o", "/dev/null"]  # the wrapper opens the job's output itself
    words += ["-v", ",".join(f"{name}={value}" for name, value in handed_over(asked, site))]
    words += ["--", str(FOLDER / "pbs_job.sh"), str(job.path.resolve()), *arguments]
    left_out = [name for name in weighed if name not in {*SAME, *ELSEWHERE}]
    return words, left_out


def nodes_of(asked: JobRequest, site: Site) -> int:
    """Return the requested number of nodes; by default, as many as have a GPU for each rank."""
    per_node = site.number("SITE_GPUS_PER_NODE") or asked.ntasks
    return asked.nodes if asked.nodes_given else -(-asked.ntasks // per_node)


def resources(asked: JobRequest, site: Site) -> list[str]:
    nodes = nodes_of(asked, site)
    each = -(-asked.ntasks // nodes)
    select = site.settings.get("SITE_PBS_SELECT") or (
        f"ncpus={each * asked.cpus_per_task}:mpiprocs={each}"
    )
    words = [f"select={nodes}:{select}", "place=scatter"]
    if asked.seconds is not None:
        words.append(f"walltime={jobfile.clock(asked.seconds)}")
    if site.settings.get("SITE_PBS_FILESYSTEMS"):
        words.append(f"filesystems={site.settings['SITE_PBS_FILESYSTEMS']}")
    return words


def handed_over(asked: JobRequest, site: Site) -> list[tuple[str, str]]:
    known = {"x": asked.name, "u": jobfile.values_of(0, "", "", None)["u"]}
    handed = {
        "COURSE_SITE": site.file,
        "COURSE_NTASKS": asked.ntasks,
        "COURSE_NNODES": nodes_of(asked, site),
        "COURSE_CPUS_PER_TASK": asked.cpus_per_task,
        "COURSE_OUTPUT": jobfile.fill(asked.output, known),
        "SLURM_GPUS_ON_NODE": site.settings.get("SITE_GPUS_PER_NODE"),  # PBS does not set it
        "COURSE_ERROR": asked.error and jobfile.fill(asked.error, known),
    }
    return [(name, str(value)) for name, value in handed.items() if value]


def array_range(indices: tuple[int, ...]) -> str:
    """Return the indices as PBS expects them: one range with one step, such as 0-6:2."""
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if indices != tuple(range(indices[0], indices[-1] + 1, step)):
        raise jobfile.JobFileError(
            f"--array={','.join(map(str, indices))}: PBS takes one range such as 0-7 or 0-6:2"
        )
    last = max(indices[-1], indices[0] + 1)  # PBS has no arrays with a single task
    return f"{indices[0]}-{last}" + (f":{step}" if step > 1 else "")


def statuses(label: str) -> list[JobStatus]:
    number, attributes = described(label)
    state = STATES.get(attributes["job_state"]) or ENDS.get(
        attributes.get("Exit_status", 0), "FAILED"
    )
    output, error = (history.file_of(number, stream) for stream in ("output", "error"))
    reason = attributes.get("comment", "") if state == "PENDING" else ""
    return [JobStatus(number, state, reason, output=output, error=error)]


def described(label: str) -> tuple[str, dict]:
    """Return a job's number and what qstat reports about it, even after it has ended."""
    done = real_command.run(["qstat", "-x", "-f", "-F", "json", label])
    jobs = json.loads(done.stdout or "{}").get("Jobs", {})
    if not jobs:
        raise click.ClickException(f"PBS knows no job {label}: {done.stderr.strip()}")
    name, attributes = next(iter(jobs.items()))
    return re.match(r"\d+", name)[0], attributes  # type: ignore[index]


def show_queue(labels: list[str]) -> None:
    real_command.pass_through(["qstat", *(labels or ["-u", getpass.getuser()])])


def cancel(label: str) -> None:
    real_command.pass_through(["qdel", label])


def send_signal(label: str, number: signal.Signals) -> None:
    real_command.pass_through(["qsig", "-s", number.name, label])


def records(labels: list[str]) -> list[dict[str, str]]:
    if not labels:
        raise click.UsageError("PBS needs the jobs: sacct --jobs=12")
    return [accounting_row(*described(label)) for label in labels]


def accounting_row(number: str, job: dict) -> dict[str, str]:
    asked, used = job.get("Resource_List", {}), job.get("resources_used", {})
    ended, code = job["job_state"] == "F", job.get("Exit_status", 0)
    return {
        "JobID": number,
        "User": job.get("Job_Owner", "").partition("@")[0],
        "Account": job.get("Account_Name", "") or job.get("project", ""),
        "JobName": job.get("Job_Name", ""),
        "Partition": job.get("queue", ""),
        "State": ENDS.get(code, "FAILED") if ended else STATES.get(job["job_state"], ""),
        "ExitCode": f"{max(code, 0) % 256}:{max(code - 256, 0)}",
        "Submit": moment(job.get("qtime")),
        "Start": moment(job.get("stime")),
        "End": moment(job.get("obittime")) if ended else "Unknown",
        "ElapsedRaw": str(jobfile.seconds(used.get("walltime", "0")) or 0),
        "TimelimitRaw": str((jobfile.seconds(asked.get("walltime", "0")) or 0) // 60),
        "NNodes": str(asked.get("nodect", "")),
        "NCPUS": str(asked.get("ncpus", "")),
        "AllocTRES": ",".join(f"{name}={asked[of]}" for name, of in TRES.items() if of in asked),
        "NodeList": re.sub(r"/\S*?(?=\+|$)", "", job.get("exec_host", "")).replace("+", ","),
        "SubmitLine": job.get("Submit_arguments", ""),
        "TotalCPU": used.get("cput", ""),
    }


def moment(text: str | None) -> str:
    """Convert a time in PBS's format, such as Fri Nov 20 15:30:08 2026."""
    if not text:
        return "Unknown"
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.strptime(text, "%a %b %d %H:%M:%S %Y"))
