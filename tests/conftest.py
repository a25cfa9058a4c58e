"""For all tests."""

import os

# As every job does (cluster/sites/job.sh): else TensorFlow is slow on some processors.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
