"""`reverie review`: what waits for a person's decision, one by one or by its id."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import click

from reverie import wire
from reverie.client import Client
from reverie.errors import ReverieError
from reveried.cli.command import Answer, Argument, Limit, Option
from reveried.cli.ids import ID_END, all_items, whole_id
from reveried.cli.output import AS_JSON, clip, counted, is_terminal, print_error, print_fields, print_table, say, when
from reveried.cli.sync import print_side_by_side

_ROW_CHARS = 200  # of a change in a list
_REASONS = {
    "forgotten": "was forgotten",
    "person": "your words",
    "contradiction": "may be over",
    "large_deletion": "deletes much",
}
_ASK = "accept, reject, skip or quit? [a/r/S/q]"
Ids = Annotated[list[str], Argument("ID...", "Ids of candidates, or their last characters.")]
Id = Annotated[str, Argument("ID", "A candidate's id, or its last characters.")]


def review(client: Client) -> Answer:
    """Decide what waits for you: changes that Reverie does not make by itself.

    Example: reverie review
    """
    if AS_JSON.get() or not is_terminal() or not sys.stdin.isatty():
        yield from list_candidates(client)
        return
    waiting = list(all_items(client.candidates))
    for candidate in waiting:
        say()
        print_candidate(candidate)
        if not _decide(client, candidate):
            return
    say(f"{counted(len(waiting), 'candidate')} seen; what you skipped still waits." if waiting else _NOTHING)


_NOTHING = "Nothing waits for a decision."


def _decide(client: Client, candidate: wire.Candidate) -> bool:
    """Ask the person about one candidate and apply the answer; return False to end the review."""
    while True:
        try:
            answer = str(click.prompt(_ASK, default="s", show_default=False)).strip().casefold()[:1]
        except click.Abort:  # Ctrl-D or Ctrl-C
            say("\nWhat you did not decide still waits.")
            return False
        if answer not in {"a", "r", "s", "q"}:
            continue
        if answer in {"a", "r"}:
            try:
                made = (client.accept_candidate if answer == "a" else client.reject_candidate)(candidate.id)
            except ReverieError as error:  # decided elsewhere meanwhile, or its memory has other words by now
                print_error("reverie review", error, json=False)
            else:
                _print_decided(made)
        return answer != "q"


def list_candidates(
    client: Client,
    state: Annotated[
        Literal["waiting", "accepted", "rejected", "all"],
        Option("--state", metavar="STATE", help="One of waiting, accepted, rejected, all."),
    ] = "waiting",
    limit: Limit = 50,
) -> Answer:
    """List what waits for your decision, oldest first.

    Example: reverie review list
    """
    page = client.candidates(state=state, limit=limit)
    yield page
    if not page.items:
        say(_NOTHING if state == "waiting" else "No candidate is in this state.")
        return
    is_mixed = state == "all"
    print_table(
        "Id, Since, State, Reason*, Change*" if is_mixed else "Id, Since, Reason*, Change*",
        [
            (
                f"cnd_…{item.id[-ID_END:]}",
                when(item.created_at),
                *([item.state] if is_mixed else []),
                _REASONS.get(item.reason) or item.why,
                clip(_in_short(item), _ROW_CHARS),
            )
            for item in page.items
        ],
    )
    if page.next:
        say("There are more: reverie review list --limit 1000")
    if state == "waiting":
        say("To read one: reverie review diff ID. To decide: reverie review accept ID, or reject ID.")


def diff(client: Client, candidate: Id) -> Answer:
    """Show what a candidate would change, and where its words are from.

    Example: reverie review diff ID
    """
    detail = client.candidate(_whole_id(client, candidate))
    yield detail
    print_candidate(detail)


def accept(client: Client, candidates: Ids) -> Answer:
    """Make the changes of candidates.

    Example: reverie review accept ID
    """
    return _decided(client.accept_candidate, [_whole_id(client, candidate) for candidate in candidates])


def reject(client: Client, candidates: Ids) -> Answer:
    """Make none of their changes; the same is not asked again.

    Example: reverie review reject ID
    """
    return _decided(client.reject_candidate, [_whole_id(client, candidate) for candidate in candidates])


def _decided(decide: Callable[[str], wire.CandidateDecided], candidates: list[str]) -> Answer:
    answers = [decide(candidate) for candidate in candidates]
    yield answers
    for answer in answers:
        _print_decided(answer)


def _print_decided(answer: wire.CandidateDecided) -> None:
    say(f"{answer.state.capitalize()}: {answer.id}. To revert that: reverie undo {answer.operation}")
    if answer.stale:
        say(f"Left out, as they have other words by now: {', '.join(answer.stale)}.")


def print_candidate(candidate: wire.Candidate) -> None:
    """Print a candidate: why it waits, and each change, with the old and the new words side by side."""
    print_fields(
        ("Candidate", candidate.id),
        ("State", candidate.state if candidate.state != "waiting" else None),
        ("Since", when(candidate.created_at)),
        ("Why", candidate.why),
    )
    for change in candidate.changes:
        say()
        if change.action == "ADD":
            print_fields(
                ("New", change.type),
                ("Project", change.project),
                ("Title", change.title),
                ("Text", change.content),
                *change.fields.items(),
                ("Tags", " ".join(change.tags)),
                ("From", _origin(change.provenance)),
            )
        else:
            say(
                f"{change.action.capitalize()} {change.memory}"
                + (" (it has other words by now)" if change.stale else "")
            )
            print_side_by_side("Now", change.before or "", "Then", change.content or "")


def _origin(provenance: Mapping[str, Any]) -> str:
    """Return in words where a change is from: `thread thr_1, message 4`. Why it waits is said elsewhere."""
    parts = [f"{key} {value}" for key, value in provenance.items() if key not in {"at", "waits"} and value != []]
    seqs = provenance.get("seqs")
    if isinstance(seqs, list) and seqs:
        numbers = ", ".join(map(str, seqs))
        parts[parts.index(f"seqs {seqs}")] = f"message{'s' if len(seqs) > 1 else ''} {numbers}"
    return ", ".join(parts)


def _in_short(candidate: wire.Candidate) -> str:
    """Return the changes of a candidate in one line."""
    if len(candidate.changes) > 1:
        return candidate.why
    (change,) = candidate.changes
    match change.action:
        case "ADD":
            return f"new {change.type}: {change.title or change.content}"
        case "UPDATE":
            return f"{change.before} -> {change.content}"
        case _:
            return f"delete: {change.before}"


def _whole_id(client: Client, id_end: str) -> str:
    items = all_items(client.candidates, state="all")
    return whole_id(items, id_end, "cnd_", "candidate", hint="reverie review list shows them")
