"""Run a program under the limits of a systemd unit, without systemd: `python unit_limits.py UNIT PROGRAM …`.

As the service manager sets them: a user namespace, capabilities, no new privileges, memory that is never writable and
executable, system calls by their names, and families of sockets. Needs `systemd-analyze` for the names in a set of
calls, and libseccomp, which systemd brings along.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE = 24, 38, 65
CAPABILITIES = 64  # more than any kernel has
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, EAFNOSUPPORT = 1, 97
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
FAMILIES_MAX = 64


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of libseccomp."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def settings(unit: Path) -> dict[str, str]:
    """Return the settings of a unit; of one that is there twice the last."""
    pairs = (line.partition("=") for line in unit.read_text("utf-8").splitlines() if not line.startswith(("#", "[")))
    return {name: value for name, sign, value in pairs if sign}


def apply(limits: dict[str, str]) -> None:
    """Set the limits for this process and all that it starts. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if limits.get("PrivateUsers") == "yes":
        user, group = os.getuid(), os.getgid()
        check(libc.unshare(CLONE_NEWUSER), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if limits.get("CapabilityBoundingSet") == "":
        for capability in range(CAPABILITIES):
            if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                break  # the kernel has no more
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    if limits.get("MemoryDenyWriteExecute") == "yes":
        check(libc.prctl(PR_SET_MDWE, 1, 0, 0, 0), "PR_SET_MDWE")
    filter_calls(limits["SystemCallFilter"], {FAMILIES[name] for name in limits["RestrictAddressFamilies"].split()})


def filter_calls(allowed: str, families: set[int]) -> None:
    """Let all system calls but those of a set fail, and sockets but those of some families."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    calls = ctypes.c_void_p(lib.seccomp_init(ERRNO | EPERM))
    for name in calls_of(allowed):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # else of another processor
            check(lib.seccomp_rule_add_array(calls, ALLOW, number, 0, None), name)
    sockets = ctypes.c_void_p(lib.seccomp_init(ALLOW))
    number = lib.seccomp_syscall_resolve_name(b"socket")
    for family in set(range(FAMILIES_MAX)) - families:
        equal = Comparison(0, 4, family, 0)
        check(lib.seccomp_rule_add_array(sockets, ERRNO | EAFNOSUPPORT, number, 1, ctypes.byref(equal)), "socket")
    for context in (sockets, calls):  # after the second one no filter may be added
        check(lib.seccomp_load(context), "seccomp_load")


def calls_of(name: str) -> set[str]:
    """Return the system calls of a set, also of the sets in it."""
    listing = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, check=True
    ).stdout
    entries = [line.strip() for line in listing.splitlines() if line.startswith("    ") and "#" not in line]
    sets = [calls_of(entry) for entry in entries if entry.startswith("@")]
    return {entry for entry in entries if not entry.startswith("@")}.union(*sets)


def check(result: int, what: str) -> None:
    """Raise OSError for a call that failed."""
    if result != 0:
        raise OSError(abs(ctypes.get_errno() or result), f"{what} failed")


if __name__ == "__main__":
    apply(settings(Path(sys.argv[1])))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606
