"""Slash commands: typed by the person, but no prompts of their own."""

from __future__ import annotations

from reverie.importers.join import typed_asides
from support.story import Story
from support.talk import thread_entries


def command(name: str, arguments: str = "") -> str:
    """Return a slash command as the client writes it."""
    parts = (("message", name), ("name", f"/{name}"), ("args", arguments))
    return "\n".join(f"<command-{part}>{words}</command-{part}>" for part, words in parts)


def asides(transcript: Story) -> list[str]:
    """Return the slash commands of a transcript, as texts."""
    return [str(message.content) for message in typed_asides(thread_entries(transcript.bytes()))]


def test_commands_of_the_person_are_shown_with_their_arguments() -> None:
    """A command of the person's own or of a plugin is a request; one to the client, and its output, are not.

    What is typed behind `/compact` is.
    """
    transcript = Story()
    transcript.user(command("review", "158"))
    transcript.user(command("clear"))
    transcript.user("<local-command-stdout>cleared</local-command-stdout>")
    transcript.user(command("compact"))
    transcript.user(command("compact", "the migration is next"))
    transcript.user(command("guild:plan"))

    assert asides(transcript) == ["/review 158", "/compact the migration is next", "/guild:plan"]
