"""Check the site file, the batch system and Python."""

import os
import sys
from pathlib import Path

from cluster.doctor import site_check
from cluster.doctor.diagnosis import Diagnosis, look, ok
from cluster.sites import site_files


def site_file() -> Diagnosis:
    try:
        file = site_files.chosen_file(None)
    except site_files.NoSiteError:
        return look(
            "no site is chosen, so no job can be submitted",
            "cluster sites lists them; then: cluster use SITE",
        )
    problems = [each for each in site_check.check(file) if "not on this machine" not in each]
    if problems:
        return look(
            f"{file}: {'; '.join(problems)}", "correct it until `cluster site check` finds nothing"
        )
    site = site_files.load(file)
    return ok(f"{site.name} ({file})", scheduler=site.scheduler)


def python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    python_here = f"Python {version} in {sys.prefix}"
    facts = {"version": version, "prefix": sys.prefix}
    jobs_use = os.environ.get("COURSE_ENVIRONMENT")
    if jobs_use and Path(jobs_use).resolve() != Path(sys.prefix).resolve():
        advice = f"cluster use SITE --environment {sys.prefix}"
        return look(f"{python_here}, but jobs use {jobs_use}", advice, **facts)
    for name in ("PYTHONHOME", "PYTHONPATH"):
        if os.environ.get(name):
            sentence = f"{python_here}; {name}={os.environ[name]} adds other packages"
            return look(sentence, f"unset {name}; a module may set it: module list", **facts)
    return ok(python_here, **facts)
