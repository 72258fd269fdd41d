"""The hook program where no compiled one fits: standard input to the daemon, its answer to standard output.

It runs by itself, as `python -IS hook_script.py CLIENT EVENT [PART]`, with the standard library alone. The exit status
is always 0. It gives up after 0.3 s, after 0.15 s where the request before had no answer, and sends no request for a
minute after two in a row without one. A daemon that has just started may be late.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT_S = 0.3
WAIT_AGAIN_S = 0.15  # where the request before had no answer
QUIET_S = 60.0
STARTING_S = 10.0  # before a request without an answer counts
PARTS = ("state", "summary", "excerpts")
MODEL_CALL = "REVERIE_MODEL_CALL"  # set where the daemon runs the client to ask its model: not to be fed back


def main(words: list[str], env: Mapping[str, str]) -> None:
    """Run one hook: send standard input to the daemon and write its answer; give up after a time limit."""
    path = socket_path(env)
    if not words or path is None:
        return
    stamp, mark = (os.path.join(os.path.dirname(path), name) for name in ("hook.quiet", "hook.missed"))
    asked, has_missed = False, 0 < changed_at(path) <= changed_at(mark)

    def give_up(*_: object) -> None:
        if asked and time.time() - changed_at(path) >= STARTING_S:
            touch(stamp if has_missed else mark)
        os._exit(0)

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, WAIT_AGAIN_S if has_missed else WAIT_S)
    body = sys.stdin.buffer.read()
    if 0 <= time.time() - changed_at(stamp) < QUIET_S or MODEL_CALL in env:
        return
    asked = True
    answer = ask(path, target(words, env), body, env.get("REVERIE_TOKEN", ""))
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    if has_missed:
        os.unlink(mark)


def target(words: list[str], env: Mapping[str, str]) -> str:
    """Return the request path of a hook: client, process id and part."""
    pid = env.get("CLAUDE_PID", "")
    client = "".join(letter for letter in words[0] if letter.isascii() and (letter.isalnum() or letter == "-"))
    part = f"&part={words[2]}" if len(words) > 2 and words[2] in PARTS else ""
    return f"/v1/hooks/{client}?pid={pid if pid.isdigit() else os.getppid()}{part}"


def ask(path: str, target: str, body: bytes, token: str) -> bytes:
    """Send a request to the daemon; return the body of a complete answer of status 200, else no bytes."""
    lines = [f"POST {target} HTTP/1.1", "Host: reverie", "Connection: close", "Content-Type: application/json"]
    if token.isascii() and token.isprintable() and token and " " not in token:
        lines.append(f"Authorization: Bearer {token}")
    lines += [f"Content-Length: {len(body)}", "", ""]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.connect(path)
        peer.sendall("\r\n".join(lines).encode("latin-1") + body)
        data = b""
        while piece := peer.recv(1 << 16):
            data += piece
    head, _, answer = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    is_whole = f"content-length: {len(answer)}" in lines
    return answer if lines[0].split(" ")[1:2] == ["200"] and is_whole else b""


def socket_path(env: Mapping[str, str]) -> str | None:
    """Return the path of the daemon's socket: by the environment, else as noted beside this program; or None."""
    if env.get("REVERIE_SOCKET", "").startswith("/"):
        return env["REVERIE_SOCKET"]
    if env.get("REVERIE_HOME", "").startswith("/"):
        return env["REVERIE_HOME"] + "/run/reverie.sock"
    try:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"), encoding="utf-8") as noted:
            return noted.read().rstrip()
    except OSError:
        folder = env.get("XDG_RUNTIME_DIR", "")
        return folder + "/reverie/reverie.sock" if folder.startswith("/") else None


def changed_at(path: str) -> float:
    """Return when a file was changed last, in seconds since 1970; 0 without one."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def touch(path: str) -> None:
    """Make an empty file, or change the time of one."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.utime(path)
    except OSError:
        pass


if __name__ == "__main__":
    try:
        main(sys.argv[1:], os.environ)
    finally:
        os._exit(0)  # whatever failed: no trace, no status
