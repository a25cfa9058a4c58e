"""Lines of a program that a person should see first, by what stands in them.

Everything that a student changed outside the gaps is shown; these lines alone ask for a look. What
is in nobody's list is not called harmless, and what is in it is not called wrong.
"""

import re
from functools import lru_cache

# Nobody needs these in a gap or in a module of one's own.
RECORDS = re.compile(
    r"\bMLLOG\b|\bRecord\b|\bmllog\b|\blessons\.toolkit\b|\bfrom lessons\b"
    r"|\b(record|epoch)\w{0,20}(\[\w{0,30}\])?"
    r"\.(log|end|measure|evaluated|epoch|epochs|chain|share|samples|point|start_epoch|started"
    r"|seconds|logged|keras_callback|stop_line)\b(?!\s*[:}])"
    r"|(?<![.\w])(exec|eval|setattr|globals|__import__)\s*\("
    r"|\b(importlib|ctypes|hashlib|blake2b|atexit)\b"
    r"|\bsys\.(modules|stdout|path|settrace)\b"
    r"|^\s*(time|hvd|comm|MPI|json|data|record|epoch)\.\w+\s*=(?!=)"
)
# Outside the gaps also what decides which data is read and which numbers are recorded.
MEASURES = re.compile(
    r"\b(x_train|y_train|x_test|y_test|facts|dataset|param_spread|files_written|shard)\b"
    r"|\bdata\.load\b|\.(fit|evaluate)\("
    r"|\b(test_|train_)?(accuracy|loss|correct|right|seconds|spread|steps|params|samples)"
    r"\s*(,\s*\w+\s*){0,3}[-+*/]?=(?!=)"
    r"|^\s*(rank|size|local_rank|source|lr|lr_base)=\S"
)
# Said, offered on the command line, or explained: nothing of it is measured.
SPEAKS = re.compile(r"\s*(print\(|parser\.|\"\"\"|help=|[\w.]*add_argument\()")
LONGEST = 400  # characters of a line that are looked at


@lru_cache(20_000)  # of a class most lines come again and again
def records(line: str) -> bool:
    return RECORDS.search(line[:LONGEST]) is not None or len(line) > LONGEST


@lru_cache(20_000)
def measures(line: str) -> bool:
    if records(line):
        return True
    return SPEAKS.match(line) is None and MEASURES.search(line[:LONGEST]) is not None
