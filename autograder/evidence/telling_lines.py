"""Lines of a program that a person should see first, by what stands in them.

Everything that a student changed outside the gaps is shown; these lines alone ask for a look. What
is in nobody's list is not called harmless, and what is in it is not called wrong.
"""

import re
from functools import lru_cache

# A record may also be one of a file of images: what arrays, lists and paths can do says nothing.
OF_ARRAYS = (
    *("T", "append", "astype", "copy", "dtype", "extend", "flatten", "itemsize", "items", "keys"),
    *(
        "len",
        "max",
        "mean",
        "min",
        "name",
        "nbytes",
        "ndim",
        "ravel",
        "reshape",
        "seconds",
        "shape",
    ),
    *("size", "rank", "sort", "sum", "tobytes", "tofile", "tolist", "values", "view", "write"),
)
# Nobody needs these in a gap or in a module of one's own.
RECORDS = re.compile(
    r"\bMLLOG\b|\bRecord\b|\bmllog\b|\blessons\.toolkit\b|\bfrom lessons\b"
    rf"|\b(record\w{{0,20}}|epoch)(\[\w{{0,30}}\])?\.(?!({'|'.join(OF_ARRAYS)})\b)\w"
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
    r"|^\s*(rank|size|local_rank|source|lr|lr_base|labels|gather)=\S"
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
