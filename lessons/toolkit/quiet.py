"""Keep TensorFlow quiet in a notebook: no startup messages, and no memory of a GPU.

A notebook prints its error stream in red, and TensorFlow takes nearly all memory of each GPU that
it uses, which a job on the same machine would then lack.

TensorFlow prints these messages before it reads TF_CPP_MIN_LOG_LEVEL. TF_ENABLE_ONEDNN_OPTS=0 would
silence them, but makes training slower. While TensorFlow is imported, the error stream therefore
goes to a file. Afterwards, every line that is not known to be harmless is printed.
"""

import importlib.machinery
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

GREETING = re.compile(
    rb"All log messages before absl::InitializeLog|oneDNN custom operations are on|"
    rb"This TensorFlow binary is optimized|To enable the following instructions|"
    rb"Unable to register cu\w+ factory|computation placer already registered"
)


def tensorflow() -> None:
    """Silence TensorFlow's import, and hide the GPUs from it. Nothing is imported now."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if "tensorflow" not in sys.modules and not any(isinstance(f, Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, Finder())


class Finder:
    """An import finder that finds TensorFlow as usual, but silences it and hides the GPUs."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            execute = spec.loader.exec_module

            def exec_quietly(module: Any) -> None:
                with greeting_kept_back():
                    execute(module)
                module.config.set_visible_devices([], "GPU")

            spec.loader.exec_module = exec_quietly  # type: ignore[method-assign]
        return spec


@contextmanager
def greeting_kept_back() -> Iterator[None]:
    own = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(own, 2)
            os.close(own)
            kept.seek(0)
            for line in kept:
                if not GREETING.search(line):
                    os.write(2, line)
