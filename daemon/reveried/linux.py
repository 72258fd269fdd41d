"""Linux system calls of the daemon: peer credentials, systemd readiness and sockets, death with the parent process."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from reverie.errors import ReverieError

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_ACTIVATED_FD = 3
PEER_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid of `struct ucred`
PR_SET_PDEATHSIG = 1
MADV_DONTNEED = 4
M_ARENA_MAX = -8
M_MMAP_THRESHOLD = -3
M_TRIM_THRESHOLD = -1


@dataclass(frozen=True, slots=True)
class Peer:
    """The process at the other end of a Unix socket, as the kernel recorded it at connect."""

    pid: int
    uid: int
    gid: int


def require_linux() -> None:
    """Check that this is Linux, before anything is imported that exists only there.

    Raises:
        ReverieError: it is another system; the message names it.
    """
    if not sys.platform.startswith("linux"):
        raise ReverieError(
            f"Reverie runs on Linux only, and this system is {sys.platform}",
            hint="run it on Linux, in a virtual machine or in a container",
        )


def unsupported(what: str) -> NoReturn:
    """Raise the error of a system call that this platform lacks.

    Raises:
        OSError: always, with ENOSYS.
    """
    raise OSError(errno.ENOSYS, f"{what} is not available on {sys.platform}: the daemon runs on Linux")


def peer_of(connection: socket.socket) -> Peer:
    """Return the peer's credentials by SO_PEERCRED (`man 7 unix`), fixed at connect."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        unsupported("SO_PEERCRED")
    return Peer(*PEER_CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, PEER_CREDENTIALS.size)))


def notify(state: str, env: Mapping[str, str]) -> bool:
    """Send one datagram to the service manager (`man 3 sd_notify`); False when there is none, or it does not listen.

    `state` is lines such as `READY=1`, `STATUS=…`, `STOPPING=1`. An address that begins with `@` is abstract.
    """
    address = env.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    name = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        try:
            channel.sendto(state.encode(), name)
        except OSError:
            # A service manager that has gone must not stop the service that it started.
            return False
    return True


def activated_sockets(env: Mapping[str, str], pid: int) -> list[tuple[str, socket.socket]]:
    """Return the listening sockets that a service manager opened for us (`man 3 sd_listen_fds`), each with its name.

    Descriptors that are not listening stream sockets are closed and left out. Empty when `LISTEN_PID` names
    another process: the variables were meant for a parent of ours.
    """
    if env.get("LISTEN_PID") != str(pid) or not env.get("LISTEN_FDS", "").isdigit():
        return []
    count = int(env["LISTEN_FDS"])
    names = env.get("LISTEN_FDNAMES", "").split(":")
    listeners = []
    for number in range(count):
        inherited = FIRST_ACTIVATED_FD + number
        os.set_inheritable(inherited, False)  # noqa: FBT003 - the standard library's signature
        listener = socket.socket(fileno=inherited)
        accepting = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
        if not accepting or listener.type != socket.SOCK_STREAM:
            listener.close()
            continue
        listeners.append((names[number] if number < len(names) else "", listener))
    return listeners


def die_with_parent(signal_number: int, parent: int) -> None:
    """Ask the kernel to signal this process when the thread that started it ends (`man 2 prctl`, PR_SET_PDEATHSIG).

    `parent` closes the race: when the parent is gone already, this process ends at once.
    """
    if not sys.platform.startswith("linux"):
        unsupported("PR_SET_PDEATHSIG")
    import ctypes  # noqa: PLC0415 - commands import this module too, and need no foreign function

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os._exit(0)


def limit_kept_memory(*, arenas: int, large_bytes: int) -> None:
    """Let the allocator keep less of what is freed (`man 3 mallopt`); does nothing where the C library cannot.

    The threads started from now on share so many `arenas`: by default there is one for each thread, up to eight for
    each processor, and each keeps free memory of its own. What has `large_bytes` or more is mapped, so that it is given
    back when it is freed: by default the first large piece that is freed raises that limit, and those after it lie
    between small ones.
    """
    import ctypes  # noqa: PLC0415 - as above

    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_ARENA_MAX, arenas)
        libc.mallopt(M_MMAP_THRESHOLD, large_bytes)
        libc.mallopt(M_TRIM_THRESHOLD, 2 * large_bytes)  # the ratio that the allocator keeps itself


def release_memory() -> None:
    """Give freed memory back to the system (`man 3 malloc_trim`); does nothing where the C library cannot."""
    import ctypes  # noqa: PLC0415 - as above

    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def release_pages(mapped_file: str) -> None:
    """Give the pages of the maps of a file of this name back to the system.

    They are dropped from this process only (`man 2 madvise`, MADV_DONTNEED): a map that is read alone is read again
    from the page cache.
    """
    import ctypes  # noqa: PLC0415 - as above

    libc = ctypes.CDLL(None, use_errno=True)
    for start, size in _read_only_maps(mapped_file):
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), MADV_DONTNEED)


def _read_only_maps(name: str) -> list[tuple[int, int]]:
    """Return address and size of the shared maps that are only read, of files called `name`."""
    maps = []
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123 - not a user's path
        for line in lines:
            where, access, *rest = line.split(maxsplit=5)
            if access == "r--s" and len(rest) == 4 and rest[3].rstrip().endswith(f"/{name}"):
                start, _, end = where.partition("-")
                maps.append((int(start, 16), int(end, 16) - int(start, 16)))
    return maps
