"""Ids as people type them: whole, or by their beginning or end as lists print them; and the items of a whole list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from reverie.errors import NotFound, ValidationError
from reverie.paths import DOCUMENT_SUFFIXES
from reveried.cli.output import clip, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from reverie.client import Client
    from reverie.wire import Page

ID_END = 8  # last characters of an id: ids begin with a time, so those made together differ at the end
_ID_CHARS = 40  # of what a person typed for an id, in an error
_CANDIDATES_SHOWN = 3  # thread ids that an ambiguous prefix is answered with


class _Named(Protocol):
    @property
    def id(self) -> str: ...


S = TypeVar("S")
T = TypeVar("T", bound=_Named)


def all_items(method: Callable[..., Page[S]], *given: Any, after: str | None = None, **options: Any) -> Iterator[S]:
    """Yield every item of a list that a method of the client returns page by page."""
    while True:
        page = method(*given, after=after, **options)
        yield from page.items
        if page.next is None:
            return
        after = page.next


def is_path(what: str) -> bool:
    """Return whether it is a document's path; ids may have a `.` too."""
    return "/" in what or what.lower().endswith(tuple(DOCUMENT_SUFFIXES))


def by_end(items: Iterable[T], id_end: str, noun: str, nouns: str | None = None, *, hint: str) -> T:
    """Return the only item whose id ends like this, as lists print it: `run_…fxgzskm0`. Raises NotFound."""
    ending = id_end.rpartition("…")[2]
    found = [item for item in items if item.id.endswith(ending)]
    if len(found) == 1:
        return found[0]
    why = f"{counted(len(found), noun, nouns)} end" if found else f"no {noun} ends"
    raise NotFound(f"{why} with {clip(id_end, _ID_CHARS)}", hint=hint)


def whole_id(items: Iterable[_Named], id_end: str, prefix: str, noun: str, *, hint: str) -> str:
    """Return an id that was given whole, with its prefix; else that of the only item that ends so. Raises NotFound."""
    if id_end.startswith(prefix) and "…" not in id_end:
        return id_end
    return by_end(items, id_end, noun, hint=hint).id


def with_thread(client: Client, prefix: str, call: Callable[[str], S]) -> S:
    """Return `call(prefix)`; if no thread has that id, `call` with the only thread id that begins with `prefix`.

    Raises:
        NotFound: no thread begins so; the daemon's own error.
        ValidationError: several do; the message lists some.
    """
    try:
        return call(prefix)
    except NotFound:
        # Only now are the threads listed: a whole id, as programs give it, costs one request.
        ids = [item.id for item in all_items(client.threads) if item.id.startswith(prefix)]
        if not ids or prefix in ids:  # in ids: the thread exists, and something else was not found
            raise
    if len(ids) > 1:
        some = ", ".join(ids[:_CANDIDATES_SHOWN]) + (", …" if len(ids) > _CANDIDATES_SHOWN else "")
        raise ValidationError(f"{len(ids)} threads begin with {prefix}: {some}", hint="give more of the id")
    return call(ids[0])
