"""The hook program where no compiled one fits: standard input to the daemon, its answer to standard output.

It runs by itself, as `python -IS hook_script.py CLIENT EVENT [PART]`, with the standard library alone. The exit status
is always 0. It gives up after 0.3 s, and sends no request for a minute after one without an answer.
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
QUIET_S = 60.0
PARTS = ("state", "summary", "excerpts")
MODEL_CALL = "REVERIE_MODEL_CALL"  # set where the daemon runs the client to ask its model: not to be fed back


def main(words: list[str], env: Mapping[str, str]) -> None:
    """Run one hook."""
    path = socket_path(env)
    if not words or path is None:
        return
    stamp = os.path.join(os.path.dirname(path), "hook.quiet")
    asked = False

    def give_up(*_: object) -> None:
        if asked:
            try:
                os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
                os.utime(stamp)
            except OSError:
                pass
        os._exit(0)

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    body = sys.stdin.buffer.read()
    if is_quiet(stamp) or MODEL_CALL in env:
        return
    asked = True
    answer = ask(path, target(words, env), body, env.get("REVERIE_TOKEN", ""))
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()


def target(words: list[str], env: Mapping[str, str]) -> str:
    """Return the request's target, with the client's process."""
    pid = env.get("CLAUDE_PID", "")
    client = "".join(letter for letter in words[0] if letter.isascii() and (letter.isalnum() or letter == "-"))
    part = f"&part={words[2]}" if len(words) > 2 and words[2] in PARTS else ""
    return f"/v1/hooks/{client}?pid={pid if pid.isdigit() else os.getppid()}{part}"


def ask(path: str, target: str, body: bytes, token: str) -> bytes:
    """Return the body of a successful answer, else nothing."""
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
    """Return the daemon's socket; where no variable says so, the one noted beside this program."""
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


def is_quiet(stamp: str) -> bool:
    """Return True if a request had no answer a short time ago."""
    try:
        return 0 <= time.time() - os.stat(stamp).st_mtime < QUIET_S
    except OSError:
        return False


if __name__ == "__main__":
    try:
        main(sys.argv[1:], os.environ)
    finally:
        os._exit(0)  # whatever failed: no trace, no status
