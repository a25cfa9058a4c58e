"""Choose what to show after a failed job: the end of its output, and advice on its errors."""

import re
from difflib import get_close_matches
from pathlib import Path

from cluster.jobs.readable import readable_lines
from cluster.schedulers.contract import JobStatus, Show

LAST_LINES = 15
LOOKED_AT = 5000  # lines from the end; many lines can follow the first rank's message

STARTUP = re.compile(r"oneDNN custom|absl::InitializeLog|cpu_feature_guard|rebuild TensorFlow with")
LESSONS = Path(__file__).parents[2] / "lessons"
FILES = "|".join(sorted({path.stem for path in LESSONS.glob("[0-9]*_*/*.py")})) or "train"
# What programs, MPI and the batch system write -> advice.
ADVICE = {
    r"NotImplementedError: (Exercise \d+\.\d+[a-z]?)": r"\1 is still a gap: fill it; lessons check"
    " finds it without a job. Did you save the file (Ctrl+S)?",
    r"(?:Syntax|Indentation|Tab|Name)Error: ": "lessons check finds such errors without a job",
    r"EADDRINUSE|[Aa]ddress already in use": "another program uses this port: take the job's own,"
    " which is in MASTER_PORT",
    r"waiting for clients|client socket has timed out": "the ranks did not meet: each one needs the"
    " same address and port (MASTER_ADDR, MASTER_PORT), and the same number of ranks",
    r"Disk quota exceeded": "your quota is used up: quota -s; du -sh * | sort -h",
    r"No space left on device": "the disk is full: df -h .; keep large files in scratch folders",
    r"DUE TO TIME LIMIT": "the job reached its time limit: ask for more --time, or let it do less",
    r"oom[-_ ]kill|Out [Oo]f [Mm]emory|MemoryError|Cannot allocate memory": "memory ran out: ask"
    " for more (--mem), or use fewer ranks per node or a smaller batch",
    r"CUDA out of memory|OOM when allocating": "the GPU's memory ran out: use a smaller"
    " batch; if the GPU is shared (nvidia-smi), use another one",
    r"CUDA-capable device\(?s\)? (is/)?are busy|DEVICE_UNAVAILABLE": "another process has the GPU:"
    " a speed job runs two on each, so the GPUs' compute mode has to be Default, not Exclusive"
    " (nvidia-smi --query-gpu=compute_mode --format=csv); ask the centre",
    r"ranks were asked for, but .* sees": "the launcher and this MPI do not match, see:"
    " cluster doctor",
    r"Lmod has detected|Unable to locate a modulefile|could not be loaded": "modules clash or no"
    " longer exist: module purge; module spider NAME; then correct load_software in the site file",
    r"GLIBCXX_\S+' not found|GLIBC_\S+' not found|undefined symbol": "modules clash: a library "
    "of another compiler or MPI is found first: module list; cluster doctor",
    r": command not found": "a command is misspelt or not installed here: compare the line with the"
    " lesson's job file (launch, facts); a site's own commands need its module",
    rf"No module named '(?:{FILES})'": "a file of the lesson is missing here: copy it, or the whole"
    " folder, again from the course",
    rf"No module named(?! '(?:{FILES})')": "this Python lacks a package; choose the course's:"
    " cluster use SITE --environment FOLDER",
    r"[Bb]ootstrap : no socket interface|Gloo connectFullMesh failed"
    r"|connect(?!/validate).*timed out"
    r"|No route to host|ECONNREFUSED|Connection refused": "ranks cannot reach each other, "
    "perhaps because they use the wrong interface: set GLOO_SOCKET_IFNAME and "
    "NCCL_SOCKET_IFNAME; cluster doctor",
    r"Network is unreachable|Name or service not known|Temporary failure in name resolution": "no"
    " internet, as on most compute nodes: run lessons data fetch before you submit",
    r"Permission denied": "you have no permission for a file or folder: check it with ls -l",
}


def tell(statuses: list[JobStatus], say: Show) -> None:
    """Show which rank of the first failed job failed first, advice, and the job's last lines."""
    failed = next((status for status in statuses if not status.succeeded), None)
    if failed is None:
        return
    advise(failed, say)
    for file, command in ((failed.output, "logs"), (failed.error, "logs -e")):
        lines = end_of(file, LOOKED_AT)
        if lines and not (command == "logs -e" and file == failed.output):
            say(f"The end of {file} (cluster {command} {failed.label}):")
            own = [line for line in readable_lines(lines) if not STARTUP.search(line)]
            for line in own[-LAST_LINES:]:
                say(f"    {line}")


def advise(failed: JobStatus, say: Show) -> None:
    """Show which rank of a failed job failed first, and advice on the errors in both files."""
    from autograder.reading.failed_ranks import failed_ranks  # `sbatch` should start quickly

    files = dict.fromkeys((failed.output, failed.error))
    lines = [line for file in files for line in end_of(file, LOOKED_AT)]
    for sentence in (*failed_ranks(lines), *meaning(lines)):
        say(f"job {failed.label}: {sentence}")


def end_of(file: Path | None, number: int) -> list[str]:
    if not file or not file.is_file():
        return []
    with open(file, "rb") as opened:
        opened.seek(max(0, file.stat().st_size - 200 * number))
        return opened.read().decode(errors="replace").splitlines()[-number:]


def meaning(lines: list[str]) -> list[str]:
    """Return the advice on errors in these lines, in the table's order."""
    text = "\n".join(lines)
    found = [(re.search(pattern, text), advice) for pattern, advice in ADVICE.items()]
    sentences = [match.expand(advice) for match, advice in found if match]
    if unknown := re.search(r"(\S+): error: unrecognized arguments: ([^\s=]+)", text):
        options = re.findall(r"--[\w-]+", text[: unknown.start()])  # of the usage above it
        near = get_close_matches(unknown[2], options, 1) or ["--help"]
        sentences.append(f"{unknown[1]} has no option {unknown[2]}: try {near[0]}")
    return sentences
