"""Programs one after the other on the same ranks: frameworks are loaded and ranks met only once.

    mpirun -np N python one_by_one.py LESSON FOLDER [WORDS]…

Every FOLDER/NAME.py runs in FOLDER with the words as its arguments and prints to FOLDER/NAME.out.
LESSON is where the modules are that the programs import.
"""

import os
import runpy
import sys
from pathlib import Path

lesson, folder, *words = sys.argv[1:]
sys.path.insert(0, lesson)
os.chdir(folder)
for program in sorted(Path(folder).glob("*.py")):
    sys.stdout.flush()
    out = os.open(program.with_suffix(".out"), os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.close(out)
    sys.argv = [str(program), *words]
    runpy.run_path(str(program), run_name="__main__")
