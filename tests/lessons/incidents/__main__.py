"""Record the incidents of lesson 17 again: other ranks, steps and lines for another seed.

    make incidents SEED=2027

A published pool ages: whoever has its answers has none for a new one.
"""

import argparse
import shutil
from pathlib import Path

from tests.lessons.incidents.pages import expected, page
from tests.lessons.incidents.record import Incident, draw, run
from tests.lessons.incidents.still import what_is_wrong

FOLDER = Path(__file__).parents[3] / "solutions" / "17_clinic" / "incidents"
TRIES = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    args = parser.parse_args()
    failed = 0
    for incident in draw(args.seed):
        if not args.only or incident.name in args.only:
            failed += not keep(incident, args.seed)
    return 1 if failed else 0


def keep(incident: Incident, seed: int) -> bool:
    """Record an incident. Return whether it shows its fault."""
    for _ in range(TRIES):
        text = page(incident, run(incident, seed))
        answers = expected(incident, text)
        wrong = what_is_wrong(text, answers)
        if not wrong:
            folder = FOLDER / incident.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / "recording.rec").write_text(text)
            (folder / "expected.yaml").write_text(written(answers))
            print(f"{incident.name}: {len(text.splitlines())} lines", flush=True)
            return True
    print(f"{incident.name} ({incident.kind}): NOT RECORDED: {wrong}", flush=True)
    return False


def written(answers: dict[str, list[str]]) -> str:
    return "".join(f"{part}: [{', '.join(of)}]\n" for part, of in answers.items())


if __name__ == "__main__":
    raise SystemExit(main())
