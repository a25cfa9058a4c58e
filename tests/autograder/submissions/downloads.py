"""A small class's submissions in the formats of each platform; the outputs are saved real ones."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

KEPT = Path(__file__).parents[2] / "lessons/planted/outputs"
OUTPUTS = {"ada": "right", "ben": "right-in-uneven-batches", "zoe": "no-biases"}
NAMES = {"ada": "Ada Lovelace", "ben": "Ben Meyer", "zoe": "Zoë Lee-Wei"}
MOODLE = {"ada": "4701", "ben": "4702", "zoe": "4703"}
CANVAS = {"ada": "101", "ben": "102", "zoe": "103"}
GITHUB = {"ada": "ada-l", "ben": "Benmey", "zoe": "zlw"}
ROSTER = (
    "student,name,email,login,canvas_id,sis_login,moodle_id,github\n"
    "ada,Ada Lovelace,ada@example.org,al1,101,alove,Participant 4701,ada-l\n"
    'ben,"Meyer, Ben",Ben.Meyer@example.org,bm2,102,bmeyer,Participant 4702,Benmey\n'
    "zoe,Zoë Lee-Wei,zoe@example.org,zl3,103,zleewei,Participant 4703,zlw\n"
    "kim,Kim Nobody-Else,kim@example.org,kn4,104,knobody,Participant 4704,kne\n"
)
ANSWERS = "predict_shuffled = yes\n"
TIME = "2026-03-01 20:00:00.123456 UTC"

Files = dict[str, bytes]
# Two submissions of lesson 01. The second one earns more points.
GOOD = (KEPT / "01/right.out.txt").read_bytes()
BAD = (KEPT / "01/no-biases.out.txt").read_bytes()
FIRST: Files = {"job_1.out": BAD, "answers.txt": b"predict_shuffled = no\n"}
SECOND: Files = {"job_2.out": GOOD, "answers.txt": b"predict_shuffled = yes\n"}


def output(student: str) -> bytes:
    return (KEPT / "01" / f"{OUTPUTS[student]}.out.txt").read_bytes()


def work(student: str) -> Files:
    """Return a student's submission: an output, answers and a notebook."""
    return {
        "01_numpy_1234.out": output(student),
        "answers.txt": ANSWERS.encode(),
        "lesson.ipynb": b"{}",
    }


def below(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": data for name, data in files.items()}


def packed(files: Files) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, 20, 0, 0)), data)
    return whole.getvalue()


def zipped(student: str) -> bytes:
    """Return the submission as `lessons submit` packs it."""
    return packed(below("01_learning", work(student)))


# --- the platforms ----------------------------------------------------------------------------


def moodle(end: str = "_") -> Files:
    """Return Moodle's folders: ada has a zip, ben and zoe loose files."""
    found: Files = {}
    for student, name in NAMES.items():
        home = f"{name}_{MOODLE[student]}_assignsubmission_"
        files = {"work.zip": zipped(student)} if student == "ada" else work(student)
        found |= below(f"{home}file{end}", files)
    return found


def moodle_flat() -> Files:
    """Return Moodle's download without folders."""
    found: Files = {}
    for student, name in NAMES.items():
        start = f"{name}_{MOODLE[student]}_assignsubmission_"
        found |= {f"{start}file_{one}": data for one, data in work(student).items()}
    return found


def moodle_groups() -> Files:
    """Return Moodle's folders with the group's name before each member's."""
    return {f"Team 1-{name}": data for name, data in moodle().items()}


def canvas() -> Files:
    """Return Canvas's single folder: ada was late with a zip, ben submitted loose files twice."""
    found: Files = {"lovelaceada_LATE_101_2002_work.zip": zipped("ada")}
    for number, (name, data) in enumerate(work("ben").items(), start=3001):
        stem, dot, ending = name.rpartition(".")
        again = f"{stem}-1{dot}{ending}" if name == "answers.txt" else name
        found[f"meyerben_102_{number}_{again}"] = data
    for number, (name, data) in enumerate(work("zoe").items(), start=4001):
        found[f"leeweizo_103_{number}_{name}"] = data
    return found


def gradescope() -> Files:
    found: Files = {}
    told = ""
    for number, (student, name) in enumerate(NAMES.items(), start=9001):
        found |= below(f"submission_{number}", work(student))
        told += (
            f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: ''\n"
            f"    :email: {student}@example.org\n  :created_at: 2026-03-01 20:00:00.123456789 Z\n"
            "  :score: 0.0\n  :status: processed\n"
        )
    told = told.replace("ben@", "ben.meyer@")
    return {"submission_metadata.yml": told.encode(), **found}


def repositories(start: str) -> Files:
    found: Files = {}
    for student, login in GITHUB.items():
        files = {**work(student), ".git/HEAD": b"ref: refs/heads/main\n", "README.md": b"x"}
        found |= below(f"{start}-{login.lower()}", files)
    return found


def exchange() -> Files:
    found: Files = {}
    for student in NAMES:
        files = {**work(student), "timestamp.txt": TIME.encode()}
        found |= below(f"{student}+01_learning+{TIME}+8fK3_aZ-q0Lm", files)
    return found


# The input of `autograder collect`: the platform, and a folder or zip with these files.
FORMS: dict[str, tuple[str, str, Callable[[], Files]]] = {
    "Moodle's folders": ("moodle", "HPC-Lab 1-88", moodle),
    "Moodle's folders of later versions": ("moodle", "HPC-Lab 1-88", lambda: moodle("")),
    "Moodle's zip of the class": ("moodle", "HPC-Lab 1-88.zip", moodle),
    "Moodle without folders": ("moodle", "HPC-Lab 1-88", moodle_flat),
    "Moodle's groups": ("moodle", "HPC-Lab 1-88", moodle_groups),
    "Canvas's files": ("canvas", "submissions", canvas),
    "Canvas's zip of the class": ("canvas", "submissions.zip", canvas),
    "Gradescope's export": ("gradescope", "assignment_77_export", gradescope),
    "Gradescope's export as a zip": (
        "gradescope",
        "assignment_77_export.zip", lambda: below("assignment_77_export", gradescope())),
    "GitHub Classroom": ("github", "01-learning-submissions", lambda: repositories("01-learning")),
    "Classroom 50": ("github", "hpc-learning_submissions_2026_03_01_T_20_00_00", lambda: {
        **repositories("hpc-learning"), "scores.csv": b"username\n"}),
    "JupyterHub's exchange": ("jupyterhub", "inbound", exchange),
    "JupyterHub's exchange, its course": (
        "jupyterhub", "hpc", lambda: below("inbound", exchange())),
    "a zip of students' folders": ("folders", "class.zip", lambda: below("class", {
        name: data for student in NAMES
        for name, data in below(f"{student}/01_learning", work(student)).items()})),
}  # fmt: skip


def write(folder: Path, name: str, files: Files) -> Path:
    """Write these files as a folder or as one zip, and return its path."""
    target = folder / name
    if name.endswith(".zip"):
        folder.mkdir(parents=True, exist_ok=True)
        target.write_bytes(packed(files))
        return target
    for inner, data in files.items():
        path = target / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return target
