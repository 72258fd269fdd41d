"""Dreams about more memories than their budget can hold, by a real daemon: the oldest first, and none is skipped."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import TokenBudgetExceeded
from reverie.wire import DreamAnswer
from reveried.cli import main
from support.daemon import running_daemon, scratch_home
from support.soak import count

WORDS = [f"word{number}" for number in range(900)]
MAXIMUM = "4000"  # dream.maxTokenBudget: a fraction of what 300 bullets need
SMALL = "1500"  # less than twenty memories of 150 words, and less than one of 890


def bullets(number: int, seed: int, words: int = 14) -> str:
    """Return a document of `number` bullets that have nothing in common."""
    chance = random.Random(seed)
    return "# Facts\n\n" + "".join(f"- {' '.join(chance.sample(WORDS, words))}\n" for _ in range(number))


def read_by(client: Client, answer: DreamAnswer) -> list[str]:
    """Return the addresses of the memories that a dream has read; equal memories have equal ones."""
    assert answer.archive is not None
    archive: dict[str, Any] = json.loads(client.archive(answer.archive))
    assert len(archive["sources"]) == answer.sources
    return [source["sha256"] for source in archive["sources"]]


def dreams_until_all_is_read(client: Client, budget: int | None = None) -> list[DreamAnswer]:
    """Dream until nothing waits; each dream reads on where the one before it ended."""
    answers = [client.dream(token_budget=budget)]
    while answers[-1].waiting:
        answers.append(client.dream(token_budget=budget))
        assert answers[-1].waiting == answers[-2].waiting - answers[-1].sources
    return answers


def test_a_backlog_is_read_in_several_dreams() -> None:
    """Every memory is read exactly once, the answer and the record say how many wait, and then nothing is new."""
    number = count(300, 1501)
    with running_daemon(REVERIE_DREAM_MAX_TOKEN_BUDGET=MAXIMUM) as daemon, Client(daemon.socket) as client:
        client.put_document("facts/project.md", bullets(number, 1))
        first = client.dream()
        assert first.sources >= 20
        assert first.tokens_used <= first.token_budget == int(MAXIMUM)
        assert first.waiting == number - first.sources > 0
        assert client.dreams().items[0].waiting == first.waiting
        last = client.status().last_dream
        assert last is not None
        assert last.waiting == first.waiting

        answers = [first, *dreams_until_all_is_read(client)]

        read = [address for answer in answers for address in read_by(client, answer)]
        assert len(read) == len(set(read)) == number
        assert client.dream().archive is None


def test_new_memories_wait_behind_older_ones() -> None:
    """Memories written or changed while others wait are read after them, once, and across a restart of the daemon."""
    with running_daemon(REVERIE_DREAM_MAX_TOKEN_BUDGET=MAXIMUM) as daemon:
        with Client(daemon.socket) as client:
            client.put_document("facts/project.md", bullets(200, 1))
            first = client.dream()
            client.put_document("facts/user.md", bullets(40, 2))
            second = client.dream()
            assert second.waiting == first.waiting + 40 - second.sources
        assert daemon.stop() == 0
        daemon.start()
        with Client(daemon.socket) as client:
            answers = [first, second, *dreams_until_all_is_read(client)]
            read = [address for answer in answers for address in read_by(client, answer)]
            assert len(read) == len(set(read)) == 240
            sources = json.loads(client.archive(str(answers[0].archive)))["sources"]
            assert {source["ref"] for source in sources} == {"facts/project.md"}
            sources = json.loads(client.archive(str(answers[-1].archive)))["sources"]
            assert "facts/user.md" in {source["ref"] for source in sources}


def test_a_clock_set_back_reads_nothing_twice() -> None:
    """After the clock is set back, dreams still read each of 300 memories exactly once."""
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home, REVERIE_DREAM_MAX_TOKEN_BUDGET=MAXIMUM) as daemon, Client(daemon.socket) as client:
            client.put_document("facts/project.md", bullets(300, 8))
            answers = [client.dream()]
            (home / "clock").write_text("2026-05-01T12:00:00Z")
            answers += dreams_until_all_is_read(client)
            assert sum(answer.sources for answer in answers) == 300
            assert client.dream().archive is None


def test_duplicates_in_a_backlog_do_not_read_others_again() -> None:
    """A dream that deletes memories edits their document; the other memories of it are not new through that."""
    with running_daemon(REVERIE_DREAM_MAX_TOKEN_BUDGET=MAXIMUM) as daemon, Client(daemon.socket) as client:
        lines = bullets(120, 3).splitlines()[2:]
        for line in (*lines[:30], *lines[:30], *lines[30:]):
            daemon.ask("POST", "/v1/memories", {"content": line[2:], "document": "facts/a.md", "author": "agent"})
        stored = client.status().counts["memories"]
        answers = dreams_until_all_is_read(client)
        assert sum(answer.sources for answer in answers) == stored
        assert client.dream().archive is None


def test_a_small_budget_is_refused_with_a_minimum_that_works() -> None:
    """A budget too small for 20 memories is refused with a minimum; a dream with this minimum reads 20."""
    with running_daemon(REVERIE_DREAM_MAX_TOKEN_BUDGET=MAXIMUM) as daemon, Client(daemon.socket) as client:
        client.put_document("facts/project.md", bullets(300, 4))
        with pytest.raises(TokenBudgetExceeded) as refused:
            client.dream(token_budget=1)
        assert refused.value.budget == 1
        minimum = refused.value.minimum_required
        with pytest.raises(TokenBudgetExceeded):
            client.dream(token_budget=minimum - 1, dry_run=True)
        answer = client.dream(token_budget=minimum)
        assert answer.sources == 20
        assert answer.waiting == 280


def test_memories_larger_than_the_largest_budget() -> None:
    """Twenty long memories are read a few at a time; one that never fits is passed over, waits, and is named."""
    with running_daemon(REVERIE_DREAM_MAX_TOKEN_BUDGET=SMALL) as daemon, Client(daemon.socket) as client:
        long, giant = bullets(24, 5, words=150), bullets(1, 6, words=890)
        client.put_document("facts/project.md", giant + long.partition("\n\n")[2])
        answers = [client.dream()]
        while answers[-1].waiting > 1:
            answers.append(client.dream())
        assert sum(answer.sources for answer in answers) == 24
        with pytest.raises(TokenBudgetExceeded, match="mem_") as refused:
            client.dream()
        assert refused.value.minimum_required > int(SMALL)
        assert f"dream.maxTokenBudget to {refused.value.minimum_required}" in str(refused.value.hint)


def test_a_first_dream_without_decisions_is_not_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Dreams print that there is no memory; that they read 207 and change none; and that none is new since then."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        monkeypatch.setenv("REVERIE_HOME", str(daemon.home))
        monkeypatch.delenv("REVERIE_SOCKET", raising=False)
        assert main(["dream"]) == 0
        assert "There are no memories to distill." in capfd.readouterr().out
        client.put_document("facts/project.md", bullets(207, 7))
        assert client.status().counts["memories"] == 207
        assert main(["dream"]) == 0
        output = capfd.readouterr().out
        assert "No memory is new" not in output
        assert "207 memories" in output
        assert main(["dream"]) == 0
        assert "No memory is new since the last dream." in capfd.readouterr().out
