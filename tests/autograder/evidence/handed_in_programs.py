"""A lesson 02 whose runs record their programs, and the programs that a student submits for it."""

from pathlib import Path

from autograder.settings.rubric import load_released
from autograder.text_hash import text_hash
from tests.autograder.make_record import hand_in, make_record

RELEASED = load_released(Path("autograder/rubrics/released/02.json"))


def solved(name: str, body: str = "    return None") -> str:
    """Return a program as it was released, with the same lines in each gap."""
    gap = f"\n{body}\n"
    return gap.join("\n".join(piece) for piece in RELEASED[name]) + "\n"


TRAIN, TORCH = solved("train.py"), solved("train_torch.py")


def hash_of(text: str) -> str:
    return text_hash(text.encode())


def ran(**files: str | None) -> dict:
    """Return the record's entry on which programs ran; train="text" is train.py."""
    named = {f"{name}.py": text and hash_of(text) for name, text in files.items()}
    return {"main": next(iter(named)), "toolkit": "0" * 16, "files": named}


def student(folder: Path, keras=None, torch=None, **programs: str) -> Path:
    """Write a complete lesson 02 whose runs record their programs, with the submitted programs."""
    hand_in(
        folder / "02",
        make_record(program=keras or ran(train=TRAIN)),
        make_record(
            source="torch",
            run="77aa77aa",
            job_id="1235",
            test_accuracy=0.975,
            program=torch or ran(train_torch=TORCH),
        ),
    )
    for name, text in programs.items():
        path = folder / "02" / f"{name}.py"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder
