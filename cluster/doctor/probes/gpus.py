"""Check the node's GPUs: those that the driver, the job and the frameworks see."""

import os
import re

from cluster.doctor.ask_program import answer
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.probes.frameworks import ON_H100, driver_too_old

QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
GIVEN = ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE")


def gpus() -> Diagnosis:
    given = next((os.environ[name] for name in GIVEN if os.environ.get(name)), "")
    said = answer(*QUERY)
    facts: dict = {"given": given, "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
    if said is None:
        if given:
            return look(
                f"the batch system gave {given} GPUs, but there is no nvidia-smi",
                "the GPUs are simulated (as in the box) or from another vendor, or the node has "
                "no driver",
                **facts,
            )
        return ok("none (no nvidia-smi)", gpus=0, **facts)
    code, text = said
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if code:
        why = lines[0] if lines else f"exit code {code}"
        return broken(f"nvidia-smi: {why}", "ask for another node, and report this one", **facts)
    names = sorted({line.split(",")[0] for line in lines})
    driver = lines[0].split(", ")[-1]
    words = f"{len(lines)} × {' and '.join(names)}, driver {driver}"
    return ok(words, gpus=len(lines), driver=driver, **facts)


def agree(by_name: dict[str, Diagnosis]) -> list[Diagnosis]:
    """Check whether the frameworks see all GPUs, and whether Horovod has NCCL for them."""
    found = by_name["gpus"].facts if "gpus" in by_name else {}
    there, visible = found.get("gpus", 0), found.get("visible")
    if visible is not None:  # the job sees only some of the node's
        there = min(there, len([word for word in visible.split(",") if word]))
    if not there:
        return []
    disagreements = []
    driver = found.get("driver", "")
    on_h100 = ON_H100 if re.search("H[12]00", by_name["gpus"].found) else 0
    for name in ("torch", "tensorflow"):
        facts = by_name[name].facts if name in by_name else {}
        seen = facts.get("gpus")
        at_least = on_h100 if name == "tensorflow" and facts.get("cuda") else 0
        if needed := driver_too_old(facts.get("cuda"), driver, at_least):
            disagreements.append(
                broken(
                    f"{name} is built for CUDA {facts['cuda']} and needs driver {needed} or newer"
                    f" here; this node has {driver}",
                    "use a framework built for the CUDA version that this driver supports"
                    " (nvidia-smi shows it), or the site's own: docs/install-cluster.md",
                )
            )
        elif seen is not None and seen != there:
            disagreements.append(
                broken(
                    f"{there} GPUs are there, but {name} sees {seen}",
                    "install the GPU build (environment.yml), and load the CUDA that it names",
                )
            )
    built = by_name["horovod"].facts.get("built", {}) if "horovod" in by_name else {}
    if built and not built.get("NCCL"):
        disagreements.append(
            look(
                "Horovod has no NCCL: GPUs would exchange gradients through the CPU's memory",
                "compile it with HOROVOD_GPU_OPERATIONS=NCCL: see environment.yml",
            )
        )
    return disagreements
