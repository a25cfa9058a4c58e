"""The settings of a site file, and what is wrong with their values."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cluster.job_file import jobfile

# sbatch's input environment variables, without SBATCH_. It ignores others, such as SBATCH_TIME.
READ_BY_SBATCH = """
ACCOUNT ACCTG_FREQ ARRAY_INX BATCH CLUSTERS CLUSTER_CONSTRAINT CONSTRAINT CONTAINER CONTAINER_ID
CORE_SPEC CPUS_PER_GPU DEBUG DELAY_BOOT DISTRIBUTION ERROR EXCLUSIVE EXPORT GET_USER_ENV GPUS
GPUS_PER_NODE GPUS_PER_TASK GPU_BIND GPU_FREQ GRES GRES_FLAGS HINT IGNORE_PBS INPUT JOB_NAME
MEM_BIND MEM_PER_CPU MEM_PER_GPU MEM_PER_NODE NETWORK NO_KILL NO_REQUEUE OPEN_MODE OUTPUT OVERCOMMIT
PARTITION POWER PROFILE QOS REQUEUE REQ_SWITCH RESERVATION SEGMENT_SIZE SIGNAL SPREAD_JOB STEPMGR
THREADS_PER_CORE THREAD_SPEC TIMELIMIT TRES_BIND TRES_PER_TASK USE_MIN_NODES WAIT WAIT4SWITCH
WAIT_ALL_NODES WCKEY
"""
WINDOWS = "lines end as on Windows; convert the file with sed -i 's/\\r$//'"
# Every setting: whether it is required, and its allowed values.
WHOLE_NUMBER = re.compile(r"\d+")
SETTINGS: dict[str, tuple[bool, re.Pattern | None]] = {
    "SITE_NAME": (True, None),
    "SITE_TITLE": (True, None),
    "SITE_SCHEDULER": (True, re.compile(r"slurm|pbs|laptop")),
    "SITE_LAUNCHER": (True, re.compile(r"srun|mpirun|mpiexec|torchrun|horovodrun")),
    "SITE_ACCOUNT": (True, re.compile(r"required|optional|none")),
    "SITE_GPUS_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_GPU": (False, WHOLE_NUMBER),
    "SITE_GPU_CAPABILITY": (False, re.compile(r"\d+\.\d")),
    "SITE_MAX_TIME": (False, None),
    "SITE_MAX_NODES": (False, WHOLE_NUMBER),
    "SITE_MAX_JOBS": (False, re.compile(r"[1-9]\d*")),
    "SITE_INTERNET": (True, re.compile(r"yes|no")),
    "SITE_SCRATCH": (True, None),
    **dict.fromkeys(("SITE_MASTER_SUFFIX", "SITE_CONTAINER", "SITE_SRUN_OPTIONS"), (False, None)),
    **dict.fromkeys(("SITE_SUBMIT_OPTIONS", "SITE_PBS_SELECT"), (False, None)),
    "SITE_PBS_FILESYSTEMS": (False, None),
    "SITE_TESTED": (True, None),
}


def wrong_values(values: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each value of a SITE_ or SBATCH_ variable that no job could use."""
    for name, value in values.items():
        allowed = SETTINGS.get(name, (False, None))[1]
        if "\r" in value:
            yield f"{name} has a carriage return: {WINDOWS}"
        elif value and allowed and not allowed.fullmatch(value):
            words = allowed.pattern.replace("|", " or ")
            if "\\d" in words:
                words = "a number above 0, as in cluster/sites/template.sh"
            yield f"{name}={value} should be {words}"
    try:
        jobfile.seconds(values.get("SITE_MAX_TIME") or "0")
    except ValueError as error:
        yield f"SITE_MAX_TIME={values['SITE_MAX_TIME']}: {error}"


def shell_error(file: Path, said: str) -> str:
    """Return bash's message about a site file in one line, and what usually causes it."""
    lines = said.replace(f"{file}: ", "").splitlines() or ["it ended with an error"]
    if "\\r" in said:
        return f"{lines[0]}; {WINDOWS}"
    hint = "; a quote or bracket above that line is not closed" if "unexpected EOF" in said else ""
    return " ".join(line.strip() for line in lines) + hint
