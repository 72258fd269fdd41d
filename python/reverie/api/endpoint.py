"""An operation of the API: clients' methods, the daemon's routes and the OpenAPI document are made of it.

An `Endpoint` is told once, in a class of this package. In a client, whose base that class is, it is a method: the
constructor of its request gives the parameters, so that they are typed once. No I/O.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload
from urllib.parse import quote, urlencode

import msgspec

from reverie.decode import from_json
from reverie.errors import ReverieError, ValidationError
from reverie.wire.base import JobAccepted, NoQuery, WaitQuery

if TYPE_CHECKING:
    from collections.abc import Coroutine

P = ParamSpec("P")
Q = ParamSpec("Q")
T = TypeVar("T")
U = TypeVar("U")
R = TypeVar("R", bound=msgspec.Struct)
T_co = TypeVar("T_co", covariant=True)


class BadAnswer(ReverieError):
    """The process at the socket does not speak HTTP as the daemon does, or its answer is incomplete."""

    code = "bad_answer"


class Call(msgspec.Struct, Generic[T], frozen=True):
    """One request to the daemon, and the decoder of its answer. A `long` call waits for a job, up to minutes."""

    method: str
    target: str
    decode: Callable[[bytes], T]
    body: bytes | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    long: bool = False

    @property
    def is_idempotent(self) -> bool:
        """True if sending the request twice has the same effect as sending it once."""
        return self.method == "GET" or "Idempotency-Key" in self.headers


class Blocking(Protocol):
    """A client whose `send` returns the answer."""

    def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; every method of a client calls it."""
        ...


class Awaiting(Protocol):
    """A client whose `send` is awaited."""

    async def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; every method of a client calls it."""
        ...


class Method(Protocol[Q, T_co]):
    """A method of a client.

    Each takes an idempotency `key`, if it is a POST, and the `etag` of the version that was read, if it has one; a call
    with either is typed by its answer alone, as a ParamSpec takes no further keywords.
    """

    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> T_co: ...
    @overload
    def __call__(self, *args: Any, key: str | None, **kwargs: Any) -> T_co: ...
    @overload
    def __call__(self, *args: Any, etag: str | None, **kwargs: Any) -> T_co: ...


@dataclass(eq=False)
class Endpoint(Generic[Q, T]):
    """One operation.

    `line` is its verb and path, in which `{name}` is one segment, and `{name:path}` more. `request` makes the query of
    a GET or DELETE, else the body; `query` is that of another struct, or of a body. `answer` is NoneType where there is
    none, str for text and bytes for others; `shows` is what the description says instead. An answer has `status`, or
    one of `also`. A `raw` body has any type and follows the path's parameters. A `job` answers 202 with its id unless
    the caller waits. With `etag` the answer has one, and writes take If-Match. An answer may be plain `text` where the
    query wants that; `media` is the type of one that is never JSON. Calls with `local_pages` may be sent by a web page
    of this machine over TCP. A `long` call may take minutes. A `variant` is a client's method for another endpoint.
    """

    line: str
    request: Callable[Q, msgspec.Struct]
    answer: type[T]
    summary: str
    query: type[msgspec.Struct] | None = None
    shows: Any = None
    status: int = 200
    also: tuple[int, ...] = ()
    media: str = "application/json"
    raw: bool = False
    job: bool = False
    etag: bool = False
    text: bool = False
    local_pages: bool = False
    long: bool = False
    variant: bool = False

    def __post_init__(self) -> None:
        self.method, self.path = self.line.split(" ")
        self.name = ""
        kind: Any = self.request if isinstance(self.request, type) else self.request.__annotations__["return"]
        has_body = not self.raw and self.method not in ("GET", "DELETE")
        self.body_kind: type[msgspec.Struct] | None = kind if has_body and kind is not NoQuery else None
        self.query_kind: type[msgspec.Struct] = self.query or (WaitQuery if self.job else NoQuery if has_body else kind)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, client: None, owner: type) -> Endpoint[Q, T]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Method[Q, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Method[Q, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Blocking | Awaiting | None, owner: type) -> Any:
        if client is None:
            return self

        def method(*args: Any, **kwargs: Any) -> Any:
            return client.send(self.call(*args, **kwargs))

        method.__name__, method.__doc__ = self.name, self.summary
        return method

    @property
    def call(self) -> Method[Q, Call[T]]:
        """Return the function that builds the call which the client's method sends.

        It raises ValidationError where fields exclude each other, and where what is sent has no form in JSON, such as
        half a surrogate pair.
        """
        return cast("Method[Q, Call[T]]", self._call)

    def _call(self, *args: Any, key: str | None = None, etag: str | None = None, **kwargs: Any) -> Call[T]:
        if (key is not None and self.method != "POST") or (etag is not None and not self.etag):
            raise TypeError(f"{self.name} takes no {'etag' if key is None else 'key'}")
        target, rest = self._target(list(args))
        body = rest.pop(0) if self.raw else None
        try:
            made = self.request(*rest, **kwargs)
        except ValueError as error:  # of a rule about several fields, in its own words
            raise ValidationError(str(error), hint="correct it and send it again") from None
        pairs: dict[str, Any] = {} if self.body_kind else msgspec.to_builtins(made)
        waits = self.job and not self.variant
        if waits:
            pairs["wait"] = True
        if pairs:
            target += "?" + urlencode({name: _plain(value) for name, value in pairs.items()})
        headers = {} if etag is None else {"If-Match": etag if etag == "*" else f'"{etag}"'}
        if key is not None:
            headers["Idempotency-Key"] = key
        if self.body_kind:
            body = _encoded(made)
        if body is not None:
            headers["Content-Type"] = "application/octet-stream" if self.raw else "application/json"
        is_long = self.long or waits or getattr(made, "purge", False)
        return Call(self.method, target, _decoder(self.answer), body, headers, is_long)

    def _target(self, args: list[Any]) -> tuple[str, list[Any]]:
        """Return the path with its parameters, percent-encoded but for `/`, and the arguments that are left."""
        parts = self.path.split("/")
        for number, part in enumerate(parts):
            if part.startswith("{"):
                if not args:
                    raise TypeError(f"{self.name} lacks {part}")
                parts[number] = quote(args.pop(0), safe="/:@+")
        if self.raw and not args:
            raise TypeError(f"{self.name} lacks its data")
        return "/".join(parts), args

    def started(self) -> Endpoint[Q, JobAccepted]:
        """Return the client's method that starts this job and does not wait for it."""
        return dataclasses.replace(self, answer=JobAccepted, variant=True)  # type: ignore[return-value,arg-type] # another answer

    def like(self, request: Callable[P, msgspec.Struct], answer: type[U], summary: str) -> Endpoint[P, U]:
        """Return the client's method that sends another request here, and gets another form of the answer."""
        return Endpoint(self.line, request, answer, summary, etag=self.etag, variant=True)


def at(request: Callable[Q, R]) -> Callable[Concatenate[str, Q], R]:
    """Return a request whose path has one more parameter, which comes first."""
    return request  # type: ignore[return-value] # the endpoint takes the parameters of the path away


def with_data(request: Callable[Q, R]) -> Callable[Concatenate[bytes, Q], R]:
    """Return the request of a raw endpoint: its body comes behind the parameters of the path."""
    return request  # type: ignore[return-value] # as above


def sent(kind: type[R]) -> Callable[[R], R]:
    """Return the request of an endpoint whose callers make the body themselves."""

    def given(body: R) -> R:
        return body

    given.__annotations__["return"] = kind
    return given


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _encoded(body: msgspec.Struct) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, RecursionError) as error:
        raise ValidationError(f"what is sent has no form in JSON: {error}", hint="send texts, numbers, lists") from None


def _decoder(kind: type[T]) -> Callable[[bytes], T]:
    """Return the decoder of an answer."""

    def decode(body: bytes) -> Any:
        if kind is NoneType:
            return None
        if kind is str or kind is bytes:
            return body.decode() if kind is str else body
        try:
            return from_json(body, kind)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise BadAnswer(
                f"the daemon's answer is not the expected {kind.__name__}: {error}",
                hint="the daemon may be of another version: run `reverie down`, then `reverie up`",
            ) from None

    return decode
