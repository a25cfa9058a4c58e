"""Keep and write the results of first_light.py."""

import json
import threading
import time
from pathlib import Path
from typing import Any

APART = 0.02  # relative difference of a loss between GPU and CPU, after few steps in float32
HEAD = "| program | ranks | outcome | seconds | largest difference to losses on a CPU |"
RATES = "| precision | loop | images/s | peak MB |"


class Report:
    """Rows by program and number of ranks, written at once, because machines can be taken away."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.lock = folder, threading.Lock()
        self.began = time.monotonic()
        self.until = self.began + seconds
        self.machine: dict[str, Any] = {}
        self.rows: dict[tuple[str, int], dict[str, Any]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def left(self) -> float:
        return self.until - time.monotonic()

    def add(self, row: dict[str, Any]) -> None:
        with self.lock:
            self.rows[row["program"], row["ranks"]] = row
            print(f"{row['program']} on {row['ranks']}: {row['outcome']}", flush=True)
            seconds = round(time.monotonic() - self.began, 1)
            whole = {"machine": self.machine, "seconds": seconds, "resumed": self.resumed()}
            whole |= {"programs": list(self.rows.values())}
            (self.folder / "report.json").write_text(json.dumps(whole, indent=1))
            (self.folder / "report.md").write_text(page(whole))

    def resumed(self) -> str:
        """Return whether lesson 15's resumed run ended with the parameters of a whole one."""
        ends = {}
        for (program, _), row in self.rows.items():
            if program.startswith("15_survive/train.py") and row["outcome"] == "completed":
                ends[program.split()[2]] = row["parameters"]
        if not {"whole", "repeated", "resumed"} <= ends.keys():
            return "not known"
        if ends["whole"] != ends["repeated"]:
            return "not known, because two whole runs differ"
        return "equal" if ends["resumed"] == ends["whole"] else "different"

    def is_fine(self) -> bool:
        rows = self.rows.values()
        ended = all(row["outcome"].startswith(("completed", "left out")) for row in rows)
        agree = all(row.get("apart", 0) <= APART for row in rows)
        return ended and agree and self.resumed() != "different"


def compared(row: dict[str, Any], on_cpu: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the losses of the same program on the CPU."""
    if on_cpu["outcome"] != "completed":
        return row | {"on_cpu": on_cpu["outcome"]}
    pairs = list(zip(row["losses"], on_cpu["losses"], strict=True))
    apart = max(abs(gpu - cpu) / max(abs(cpu), 1e-6) for gpu, cpu in pairs)
    return row | {"losses_on_cpu": on_cpu["losses"], "apart": apart}


def page(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    facts = report["machine"] | {"seconds": report["seconds"]}
    lines = ["# First light", "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
    lines += [f"Lesson 15, parameters of a resumed and a whole run: {report['resumed']}.", ""]
    lines += [HEAD, "|---|---|---|---|---|"]
    for row in report["programs"]:
        apart = f"{row['apart']:.1e}" if "apart" in row else row.get("on_cpu", "–")
        lines.append(cells(row["program"], row["ranks"], row["outcome"], row.get("seconds"), apart))
    lines += ["", RATES, "|---|---|---|---|"]
    for rate in [rate for row in report["programs"] for rate in row.get("rates", [])]:
        lines.append(cells(*rate.values()))
    return "\n".join(lines) + "\n"


def cells(*values: Any) -> str:
    return f"| {' | '.join(map(str, values))} |"
