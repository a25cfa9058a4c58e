"""Set where Python searches for modules. Every Python process of a rerun imports this file.

PYTHONSAFEPATH keeps the program's own folder from coming first, so no file in it replaces the
toolkit, NumPy or Python's own library. Python searches for modules in that folder last.
"""

import os
import sys

sys.path.append(os.environ["COURSE_RERUN_FOLDER"])
