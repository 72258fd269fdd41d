"""Homes with every kind of text, in which everything is purged in a random order: no byte of it is left anywhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from string import ascii_lowercase

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound
from reverie.store.check import run_check
from support.daemon import Daemon, compute_processes, environment, running_daemon, scratch_home
from support.soak import count
from support.stores import files_with
from support.story import LiveSession
from support.waiting import suspended, wait_until

FRAMES = (
    "Always keep the {0} and the {1} in {2}.",
    "We decided to write the {0} of the {1} to {2}.",
    "The {0} failed because {2} had no {1}.",
)
NOUNS = (
    "harbour ledger marble cabinet staging tide orchard lantern gravel beacon quarry saddle timber walnut copper "
    "violet saffron chimney ferry meadow pulley turbine valve magnet basket anchor violin carpet pepper glacier tunnel"
)


class Marks:
    """Words that nothing else has, each for one text."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.words: dict[str, str] = {}

    def __call__(self, use: str) -> str:
        """Return a new word for a text of this use."""
        word = self._made() + "zanzi"
        self.words[word] = use
        return word

    def said(self, use: str) -> str:
        """Return a sentence with a new word: in messages of a kind that is learnt, elsewhere like no other one."""
        if use.endswith(("message", "reply")):
            return self.chance.choice(FRAMES).format(*self.chance.sample(NOUNS.split(), 2), self(use))
        return f"The {self._made()} of {self._made()} and {self._made()} is the {self._made()} {self(use)}"

    def _made(self) -> str:
        return "".join(self.chance.choices(ascii_lowercase, k=9))

    def left(self, home: Path) -> dict[str, list[str]]:
        """Return where words are still found, by their use."""
        return {use: found for word, use in self.words.items() if (found := files_with(home, word))}


def fill_memories(daemon: Daemon, client: Client, marks: Marks) -> None:
    """Write memories with tags, of several types, changed by agents and by a person, and one that waits."""
    ids = []
    for type_ in ("fact", "preference", "mistake", "skill"):
        made = client.remember(
            wire.CreateMemory(content=marks.said(f"memory ({type_})"), tags=[marks("tag"), "ledger"], type=type_),
            key=f"once {type_}",
        )
        ids.append(made.id)
    client.change_memory(ids[0], wire.ChangeMemory(content=marks.said("changed memory"), tags=[marks("new tag")]))
    file = daemon.folder / "facts" / "project.md"
    wait_until(file.exists, "the file")
    file.write_text(file.read_text("utf-8") + f"- {marks.said('line of a person')}\n", "utf-8")
    projection = file.parents[1] / "memory" / "long-term-memory.json"
    wait_until(projection.exists, "the memories as JSON")

    def is_aside() -> bool:  # the daemon may write it at the same moment, and looks at it after a change
        if not (text := projection.read_text("utf-8")).endswith("\n\n"):
            projection.write_text(f"{text}\n\n", "utf-8")
            client.change_memory(ids[1], wire.ChangeMemory(content=marks.said("changed memory")))
        return bool(list(projection.parent.glob("*.sync-conflict-*")))

    wait_until(is_aside, "the copy of what a person edited in vain")
    forgotten = client.remember(wire.CreateMemory(content=marks.said("forgotten memory"))).id
    statement = client.memory(forgotten).content
    client.forget(forgotten)
    thread = client.create_thread(agent="eve").id
    client.append(thread, [{"role": "user", "content": f"Always remember: {statement}"}])
    client.learn(thread)
    with suppress(Conflict):
        client.remember(wire.CreateMemory(content=f"{statement}."))


def fill_documents(daemon: Daemon, client: Client, marks: Marks) -> None:
    """Write documents and folders, and let one be in conflict."""
    root = daemon.folder
    client.put_document("notes/plain.md", f"# Plain\n\n{marks.said('document')}\n")
    client.put_document("notes/plain.md", f"# Plain\n\n{marks.said('changed document')}\n")
    file = root / "facts" / "hosts.md"
    client.put_document("facts/hosts.md", f"# Hosts\n\n- {marks.said('fact')}\n- The port is eighty\n")
    wait_until(file.exists, "the file")
    file.write_text(f"# Hosts\n\n- {marks.said('conflict')}\n- The port is eighty\n", "utf-8")
    client.patch_document("facts/hosts.md", [("eighty", "ninety")])
    client.append_entry(f"notes/{marks('name of a document')}.md", marks.said("appended entry"))


def fill_thread(client: Client, marks: Marks) -> None:
    """Make a thread with messages, calls, a state, notes, a run, a distillation and what is learnt from it."""
    thread = client.create_thread(agent="ada", title=f"about {marks('title')}").id
    run = client.start_run(thread=thread, title=f"run of {marks('run')}").id
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": f"ping {marks('call')}"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"one\n{marks('result')}\nanswers"}
    client.append(
        thread,
        [
            {"role": "user", "content": marks.said("message")},
            {"role": "assistant", "content": [{"type": "text", "text": marks.said("reply")}, call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": marks.said("reply")},
        ],
        key="append",
    )
    client.put_run_file(run, "out.txt", f"{marks.said('file of a run')}\n")
    client.put_working_memory(run, {marks("key of a run"): marks.said("working memory")})
    for turn in range(marks.chance.randrange(6, 14)):
        said = marks.said("later message") if turn % 3 == 0 else f"Step {turn}: check the ledger"
        client.append(
            thread,
            [{"role": "user", "content": said}, {"role": "assistant", "content": f"Checked the ledger, step {turn}."}],
        )
    client.add_note(thread, marks.said("note"), "decision", key="note")
    client.set_working_state(thread, current_task=marks.said("state"))
    client.distill(thread, key="distill")
    client.set_working_state(thread, current_task=marks.said("later state"))
    client.learn(thread)
    client.complete_run(run)


def fill_session(daemon: Daemon, client: Client, marks: Marks, folder: Path) -> None:
    """Follow a session of a client; of the brief of its project a line is kept, one is edited and one is dropped."""
    project = folder / "harbour"
    project.mkdir(exist_ok=True)
    session = LiveSession(folder, project, marks.chance.randrange(1, 1000))
    hook(daemon, session.hook("SessionStart", source="startup"))
    for _ in range(4):
        noun = marks.chance.choice(NOUNS.split())
        session.say(f"Never touch the {noun} in `src/{marks('wish')}.py`.", marks.said("reply of a session"))
    hook(daemon, session.hook("Stop"))
    hook(daemon, session.hook("SessionEnd", reason="other"))
    wishes: list[wire.BriefLine] = []

    def found() -> bool:
        wishes[:] = [line for line in client.brief("harbour").lines if "Never touch" in line.text]
        return len(wishes) > 2

    wait_until(found, "the brief")
    with suppress(Conflict):  # it was learnt meanwhile, and is a memory
        client.change_brief_line("harbour", wishes[0].id, "keep")
    client.change_brief_line("harbour", wishes[1].id, "edit", text=marks.said("edited line"))
    client.change_brief_line("harbour", wishes[2].id, "drop")


def hook(daemon: Daemon, event: dict[str, object], query: str = "") -> str:
    """Send a hook's input; return what it prints."""
    answer = daemon.ask("POST", f"/v1/hooks/claude-code{query}", event)
    assert answer.status == 200, answer.body
    return answer.body.decode()


def purge_all(client: Client, chance: random.Random) -> None:
    """Purge every memory, document and thread that the log names, deleted ones too, one by one in a random order."""
    kinds: dict[str, Callable[[str], object]] = {
        "memory": partial(client.forget, purge=True),
        "document": partial(client.delete_document, purge=True),
        "thread": lambda name: client.delete_thread(name, confirm=name, purge=True),
    }
    done = {("document", "MEMORY.md")}  # which follows
    while True:
        named, after = set[tuple[str, str]](), None
        while True:
            page = client.operations(limit=1000, after=after)
            changes = [change for item in page.items for change in item.changes if change.kind in kinds]
            named |= {(change.kind, str(change.key[0])) for change in changes}
            if (after := page.next) is None:
                break
        new = sorted((kind, name) for kind, name in named - done if kind != "document" or name.endswith(".md"))
        if not new:
            return
        chance.shuffle(new)
        for kind, name in new:
            with suppress(NotFound):
                kinds[kind](name)
        done |= set(new)


def test_purged_words_leave_the_working_states_of_others() -> None:
    """An agent's state that repeats a purged memory is without its words: at once, in its history, after a restart."""
    marks = Marks(random.Random(1))
    word = marks("memory")
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.1") as daemon:
        with Client(daemon.socket) as client:
            memory = client.remember(wire.CreateMemory(content=f"The staging host is called {word}")).id
            thread = client.create_thread(agent="ada").id
            client.append(thread, [{"role": "user", "content": "Restart the staging host."}])
            for task in ("ask for", "restart", "wait for"):
                client.set_working_state(thread, current_task=f"{task} {word}", blockers=[f"{word} is slow"])
            client.forget(memory, purge=True)
            state = client.working_state(thread)
            assert (state.current_task, state.blockers) == ("wait for [purged]", ["[purged] is slow"])
            client.set_working_state(thread, current_task="rest")
        assert marks.left(daemon.home) == {}
        daemon.stop()
        daemon.start()
        with Client(daemon.socket) as client:
            assert word not in str(client.working_state(thread))


def test_a_late_text_is_not_shown_after_the_purge(tmp_path: Path) -> None:
    """A start text that was late, and has the words of the session before, does not enter the next prompt after it."""
    word = Marks(random.Random(2))("message")
    project = tmp_path / "harbour"
    project.mkdir()
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.1") as daemon, Client(daemon.socket) as client:
        for number in range(20):
            first, second = (LiveSession(tmp_path, project, 2 * number + end) for end in (1, 2))
            hook(daemon, first.hook("SessionStart", source="startup"))
            first.say(f"Please paint the gate {word}.", f"The gate is {word}. Next: the south gate.")
            hook(daemon, first.hook("Stop"))
            hook(daemon, first.hook("SessionEnd", reason="other"))
            threads: list[str] = []

            def ended(name: str = first.id, threads: list[str] = threads) -> bool:
                threads[:] = [item.thread or "" for item in client.sessions().items if item.session == name]
                return bool(threads) and client.thread(threads[0]).message_count == 2

            wait_until(ended, "the session")
            client.delete_thread(other := client.create_thread().id, confirm=other)  # made texts are dropped
            with ExitStack() as stopped:
                for pid in compute_processes(daemon.pid):
                    stopped.enter_context(suspended(pid))
                is_late = hook(daemon, second.hook("SessionStart", source="startup"), "?part=state") == ""
            client.context(threads[0], max_tokens=8_000)  # computed behind the late text
            client.delete_thread(threads[0], confirm=threads[0], purge=True)
            assert word not in hook(daemon, second.hook("UserPromptSubmit", prompt="Please go on with the gate"))
            if is_late:
                return
    pytest.fail("no text was late")


def test_nothing_is_left_of_a_home_in_which_everything_was_purged(tmp_path: Path) -> None:
    """Store, folder, spool and log have none of its words, whatever was purged first; the home is sound and starts."""
    for number in range(count(1, 30)):
        chance = random.Random(number)
        marks = Marks(chance)
        folder = tmp_path / str(number)
        folder.mkdir()
        with scratch_home() as home:
            settings = {"REVERIE_SYNC_GRACE_SECONDS": "0.1"}
            if chance.random() < 0.5 or number == 0:
                (home / "data" / "spool" / "answers").mkdir(parents=True)  # as an earlier release left it
            daemon = Daemon(home, environment(home, **settings)).start()
            with Client(daemon.socket) as client:
                fills: list[Callable[[], object]] = [
                    partial(fill_memories, daemon, client, marks),
                    partial(fill_documents, daemon, client, marks),
                    partial(fill_thread, client, marks),
                    partial(fill_session, daemon, client, marks, folder),
                ]
                chance.shuffle(fills)
                for fill in fills:
                    fill()
                client.dream()
                answers = home / "data" / "spool" / "answers"
                if answers.is_dir():
                    for word in marks.words:
                        (answers / f"{word}.json").write_text(json.dumps({"text": f"said:\n{word}\tagain"}))
                missing = [use for word, use in marks.words.items() if not files_with(home, word)]
                assert missing == [], f"home {number}: texts that were never stored"
                purge_all(client, chance)
                assert marks.left(home) == {}, f"home {number}"
            daemon.stop()
            assert run_check(home / "data" / "store").ok
            daemon.start()
            assert marks.left(home) == {}, f"home {number} after a new start"
            assert daemon.stop() == 0
