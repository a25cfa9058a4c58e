"""Check the data sets that a program would find on this node."""

import os

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.probes.frameworks import INSTALL
from cluster.sites import data_sets


def data() -> Diagnosis:
    named = os.environ.get("COURSE_DATA")
    if named:
        try:
            os.listdir(named)
        except OSError as error:
            return broken(f"COURSE_DATA={named}: {error.strerror}", "name the folder of the data")
    files, where = data_sets.incomplete(), named or "the cache"
    if files is None:
        return look("there is no `lessons` command", INSTALL)
    if not files:
        return ok(f"all files in {where}")
    return look(f"{files} in {where}: programs use a synthetic stand-in", data_sets.FETCH)
