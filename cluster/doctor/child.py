"""One probe in a process of its own: python -m cluster.doctor.child NAME PLACE."""

import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace

from cluster.doctor import probes
from cluster.doctor.findings import Finding
from cluster.doctor.place import Place

MARK = ":::doctor "  # libraries print too


def main() -> None:
    probe = probes.BY_NAME[sys.argv[1]]
    module, function = probe.function.split(":")
    run = getattr(importlib.import_module(f"cluster.doctor.{module}"), function)
    found: Finding | Iterable[Finding] = run(Place.from_json(sys.argv[2]))
    for finding in [found] if isinstance(found, Finding) else found:
        named = replace(finding, probe=finding.probe or probe.name)
        print(f"\n{MARK}{json.dumps(asdict(named))}", flush=True)
    print(f"\n{MARK}", flush=True)


if __name__ == "__main__":
    main()
