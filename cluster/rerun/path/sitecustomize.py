"""Imported by every Python in a rerun: where modules are searched.

PYTHONSAFEPATH keeps the program's own folder from coming first, so no file in it replaces the
toolkit, NumPy or Python's own library. Modules in that folder are found last.
"""

import os
import sys

sys.path.append(os.environ["COURSE_RERUN_FOLDER"])
