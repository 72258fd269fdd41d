"""`/v1/redactions`: what redaction took, and what a person allows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie import wire
from reverie.api.redactions import Redactions
from reverie.errors import ValidationError
from reverie.redact import RULES
from reverie.usecases import redactions as use_redactions
from reveried.actions.projects import known_project
from reveried.execute import read
from reveried.http.route import serves

if TYPE_CHECKING:
    from reveried.http.types import Call


@serves(Redactions.redactions)
async def list_redactions(call: Call) -> wire.RedactionsPage:
    """Return the values that were replaced, without the values, those first that were found last."""
    from reveried.actions import redactions  # noqa: PLC0415 - rarely called

    query = call.query_as(wire.RedactionsQuery)
    project = None
    if query.project is not None:
        project = await known_project(call.services, call.space, query.project)
        if project is None:  # a folder that no thread has worked in
            return wire.RedactionsPage([])
    allow = call.services.keeper.allow
    page = await read(
        call.services, call.space, partial(use_redactions.listed, query=query, project=project, allow=allow)
    )
    return replace(page, since=redactions.since(call.services), allow=allow if call.is_owner else [])


_owned = partial(
    serves, once=True, owner="change what is redacted", hint="run `reverie redactions allow` as the daemon's owner"
)
"""The setting is that of every space, and an agent must not change what is taken."""


@_owned(Redactions.allow_redactions)
async def allow(call: Call) -> wire.Allowed:
    """Leave from now on what is named, and restore the texts that have transcripts."""
    from reveried.actions import redactions  # noqa: PLC0415 - rarely called

    return await redactions.allow(call.services, _entry(call), who=call.who)


@_owned(Redactions.disallow_redactions)
async def disallow(call: Call) -> wire.Allowed:
    """Take again what was allowed, also from the texts that have it by now."""
    from reveried.actions import redactions  # noqa: PLC0415 - rarely called

    return await redactions.disallow(call.services, _entry(call), who=call.who)


def _entry(call: Call) -> str:
    """Return the entry of `redact.allow` that the body names.

    Raises:
        ValidationError: not one of the three, or no rule of that name.
    """
    body = call.into(wire.AllowRedactions)
    given = [("", body.id), ("rule:", body.rule), ("like:", body.like)]
    named = [prefix + text for prefix, text in given if text is not None]
    if len(named) != 1:
        raise ValidationError(
            "one of `id`, `rule` and `like` is needed", hint="give one; they are in the list: reverie redactions"
        )
    from difflib import get_close_matches  # noqa: PLC0415 - rarely called

    if body.rule is not None and body.rule not in RULES:
        near = get_close_matches(body.rule, sorted(RULES), 3)
        hint = "the rule of each value: reverie redactions; the kinds that are rules too: docs/redaction.md"
        raise ValidationError(
            f"no rule is called {body.rule!r}",
            hint=f"near it: {', '.join(near)}; {hint}" if near else hint,
            field="rule",
        )
    return named[0]
