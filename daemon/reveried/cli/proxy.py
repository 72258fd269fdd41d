"""`reverie proxy` and `reverie run`: clients whose compactions are answered without a model."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.private_folder import make_private
from reveried.cli import daemon_client
from reveried.cli.command import Argument, Json, Option
from reveried.cli.output import print_json, say

if TYPE_CHECKING:
    from reveried.proxy.server import ProxyServer

BASE_URL = "ANTHROPIC_BASE_URL"
PROVIDER = "https://api.anthropic.com"
LOG_NAME = "proxy.log"
LOG_BYTES_MAX = 1024 * 1024
CAP_MIN = 8_000
NO_DAEMON_HINT = "until `reverie up` compactions go to the model"

MaxTokens = Annotated[
    int | None,
    Option(
        "--max-tokens",
        metavar="N",
        help="Cap every request at about N tokens: older messages give way to a summary with excerpts.",
    ),
]
Upstream = Annotated[
    str | None, Option("--upstream", metavar="URL", help=f"The provider; default: ${BASE_URL}, else {PROVIDER}.")
]


def proxy_claude(
    max_tokens: MaxTokens = None,
    upstream: Upstream = None,
    port: Annotated[int, Option("--port", metavar="N", min=0, max=65535, help="Default: any that is free.")] = 0,
    json: Json = False,
) -> int:
    """Run a proxy for Claude Code in the foreground: its compactions are answered at once, without a model.

    Example: reverie proxy claude --max-tokens 60000
    """
    from reveried import log
    from reveried.proxy.run import serve

    log.configure("info")

    def started(server: ProxyServer) -> None:
        if json:
            print_json({"url": server.url})
        else:
            say(f"export {BASE_URL}={server.url}")
        sys.stdout.flush()
        _warn_without_daemon()

    serve(lambda: _server(max_tokens, upstream, port), started)
    return 0


def run(
    program: Annotated[str, Argument("CLIENT", "claude, or its path.")],
    arguments: Annotated[list[str] | None, Argument("[ARGUMENT...]", "The client's own.")] = None,
    max_tokens: MaxTokens = None,
    upstream: Upstream = None,
) -> int:
    """Start Claude Code with a proxy of its own: its compactions are answered at once, without a model.

    Example: reverie run --max-tokens 60000 claude

    Arguments behind the client's name are passed to the client, so options of this command come before it. The client's
    exit code is passed on.
    """
    from reveried.proxy.run import no_proxy_for_loopback, run_client

    path = _program(program)

    def env(server: ProxyServer) -> Mapping[str, str]:
        return {**os.environ, BASE_URL: server.url, **no_proxy_for_loopback(os.environ)}

    _warn_without_daemon()
    with _logged():
        return run_client([path, *(arguments or [])], lambda: _server(max_tokens, upstream, 0), env)


def _program(client: str) -> str:
    if Path(client).name != "claude":
        raise ValidationError(f"there is no proxy for {client!r}", hint="reverie run claude")
    program = shutil.which(client)
    if program is None:
        raise NotFound(f"{client} is not installed, or not in PATH", hint="install Claude Code, or give its path")
    return program


def _server(max_tokens: int | None, upstream_url: str | None, port: int) -> ProxyServer:
    """Return a proxy before it listens. Raises ValidationError."""
    from reverie.client import AsyncClient
    from reveried.proxy.answers import ClaudeRequests
    from reveried.proxy.provider import upstream
    from reveried.proxy.server import ProxyServer

    if max_tokens is not None and max_tokens < CAP_MIN:
        raise ValidationError(f"--max-tokens is less than {CAP_MIN}", hint="a client's own prompt has more than that")
    provider = upstream(upstream_url or os.environ.get(BASE_URL) or PROVIDER)
    daemon = AsyncClient(daemon_client.socket_path(), token=daemon_client.access_token(), timeout_s=30.0)
    return ProxyServer(ClaudeRequests(daemon, max_tokens=max_tokens), provider, port=port)


def _warn_without_daemon() -> None:
    """Print a warning if no daemon answers; the proxy then passes every request to the provider."""
    try:
        daemon_client.health()
    except ReverieError as error:
        sys.stderr.write(f"reverie: {error.message}; {NO_DAEMON_HINT}\n")


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """Write log lines to a file below the state folder, as the client uses the terminal."""
    from reveried import log

    path = daemon_client.layout().state_dir / LOG_NAME
    make_private(path.parent)
    is_large = path.exists() and path.stat().st_size > LOG_BYTES_MAX
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if is_large else 0), 0o600)
    with os.fdopen(number, "a", encoding="utf-8") as file:
        log.configure("info", file)
        try:
            yield
        finally:
            log.configure("info")
