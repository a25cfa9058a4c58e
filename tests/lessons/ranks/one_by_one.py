"""Run programs one after the other on the same ranks, so that frameworks load only once.

    ONE_BY_ONE='[["FOLDER", ["PROGRAM", "WORD", …]], …]' mpirun -np N python one_by_one.py

Each program runs in its folder, with the modules beside the program, and prints to FOLDER/job.out.
What a program says that ends early, with sys.exit, is in FOLDER/ended_NUMBER.txt.
"""

import contextlib
import faulthandler
import io
import json
import os
import runpy
import sys
from pathlib import Path

NAMES = ("OMPI_COMM_WORLD_RANK", "HOROVOD_RANK", "RANK")
rank = next((os.environ[name] for name in NAMES if name in os.environ), "0")
port = int(os.environ.get("MASTER_PORT", "0"))  # where ranks of torch.distributed meet
for number, (folder, words) in enumerate(json.loads(os.environ["ONE_BY_ONE"])):
    if port and number:  # the last program's may not be free yet
        os.environ["MASTER_PORT"] = str(port + number)
        os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "False"  # torchrun's is at the first port
    sys.stdout.flush()
    os.chdir(folder)
    out = os.open("job.out", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.close(out)
    beside = str(Path(words[0]).resolve().parent)
    sys.path.insert(0, beside)
    sys.argv = words
    faulthandler.dump_traceback_later(170, exit=True)  # a program that hangs says where
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        if rank == "0" and ended.code is None:
            raise RuntimeError("a program that ends early has to fail") from None
        said.write(f"{ended.code}\n" if ended.code else "")  # rank 0's, if each has its reason
        if ended.code != 0:
            with open(f"ended_{number}.txt", "a") as file:
                file.write(said.getvalue())
    finally:
        faulthandler.cancel_dump_traceback_later()
        sys.stderr.write(said.getvalue())
    sys.path.remove(beside)
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(beside):
            del sys.modules[name]
