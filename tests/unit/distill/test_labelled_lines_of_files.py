"""Memories of labelled lines in the files and the working memory of a run; tasks and plans give none."""

from __future__ import annotations

from reverie.distill.distiller import Extractive

ENGINE = Extractive()


def test_each_labelled_line_of_a_file() -> None:
    """Each labelled line is one memory with one label; tasks, open or done, are no memories."""
    files = {
        "report.md": (
            "# Report\n\nMistake: the cache was keyed by name alone.\n- **Lesson:** always set the timeout to 20 s.\n\n"
            "TO-DO: write the tests of the cache.\n- [ ] measure the cache with two clients\n"
        ),
        "findings.md": (
            "# HTTP client\n\nThe client opens one connection for each host it meets.\n"
            "Lesson: never share a session between threads.\nLesson: nothing?\n"
            "Decision: use one pool for each host.\n\n"
            "```\nMistake: this is the output of a program.\n```\n\n"
            "## Lessons learned\n\n- Retries need a deadline of their own.\n- Redirects lose the body.\n"
            "- No leaks were found.\n\n"
            "## Next steps\n\nThe pool should learn to shrink in quiet hours.\n"
        ),
        "plan.md": "1. Read the old client\n2. Write the new one\n",
        "work.md": "# Work\n\n1. Added the pool\n2. Removed the old client\n",
        "release.md": "# Release\n\n1. Bump the version\n2. Push the tag\n",
        "notizen.md": "# Notizen\n\nEntscheidung: wir verwenden einen Pool je Host.\n",
    }
    assert [(candidate.type.value, candidate.content) for candidate in ENGINE.candidates([], files)] == [
        ("mistake", "Mistake: the cache was keyed by name alone. (from report.md)"),
        ("procedure", "Release: Bump the version → Push the tag (from release.md)"),
        ("fact", "HTTP client — Lesson: never share a session between threads. (from findings.md)"),
        ("fact", "HTTP client — Decision: use one pool for each host. (from findings.md)"),
        ("fact", "HTTP client: The client opens one connection for each host it meets. (from findings.md)"),
        ("fact", "HTTP client — Lessons learned: Retries need a deadline of their own. (from findings.md)"),
        ("fact", "HTTP client — Lessons learned: Redirects lose the body. (from findings.md)"),
        ("fact", "Entscheidung: wir verwenden einen Pool je Host. (from notizen.md)"),
        ("fact", "Lesson: always set the timeout to 20 s. (from report.md)"),
    ]


def test_labels_of_working_memory() -> None:
    """A label in the key or the value appears once in the memory, and a task is no fact."""
    given = {
        "decision": "Decision: use one pool for each host",
        "pool": "Decision: shrink it every night",
        "todo": "write the tests of the pool",
        "cache": "TO-DO key it by host and port",
        "broker": "it listens on port 5672",
    }
    assert [candidate.content for candidate in ENGINE.candidates([], {}, given)] == [
        "broker: it listens on port 5672",
        "Decision: use one pool for each host",
        "pool — Decision: shrink it every night",
    ]
