"""The transport to the Anthropic Messages API, and to every server that speaks it (`distiller.baseUrl`).

Requests are sent by a process of its own (`anthropic_jobs`), one at a time for each role, so that a working
state never waits for a long answer. A process that ends, hangs or writes what is no response is replaced; the request
fails.
"""

from __future__ import annotations

import asyncio
import importlib.util
import ipaddress
import os
import stat
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from reverie.decode import from_msgpack
from reverie.errors import Busy, ModelFailed, ReverieError
from reverie.language_model.requests import ModelAnswer
from reveried.compute import Compute
from reveried.models.transport import NOT_SENT, timed_out

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reverie.errors import FailureReason
    from reverie.language_model.requests import ModelRequest, Role
    from reveried.config import Distiller

JOBS_MODULE = "reveried.models.anthropic_jobs"
DEFAULT_URL = "https://api.anthropic.com"
DEFAULT_MODELS: Final[Mapping[Role, str]] = {"cheap": "claude-haiku-5-5", "strong": "claude-opus-5-5"}
KEY_VARIABLE = "ANTHROPIC_API_KEY"
KEY_BYTES_MAX = 4096
NO_KEY = "none"  # what a local server gets that wants no key
START_S = 60.0  # the package takes some seconds to import, more on a busy machine
IDLE_S = 300.0  # a process without work stays so long: starting it costs seconds
GRACE_S = 2.0  # the process itself ends a request at its deadline; so much later it is ended
# No variable of the package reaches the process (a key, headers, tracing), only what Python, TLS and proxies need.
PASSED_NAMES = frozenset(
    ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
)
PASSED_PREFIXES = ("PYTHON", "COVERAGE", "LC_")


class Anthropic:
    """Transport that sends a request to the Messages API once; `Metered` counts tokens and tries again."""

    def __init__(self, settings: Distiller, env: Mapping[str, str]) -> None:
        """Take the settings; no process is started before the first request."""
        self._settings = settings
        self._key_from_env = env.get(KEY_VARIABLE, "")
        self._processes = Compute(idle_s=IDLE_S, timeout_s=START_S, jobs_module=JOBS_MODULE, env=_passed(env))
        self._turns: dict[Role, asyncio.Lock] = {"cheap": asyncio.Lock(), "strong": asyncio.Lock()}
        self._starting: set[asyncio.Task[bytes]] = set()

    def model(self, role: Role) -> str:
        """Return the name of the model that a role asks."""
        chosen = self._settings.cheap_model if role == "cheap" else self._settings.strong_model
        return chosen or DEFAULT_MODELS[role]

    def pids(self) -> list[int]:
        """Return the ids of the processes that send requests."""
        return self._processes.pids()

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Return the answer of the role's model within `deadline_s` seconds; one try. Raises ModelFailed."""
        job = {"request": request, "model": self.model(request.role)}
        return from_msgpack(await self._run("send", request.role, job, deadline_s), ModelAnswer)

    async def _run(self, job: str, role: Role, given: Mapping[str, Any], deadline_s: float) -> bytes:
        """Return the result of a job in the role's process within `deadline_s` seconds. Raises ModelFailed."""
        url, key = self._base_url(), await asyncio.to_thread(self._key)
        if importlib.util.find_spec("anthropic") is None:
            raise _unsent("The anthropic package is not installed.", "pip install 'reveried[anthropic]'", "unreachable")
        end = asyncio.get_running_loop().time() + deadline_s
        sending = False
        try:
            async with asyncio.timeout_at(end) as limit, self._turns[role]:
                await self._started(role)
                limit.reschedule(end + 2 * GRACE_S)
                left = end - asyncio.get_running_loop().time()
                body = msgspec.msgpack.encode({**given, "base_url": url, "key": key, "timeout_s": left})
                sending = True
                return await self._processes.run(job, body, bulk=role == "strong", timeout_s=max(left, 0.0) + GRACE_S)
        except TimeoutError as error:
            raise timed_out(**_sent_or_not(sending)) from error
        except ModelFailed:
            raise
        except ReverieError as error:
            raise ModelFailed(
                "The process that asks the model failed.",
                hint="Try again; reverie logs.",
                **_sent_or_not(sending and not isinstance(error, Busy)),
            ) from error

    async def close(self) -> None:
        """End the processes; a request that is under way fails."""
        await self._processes.close()
        for task in self._starting:
            task.cancel()

    async def _started(self, role: Role) -> None:
        """Wait until the role's process runs; if the caller is cancelled the process is started all the same."""
        task = asyncio.create_task(
            self._processes.run("ready", b"", bulk=role == "strong", timeout_s=START_S),
            name=f"start {role} model process",
        )
        self._starting.add(task)
        task.add_done_callback(self._has_started)
        await asyncio.shield(task)

    def _has_started(self, task: asyncio.Task[bytes]) -> None:
        self._starting.discard(task)
        if not task.cancelled():
            task.exception()  # else asyncio reports it as forgotten where nobody waits any more

    def _base_url(self) -> str:
        """Return the address. Raises ModelFailed for one that would send text in the clear over a foreign network."""
        url = self._settings.base_url or DEFAULT_URL
        parts = urlsplit(url)
        if parts.scheme == "https" or _is_private(parts.hostname or ""):
            return url
        raise _unsent("distiller.baseUrl is not https.", "Use https; http is for this machine and private networks.")

    def _key(self) -> str:
        """Return the key, from the file that the settings name (read each time: it may be replaced) or the environment.

        Raises:
            ModelFailed: there is none, or others can read it.
        """
        path = self._settings.key_file
        key = _read_key(path) if path is not None else self._key_from_env.strip()
        if key:
            return key
        if self._settings.base_url:
            return NO_KEY
        hint = f"Set {KEY_VARIABLE} for the daemon, or distiller.keyFile to a file of mode 0600 that has it."
        raise _unsent("There is no key for the model's provider.", hint)


def _passed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that the process gets."""
    return {
        name: value for name, value in env.items() if name.upper() in PASSED_NAMES or name.startswith(PASSED_PREFIXES)
    }


def _is_private(host: str) -> bool:
    """Return True for this machine and for addresses of private networks (RFC 1918, RFC 4193), not for other names."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def _read_key(path: Path) -> str:
    """Return the only line of the key file. Raises ModelFailed."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _unsent(f"{path} is not a file.", "distiller.keyFile names a file with one line, the key.")
            if status.st_mode & 0o077:
                raise _unsent(f"{path} can be read by others.", f"chmod 600 {path}")
            data = file.read(KEY_BYTES_MAX + 1)
    except OSError as error:
        raise _unsent(f"{path} cannot be read: {error.strerror}.", "Check distiller.keyFile.") from error
    text = data.decode("ascii", "replace").strip()
    if not text or len(data) > KEY_BYTES_MAX or not text.isascii() or not text.isprintable() or " " in text:
        raise _unsent(f"{path} has no key.", "distiller.keyFile names a file with one line, the key.")
    return text


def _sent_or_not(sent: bool) -> dict[str, Any]:  # noqa: FBT001 - its only argument
    return {} if sent else {NOT_SENT: True}


def _unsent(message: str, hint: str, reason: FailureReason = "rejected") -> ModelFailed:
    """Return the error of a request that was not sent."""
    return ModelFailed(message, hint=hint, reason=reason, **{NOT_SENT: True})
