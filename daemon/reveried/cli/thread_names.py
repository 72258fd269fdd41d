"""A thread by the first characters of its id: people do not type thirty of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reverie.errors import NotFound, ValidationError
from reveried.cli.pagination import every

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.client import Client

__all__ = ["on_thread"]

T = TypeVar("T")
_SHOWN = 3


def on_thread(client: Client, given: str, do: Callable[[str], T]) -> T:
    """Do it with the thread of this id; where there is none, with the only one whose id begins so.

    Raises:
        NotFound: no thread begins so, in the daemon's own words.
        ValidationError: several do; names some.
    """
    try:
        return do(given)
    except NotFound:
        # Only now are the threads listed: a whole id, as programs give it, costs one request.
        found = [item.id for item in every(lambda after: client.threads(after=after)) if item.id.startswith(given)]
        if not found or given in found:
            raise
    if len(found) > 1:
        some = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise ValidationError(f"{len(found)} threads begin with {given}: {some}", hint="give more of the id")
    return do(found[0])
