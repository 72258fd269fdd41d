"""A newer wish of a session replaces the older one that it excludes, in the project that both were said in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.client import Client
from support.daemon import running_daemon

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def client() -> Iterator[Client]:
    with running_daemon() as daemon, Client(daemon.socket) as opened:
        yield opened


def said(client: Client, text: str, project: str) -> None:
    """Learn from a thread of a project in which the person says this."""
    thread = client.create_thread(project=project).id
    client.append(thread, [{"role": "user", "content": text}, {"role": "assistant", "content": "I will."}])
    client.learn(thread)


def preferences(client: Client) -> dict[str, str | None]:
    """Return the wishes with their projects."""
    items = client.memories(kind="preference", all_projects=True, limit=100).items
    return {item.content: item.project for item in items}


def test_the_example_of_the_documentation(client: Client) -> None:
    """After "always use tabs in this project", "use spaces, not tabs" said there gives that project the newer words."""
    for project in ("harbour", "quay"):
        said(client, "Always use tabs for indentation in this project.", project)
    said(client, "Use spaces, not tabs.", "harbour")
    tabs = "The user wants: “Always use tabs for indentation in this project”"
    assert preferences(client) == {tabs: "quay", "The user wants: “Use spaces, not tabs”": "harbour"}
    assert not client.candidates().items


def test_a_wish_of_the_person_answers_the_project_that_it_is_said_in(client: Client) -> None:
    """A wish for all projects replaces the opposite of the project that it is said in; elsewhere both hold."""
    for project in ("harbour", "quay"):
        said(client, "Always answer in German in this project.", project)
    german = "The user wants: “Always answer in German in this project”"
    english = "The user wants: “in all my projects, always answer in English, not German”"
    said(client, "in all my projects, always answer in English, not German.", "harbour")
    assert preferences(client) == {german: "quay", english: "harbour"}
    said(client, "in all my projects, always answer in English, not German.", "ferry")
    shown = client.recall("which language shall I answer in, English or German", project="quay", min_score=0).hits
    assert [(hit.memory.content, hit.memory.project) for hit in shown] == [(german, "quay"), (english, None)]
    assert not client.candidates().items
