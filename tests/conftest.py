"""For all tests: what every job has set, and which tests may not run beside each other."""

import os

import pytest

# As every job does (cluster/sites/job.sh): else TensorFlow is slow on some processors.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


@pytest.hookimpl(tryfirst=True)  # pytest-xdist looks at the groups in the same hook
def pytest_collection_modifyitems(items):
    """`make test` runs on two cores: there is one box, and a file's fixtures are made once."""
    for item in items:
        group = "box" if item.get_closest_marker("slurm") else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))
