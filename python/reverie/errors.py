"""The errors that a caller can get, as one tree of classes.

* ReverieError
  * ValidationError          400 `validation_error`
  * Unauthenticated          401 `unauthenticated`
  * Forbidden                403 `forbidden`
  * NotFound                 404 `not_found`
  * MethodNotAllowed         405 `method_not_allowed`
  * Conflict                 409 `conflict`
  * CursorExpired            410 `cursor_expired`
  * TooLarge                 413 `too_large`
  * UnsupportedMedia         415 `unsupported_media_type`
  * TokenBudgetExceeded      422 `token_budget_exceeded`
  * ProtocolMismatch         426 `protocol_mismatch`
  * StorageFailed            500 `storage_failed`
    * Damaged                500 `storage_failed`, with the damaged record named
  * CoreFailed               500 `core_failed`, with the function named
  * ModelFailed              502 `model_failed`
  * EmbedderFailed           502 `embedder_failed`
  * Busy                     503 `busy`
    * Starting               503 `starting`
  * DiskFull                 507 `disk_full`
  * DaemonNotRunning         `daemon_not_running`, raised by the client alone

Three more are where they are raised: `HeldForPerson` (a Conflict, `reverie.usecases.forgotten`), `ComputeFailed`
(500 `internal_error`, `reveried.compute`) and `BadAnswer` (`bad_answer`, `reverie.api.endpoint`, by the client alone).

A caller may catch a class or its base. `code` never changes; `exit_status` is the exit status of the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from typing import Any, ClassVar


class ReverieError(Exception):
    """Base of all errors: what failed, on what, why, and what to do next.

    `details` is JSON; `details["hint"]` says what to do. `retry` is True where the same call may succeed later.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    exit_status: ClassVar[int] = 1
    retry: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details)
        if hint is not None:
            self.details["hint"] = hint

    @property
    def hint(self) -> str | None:
        """The next thing to do, or None."""
        hint = self.details.get("hint")
        return hint if isinstance(hint, str) else None

    @property
    def sentence(self) -> str:
        """The message and, where there is one, the hint, on one line."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class ValidationError(ReverieError):
    """The request is invalid."""

    code = "validation_error"
    status = 400
    exit_status = 2


class Unauthenticated(ReverieError):
    """The request has no credential, or an unknown one."""

    code = "unauthenticated"
    status = 401
    exit_status = 5


class Forbidden(ReverieError):
    """The caller is known, and not allowed to do this."""

    code = "forbidden"
    status = 403
    exit_status = 5


class NotFound(ReverieError):
    """There is no such thing in this space."""

    code = "not_found"
    status = 404


class MethodNotAllowed(ReverieError):
    """The path exists, but not with this method."""

    code = "method_not_allowed"
    status = 405
    exit_status = 2


class Conflict(ReverieError):
    """A concurrent writer was faster, or the change no longer fits what it was made from."""

    code = "conflict"
    status = 409
    exit_status = 4


class CursorExpired(ReverieError):
    """The events after this cursor have been removed by retention, or the store is older than it."""

    code = "cursor_expired"
    status = 410


class TooLarge(ReverieError):
    """Something is larger than a documented limit."""

    code = "too_large"
    status = 413


class UnsupportedMedia(ReverieError):
    """The request's body is not JSON, or is compressed."""

    code = "unsupported_media_type"
    status = 415


class TokenBudgetExceeded(ReverieError):
    """The work cannot be done within the token budget; nothing was written."""

    code = "token_budget_exceeded"
    status = 422

    def __init__(self, message: str, *, budget: int, minimum_required: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, budget=budget, minimumRequired=minimum_required)
        self.budget = budget
        self.minimum_required = minimum_required


class ProtocolMismatch(ReverieError):
    """Client and daemon speak different versions of the protocol."""

    code = "protocol_mismatch"
    status = 426


class StorageFailed(ReverieError):
    """The store could not write or read."""

    code = "storage_failed"
    status = 500


class Damaged(StorageFailed):
    """A record is not the one that was written: it is named, and never returned."""


class CoreFailed(ReverieError):
    """A defect of the native core: `function` met an input that it cannot compute, and stopped at the line `at`.

    Neither the message nor the details have a word of the input. The item that the function was called for fails alone.
    """

    code = "core_failed"
    status = 500

    def __init__(
        self,
        message: str = "",
        *,
        hint: str = "the rest goes on without it; report the function and line that `reverie logs` names",
        function: str = "",
        at: str = "",
    ) -> None:
        super().__init__(message or f"The core could not compute {function}.", hint=hint, function=function, at=at)


FailureReason: TypeAlias = Literal[
    "timeout",  # no complete answer within the deadline
    "unreachable",  # no connection, or the program is not there
    "rate_limited",  # the provider asks to wait, or is overloaded
    "over_ceiling",  # today's ceiling of tokens or calls, ours or the provider's
    "rejected",  # the provider does not take the request: credential, model name, size
    "failed",  # the provider or the program failed for a reason of its own
    "refused",  # the model refuses to answer
    "truncated",  # the answer ended at its limit
    "unparseable",  # the answer is not the JSON that was asked for
]


class EmbedderFailed(ReverieError):
    """The embedder of the search cannot be used: numpy or the model is missing or damaged. Words are still searched."""

    code = "embedder_failed"
    status = 502
    exit_status = 1


class ModelFailed(ReverieError):
    """A language model did not answer, or its answer cannot be used. Nothing changed.

    `retry_after` are the seconds after which the provider asks to try again, or None.
    """

    code = "model_failed"
    status = 502
    retry = True

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        reason: FailureReason = "failed",
        retry_after: float | None = None,
        **details: Any,
    ) -> None:
        waiting = {} if retry_after is None else {"retryAfter": retry_after}
        super().__init__(message, hint=hint, reason=reason, **waiting, **details)

    @property
    def reason(self) -> FailureReason:
        """The kind of failure, such as `timeout`; it is also known after the wire or another process."""
        reason: FailureReason = self.details["reason"]
        return reason

    @property
    def retry_after(self) -> float | None:
        """The seconds after which the provider asks to try again, or None."""
        seconds = self.details.get("retryAfter")
        return float(seconds) if isinstance(seconds, (int, float)) else None


class Busy(ReverieError):
    """Too much work is waiting already; try again after `retryAfter` seconds."""

    code = "busy"
    status = 503
    retry = True


class Starting(Busy):
    """The daemon has the lock and is opening its store."""

    code = "starting"


class DiskFull(ReverieError):
    """The disk is full; nothing was half written, and the next write works once there is room."""

    code = "disk_full"
    status = 507
    retry = True


class DaemonNotRunning(ReverieError):
    """No daemon answers at the socket."""

    code = "daemon_not_running"
    status = 503
    exit_status = 3
    retry = True


_BY_CODE: dict[str, type[ReverieError]] = {
    kind.code: kind
    for kind in list(globals().values())
    if isinstance(kind, type)
    and issubclass(kind, ReverieError)
    and "code" in vars(kind)  # Damaged has the code of its base
    and kind is not TokenBudgetExceeded  # has arguments of its own
}


def from_code(code: str, message: str, details: dict[str, Any]) -> ReverieError:
    """Return the error that the daemon raised, from the three fields of its error envelope."""
    if code == TokenBudgetExceeded.code:
        return TokenBudgetExceeded(
            message,
            budget=int(details.get("budget", 0)),
            minimum_required=int(details.get("minimumRequired", 0)),
            hint=details.get("hint"),
        )
    error = _BY_CODE.get(code, ReverieError)(message)
    error.details.update(details)
    return error


def failure_of(error: BaseException) -> ReverieError:
    """Return the error of the one item whose work raised `error`, so that the others go on.

    Raises:
        BaseException: `error` itself, where it is to end a task or the process: a cancellation, Ctrl-C, an exit.
    """
    if isinstance(error, ReverieError):
        return error
    if not isinstance(error, Exception):
        from asyncio import CancelledError  # noqa: PLC0415 - what runs no event loop does not load one

        if isinstance(error, (CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit)):
            raise error
    return unexpected(error)


def unexpected(error: BaseException) -> ReverieError:
    """Return the error for a defect: its class and where to look, without its message, which may contain user text."""
    return ReverieError("The daemon met an unexpected error.", hint="reverie logs shows it.", kind=type(error).__name__)
