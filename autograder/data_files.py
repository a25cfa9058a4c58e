"""Load the grader's own data from YAML, with PyYAML's fast loader if it is installed."""

from pathlib import Path
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path) -> Any:
    return yaml.load(path.read_bytes(), LOADER)
