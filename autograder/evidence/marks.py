"""Mark the lines of a program that a person should see first, by their contents.

The programs page shows the marks. A marked line is not necessarily wrong, so none is a finding.
"""

import re
from functools import lru_cache

NOT_FILLED = "not filled"
MARKS = {
    NOT_FILLED: r"^\s*raise NotImplementedError",  # what `lessons build` puts into a gap
    "record": r"\bMLLOG\b|\bRecord\b|\blessons\.toolkit\b|\b(record|epoch)\.[a-z]",
    "clock": r"\b(perf_counter|monotonic|process_time|thread_time|clock_gettime|time\.time|now)\b",
    "names by text": r"\bvars\s*\(|__dict__|\b[gsd]e[tl]attr\s*\(|\b(importlib|ctypes|__import__)\b"
    r"|(?<![.\w])(exec|eval|globals)\s*\(|\bsys\.(modules|stdout|path)\b",
    "module": r"^\s*(import|from)\s+(?!(torch|tensorflow|numpy|math|mpi4py|horovod|lessons)\b)\w",
    "frame": r"\b(_getframe|currentframe|f_back|f_locals|inspect|traceback|settrace|setprofile)\b",
    "hook": r"\bregister_\w*hook\b|__(call|getattr|getattribute|torch_function|class)__|\batexit\b",
    "thread or process": r"\b(threading|Thread|multiprocessing|subprocess|fork|asyncio)\b"
    r"|(?<!&)&\s*$|\b(nohup|setsid|disown|coproc)\b",
    "sleep": r"\bsleep\b",
    "affinity": r"\b(sched_setaffinity|cpu_affinity|setpriority|taskset|chrt|renice|numactl)\b"
    r"|\bos\.nice\b|^\s*nice\b",
    "threads of a library": r"\bset_num(_interop)?_threads\b|_op_parallelism|\w+_NUM_THREADS",
    "environment": r"\b(environ|getenv|putenv|sitecustomize|PYTHON\w+|LD_\w+)\b|\bsys\.argv\b",
    "long line": r".{400}",
}
KINDS = {mark: re.compile(pattern) for mark, pattern in MARKS.items()}
LONGEST = 400  # maximum characters of a line that are searched


@lru_cache(20_000)  # most lines appear many times in a class
def marks_of(line: str) -> tuple[str, ...]:
    return tuple(mark for mark, pattern in KINDS.items() if pattern.search(line[:LONGEST]))
