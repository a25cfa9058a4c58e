"""Stand-ins for Slurm's programs, which record how they were called."""

import json

FAKE = """#!/usr/bin/env python3
import json, os, sys
name = os.path.basename(sys.argv[0])
kept = {k: v for k, v in os.environ.items() if k.startswith(("SBATCH_", "COURSE_", "SLURM_TIME"))}
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(json.dumps({"name": name, "words": sys.argv[1:], "environment": kept}) + "\\n")
answers = json.loads(os.environ.get("FAKE_ANSWERS", "{}"))
out, err, code = answers.get(name, ["", "", 0])
if isinstance(out, list):  # one per call; the last one is repeated
    count = open(os.environ["FAKE_LOG"]).read().count(f'"name": "{name}"')
    out = out[min(count, len(out)) - 1]
print(out, end="")
print(err, end="", file=sys.stderr)
sys.exit(code)
"""


def install(shell) -> None:
    """Put the stand-ins first in the shell's PATH."""
    programs = shell.home / "bin"
    programs.mkdir()
    for name in ("sbatch", "squeue", "scancel", "sacct", "scontrol"):
        (programs / name).write_text(FAKE)
        (programs / name).chmod(0o755)
    shell.environment["PATH"] = f"{programs}:{shell.environment['PATH']}"
    shell.environment["FAKE_LOG"] = str(shell.home / "calls")
    answer(shell, sbatch=["Submitted batch job 77\n", "", 0])


def answer(shell, **answers) -> None:
    shell.environment["FAKE_ANSWERS"] = json.dumps(answers)


def calls(shell) -> list[dict]:
    return [json.loads(line) for line in (shell.home / "calls").read_text().splitlines()]
