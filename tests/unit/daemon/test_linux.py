"""System calls of the daemon: peer credentials, service manager, inherited sockets, locks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reveried import linux
from reveried.models import launch
from reveried.server import bind_tcp, bind_unix, make_private
from support.daemon import scratch_home
from support.waiting import wait_until


def test_peer_is_this_process() -> None:
    """SO_PEERCRED returns the process that connected."""
    one, other = socket.socketpair()
    with one, other:
        assert linux.peer_of(one) == linux.Peer(os.getpid(), os.getuid(), os.getgid())


def test_notify_reaches_the_manager() -> None:
    """`notify` reaches a path and an abstract socket; without a manager, or with a dead one, it is no error."""
    with scratch_home() as home, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(home / "n"))
        assert linux.notify("READY=1", {"NOTIFY_SOCKET": str(home / "n")})
        assert manager.recv(100) == b"READY=1"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        name = f"reverie-test-{os.getpid()}"
        manager.bind("\0" + name)
        assert linux.notify("STOPPING=1", {"NOTIFY_SOCKET": "@" + name})
        assert manager.recv(100) == b"STOPPING=1"
    assert not linux.notify("READY=1", {})
    assert not linux.notify("READY=1", {"NOTIFY_SOCKET": "relative"})
    assert not linux.notify("READY=1", {"NOTIFY_SOCKET": "/nowhere/at/all"})


ACTIVATED = """
import fcntl, os, socket, sys
from reveried.linux import activated_sockets

high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 60) for number in sys.argv[1:]]
for place, number in enumerate(high, 3):
    os.dup2(number, place)
env = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "3", "LISTEN_FDNAMES": "a:b"}
print(activated_sockets(env, 1), activated_sockets({**env, "LISTEN_FDS": "x"}, os.getpid()))
print([(name, s.family == socket.AF_UNIX, s.get_inheritable()) for name, s in activated_sockets(env, os.getpid())])
"""


def test_activated_sockets_in_a_child() -> None:
    """Inherited listening sockets have their names; other descriptors are closed; another process's are ignored."""
    with (
        scratch_home() as home,
        socket.socket(socket.AF_UNIX) as listening,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as second,
    ):
        listening.bind(str(home / "1"))
        listening.listen()
        second.bind(str(home / "3"))
        second.listen()
        numbers = [each.fileno() for each in (listening, datagrams, second)]
        said = subprocess.run(
            [sys.executable, "-c", ACTIVATED, *map(str, numbers)],
            pass_fds=numbers,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert said.stdout.splitlines() == ["[] []", "[('a', True, False), ('', True, False)]"]


def test_unsupported_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without the call each function raises an error that names it."""
    monkeypatch.setattr(sys, "platform", "plan9")
    with pytest.raises(OSError, match="plan9"):
        linux.die_with_parent(9, os.getppid())
    monkeypatch.delattr(socket, "SO_PEERCRED")
    one, other = socket.socketpair()
    with one, other, pytest.raises(OSError, match="SO_PEERCRED"):
        linux.peer_of(one)


def test_child_dies_with_its_parent() -> None:
    """A child that called `die_with_parent` is killed with its parent."""
    child = (
        "import os, signal, time; from reveried.linux import die_with_parent;"
        "die_with_parent(signal.SIGKILL, os.getppid()); print(os.getpid(), flush=True); time.sleep(60)"
    )
    parent = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
        process.wait()
        # The pipe's last writer is the child: its end is the end of the pipe.
        assert process.stdout.read() == ""
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the child")


def test_a_launched_program_has_the_signals_of_any_other() -> None:
    """A model's program ends at a pipe without a reader: it does not inherit what Python ignores."""
    command = [sys.executable, "-P", "-m", "reveried.models.launch", str(os.getpid())]
    assert subprocess.run([*command, "sh", "-c", "kill -PIPE $$"], check=False).returncode == -signal.SIGPIPE
    said = subprocess.run([*command, "/no/such"], check=False, capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (launch.CANNOT_RUN, "No such file or directory\n")


def test_child_of_a_dead_parent_ends_at_once() -> None:
    """A child whose parent ended before `die_with_parent` ends at once."""
    code = (
        "import signal; from reveried.linux import die_with_parent;"
        "die_with_parent(signal.SIGKILL, 1 << 22); print('alive')"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == ""


def test_unix_socket_needs_a_private_folder_of_ours() -> None:
    """A path too long for an address and a folder of another user are refused."""
    with scratch_home() as home:
        with pytest.raises(ValidationError, match="107"):
            bind_unix(home / ("x" * 120))
        theirs = home / "theirs"
        theirs.mkdir(mode=0o777)
        if os.getuid() == 0:
            os.chown(theirs, 65534, 65534)
            with pytest.raises(ValidationError, match="another user"):
                make_private(theirs)


def test_tcp_is_loopback_only() -> None:
    """A non-loopback address and a port in use are refused."""
    for address in ("0.0.0.0:0", "10.0.0.1:80", "localhost:80", "127.0.0.1:x", "127.0.0.1:99999"):
        with pytest.raises(ValidationError, match="loopback"):
            bind_tcp(address)
    with bind_tcp("127.0.0.1:0") as listener, pytest.raises(ValidationError, match="Cannot listen"):
        bind_tcp(f"127.0.0.1:{listener.getsockname()[1]}")


ELSEWHERE = """
import os, runpy, socket, sys

name, *words = sys.argv[1:]
for module, names in (
    (socket, ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK")),
    (os, ("O_PATH", "O_TMPFILE", "memfd_create", "posix_fallocate", "copy_file_range", "eventfd", "sched_getaffinity")),
):
    for each in names:
        if hasattr(module, each):
            delattr(module, each)
if name == "win32":
    sys.modules.update(dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "uvloop")))
    del os.getuid, os.getpgid
sys.platform = name
sys.argv = ["reverie", *words]
runpy.run_module("reveried.cli" if words else "reveried", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("win32", ()),  # the one that has the fewest modules
        ("win32", ("serve",)),
        ("win32", ("up",)),
        ("win32", ("--help",)),
        ("darwin", ()),
        ("freebsd14", ("status",)),
    ],
)
def test_another_system_is_named_at_the_start(name: str, words: tuple[str, ...]) -> None:
    """Off Linux the daemon and every command end with one sentence that names the system."""
    command = [sys.executable, "-c", ELSEWHERE, name, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert f"Reverie runs on Linux only, and this system is {name}" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
