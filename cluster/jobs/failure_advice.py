"""Choose what to show after a failed job: the end of its output, and advice on its errors."""

import re
from difflib import get_close_matches
from pathlib import Path

from cluster.jobs.readable import readable_lines
from cluster.schedulers.contract import JobStatus, Show

LAST_LINES = 15
LOOKED_AT = 200  # lines from the end; many lines can follow the first rank's message

# The place of a Python error: the last file above it.
PLACE = r'File "(?:[^"\n]*/)?([^"/\n]+)", line (\d+)(?s:(?:(?!File ").){1,600}?)'
STARTUP = re.compile(r"oneDNN custom|absl::InitializeLog|cpu_feature_guard|rebuild TensorFlow with")
# What programs, MPI and the batch system write -> advice.
ADVICE = {
    PLACE + r"NotImplementedError: (Exercise \d+\.\d+[a-z]?)": r"\3 in \1, line \2 is still a gap:"
    " fill it; lessons check finds it without a job",
    PLACE + r"((?:Syntax|Indentation|Tab|Name)Error: .*)": r"\3, in \1, line \2: correct it;"
    " lessons check finds it without a job",
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
    r"No module named": "this Python lacks a package; choose the course's: cluster use SITE"
    " --environment FOLDER",
    r"[Bb]ootstrap : no socket interface|Gloo connectFullMesh failed|connect.*timed out"
    r"|No route to host|ECONNREFUSED|Connection refused": "ranks cannot reach each other, "
    "perhaps because they use the wrong interface: set GLOO_SOCKET_IFNAME and "
    "NCCL_SOCKET_IFNAME; cluster doctor",
    r"Network is unreachable|Name or service not known|Temporary failure in name resolution": "no"
    " internet, as on most compute nodes: run lessons data fetch before you submit",
    r"Permission denied": "you have no permission for a file or folder: check it with ls -l",
}


def tell(statuses: list[JobStatus], say: Show) -> None:
    """Show the first failed job's last output lines, without the run record, and give advice."""
    failed = next((status for status in statuses if not status.succeeded), None)
    if failed is None:
        return
    for file, command in ((failed.output, "logs"), (failed.error, "logs -e")):
        lines = end_of(file, LOOKED_AT)
        if lines and not (command == "logs -e" and file == failed.output):
            say(f"The end of {file} (cluster {command} {failed.label}):")
            own = [line for line in readable_lines(lines) if not STARTUP.search(line)]
            for line in own[-LAST_LINES:]:
                say(f"    {line}")
    advise(failed, say)


def advise(failed: JobStatus, say: Show) -> None:
    """Show advice on the errors in both files of a failed job, each sentence once."""
    for sentence in meaning([*end_of(failed.output, LOOKED_AT), *end_of(failed.error, LOOKED_AT)]):
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
