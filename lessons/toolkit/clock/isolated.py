"""Run a speed job's program in an interpreter that does not load student code by itself.

    python -I isolated.py ROLE PROGRAM WORDS…

With `-I`, Python ignores PYTHONPATH and the program's folder. This file adds them to the end of the
path, so that none of their modules replaces an installed package. It also deletes variables that
slow down arithmetic, because the student's code could set them back for itself alone.
"""

import os
import runpy
import sys
from pathlib import Path

SLOWER = (
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
)

if __name__ == "__main__":
    if not sys.flags.isolated:
        sys.exit("A speed job's processes must run with `python -I`; something removed it.")
    for name in SLOWER:
        os.environ.pop(name, None)
    role, program, *words = sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    sys.path += [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path.append(str(Path(program).parent))
    sys.argv = [program, *words]

    from lessons.toolkit.clock import conductor

    conductor.ROLE[:] = [role]
    runpy.run_path(program, run_name="__main__")
