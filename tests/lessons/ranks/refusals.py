"""Start programs that must refuse, one after the other on the same ranks.

    mpirun -np N python refusals.py OUT.json '[["PROGRAM", "WORD", …], …]'

OUT.json.RANK gets what this rank of each program printed as an error when it ended, with the
traceback of an exception; null if it ended without an error.
"""

import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path


def refusal(words):
    """Run a program, and return what it said when it ended with an error."""
    sys.argv = words
    stderr = os.dup(2)
    with tempfile.TemporaryFile("w+") as said:
        os.dup2(said.fileno(), 2)
        try:
            runpy.run_path(words[0], run_name="__main__")
            code = None
        except SystemExit as left:
            code = left.code
        except Exception:
            traceback.print_exc()
            code = 1
        sys.stderr.flush()
        os.dup2(stderr, 2)
        said.seek(0)
        return f"{said.read()}{code}" if code else None


out, programs = sys.argv[1:]
found, port = [], int(os.environ["MASTER_PORT"])
for number, words in enumerate(json.loads(programs)):
    os.environ["MASTER_PORT"] = str(port + number)  # the last one may not be free yet
    beside = str(Path(words[0]).parent)
    sys.path.insert(0, beside)
    found.append(refusal(words))
    sys.path.remove(beside)
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(beside):
            del sys.modules[name]
    if (dist := sys.modules.get("torch.distributed")) and dist.is_initialized():
        dist.destroy_process_group()
rank = os.environ["OMPI_COMM_WORLD_RANK"]
Path(f"{out}.{rank}").write_text(json.dumps(found))
