"""The strict reader of the Messages API's responses: answers from messages, and errors without the server's words."""

from __future__ import annotations

import ssl
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import httpx2
import msgspec
from msgspec import Meta

from reverie import tokenizer
from reverie.decode import from_json
from reverie.errors import ModelFailed
from reverie.language_model.requests import ANSWER_BYTES_MAX, ModelAnswer, StopReason, ToolUse
from reveried.models.anthropic_client import AnswerError
from reveried.models.transport import NOT_SENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import anthropic

TOKENS_SANE = 10_000_000  # no context is this long: a provider that reports more is not believed
OVERLOADED = 529
SPEND_LIMIT_CODES = ("spend_limit", "credit", "billing")  # parts of the error's type or code
STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "tool_use": "tool_use",
}
KEY_HINT = "Check the key: ANTHROPIC_API_KEY of the daemon, or the file that distiller.keyFile names."
MODEL_HINT = "Check distiller.cheapModel, distiller.strongModel and distiller.baseUrl."
URL_HINT = "Check distiller.baseUrl and the network; `reverie doctor --model` tries it."


class _Block(msgspec.Struct, frozen=True):
    """A content block; only text blocks and, where tools were offered, calls of them are read."""

    type: str
    text: str = ""
    id: str = ""
    name: Annotated[str, Meta(max_length=200)] = ""
    input: dict[str, Any] = {}


Count = Annotated[int, Meta(ge=0, le=TOKENS_SANE)]


class _Usage(msgspec.Struct, frozen=True):
    """Tokens by the provider's count; `input_tokens` is without the input that its cache wrote or read."""

    input_tokens: Count
    output_tokens: Count
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


class _Message(msgspec.Struct, frozen=True):
    """The body of a successful response."""

    type: Literal["message"]
    role: Literal["assistant"]
    model: Annotated[str, Meta(max_length=200)]
    content: list[_Block]
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")


def read_message(data: bytes, *, sent: int, with_tools: bool) -> ModelAnswer:
    """Return the answer in the body of a response; `sent` are the tokens of its request by our own count.

    Raises:
        ModelFailed: it is not one.
    """
    try:
        message = from_json(data, _Message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise unusable("The provider's response is not a message.") from None
    text = "".join(block.text for block in message.content if block.type == "text")
    if len(text.encode("utf-8", "surrogatepass")) > ANSWER_BYTES_MAX:
        raise unusable(f"The model's answer is longer than {ANSWER_BYTES_MAX} bytes.")
    calls = [ToolUse(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    written = text + (msgspec.json.encode([call.input for call in calls]).decode() if calls else "")
    stop_reason = STOP_REASONS.get(message.stop_reason or "", "unknown")
    usage = _usage(message.usage)
    cached = usage.cache_read_input_tokens or 0
    counted = usage.input_tokens + (usage.cache_creation_input_tokens or 0) + cached
    return ModelAnswer(
        text=text,
        input_tokens=max(counted, sent),
        output_tokens=max(usage.output_tokens, tokenizer.count(written)),
        cached_tokens=cached,
        model=message.model,
        stop_reason=stop_reason,
        calls=calls if with_tools else None,
    )


def _usage(raw: msgspec.Raw) -> _Usage:
    """Return the provider's count; zeros where it is missing or cannot be true, so that our own count is taken."""
    try:
        return from_json(raw, _Usage)
    except msgspec.DecodeError:
        return _Usage(0, 0)


def unusable(message: str) -> ModelFailed:
    """Return the ModelFailed error (`unparseable`) for a response that cannot be read."""
    return ModelFailed(message, hint="Nothing was changed; try again, or another model.", reason="unparseable")


def status_failure(status: int, headers: Mapping[str, str], body: object) -> ModelFailed:
    """Return the error for an HTTP status. The server's own words are left out: they may repeat the request's."""
    kind, code = _error_kind(body)
    name = f"{status} {kind}".strip()
    if status == 429 and any(part in (code + kind) for part in SPEND_LIMIT_CODES):
        return ModelFailed(
            f"The provider's spend limit is reached ({name}).",
            hint="Raise the limit at the provider, or wait until it is renewed.",
            reason="over_ceiling",
        )
    if status in (429, OVERLOADED):
        return ModelFailed(
            f"The provider asks to wait ({name}).",
            hint="Try again later.",
            reason="rate_limited",
            retry_after=_retry_after(headers),
        )
    if status in (408, 409) or status >= 500:
        return ModelFailed(
            f"The provider failed ({name}).", hint="Try again later.", retry_after=_retry_after(headers), status=status
        )
    hints = {401: KEY_HINT, 403: KEY_HINT, 404: MODEL_HINT, 402: "Check the account's credit at the provider."}
    return ModelFailed(
        f"The provider does not take the request ({name}).",
        hint=hints.get(status, URL_HINT if status < 400 else MODEL_HINT),
        reason="rejected",
        status=status,
    )


def _error_kind(body: object) -> tuple[str, str]:
    """Return the `type` and `error_code` of an error body; "" for one that is missing or no single word."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    words = (
        error.get("type") if isinstance(error, dict) else None,
        details.get("error_code") if isinstance(details, dict) else None,
    )
    kind, code = (word if isinstance(word, str) and word.isidentifier() and len(word) <= 60 else "" for word in words)
    return kind, code


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after` (RFC 9110, section 10.2.3), or None where it is missing or says nothing."""
    text = headers.get("retry-after", "").strip()
    if text.replace(".", "", 1).lstrip("-").isascii() and text.replace(".", "", 1).lstrip("-").isdigit():
        return max(0.0, float(text[:20]))
    try:
        return max(0.0, (parsedate_to_datetime(text) - parsedate_to_datetime(headers["date"])).total_seconds())
    except (KeyError, ValueError, TypeError):
        return None


def connection_failure(error: anthropic.APIConnectionError) -> ModelFailed:
    """Return the error for a connection that was not made, or broke."""
    cause = error.__cause__
    if isinstance(cause, AnswerError):
        return unusable(f"The provider's response is {cause}.")
    if _has_cause(cause, ssl.SSLError):
        return ModelFailed(
            "The provider's certificate is not valid.",
            hint="Check distiller.baseUrl, or name the certificates in SSL_CERT_FILE.",
            reason="rejected",
            **{NOT_SENT: True},
        )
    if isinstance(cause, (httpx2.ConnectError, httpx2.ProxyError, httpx2.TimeoutException)):
        return ModelFailed("The provider cannot be reached.", hint=URL_HINT, reason="unreachable", **{NOT_SENT: True})
    return ModelFailed("The connection to the provider broke.", hint="Try again.", kind=type(cause).__name__)


def _has_cause(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False
