"""Run one probe in its own process: python -m cluster.doctor.one_probe NAME."""

import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace

from cluster.doctor import all_probes
from cluster.doctor.diagnosis import Diagnosis

MARK = ":::doctor "  # keeps the result apart, because libraries print too


def main() -> None:
    probe = all_probes.BY_NAME[sys.argv[1]]
    module, function = probe.function.split(":")
    run = getattr(importlib.import_module(f"cluster.doctor.probes.{module}"), function)
    answer: Diagnosis | Iterable[Diagnosis] = run()
    for diagnosis in [answer] if isinstance(answer, Diagnosis) else answer:
        print(f"\n{MARK}{json.dumps(asdict(replace(diagnosis, probe=probe.name)))}", flush=True)
    print(f"\n{MARK}", flush=True)


if __name__ == "__main__":
    main()
