"""What is taken back, and what there is nothing of to take back: undo and rollback, seen through a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.errors import NotFound
from support.history import newest

if TYPE_CHECKING:
    from support.folder import Tree


def test_what_changes_nothing_gives_no_number(shared: Tree) -> None:
    """The number would be that of the next write, whoever makes it, and its undo would take that one back."""
    client, name = shared.client, "facts/twice.md"
    client.put_document(name, "- Name: Ada\n")
    written = newest(client).id
    client.patch_document(name, [("Ada", "Eve")])
    changed = newest(client).id
    first = client.undo(changed)
    assert first.operation == newest(client).id

    again = client.undo(changed)
    shared.agree()  # the list follows
    last = client.operations(limit=1).items[0].id
    there = [client.rollback(written, path=name), client.rollback(last)]

    assert (again.operation, again.undone, again.changes) == (None, changed, [])
    assert [(done.operation, done.documents, done.records) for done in there] == [(None, [], 0)] * 2
    assert client.operations(limit=1).items[0].id == last
    with pytest.raises(NotFound, match=r"no document 'facts/never\.md'") as caught:
        client.rollback(written, path="facts/never.md")
    assert "reverie log" in str(caught.value.hint)
