"""A lesson's files as zips and tars, and what grading reports about them."""

import io
import re
import tarfile
import zipfile

from tests.autograder.make_record import RIGHT_ANSWERS, make_record


def files_of_a_lesson() -> dict[str, bytes]:
    torch = make_record(source="torch", run="b" * 8, job_id="8", test_accuracy=0.975)
    return {
        "02_serial/02_serial_1.out": "\n".join(make_record()).encode(),
        "02_serial/02_torch_2.out": "\n".join(torch).encode(),
        "02_serial/answers.txt": "\n".join(f"{k}={v}" for k, v in RIGHT_ANSWERS.items()).encode(),
    }


def zip_of(path, files, **extra) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**files, **extra}.items():
            archive.writestr(name, data)


def tar_of(path, files, odd=()) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in odd:
            archive.addfile(info)


def member(name, kind, target="") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def line_of(result, student) -> list[str]:
    return next(line for line in result.table if line[0] == student)


def first_step(result, student) -> str:
    """Return the first step that the student's page recommends."""
    page = (result.folder / "students" / f"{student}.html").read_text()
    steps = page.partition("What to do next")[2]
    return re.sub(r"<[^>]*>", "", steps.partition("<li>")[2].partition("</li>")[0])
