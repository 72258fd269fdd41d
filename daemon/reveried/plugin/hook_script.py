"""The hook program where no compiled one fits: standard input to the daemon, its answer to standard output.

It runs by itself, as `python -IS hook_script.py CLIENT EVENT [PART]`, with the standard library alone. The exit status
is always 0. It sends every hook, and gives up after 0.3 s; where this client's request before had no answer in the last
seconds after 0.05 s, unless the hook opens a session.
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
WAIT_AGAIN_S = 0.05  # where the request before had no answer, BACK_OFF_S ago at most
BACK_OFF_S = 5.0
MARKS = 64  # files that mark a request without an answer; a client has the one of its process id
READ_LEAST_S = 0.001  # a read looks for bytes before it looks at the time, so that an answer in time is read
PARTS = ("state", "summary", "excerpts")
MODEL_CALL = "REVERIE_MODEL_CALL"  # set where the daemon runs the client to ask its model: not to be fed back


def main(words: list[str], env: Mapping[str, str]) -> None:
    """Run one hook: send standard input to the daemon and write its answer; give up after a time limit."""
    path = socket_path(env)
    if not words or path is None:
        return
    named = env.get("CLAUDE_PID", "")
    pid = int(named) if named.isascii() and named.isdigit() else os.getppid()
    mark = os.path.join(os.path.dirname(path), f"hook.late.{pid % MARKS}")
    is_late = words[1:2] != ["SessionStart"] and 0 <= time.time() - changed_at(mark) < BACK_OFF_S
    wait = WAIT_AGAIN_S if is_late else WAIT_S
    end, is_asked = time.time() + WAIT_S, False

    def give_up(*_: object) -> None:
        if is_asked:
            touch(mark)
        os._exit(0)

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    body = sys.stdin.buffer.read()
    if MODEL_CALL in env:
        return
    is_asked = True
    until = min(end, time.time() + wait)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.connect(path)
        peer.sendall(request(target(words, pid, until), body, env.get("REVERIE_TOKEN", "")))
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer = read(peer, until)
    if answer is None:
        touch(mark)
        return
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    os.unlink(mark)


def target(words: list[str], pid: int, until: float) -> str:
    """Return the request path of a hook: client, process, until when its answer is read, and part."""
    client = "".join(letter for letter in words[0] if letter.isascii() and (letter.isalnum() or letter == "-"))
    part = f"&part={words[2]}" if len(words) > 2 and words[2] in PARTS else ""
    return f"/v1/hooks/{client}?pid={pid}&until={int(until * 1000)}{part}"


def request(target: str, body: bytes, token: str) -> bytes:
    """Return the bytes of a request."""
    lines = [f"POST {target} HTTP/1.1", "Host: reverie", "Connection: close", "Content-Type: application/json"]
    if token.isascii() and token.isprintable() and token and " " not in token:
        lines.append(f"Authorization: Bearer {token}")
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def read(peer: socket.socket, until: float) -> bytes | None:
    """Return the body of an answer, empty where its status is not 200; None where it is not there in time."""
    data = b""
    try:
        while True:
            peer.settimeout(max(READ_LEAST_S, until - time.time()))
            if not (piece := peer.recv(1 << 16)):
                return body_of(data) or b""
            data += piece
    except TimeoutError:
        return body_of(data)


def body_of(data: bytes) -> bytes | None:
    """Return the whole body of a successful answer."""
    head, _, answer = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    is_whole = f"content-length: {len(answer)}" in lines
    return answer if lines[0].split(" ")[1:2] == ["200"] and is_whole else None


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
