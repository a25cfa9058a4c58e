"""Findings of all nodes and ranks as one table, and what shows only when they are compared."""

from collections import defaultdict
from dataclasses import replace

from cluster.doctor import probes
from cluster.doctor.findings import OK, Finding, broken, look

SLOW = 0.02  # of the limit
LATE = 1000.0  # µs


def compared(findings: list[Finding]) -> list[Finding]:
    """The findings in the table's order, with those that compare nodes behind their own."""
    order = [probe.name for probe in probes.PROBES]
    found = [*against_limit(findings), *unlike(findings), *same_address(findings)]
    after = {"clock": "between nodes", "launch": "allreduce", "ranks": "allreduce"}
    return sorted(found, key=lambda each: order.index(after.get(each.probe, each.probe)))


def rows(findings: list[Finding]) -> list[Finding]:
    """One row for what is said alike; of many nodes that are all well, one speaks for all."""
    groups: dict[tuple, list[Finding]] = defaultdict(list)
    for finding in findings:
        words = () if finding.state == OK else (finding.found, finding.advice)
        groups[(finding.probe, finding.state, *words)].append(finding)
    return [together(group) for group in groups.values()]


def together(group: list[Finding]) -> Finding:
    first = group[0]
    everywhere = tuple(name for finding in group for name in finding.where)
    different = {finding.found for finding in group}
    if len(different) == 1 or not first.where:
        return replace(first, where=everywhere)
    return replace(first, found=f"{first.where[0]}: {first.found}", where=everywhere)


def unlike(findings: list[Finding]) -> list[Finding]:
    """Nodes that differ where they should not."""
    found = []
    for probe in (probe for probe in probes.PROBES if probe.alike):
        kinds: dict[str, list[str]] = defaultdict(list)
        for finding in findings:
            if finding.probe == probe.name and "alike" in finding.facts:
                kinds[finding.facts["alike"]] += finding.where
        if len(kinds) > 1:
            words = "; ".join(f"{short(where)}: {kind}" for kind, where in kinds.items())
            advice = "give all nodes one environment and one set of modules, and GPUs of one kind"
            found.append(replace(look(f"nodes differ: {words}", advice), probe=probe.name))
    return found


def same_address(findings: list[Finding]) -> list[Finding]:
    """Debian's 127.0.1.1: each node finds itself by its own name, and nobody else."""
    by_address: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.probe == "network" and "address" in finding.facts:
            by_address[finding.facts["address"]] += finding.where
    return [
        replace(
            broken(
                f"the names of {short(where)} all lead to {address}: they cannot find each other",
                "export GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME in the site file; /etc/hosts",
            ),
            probe="network",
        )
        for address, where in by_address.items()
        if len(where) > 1
    ]


def against_limit(findings: list[Finding]) -> list[Finding]:
    """The allreduce beside what carries it: memory inside a node, TCP between nodes."""
    copies = [f.facts["gb_s"] for f in findings if f.probe == "memory copy" and "gb_s" in f.facts]
    wires = [f.facts["gb_s"] for f in findings if f.probe == "between nodes" and "gb_s" in f.facts]
    limits, name = (wires, "one TCP connection") if wires else (copies, "copying memory")
    return [
        judged(finding, min(limits), name)
        if limits and finding.probe == "allreduce" and "bus_gb_s" in finding.facts
        else finding
        for finding in findings
    ]


def judged(finding: Finding, limit: float, name: str) -> Finding:
    share = finding.facts["bus_gb_s"] / limit
    words = f"{finding.found}, {100 * share:.0f} % of {name} ({limit:.1f} GB/s)"
    facts = finding.facts | {"limit_gb_s": limit, "limit": name, "share": share}
    if share < SLOW or finding.facts["latency_us"] > LATE:
        return replace(
            look(f"{words}: slow", "ranks that share cores wait for each other: see cores and load;"
                 " else the wrong interface: see network", **facts),
            probe=finding.probe,
            where=finding.where,
        )  # fmt: skip
    return replace(finding, found=words, facts=facts)


def short(names: list[str] | tuple[str, ...]) -> str:
    """node01, node02, node03 and 61 more."""
    few = list(dict.fromkeys(names))
    return ", ".join(few[:3]) + (f" and {len(few) - 3} more" if len(few) > 3 else "")
