"""On the path of every Python in a rerun: where modules are looked for.

PYTHONSAFEPATH keeps the program's own folder from coming first, so no file beside it stands in for
the toolkit, for NumPy or for Python's own library. Its modules are found last.
"""

import os
import sys

sys.path.append(os.environ["COURSE_RERUN_FOLDER"])
