"""`reverie redactions`: what redaction replaced, and what a person allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reveried.cli.command import Answer, Argument, Limit, Option, Yes, confirm
from reveried.cli.ids import ID_END, all_items, by_end
from reveried.cli.output import clip, counted, print_fields, print_table, say, spinner, when
from reveried.cli.projects import ProjectOption, given_project

_ID = "rdn_"
_PLACES_SHOWN = 3
_MESSAGES_SHOWN = 5
_CHARS = 40  # of what a person typed, in an error
Id = Annotated[str | None, Argument("[ID]", "The id of a redaction, or its last characters: this one value.")]
Rule = Annotated[str | None, Option("--rule", metavar="NAME", help="All that a rule finds, such as label.")]
Like = Annotated[
    str | None, Option("--like", metavar="PATTERN", help="Values like a pattern; * stands for any characters.")
]


def redactions(client: Client, limit: Limit = 50, project: ProjectOption = None) -> Answer:
    """List what was replaced by [REDACTED:...], without the values, those first that were found last.

    Example: reverie redactions --project .
    """
    page = client.redactions(project=given_project(project), limit=limit)
    yield page
    if page.items:
        print_table(
            "Id, Kind, Rule, Shape, Count>, Where*, Taken in first, Last, ",
            [
                (
                    f"{_ID}…{item.id[-ID_END:]}",
                    item.kind,
                    item.rule,
                    item.shape,
                    f"{item.count:,}",
                    _where(item.places, more=item.more),
                    when(item.first_at),
                    when(item.last_at),
                    "allowed" if item.allowed else "",
                )
                for item in page.items
            ],
            drop=(6, 3, 7),
        )
    else:
        say("Nothing was replaced." if project is None else "Nothing was replaced in this project.")
    if page.next:
        say("There are more: reverie redactions --limit N")
    if page.unlisted:
        say(f"{counted(page.unlisted, 'more value')} found after the list was full: not listed.")
    if page.since is not None:
        say(f"Taken before {when(page.since)} by an older release: not listed; --rule and --like are about those too.")
    if page.allow:
        say(f"Allowed: {', '.join(page.allow)}.")
    if page.items:
        say("One with all its places: reverie show ID.")
        say("What is no secret: reverie redactions allow ID, or --rule NAME, or --like 'PATTERN'.")


def allow(client: Client, redaction: Id = None, rule: Rule = None, like: Like = None, yes: Yes = False) -> Answer:
    """Take a value no more, and restore the texts in which it was replaced from their transcripts.

    Example: reverie redactions allow --like 'PRRT_*'

    A rule, or a pattern with *, may stand for many values: it asks first.
    """
    name = _only_one(client, redaction, rule, like)
    if not yes and (rule is not None or "*" in (like or "")):
        what = f"that the rule {rule} finds" if rule is not None else f"like {clip(like or '', _CHARS)}"
        confirm(f"Every value {what} is stored as it is, in all spaces, secret or not.", "Allow it?")
    with spinner("Reading transcripts"):
        answer = client.allow_redactions(name, rule=rule, like=like)
    yield answer
    say("Allowed. It is taken no more.")
    if answer.restored:
        say(f"{counted(answer.values, 'marker')} restored, {_in_messages(answer.restored)}.")
    for why in dict.fromkeys(place.why for place in answer.left):
        places = [place for place in answer.left if place.why == why]
        say(f"Not restored, {why}: {_where(places)}.")
    if not answer.restored and not answer.left:
        say("No stored text had it.")
    say("To take it again: reverie redactions disallow, with the same words.")


def disallow(client: Client, redaction: Id = None, rule: Rule = None, like: Like = None) -> Answer:
    """Take again what was allowed, also from the texts that have it by now, and from their history.

    Example: reverie redactions disallow --rule label

    Your files and backups keep it; the files are named.
    """
    with spinner("Replacing"):
        name = _only_one(client, redaction, rule, like)
        answer = client.disallow_redactions(name, rule=rule, like=like)
    yield answer
    say("It is taken again from now on.")
    if answer.restored:
        say(f"{counted(answer.values, 'value')} replaced again, {_in_messages(answer.restored)}.")
    elif not answer.left:
        say("No stored text had it.")
    for place in answer.left:
        say(f"Not replaced, {place.why}: {_place(place)}.")


def _in_messages(places: Sequence[wire.RedactedPlace]) -> str:
    threads = [place for place in places if place.thread is not None]
    messages = sum(len(place.messages) for place in threads)
    documents = len({place.document for place in places} - {None})
    parts = [f"{counted(messages, 'message')} of {counted(len(threads), 'thread')}"] if threads else []
    return "in " + " and ".join([*parts, counted(documents, "document")] if documents else parts)


def _where(places: Sequence[wire.RedactedPlace], *, more: bool = False) -> str:
    """Return places in words: `shop: thr_… 3, 7`; only the first ones."""
    shown = [_place(place) for place in places[:_PLACES_SHOWN]]
    left = len(places) - len(shown)
    return ", ".join(shown) + (f" and {left:,} more" if left else " and more" if more else "")


def _place(place: wire.RedactedPlace) -> str:
    name = place.thread or place.memory or place.document or ""
    whole = f"{place.project}: {name}" if place.project else name
    numbers = [*(f"#{number}" for number in place.messages), *(f"line {number}" for number in place.lines)]
    cut = " …" if len(numbers) > _MESSAGES_SHOWN else ""
    return f"{whole} {' '.join(numbers[:_MESSAGES_SHOWN])}{cut}" if numbers else whole


def find(client: Client, id_end: str) -> wire.Redaction:
    """Return the only redaction whose id ends like this, or as the list prints it. Raises NotFound."""
    return by_end(all_items(client.redactions), id_end, "redaction", hint="those that are there: reverie redactions")


def print_redaction(item: wire.Redaction) -> None:
    """Print a redaction, and of each of its places how to read it."""
    print_fields(
        ("Redaction", item.id),
        ("Kind", item.kind),
        ("Rule", item.rule),
        ("Shape", item.shape),
        ("Found", counted(item.count, "time")),
        ("Taken in", f"first {when(item.first_at)}, last {when(item.last_at)}"),
        ("Allowed", "yes" if item.allowed else None),
    )
    say()
    for place in item.places:
        for line in place.lines:
            say(f"- line {line} of {place.source}")
        if place.thread is not None:
            for number in place.messages:
                say(f"- reverie thread {place.thread} --around {number}")
            if not place.messages and not place.lines:
                say(f"- the title, a note or the working state of {place.thread}")
        else:
            say(f"- reverie show {place.memory or place.document}")
    if item.more:
        say("- and more places, which are not listed")
    say()
    end = item.id[-ID_END:]
    say(
        f"To take it again: reverie redactions disallow {end}"
        if item.allowed
        else f"If it is no secret: reverie redactions allow {end}"
    )


def _only_one(client: Client, redaction: str | None, rule: str | None, like: str | None) -> str | None:
    """Return the whole id that was given, None for a rule or a pattern.

    Raises:
        ValidationError: not one of the three was given.
        NotFound: no redaction, or more than one, has the id.
    """
    if sum(given is not None for given in (redaction, rule, like)) != 1:
        raise ValidationError(
            "one of ID, --rule and --like is needed", hint="give one of them; the ids: reverie redactions"
        )
    if redaction is None or (redaction.startswith(_ID) and "…" not in redaction):
        return redaction
    return find(client, redaction).id
