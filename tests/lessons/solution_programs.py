"""Import the lessons' solved programs as modules."""

import importlib.util
from pathlib import Path

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def program(lesson, name):
    """Import a solved program: program("09_learning_rate", "rates")."""
    file = SOLUTIONS / lesson / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_{lesson[:2]}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
