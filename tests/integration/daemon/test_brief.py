"""The brief of a project over a daemon's socket: made of imported sessions, and changed by the person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reverie.tokenizer import count
from reverie.wire import CreateMemory
from reveried.cli import main
from support.cli import use_daemon
from support.daemon import Daemon, daemon_on_copy, running_daemon, scratch_home
from support.projects import command_run, session

DRAFTS = "Pull requests are always opened as drafts."
CAUSE = "The chart is empty because `src/tide.py` rounds the tides down."


@pytest.fixture(scope="module")
def two_projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a stopped daemon with two sessions of the project harbour, and one of the project orchard."""
    folder = tmp_path_factory.mktemp("sessions")
    with scratch_home() as home, running_daemon(home) as daemon, pytest.MonkeyPatch.context() as patch:
        use_daemon(daemon, patch)
        for number, day in enumerate(("2026-03-01", "2026-03-02")):
            path = folder / f"harbour-{number}.jsonl"
            texts: list[Any] = [DRAFTS, CAUSE, "now draw the chart", *command_run("make chart", "drawn"), "thanks"]
            session(path, "/home/ann/harbour", [*texts[:3], *texts[3:5], "The chart is drawn."], day=day)
        session(folder / "orchard.jsonl", "/home/ann/orchard", ["Never prune in `src/frost.py`.", "I will not."])
        assert main(["import", "claude-code", str(folder)]) == 0
        assert daemon.stop() == 0
        yield home


@pytest.fixture(scope="module")
def shared(two_projects: Path) -> Iterator[Client]:
    """A client of the daemon of the tests that change nothing."""
    with daemon_on_copy(two_projects) as daemon, Client(daemon.socket) as client:
        yield client


@pytest.fixture
def own(two_projects: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Daemon, Client]]:
    """A daemon and a client for a test that changes something."""
    with daemon_on_copy(two_projects) as daemon, Client(daemon.socket) as client:
        use_daemon(daemon, monkeypatch)
        yield daemon, client


def _texts(client: Client, project: str = "harbour") -> dict[str, str]:
    return {line.text: line.id for line in client.brief(project).lines}


def test_a_brief_is_complete_when_the_import_has_returned(shared: Client) -> None:
    """It has the quotes of its project with their source and sessions, and none of another project."""
    client = shared
    brief = client.brief("harbour")
    lines = {line.text: line for line in brief.lines}

    assert lines[DRAFTS].sessions == 2
    assert lines["`make chart`"].sessions == 2
    message = next(m for m in client.messages(lines[CAUSE].thread or "").items if m.last_seq == lines[CAUSE].seq)
    assert CAUSE in json.dumps(message.content, ensure_ascii=False)
    assert not any("prune" in text for text in lines)
    assert any("Never prune in `src/frost.py`" in text for text in _texts(client, "orchard"))
    assert client.brief("harbour") == brief


@pytest.mark.parametrize("max_tokens", [1, 60, 120, 1_000])
def test_a_brief_is_within_its_tokens(shared: Client, max_tokens: int) -> None:
    text = shared.brief_text("harbour", max_tokens=max_tokens)

    assert count(text) <= max_tokens
    assert count(text, "cl100k_base") <= max_tokens
    assert shared.brief("harbour", max_tokens=max_tokens).tokens == count(text)


def test_a_dropped_line_stays_away_until_the_undo(own: tuple[Daemon, Client], tmp_path: Path) -> None:
    """Also where another session says the same."""
    _, client = own
    dropped = client.change_brief_line("harbour", _texts(client)[DRAFTS], "drop")
    session(tmp_path / "harbour-2.jsonl", "/home/ann/harbour", [DRAFTS, "Noted."], day="2026-03-03")
    assert main(["import", "claude-code", str(tmp_path)]) == 0

    assert DRAFTS not in _texts(client)
    client.undo(dropped.operation or "")
    assert DRAFTS in _texts(client)


def test_a_dropped_sentence_is_not_told_of_the_last_session(own: tuple[Daemon, Client], tmp_path: Path) -> None:
    """Neither as its task nor as what is open, the rest of which stays; and what was said is not told as asked too."""
    _, client = own
    colours = "the blue of the old chart of 1881 rather than in the grey of the printed one"
    wish = f"Always draw the harbour in {colours}, and the tide in {colours}."
    session(tmp_path / "harbour-3.jsonl", "/home/ann/harbour", [f"{wish} Begin with the mole."], day="2026-03-04")
    assert main(["import", "claude-code", str(tmp_path)]) == 0
    text = client.brief_text("harbour")
    assert (text.count("Always draw"), "asked: “Begin with the mole.”" in text) == (2, True)  # said, and open
    (said,) = (line.id for line in client.brief("harbour").lines if line.kind == "wish" and "Always" in line.text)
    client.change_brief_line("harbour", said, "drop")
    text = client.brief_text("harbour")
    assert "Always draw" not in text
    assert "left with: do what the user asked: Begin with the mole." in text


def test_a_line_that_is_kept_or_corrected_is_a_memory_of_the_person(own: tuple[Daemon, Client]) -> None:
    """The corrected line goes, the kept one stays where it was with its date; undo takes both back as they were."""
    _, client = own
    before = _texts(client)
    found = next(line for line in client.brief("harbour").lines if line.text == CAUSE)
    kept = client.change_brief_line("harbour", before[CAUSE], "keep")
    edited = client.change_brief_line("harbour", before[DRAFTS], "edit", "Pull requests are opened as drafts, by gh.")

    lines = {line.text: line for line in client.brief("harbour").lines}
    assert kept.memory is not None
    assert (kept.memory.trust, kept.memory.project, lines[CAUSE].memory) == ("person", "harbour", kept.memory.id)
    assert (lines[CAUSE].kind, lines[CAUSE].at) == (found.kind, found.at)
    assert (kept.memory.provenance["thread"], kept.memory.provenance["seqs"]) == (found.thread, [found.seq])
    assert edited.memory is not None
    assert lines["Pull requests are opened as drafts, by gh."].memory == edited.memory.id
    assert DRAFTS not in lines
    client.undo(edited.operation or "")
    client.undo(kept.operation or "")
    assert _texts(client) == before


def test_a_corrected_memory_has_its_accesses(own: tuple[Daemon, Client]) -> None:
    _, client = own
    client.change_brief_line("harbour", _texts(client)[CAUSE], "keep")
    client.recall(CAUSE, project="harbour")
    edited = client.change_brief_line("harbour", _texts(client)[CAUSE], "edit", f"{CAUSE} Since May.").memory
    assert edited is not None
    assert edited.access_count == 1


def test_a_repeated_change_is_made_once(own: tuple[Daemon, Client]) -> None:
    """A change repeated with its key gets the first answer and makes no second memory; another body is a conflict."""
    daemon, client = own
    path = f"/v1/projects/harbour/brief/lines/{_texts(client)[CAUSE]}"
    before = len(client.memories(all_projects=True).items)

    answers = [daemon.ask("POST", path, {"action": "keep"}, {"Idempotency-Key": "k"}) for _ in range(2)]

    assert (answers[0].status, answers[1].json()) == (200, answers[0].json())
    assert len(client.memories(all_projects=True).items) == before + 1
    assert daemon.ask("POST", path, {"action": "drop"}, {"Idempotency-Key": "k"}).status == 409


def test_what_a_person_remembers_is_said_by_the_person(own: tuple[Daemon, Client]) -> None:
    """Whatever its type is."""
    _, client = own
    remembered = {"The mooring fee is 40 euros.": "fact", "The pier is swept on Thursdays.": "procedure"}
    for text, kind in remembered.items():
        assert main(["remember", text, "--type", kind]) == 0
    _, said, commands, *_ = client.brief_text("harbour").split("## ")
    assert said.startswith("Said by the person")
    assert all(text in said for text in remembered)
    assert "`make chart`" in commands


def test_a_forgotten_command_is_no_command_that_worked(own: tuple[Daemon, Client]) -> None:
    _, client = own
    (learnt,) = (memory for memory in client.memories(project="harbour").items if "make chart" in memory.content)
    assert "`make chart`" in _texts(client)
    client.forget(learnt.id)
    assert "`make chart`" not in _texts(client)


def test_what_is_forgotten_hides_no_memory(own: tuple[Daemon, Client]) -> None:
    """Also where the memory has all words of the forgotten one, being the opposite."""
    _, client = own
    client.forget(client.remember(CreateMemory("Use npm for packages.", type="preference", project="harbour")).id)
    assert main(["remember", "Do not use npm for packages.", "--type", "preference", "--project", "harbour"]) == 0
    texts = _texts(client)
    assert "Do not use npm for packages." in texts
    client.change_brief_line("harbour", texts["Do not use npm for packages."], "drop")
    assert not any("npm" in text for text in _texts(client))


def test_what_is_forgotten_or_deleted_leaves_no_line(own: tuple[Daemon, Client]) -> None:
    _, client = own
    memory = client.change_brief_line("harbour", _texts(client)[DRAFTS], "keep").memory
    assert memory is not None
    client.forget(memory.id)
    assert not any("drafts" in text for text in _texts(client))

    for thread in client.threads(project="harbour").items:
        client.delete_thread(thread.id, confirm=thread.id, purge=True)
    assert client.brief("harbour").lines == []
    assert client.brief_text("harbour") == ""


def test_rewound_messages_leave_the_brief(own: tuple[Daemon, Client]) -> None:
    _, client = own
    for thread in client.threads(project="harbour").items:
        client.rewind(thread.id, 1)
    texts = _texts(client)
    assert DRAFTS in texts
    assert CAUSE not in texts


def test_what_is_not_there_is_named(shared: Client) -> None:
    client = shared
    for call in (lambda: client.brief("pier"), lambda: client.change_brief_line("harbour", "0" * 12, "drop")):
        with pytest.raises(NotFound) as error:
            call()
        assert error.value.hint
    with pytest.raises(ValidationError):
        client.change_brief_line("harbour", _texts(client)[DRAFTS], "edit")


def test_the_commands(own: tuple[Daemon, Client], capfd: pytest.CaptureFixture[str]) -> None:
    """`reverie brief` prints each line with its id, and its commands change one."""
    _, client = own
    capfd.readouterr()
    assert main(["brief", "--project", "harbour"]) == 0
    printed = capfd.readouterr().out
    line = _texts(client)[DRAFTS]
    assert f"  {line}  {DRAFTS} (2026-03-02)" in printed.splitlines()

    assert main(["show", line]) == 0
    found = next(one for one in client.brief("harbour").lines if one.id == line)
    assert f"reverie thread {found.thread} --around {found.seq}" in " ".join(capfd.readouterr().out.split())
    assert main(["brief", "keep", line, "--project", "harbour"]) == 0
    assert main(["brief", "edit", line, "Drafts,", "always.", "--project", "harbour", "--json"]) == 0
    assert '"Drafts, always."' in capfd.readouterr().out
    assert main(["brief", "drop", "nothing", "--project", "harbour"]) == 1
    assert "next: `reverie brief --project harbour` lists them" in capfd.readouterr().err


def test_a_hint_holds_outside_of_the_repository(
    own: tuple[Daemon, Client], capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a brief says to type names the project; an option before the command counts as one behind it."""
    _, client = own
    monkeypatch.chdir(tmp_path)
    assert main(["brief", "--project", "harbour"]) == 0
    assert "reverie brief drop|keep|edit LINE --project harbour" in capfd.readouterr().out
    line = _texts(client)[DRAFTS]
    assert main(["brief", "--project", "harbour", "--json", "drop", line]) == 0
    assert '"drop"' in capfd.readouterr().out
    assert DRAFTS not in _texts(client)
