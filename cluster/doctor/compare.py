"""Combine the findings of all nodes and ranks, and add those that only a comparison shows."""

from collections import defaultdict
from dataclasses import replace

from cluster.doctor import all_probes
from cluster.doctor.diagnosis import OK, Diagnosis, broken, look

SLOW = 0.02  # share of the limit
LATE = 1000.0  # µs


def compared(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Return all diagnoses in the table's order, including those that compare nodes."""
    order = [probe.name for probe in all_probes.PROBES]
    everything = [*against_limit(diagnoses), *unlike(diagnoses), *same_address(diagnoses)]
    after = {"clock": "between nodes", "launch": "allreduce", "ranks": "allreduce"}
    return sorted(everything, key=lambda each: order.index(after.get(each.probe, each.probe)))


def rows(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Merge identical findings into one row.

    All nodes without a problem share one row per probe.
    """
    groups: dict[tuple, list[Diagnosis]] = defaultdict(list)
    for diagnosis in diagnoses:
        words = () if diagnosis.state == OK else (diagnosis.found, diagnosis.advice)
        groups[(diagnosis.probe, diagnosis.state, *words)].append(diagnosis)
    return [together(group) for group in groups.values()]


def together(group: list[Diagnosis]) -> Diagnosis:
    first = group[0]
    everywhere = tuple(name for diagnosis in group for name in diagnosis.where)
    different = {diagnosis.found for diagnosis in group}
    if len(different) == 1 or not first.where:
        return replace(first, where=everywhere)
    return replace(first, found=f"{first.where[0]}: {first.found}", where=everywhere)


def unlike(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Report nodes that differ in something that should be the same on all nodes."""
    different = []
    for probe in (probe for probe in all_probes.PROBES if probe.alike):
        kinds: dict[str, list[str]] = defaultdict(list)
        for diagnosis in diagnoses:
            if diagnosis.probe == probe.name and "alike" in diagnosis.facts:
                kinds[diagnosis.facts["alike"]] += diagnosis.where
        if len(kinds) > 1:
            words = "; ".join(f"{short(where)}: {kind}" for kind, where in kinds.items())
            advice = "use the same environment, modules and kind of GPU on all nodes"
            different.append(replace(look(f"nodes differ: {words}", advice), probe=probe.name))
    return different


def same_address(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Report that all nodes' names resolve to one loopback address, as with Debian's 127.0.1.1."""
    by_address: dict[str, list[str]] = defaultdict(list)
    for diagnosis in diagnoses:
        if diagnosis.probe == "network" and "address" in diagnosis.facts:
            by_address[diagnosis.facts["address"]] += diagnosis.where
    return [
        replace(
            broken(
                f"the names of {short(where)} all resolve to {address}, and nothing else",
                "export GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME in the site file, or correct"
                " /etc/hosts",
            ),
            probe="network",
        )
        for address, where in by_address.items()
        if len(where) > 1
    ]


def against_limit(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Compare the allreduce with the link that it uses: memory within a node, TCP between nodes."""
    copies = [f.facts["gb_s"] for f in diagnoses if f.probe == "memory copy" and "gb_s" in f.facts]
    wires = [f.facts["gb_s"] for f in diagnoses if f.probe == "between nodes" and "gb_s" in f.facts]
    limits, name = (wires, "one TCP connection") if wires else (copies, "copying memory")
    return [
        judged(diagnosis, min(limits), name)
        if limits and diagnosis.probe == "allreduce" and "bus_gb_s" in diagnosis.facts
        else diagnosis
        for diagnosis in diagnoses
    ]


def judged(diagnosis: Diagnosis, limit: float, name: str) -> Diagnosis:
    share = diagnosis.facts["bus_gb_s"] / limit
    words = f"{diagnosis.found}, {100 * share:.0f} % of {name} ({limit:.1f} GB/s)"
    facts = diagnosis.facts | {"limit_gb_s": limit, "limit": name, "share": share}
    if share < SLOW or diagnosis.facts["latency_us"] > LATE:
        return replace(
            look(f"{words}: slow", "check cores and load: ranks that share a core wait for each "
                "other; otherwise check network: the interface may be wrong", **facts),
            probe=diagnosis.probe,
            where=diagnosis.where,
        )  # fmt: skip
    return replace(diagnosis, found=words, facts=facts)


def short(names: list[str] | tuple[str, ...]) -> str:
    """Shorten a list of nodes: node01, node02, node03 and 61 more."""
    few = list(dict.fromkeys(names))
    return ", ".join(few[:3]) + (f" and {len(few) - 3} more" if len(few) > 3 else "")
