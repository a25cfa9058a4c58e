"""Write the report of a scaling study from the jobs' outputs. A learner adds the text.

    scaling_report.write(runs, laws=…, question=…, recommendation=…, unknown=…)

report.md has the table of each kind of scaling, and study.png is the picture. The learner's text
is copied unchanged.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.codes import Outcome
from autograder.measuring import measure, rounds, study_table
from autograder.measuring.interval import Measure, measured_or_none
from autograder.measuring.study_table import HEAD, SizeRow, by_kind
from autograder.records import Run
from lessons.toolkit import plots

REPORT, PICTURE, FORM = "report.md", "study.png", "classmate.md"
KEPT = {  # what stays the same from one size to the next
    "strong": "global batch and images per epoch stay the same",
    "epoch": "images per epoch and each rank's batch stay the same; the global batch grows",
    "weak": "each rank's batch and images stay the same; the images per epoch grow",
}


def write(
    runs: Sequence[Run],
    *,
    laws: Mapping[str, object],
    question: str = "",
    recommendation: str = "",
    unknown: str = "",
    faster: str = "",
    costs: Mapping[str, object] | None = None,
    file: str = REPORT,
) -> None:
    """Write the report and its picture.

    `runs`: the runs of the study. `laws`: the fitted laws, by name. `costs`: the costs of jobs from
    the scheduler's accounting.
    """
    tables = dict(by_kind(runs))
    if not tables:
        raise ValueError("These outputs contain no points of a study: submit job_study.sbatch")
    tell_missing(tables)
    plots.scaling_study(runs).savefig(Path(file).with_name(PICTURE))
    parts = {
        "Question": question,
        "Hardware": hardware(runs),
        "Table": "\n\n".join(table(kind, rows) for kind, rows in tables.items()),
        "Picture": f"![Speedup against ranks, every round a point]({PICTURE})",
        "Law": listed(laws),
        **({"Cost": listed(costs)} if costs else {}),
        "Recommendation": recommendation,
        "What is not known": unknown,
        **({"Faster": faster} if faster.strip() else {}),
        **(
            {"Read by a classmate": form} if (form := read_form(Path(file).with_name(FORM))) else {}
        ),
    }
    text = "# A scaling study\n" + "".join(
        f"\n## {title}\n\n{content.strip()}\n" for title, content in parts.items()
    )
    Path(file).write_text(text, encoding="utf-8")
    print(f"{file}: {len(tables)} tables, {len(text.split()):,} words; {PICTURE}")


def read_form(file: Path) -> str:
    """Return the form that a classmate filled in, or say that nobody did."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if not re.search(r"(?m)^Read by:[ \t]*\S", text):
        print(f"{file.name}: nobody has written a name after “Read by:”, so it is left out.")
        return ""
    return text


def tell_missing(tables: Mapping[str, Sequence[SizeRow]]) -> None:
    """Print a line for each kind of scaling that has no table.

    The job for it was cut off or never submitted.
    """
    for kind in KEPT:
        if not tables.get(kind):
            print(f"{kind} scaling is missing: no job finished it. If your job was cut off, read")
            print("the last lines of 12_study_*.err, and submit it again with more time.")


def tell_crowded(runs: Sequence[Run]) -> None:
    """Print a line for each study that other work on the machine disturbed."""
    for run in studied(runs):
        most = measured_or_none(rounds.ceiling, run)
        if isinstance(most, Measure) and is_crowded(most, rounds.ranks_of(run)):
            print(
                f"job {run.job_id}: {rounds.ranks_of(run)} ranks that exchange nothing did "
                f"{most.value:.2f} times the work of one ({most.low:.2f} to {most.high:.2f})."
            )
            print(
                "Something else is running on these cores, so these numbers mean little: "
                "measure again."
            )


def is_crowded(most: Measure, ranks: int) -> bool:
    """Return whether other load on the machine distorted the measurement of the copies.

    Without other load, N copies do at most N times the work of one copy, and never more than twice
    as much in one round as in another.
    """
    return most.value > 1.1 * ranks or most.high > 2 * most.low


def table(kind: str, rows: Sequence[SizeRow]) -> str:
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells for row in rows)]
    return f"### {kind}\n\n{KEPT[kind]}\n\n" + "\n".join(
        f"| {' | '.join(line)} |" for line in lines
    )


def listed(told: Mapping[str, object]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in told.items())


def hardware(runs: Sequence[Run]) -> str:
    """Return the hardware and software of the runs, from their records."""
    counted = studied(runs)
    run = counted[0]
    said, versions = run.header, run.header.get("versions") or {}
    hosts = run.host_names
    lines = {
        "device": said.device,
        "ranks": f"{measure.workers(run)} on {len(hosts)} node{'s' if len(hosts) > 1 else ''}",
        "threads of a rank": said.threads,
        "network": f"{said.model}, {said.params:,} parameters, {said.precision}",
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
        "jobs": ", ".join(dict.fromkeys(run.job_id for run in counted if run.job_id)) or "none",
        "ceiling": ceiling(runs),
    }
    return "\n".join(f"- {name}: {value}" for name, value in lines.items())


def studied(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose points are in the tables."""
    done = [run for run in runs if run.outcome == Outcome.COMPLETED]
    return [run for run in done if study_table.expanded([run]) != [run]]


def ceiling(runs: Sequence[Run]) -> str:
    """Return a sentence that compares ranks that exchange data with ranks that do not."""
    for run in runs:
        most, share = (measured_or_none(of, run) for of in (rounds.ceiling, rounds.share))
        if most and share:
            return (
                f"{rounds.ranks_of(run)} ranks that exchange nothing do {most.value:.2f} times the "
                f"work of one ({most.low:.2f} to {most.high:.2f}); with the exchange "
                f"{share.value:.2f} of that is left ({share.low:.2f} to {share.high:.2f})"
            )
    return "not measured"
