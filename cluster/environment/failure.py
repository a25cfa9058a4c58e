"""Explain in one sentence why a set-up failed and what to do."""

import errno
import os
import re

DISK_FULL = (
    "the disk is full; free about 5 GB, or set TMPDIR and XDG_CACHE_HOME to folders on another disk"
)
NO_NETWORK = (
    "{host} cannot be reached; check the network (a proxy goes into HTTPS_PROXY, "
    "an index of your own into `pip config`)"
)

# What a failing command prints -> its meaning. The first match counts.
CAUSES = (
    (r"No space left on device|Disk quota exceeded|not enough space", DISK_FULL),
    (
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate",
        "the package index's certificate is not trusted; set PIP_CERT to your site's certificates",
    ),
    (
        r"name resolution|Name or service not known|[Ff]ailed to resolve|Network is unreachable"
        r"|Connection refused|[Cc]onnection timed out|ConnectTimeout|Read timed out|dns error"
        r"|[Cc]annot connect to proxy|Failed to fetch|error sending request|Max retries exceeded",
        NO_NETWORK,
    ),
    (
        # pip reports an unreachable index in this way if it was told not to retry.
        r"requirement (?P<what>\S+) .*\(from versions: none\)",
        "no package index has any {what}: " + NO_NETWORK,
    ),
    (
        r"No matching distribution found for (?P<what>\S+)",
        "{what} does not exist for this Python and machine; see docs/install.md for other machines",
    ),
)


class SetUpError(Exception):
    """A failed set-up, in one sentence for the person who is waiting."""


def explain(output):
    """Return the cause that a failing command's output reveals, or None."""
    for pattern, sentence in CAUSES:
        found = re.search(pattern, output)
        if found:
            return sentence.format(host=last_host(output), **found.groupdict())
    return None


def last_host(output):
    hosts = re.findall(r"host='([^']+)'|https?://(?:[^/@\s]*@)?([^/:\s]+)", output)
    return "".join(hosts[-1]) if hosts else "the package index"


def explain_os_error(error):
    """Return a sentence for an error that occurs while the set-up program reads or writes files."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    where = error.filename or "a file"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"{where} cannot be written by user {os.geteuid()}; make it writable, "
            "or set XDG_CACHE_HOME to a folder of your own"
        )
    return f"{where}: {error.strerror or error}"
