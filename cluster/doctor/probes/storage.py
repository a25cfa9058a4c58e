"""Check the data sets that a program would find on this node."""

import os

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.sites import data_sets


def data() -> Diagnosis:
    named = os.environ.get("COURSE_DATA")
    if named:
        try:
            os.listdir(named)
        except OSError as error:
            return broken(f"COURSE_DATA={named}: {error.strerror}", "name the folder of the data")
    found = data_sets.found()
    if found is None:
        return look("there is no `lessons` command", "make .venv")
    files, complete = found
    words = f"{files} in {named or 'the cache'}"
    if complete:
        return ok(words)
    return look(f"{words}: programs use a synthetic stand-in", data_sets.FETCH)
