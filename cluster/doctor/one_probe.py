"""Run one probe in its own process: python -m cluster.doctor.one_probe NAME PLACE."""

import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace

from cluster.doctor import all_probes
from cluster.doctor.diagnosis import Diagnosis
from cluster.doctor.position import Position

MARK = ":::doctor "  # keeps the result apart, because libraries print too


def main() -> None:
    probe = all_probes.BY_NAME[sys.argv[1]]
    module, function = probe.function.split(":")
    run = getattr(importlib.import_module(f"cluster.doctor.probes.{module}"), function)
    answer: Diagnosis | Iterable[Diagnosis] = run(Position.from_json(sys.argv[2]))
    for diagnosis in [answer] if isinstance(answer, Diagnosis) else answer:
        named = replace(diagnosis, probe=diagnosis.probe or probe.name)
        print(f"\n{MARK}{json.dumps(asdict(named))}", flush=True)
    print(f"\n{MARK}", flush=True)


if __name__ == "__main__":
    main()
