"""Wishes that exclude each other, those that only may, and the many that both hold."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.consolidate import decide
from reverie.consolidate.opposite_wishes import Opposition, opposition, parse_wish
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.models import Add, Candidate, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

OLD, NEW = "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"

EXCLUDES = [
    ("Wants agents to always use tabs.", "Wants agents to use spaces, not tabs."),
    ("Wants agents to always use tabs.", "Wants agents to always use spaces."),
    ("Wants agents to always use tabs.", "Wants agents to always use 4 spaces."),
    ("Wants agents to always indent with tabs.", "Wants agents to use spaces for indentation."),
    ("Wants agents to use tabs, not spaces.", "Wants agents to use spaces, not tabs."),
    ("Wants agents to use tabs, not spaces.", "Wants agents never to use tabs."),
    ("Wants agents never to use tabs.", "Wants agents to use tabs, not spaces."),
    ("Wants agents to always use 2 spaces.", "Wants agents to use 4 spaces, not 2."),
    ("Prefers tabs.", "Prefers spaces over tabs."),
    ("Prefers tabs over spaces.", "Prefers spaces."),
    ("Prefers tabs to spaces.", "Prefers spaces rather than tabs."),
    ("Wants agents to always use npm.", "Wants agents to use pnpm, not npm."),
    ("Wants agents to always use npm.", "Wants agents to always use yarn."),
    ("Wants agents to always use `npm`.", "Wants agents to use `pnpm` instead of `npm`."),
    ("Wants agents to always use mocks.", "Wants agents never to use mocks."),
    ("Wants agents to always squash commits.", "Wants agents never to squash commits."),
    ("Wants agents to always reply in German.", "Wants agents to always answer in English."),
    ("Wants agents to always answer in English, not German.", "Wants agents to always answer in German."),
    ("Wants agents to write comments in English.", "Wants agents to write comments in French, not English."),
    ("Wants agents to always push to main.", "Wants agents to push to a branch, not main."),
    ("Wants agents to always use Foo.", "Wants agents to use Bar, not Foo."),
    ("Wants agents to always use Foo for charts.", "Wants agents to use Bar for charts, not Foo."),
    ("Wants agents to always use Foo for charts.", "Wants agents to use Bar instead of Foo for charts."),
    ("Wants agents to always use single quotes.", "Wants agents to always use double quotes."),
    ("Wants agents to always use British spelling.", "Wants agents to always use American spelling."),
    ("Wants agents to always keep answers short.", "Prefers detailed answers."),
    ("Wants agents to always use camelCase for variables.", "Wants agents to always use snake_case for variables."),
    ("Wants agents to always use tabs because the linter wants them.", "Wants agents to always use spaces."),
    ("Wants agents to always use tabs (2026-01-01).", "Wants agents never to use tabs, use spaces."),
    ("Wants agents to always include emojis.", "Wants agents to always omit emojis."),
    ("Wants agents to avoid mocks.", "Wants agents to always use mocks, not fakes."),
]

MAY_EXCLUDE = [
    ("Wants agents to always use tabs in Makefiles.", "Wants agents never to use tabs."),
    ("Wants agents to always use tabs and to run the linter.", "Wants agents to use spaces, not tabs."),
    ("Wants agents to always use tabs.", "Dislikes tabs."),
    ("Wants agents to always use Redis for caching.", "Wants agents to always use Memcached for caching."),
    ("Wants agents to always push to main after the tests.", "Wants agents never to push to main."),
]

BOTH_HOLD = [
    # The same, or more of the same.
    ("Wants agents to always use tabs.", "Wants agents to always use tabs."),
    ("Wants agents to always use tabs.", "Wants agents to use tabs, not spaces."),
    ("Wants agents to use tabs, not spaces.", "Prefers tabs."),
    ("Wants agents never to use mocks.", "Wants agents never to use mocks in tests."),
    ("Wants agents to always reply in German.", "Wants agents to always answer in German."),
    # An exception for one place.
    ("Wants agents to always use tabs.", "Wants agents to always use spaces in Python files."),
    ("Wants agents to always use tabs.", "Wants agents never to use tabs in YAML."),
    ("Wants agents never to use mocks.", "Wants agents to always use mocks for the mail server."),
    ("Wants agents to always reply in German.", "Wants agents to write comments in English."),
    ("Wants agents to always reply in German.", "Wants agents to always reply in English to Ann."),
    ("Wants agents never to push to main.", "Wants agents to always push to main when the release is cut."),
    ("Wants agents to always use npm.", "Wants agents to always use pnpm in the web folder."),
    ("Wants agents to always use npm.", "Wants agents never to use npm scripts."),
    ("Wants agents to always answer in English.", "Wants agents to always answer in French if the question is French."),
    ("Wants agents to always use spaces in Go files.", "Wants agents to always use tabs in C files."),
    # Other things of the same kind.
    ("Wants agents to always use camelCase for variables.", "Wants agents to always use snake_case for files."),
    ("Wants agents to always write comments in English.", "Wants agents to always write the changelog in German."),
    ("Wants agents to always use pytest.", "Wants agents to always use ruff."),
    ("Wants agents to always use Foo for charts.", "Wants agents to always use Bar for maps."),
    ("Wants agents to always use short names.", "Wants agents to always use long options."),
    ("Wants agents to always write short functions.", "Wants agents to always write detailed commit messages."),
    ("Wants agents to always run the tests.", "Wants agents to always run the linter."),
    ("Wants agents to always run the tests.", "Wants agents never to run the slow tests."),
    ("Wants agents to always squash commits.", "Wants agents never to amend commits."),
    ("Wants agents never to use tabs.", "Wants agents never to use spaces."),
    ("Wants agents to always translate German texts.", "Wants agents to always translate English texts."),
    ("Wants agents to always use metric units.", "Wants agents to always use UTC."),
    ("Wants agents to always use uv.", "Wants agents to always use pip inside the container."),
    ("Wants agents to always use bash for scripts.", "Wants agents to always use fish for examples."),
    ("Prefers small commits.", "Prefers long descriptions."),
    ("Dislikes long lines.", "Prefers long names."),
    ("Wants agents to always add tests.", "Wants agents to always add comments."),
    ("Wants agents to always ask before a release.", "Wants agents never to ask twice."),
    ("Wants agents to always use the cache.", "Wants agents to always clear the cache first."),
    ("Wants agents to always use tabs.", "Wants agents to always use spaces or tabs as the file does."),
    ("Wants agents to always use tabs.", "Wants agents to use tabs, not only spaces."),
    ("Wants agents to always use both tabs and spaces.", "Wants agents to always use tabs."),
    ("Wants agents to always commit with a message.", "Wants agents never to commit with a trailer."),
    ("Wants agents to always use `make test`.", "Wants agents to always use `make lint`."),
    ("Wants agents never to force-push.", "Wants agents to always push the branch."),
    ("Wants agents never to push without review.", "Wants agents to always push with a tag."),
    ("Wants agents to always use formal language.", "Wants agents to always keep answers short."),
    ("Wants agents to always open files in vim.", "Wants agents to always open links in Firefox."),
    ("Wants agents to always write tests first.", "Wants agents to always write the docs last."),
    ("Wants agents to always explain in detail.", "Wants agents to always explain in German."),
    ("Prefers answers with examples.", "Prefers answers in German."),
    ("The user wants: “immer Tabs verwenden”", "The user wants: “immer Leerzeichen am Ende löschen”"),
    ("Wants agents to always log in UTC.", "Wants agents never to log tokens."),
]


def relation(old: str, new: str) -> Opposition | None:
    first, second = parse_wish(old), parse_wish(new)
    return None if first is None or second is None else opposition(second, first)


@pytest.mark.parametrize(("old", "new"), EXCLUDES)
def test_a_newer_wish_excludes_the_older_one(old: str, new: str) -> None:
    """A memory gets the words of a newer wish that excludes it; an older wish changes nothing and is skipped."""
    assert relation(old, new) is Opposition.CERTAIN
    decision = decide([said(new)], [memory(old)], Tier.GENEROUS)
    assert decision.changes == (Update("m1", new, (), 0), Skip(0, "m1"))
    assert not decision.proposals
    assert decide([said(old, at=OLD)], [memory(new, stated=NEW)], Tier.GENEROUS).changes == (Keep("m1"), Skip(0, "m1"))


@pytest.mark.parametrize(("old", "new"), MAY_EXCLUDE)
def test_a_person_is_asked_where_it_is_not_certain(old: str, new: str) -> None:
    """Where a newer wish may exclude an older one both are kept and the older one's deletion is proposed."""
    assert relation(old, new) is Opposition.POSSIBLE
    decision = decide([said(new)], [memory(old)], Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Add(0, said(new)))
    [proposal] = decision.proposals
    assert (proposal.change, proposal.reason) == (Delete("m1"), "contradiction")
    assert new[:100] in proposal.why
    assert not decide([said(new, at=OLD)], [memory(old, stated=NEW)], Tier.GENEROUS).proposals


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_wishes_that_both_hold_are_both_kept(old: str, new: str) -> None:
    """Two wishes that do not exclude each other are both kept or joined in one memory, without a proposal."""
    assert relation(old, new) is None
    decision = decide([said(new)], [memory(old)], Tier.GENEROUS)
    assert not decision.proposals
    grown = relate(parse_statement(new), parse_statement(old), keyed=False) is Relation.EXTENDS
    assert isinstance(decision.changes[0], Update if grown else Keep)


def test_what_a_person_wrote_waits_for_them() -> None:
    """A newer wish does not change a person's own memory: the change is a proposal."""
    decision = decide(
        [said("Wants agents to use spaces, not tabs.")], [memory("Always use tabs", trust="person")], Tier.GENEROUS
    )
    assert isinstance(decision.changes[0], Keep)
    assert [proposal.reason for proposal in decision.proposals] == ["person"]


def test_another_project_is_not_concerned() -> None:
    """A wish of one project changes no memory of another project or of the person."""
    new = Candidate(MemoryType.PREFERENCE, "Wants agents to always use spaces.", at=NEW, project="harbour")
    for document in ("facts/preferences.md", "facts/quay/preferences.md"):
        project = "quay" if "quay" in document else ""
        old = memory("Wants agents to always use tabs.", document=document, project=project)
        assert [type(change) for change in decide([new], [old], Tier.GENEROUS).changes] == [Keep, Add]


def test_all_older_opposites_go_and_one_remains() -> None:
    """Of several memories that a newer wish excludes, the first gets its words and the others are deleted."""
    old = [memory("Wants agents to always use tabs."), memory("Prefers tabs over spaces.", id="m2")]
    new = said("Wants agents to use spaces, not tabs.")
    assert decide([new], old, Tier.GENEROUS).changes == (Update("m1", new.content, (), 0), Delete("m2"), Skip(0, "m1"))


def test_a_correction_asks_about_the_wish_that_it_contradicts() -> None:
    """A correction that contradicts a wish does not delete it: the deletion is proposed."""
    new = Candidate(MemoryType.MISTAKE, "Use pnpm, not npm: the user had to correct this, about `npm i`.", at=NEW)
    decision = decide([new], [memory("Wants agents to always use npm.")], Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Add(0, new))
    assert [(one.change, one.reason) for one in decision.proposals] == [(Delete("m1"), "contradiction")]


def test_wishes_change_their_mind_within_one_batch() -> None:
    """Of three wishes in one batch that exclude each other the newest is added, in any order of the batch."""
    told = [
        said("Wants agents to always use tabs.", at="2026-01-01T00:00:00.000Z"),
        said("Wants agents to always use spaces.", at="2026-01-02T00:00:00.000Z"),
        said("Wants agents to use tabs, not spaces.", at="2026-01-03T00:00:00.000Z"),
    ]
    for order in (told, told[::-1], [told[1], told[2], told[0]]):
        added = [change for change in decide(order, [], Tier.GENEROUS).changes if isinstance(change, Add)]
        assert [change.candidate.content for change in added] == ["Wants agents to use tabs, not spaces."]


@pytest.mark.parametrize("text", ["", "tabs", "Why use tabs?", "x" * 1000, "The build takes 4 minutes", ";;", "never"])
def test_other_texts_oppose_nothing(text: str) -> None:
    """A text that is no wish opposes no wish."""
    wish = parse_wish(text)
    for old, new in EXCLUDES:
        for other in (parse_wish(old), parse_wish(new)):
            assert wish is None or other is None or opposition(wish, other) is None


def said(content: str, at: str | None = NEW) -> Candidate:
    return Candidate(MemoryType.PREFERENCE, content, at=at)


def memory(content: str, *, stated: str = OLD, **more: Any) -> Memory:
    given: dict[str, Any] = {"id": "m1", "document": "facts/preferences.md", "provenance": {"at": stated}, **more}
    return Memory(type=MemoryType.PREFERENCE, content=content, tags=(), created_at=OLD, updated_at=stated, **given)
