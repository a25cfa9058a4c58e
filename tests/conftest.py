"""For all tests: what every job has set, and which tests may not run beside each other."""

import os

import pytest

from tests.lessons.planted import kept

# As every job does (cluster/sites/job.sh): else TensorFlow is slow on some processors.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

ON_THE_BOX = ("tests/cluster/box/", "tests/cluster/jupyter/ondemand/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """`make test` runs on two cores: there is one box, and a file's fixtures are made once.

    (pytest-xdist's own groups, `--dist loadgroup`, have no effect with pytest 9.2.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFileAndOneBox(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "box" if nodeid.startswith(ON_THE_BOX) else nodeid.partition("::")[0]

    return ByFileAndOneBox(config, log)


def pytest_terminal_summary(terminalreporter):
    """Fast tests go without the planted mistakes of a program that changed: say which."""
    if told := kept.told():
        terminalreporter.write_line(told, yellow=True)
