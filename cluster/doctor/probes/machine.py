"""Check the node itself: its processor, and the cores and memory that this job may use."""

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.cpus import usable_cpus, whole_cores
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position

GB = 1e9
CGROUPS = Path("/sys/fs/cgroup")


def machine(_: Position) -> Diagnosis:
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", info)
    name = model[1] if model else platform.machine()
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    words = f"{name}, {os.cpu_count()} CPUs; {system}, kernel {platform.release()}"
    return ok(words, alike=words, cpus=os.cpu_count())


def cores(position: Position) -> Diagnosis:
    """Report how many cores the ranks of this node have, and whether ranks share cores."""
    masks = position.affinities or (tuple(usable_cpus()),)
    usable = set().union(*masks)
    quota = cpu_quota()
    room = min(len(usable), quota) if quota else len(usable)
    ranks = len(masks)
    facts = {
        "ranks": ranks,
        "cpus": len(usable),
        "quota": quota,
        "masks": list(map(list, masks)),
    }
    whole = os.cpu_count() or 1
    if trouble := badly_pinned(masks, whole):
        return broken(trouble[0], trouble[1], **facts)
    if ranks > room:
        return look(
            f"{ranks} ranks on {room:g} CPUs: no speedup can be shown",
            "use fewer ranks per node, or more cores: --ntasks-per-node, --cpus-per-task",
            **facts,
        )
    threads = os.environ.get("OMP_NUM_THREADS", "")
    wish = sum(int(threads) if threads.isdigit() else len(mask) for mask in masks)
    if ranks > 1 and wish > room:
        said = f"OMP_NUM_THREADS={threads}" if threads else "OMP_NUM_THREADS is not set"
        return look(
            f"{ranks} ranks would start {wish} threads on {room:g} CPUs ({said})",
            "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK",
            **facts,
        )
    if ranks == 1 and len(usable) == 1 < whole:
        return look(
            f"this process is pinned to {names(masks[0])} of {whole}",
            "this is fine in a job for one core; otherwise check taskset -cp $$ and "
            "--cpus-per-task",
            **facts,
        )
    pinned = "each pinned to its own" if ranks > 1 and apart(masks) else "not pinned apart"
    how = f", {pinned}" if ranks > 1 else f", {len(whole_cores())} of them whole cores"
    return ok(f"{ranks} rank{'s' * (ranks > 1)} on {room:g} CPUs{how}", **facts)


def badly_pinned(masks: tuple[tuple[int, ...], ...], whole: int) -> tuple[str, str] | None:
    """Return the ranks that share a core or have too few cores, with advice.

    `whole` is the number of CPUs of the node.
    """
    for mask in dict.fromkeys(masks):
        beside = sum(set(other) <= set(mask) for other in masks)
        if beside > len(mask) and whole >= len(masks) and len(mask) < whole:
            return (
                f"{beside} ranks are pinned to {names(mask)} of {whole}: they take turns",
                "change the binding: srun --cpu-bind=none, or mpirun --bind-to none",
            )
    asked = int(os.environ.get("SLURM_CPUS_PER_TASK") or 1)
    narrow = [mask for mask in masks if len(mask) < asked]
    if not narrow:
        return None
    return (
        f"a rank is pinned to {names(narrow[0])}, though the job asks for {asked} cores per rank",
        f"srun --cpus-per-task={asked} (it does not inherit it), or mpirun --bind-to none",
    )


def names(mask: tuple[int, ...]) -> str:
    return f"CPU{'s' * (len(mask) > 1)} {','.join(map(str, mask))}"


def apart(masks: tuple[tuple[int, ...], ...]) -> bool:
    return sum(map(len, masks)) == len(set().union(*masks))


def memory(position: Position) -> Diagnosis:
    info = dict(re.findall(r"(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text()))
    total, free = int(info["MemTotal"]) * 1024, int(info["MemAvailable"]) * 1024
    limit = memory_limit()
    ranks = max(1, len(position.affinities))
    room = min(free, limit) if limit else free
    facts = {"total": total, "available": free, "limit": limit, "ranks": ranks}
    words = f"{room / GB:.1f} of {total / GB:.1f} GB can be used"
    if limit and limit < total:
        words += f" (the job's limit is {limit / GB:.1f} GB)"
    if room < 2 * GB * ranks:
        return look(
            f"{words}, by {ranks} rank{'s' * (ranks > 1)}: TensorFlow takes 1 to 2 GB in each",
            "ask for more (--mem), or use fewer ranks per node",
            **facts,
        )
    return ok(words, **facts)


def cpu_quota() -> float | None:
    """Return the number of CPUs that control groups allow, rounded to a whole number."""
    quotas = []
    for text in cgroup_values("cpu", "cpu.max"):  # version 2: "200000 100000" or "max 100000"
        quota, _, period = text.partition(" ")
        if quota.isdigit():
            quotas.append(int(quota) / int(period))
    for text in cgroup_values("cpu", "cpu.cfs_quota_us"):  # version 1: microseconds of 100000
        if text.isdigit():
            quotas.append(int(text) / 100_000)
    return min(quotas, default=None)


def memory_limit() -> int | None:
    texts = [
        *cgroup_values("memory", "memory.max"),
        *cgroup_values("memory", "memory.limit_in_bytes"),
    ]
    # Version 1 writes a number near 2^63 if there is no limit.
    return min((int(text) for text in texts if text.isdigit() and int(text) < 2**60), default=None)


def cgroup_values(controller: str, name: str) -> Iterator[str]:
    """Yield a setting's value in this process's control group and in each group above it."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = CGROUPS / controllers if controllers else CGROUPS
        folder = top / path.lstrip("/")
        for here in [folder, *folder.parents]:
            if here.is_relative_to(top) and (here / name).is_file():
                yield (here / name).read_text().strip()
