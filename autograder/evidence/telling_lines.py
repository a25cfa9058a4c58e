"""Find the lines of a program that a person should see first, by their contents.

The programs page marks these lines. A marked line is not necessarily wrong, so none is a finding.
"""

import re
from functools import lru_cache

# A variable named `record` may also be an array, so these methods of arrays, lists and paths are
# allowed.
OF_ARRAYS = (
    "T append astype copy dtype extend flatten itemsize items keys len max mean min name nbytes"
    " ndim ravel reshape seconds shape size rank sort sum tobytes tofile tolist values view write"
)
# Nobody needs these in a gap or in their own module.
RECORDS = re.compile(
    r"\bMLLOG\b|\bRecord\b|\bmllog\b|\blessons\.toolkit\b|\bfrom lessons\b"
    rf"|\b(record\w{{0,20}}|epoch)(\[\w{{0,30}}\])?\.(?!({'|'.join(OF_ARRAYS.split())})\b)\w"
    r"|(?<![.\w])(exec|eval|setattr|globals|__import__)\s*\("
    r"|\b(importlib|ctypes|hashlib|blake2b|atexit)\b"
    r"|\bsys\.(modules|stdout|path|settrace)\b"
    r"|^\s*(time|hvd|comm|MPI|json|data|record|epoch)\.\w+\s*=(?!=)"
)
# Outside the gaps, lines that decide which data is read and which numbers are recorded count too.
MEASURES = re.compile(
    r"\b(x_train|y_train|x_test|y_test|facts|dataset|param_spread|files_written|shard)\b"
    r"|\bdata\.load\b|\.(fit|evaluate)\("
    r"|\b(test_|train_)?(accuracy|loss|correct|right|seconds|spread|steps|params|samples)"
    r"\s*(,\s*\w+\s*){0,3}[-+*/]?=(?!=)"
    r"|^\s*(rank|size|local_rank|source|lr|lr_base|labels|gather)=\S"
)
# Words that few gaps need. The programs page marks them where the solution does not use them.
UNUSUAL = {
    "clock": r"\b(perf_counter|monotonic|process_time|thread_time|clock_gettime|time\.time|now)\b",
    "clock replaced": r"\.(perf_counter|monotonic|process_time|time|sleep)(_ns)?\s*=(?!=)",
    "names by text": r"\bvars\s*\(|__dict__|\bgetattr\s*\(|\bsetattr\s*\(|\bdelattr\s*\(",
    "module": r"^\s*(import|from)\s+(?!(torch|tensorflow|numpy|math|mpi4py|horovod|lessons)\b)\w",
    "frame": r"\b(_getframe|currentframe|f_back|f_locals|inspect|traceback|settrace|setprofile)\b",
    "hook": r"\bregister_\w*hook\b|__(call|getattr|getattribute|torch_function|class)__",
    "global hook": r"\bregister_module_\w+hook\b",
    "thread or process": r"\b(threading|Thread|multiprocessing|subprocess|fork|asyncio)\b"
    r"|(?<!&)&\s*$|\b(nohup|setsid|disown|coproc)\b",
    "sleep": r"\bsleep\s*\(",
    "affinity": r"\b(sched_setaffinity|cpu_affinity|setpriority|taskset|chrt|renice|numactl)\b"
    r"|\bos\.nice\b|^\s*nice\b",
    "threads of a library": r"\bset_num(_interop)?_threads\b|_op_parallelism|\w+_NUM_THREADS",
    "environment": r"\b(environ|getenv|putenv|sitecustomize|PYTHON\w+|LD_\w+)\b|\bsys\.argv\b",
}
TAMPERING = frozenset({"clock replaced", "frame", "global hook", "affinity"})
KINDS = {kind: re.compile(pattern) for kind, pattern in UNUSUAL.items()}
# Messages, options and explanations, which measure nothing.
SPEAKS = re.compile(r"\s*(print\(|parser\.|\"\"\"|help=|[\w.]*add_argument\()")
LONGEST = 400  # maximum characters of a line that are searched


@lru_cache(20_000)  # most lines appear many times in a class
def records(line: str) -> bool:
    return RECORDS.search(line[:LONGEST]) is not None or len(line) > LONGEST


@lru_cache(20_000)
def unusual(line: str) -> tuple[str, ...]:
    return tuple(kind for kind, pattern in KINDS.items() if pattern.search(line[:LONGEST]))


@lru_cache(20_000)
def measures(line: str) -> bool:
    if records(line):
        return True
    return SPEAKS.match(line) is None and MEASURES.search(line[:LONGEST]) is not None
