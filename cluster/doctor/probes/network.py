"""Check a node's network interfaces, and which of them Gloo would use."""

import ipaddress
import os
import socket

from cluster.doctor.diagnosis import Diagnosis, broken, node_name, ok

SET = "export GLOO_SOCKET_IFNAME=NAME NCCL_SOCKET_IFNAME=NAME in the site file"


def interfaces() -> Diagnosis:
    addresses = up_with_addresses()
    if not addresses:
        return broken(
            "no network interface is up, not even loopback: no two ranks can meet",
            "report this node, and ask for another",
            addresses={},
        )
    mine = address_of_this_node()
    facts = {"addresses": addresses, "address": mine}
    if missing := not_there(addresses):
        return broken(
            f"{missing}: no such interface is up here; there are {', '.join(addresses)}",
            "correct the name in the site file or in your shell",
            **facts,
        )
    by_address = {ip: name for name, ip in addresses.items()}
    gloo = os.environ.get("GLOO_SOCKET_IFNAME") or by_address.get(mine, "")
    if not gloo and not ipaddress.ip_address(mine).is_loopback:
        return broken(
            f"{node_name()} resolves to {mine}, which is no address of this node", SET, **facts
        )
    listed = ", ".join(f"{name} {ip}" for name, ip in addresses.items())
    return ok(f"{listed}; Gloo would take {gloo or 'lo'}", **facts)


def not_there(addresses: dict[str, str]) -> str:
    """Return the first setting that names an interface that is not up, otherwise ""."""
    for variable in ("GLOO_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE", "NCCL_SOCKET_IFNAME"):
        # NCCL takes a list of prefixes; = means the whole name, and ^ all other interfaces
        wanted = os.environ.get(variable, "")
        prefixes = tuple(word for word in wanted.lstrip("=").split(",") if word)
        if prefixes and wanted[0] != "^" and not any(n.startswith(prefixes) for n in addresses):
            return f"{variable}={wanted}"
    return ""


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


def address_of_this_node() -> str:
    """Return what Gloo uses by default: the address that the node's name resolves to."""
    wanted = os.environ.get("GLOO_SOCKET_IFNAME")
    if wanted and wanted in (there := up_with_addresses()):
        return there[wanted]
    return socket.gethostbyname(socket.gethostname())
