"""Check a node's network interfaces, and which of them Gloo and NCCL would use."""

import ipaddress
import os
import re
import socket

from cluster.doctor.diagnosis import Diagnosis, broken, look, node_name, ok

SET = "export GLOO_SOCKET_IFNAME={name} NCCL_SOCKET_IFNAME={name} in the site file"


def interfaces() -> Diagnosis:
    addresses = up_with_addresses()
    if not addresses:
        return broken(
            "no network interface is up, not even loopback: no two ranks can meet",
            "report this node with the output of ip -brief address, and ask for another",
            addresses={},
        )
    speeds = {name: speed for name, speed in interface_speeds().items() if name in addresses}
    mine = address_of_this_node()
    facts = {"addresses": addresses, "megabits": speeds, "address": mine}
    if missing := not_there(addresses):
        return broken(
            f"{missing}: no such interface is up here; there are {', '.join(addresses)}",
            "correct the name in the site file or in your shell; ip -brief address lists the "
            "interfaces",
            **facts,
        )
    by_address = {ip: name for name, ip in addresses.items()}
    gloo = os.environ.get("GLOO_SOCKET_IFNAME") or by_address.get(mine, "")
    nccl = chosen_by_nccl(list(addresses), os.environ.get("NCCL_SOCKET_IFNAME", ""))
    facts |= {"gloo": gloo, "nccl": nccl}
    if not gloo and not ipaddress.ip_address(mine).is_loopback:
        return broken(
            f"{node_name()} resolves to {mine}, which is no address of this node",
            SET.format(name=nccl or "NAME"),
            **facts,
        )
    real = [name for name in addresses if not name.startswith("lo")]
    if not real and int(os.environ.get("SLURM_NNODES") or 1) > 1:
        return look(
            "only the loopback interface is up: no other machine can be reached",
            "if the job has more than one machine, run ip -brief address and ask the site's "
            "support",
            **facts,
        )
    fastest = max(real, key=lambda name: speeds.get(name, 0), default="")
    if speeds.get(fastest, 0) >= 2 * speeds.get(gloo, 10**9):
        return look(
            f"Gloo would take {gloo} ({megabits(speeds[gloo])}), but {fastest}"
            f" ({megabits(speeds[fastest])}) is faster",
            SET.format(name=fastest),
            **facts,
        )
    listed = ", ".join(described(name, ip, speeds.get(name)) for name, ip in addresses.items())
    return ok(f"{listed}; Gloo would take {gloo or 'lo'}, NCCL {nccl or 'none'}", **facts)


def not_there(addresses: dict[str, str]) -> str:
    """Return the first setting that names an interface that is not up, otherwise ""."""
    for variable in ("GLOO_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE", "NCCL_SOCKET_IFNAME"):
        wanted = os.environ.get(variable, "")
        if wanted and not chosen_by_nccl(list(addresses), wanted):
            return f"{variable}={wanted}"
    return ""


def described(name: str, ip: str, speed: int | None) -> str:
    return f"{name} {ip} ({megabits(speed)})" if speed else f"{name} {ip}"


def up_with_addresses() -> dict[str, str]:
    """Return the name and address of each interface that is up and has an IPv4 address."""
    import psutil

    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    addresses = {}
    for name, entries in psutil.net_if_addrs().items():
        ips = [entry.address for entry in entries if entry.family == socket.AF_INET]
        if name in up and ips:
            addresses[name] = ips[0]
    return addresses


def interface_speeds() -> dict[str, int]:
    """Return the speed in Mbit/s of those interfaces that report it."""
    import psutil

    return {name: state.speed for name, state in psutil.net_if_stats().items() if state.speed > 0}


def megabits(number: int) -> str:
    return f"{number / 1000:g} Gbit/s" if number >= 1000 else f"{number} Mbit/s"


def address_of_this_node() -> str:
    """Return what Gloo uses by default: the address that the node's name resolves to."""
    wanted = os.environ.get("GLOO_SOCKET_IFNAME")
    if wanted and wanted in (there := up_with_addresses()):
        return there[wanted]
    return socket.gethostbyname(socket.gethostname())


def chosen_by_nccl(names: list[str], setting: str) -> str:
    """Return the interface that NCCL chooses.

    The setting is a list of prefixes: `=name` means only that interface, and `^name` all others.
    Without a setting, NCCL prefers interfaces named ib*, then others, and uses docker and loopback
    last.
    """
    if setting:
        exact, exclude = setting.startswith(("=", "^=")), setting.startswith("^")
        words = [word for word in re.split(",", setting.lstrip("^=")) if word]

        def meant(name: str) -> bool:
            return any(name == word if exact else name.startswith(word) for word in words)

        names = [name for name in names if meant(name) != exclude]
    order = ((r"ib", 0), (r"docker", 2), (r"lo$", 3))
    ranked = sorted(
        names, key=lambda name: next((rank for stem, rank in order if re.match(stem, name)), 1)
    )
    return ranked[0] if ranked else ""
