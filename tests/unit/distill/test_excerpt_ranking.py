"""Excerpts: what is kept word for word, in which order, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens
from reverie.distill.extractive import Extractive
from reverie.distill.extractive.prose import specific_names
from support.thread import Thread, logger_fix

if TYPE_CHECKING:
    from reverie.models import Passage

ENGINE = Extractive()


def kept(thread: Thread, budget: int = 1_000, tail_from_seq: int | None = None) -> tuple[Passage, ...]:
    tail = tail_from_seq or len(thread.messages) + 1
    found = ENGINE.distill(
        thread.messages, number=1, previous=None, tail_from_seq=tail, passage_tokens=budget, summary_tokens=0
    )
    return found.passages


def long_thread() -> Thread:
    """A file read early and never touched again, and one that the work is about."""
    thread = Thread().user("Please make `resolveConfig` in src/settings.py refuse unknown keys")
    old = "\n".join(f"    {n}\tdef forgotten_helper_{n}(self): return old_value_{n} of nothing" for n in range(200))
    thread.call("Read", {"file_path": "/w/app/src/legacy.py"}, old)
    for turn in range(12):
        thread.agent(f"Step {turn}: the function `resolveConfig` still accepts what `knownKeys` does not list.")
        thread.edit(
            "/w/app/src/settings.py", "", f"def resolve_config_{turn}(known_keys, given): refuse what is unknown"
        )
    return thread


def test_the_persons_last_words_come_first_and_verbatim() -> None:
    """The newest request has rank 0."""
    passages = kept(logger_fix())
    assert passages[0].text == "no, don't touch the public makeLogger signature in src/logger.ts"
    assert passages[1].text.startswith("The logger writes to stdout in worker mode")
    assert {passage.origin for passage in passages[:2]} == {"The user"}


def test_a_very_long_request_is_shortened_visibly() -> None:
    """Its beginning is kept, its end marked."""
    passages = kept(Thread().user("please look at everything " * 100))
    assert passages[0].text.startswith("please look at everything")
    assert passages[0].text.endswith("[…]")
    assert len(passages[0].text) < 700
    assert kept(Thread().user("x" * 2_000))[0].text == "x" * 640 + " […]"


def test_passages_fit_the_budget_and_count_true() -> None:
    """The sum of their tokens is within what was given; each count is that of its text and a newline."""
    for budget in (0, 30, 200, 1_000):
        passages = kept(long_thread(), budget)
        assert sum(passage.tokens for passage in passages) <= budget
        assert all(passage.tokens == tokens.count(passage.text + "\n") for passage in passages)
    assert [passage.rank for passage in kept(long_thread())] == list(range(len(kept(long_thread()))))


def test_what_the_work_is_about_comes_before_what_was_only_read() -> None:
    """Edited and recent beats old and passive."""
    few = kept(long_thread(), 160)
    texts = " ".join(passage.text for passage in few)
    assert "resolve_config_11" in texts
    assert "forgotten_helper" not in texts


def test_nothing_is_taken_from_the_preserved_tail() -> None:
    """Those entries stay in context by themselves."""
    thread = logger_fix()
    passages = kept(thread, tail_from_seq=9)
    assert passages
    assert all(passage.seq < 9 for passage in passages)


def test_origins_are_files_commands_and_speakers() -> None:
    """A reader can tell where a line comes from."""
    origins = {passage.origin for passage in kept(logger_fix(), 3_000)}
    assert {"logger.ts", "lineTransport.ts", "The agent", "The user"} <= origins
    thread = Thread().call(
        "Grep", {"pattern": "makeLogger", "path": "/w/src"}, "src/logger.ts:1: makeLogger is made here now"
    )
    thread.call(
        "Task",
        {"description": "Find callers", "prompt": "Find who calls makeLogger anywhere"},
        "callers of makeLogger: none",
    )
    thread.call("mcp__tracker__get", {"id": "ENT-12345"}, "ENT-12345 is about the logger_leak in workers")
    assert {passage.origin for passage in kept(thread)} >= {
        "Grep makeLogger in /w/src",
        "Find callers",
        "mcp__tracker__get",
    }


def test_lines_around_a_search_hit_stand_under_their_file() -> None:
    """A hit keeps its place; what surrounds it is a line of the file like any other."""
    found = "src/logger.ts:7: makeLogger is made here now\nsrc/logger.ts-8-  and lineTransport follows it below"
    passages = kept(Thread().call("Grep", {"pattern": "makeLogger"}, found))
    assert {(passage.origin, passage.text) for passage in passages} == {
        ("Grep makeLogger", "src/logger.ts:7: makeLogger is made here now"),
        ("src/logger.ts", "and lineTransport follows it below"),
    }


def test_a_heading_is_not_said_again_below_it() -> None:
    """What was run for a reason stands under the reason; the reason alone is no line."""
    why = "Make parse_config refuse unknown keys"
    thread = Thread().call("mcp__runner__run", {"description": why, "argument": "parse_config --strict"}, "ok")
    assert [passage.text for passage in kept(thread) if passage.origin == why] == ["parse_config --strict"]


def test_a_plan_is_the_agents_own_words() -> None:
    """Entries of either kind of list are kept for what they say, once, even where they name nothing."""
    thread = Thread()
    todos = [{"content": "Explain when partial uploads are resumed", "status": "pending"}, "no entry"]
    for _ in range(2):
        thread.call("TodoWrite", {"todos": todos}, "Todos have been modified successfully")
    thread.call("TaskCreate", {"subject": "Measure retries", "description": "Count what every region repeats"}, "ok")
    assert {(passage.origin, passage.text) for passage in kept(thread)} == {
        ("The agent's plan", "Explain when partial uploads are resumed"),
        ("The agent's plan", "Measure retries"),
        ("The agent's plan", "Count what every region repeats"),
    }
    assert not kept(Thread().call("TodoWrite", {"todos": "none"}, "ok"))


def test_what_explains_a_name_comes_before_what_only_has_it() -> None:
    """A name alone on its line says less than a line about it, and a declaration says more than a use."""
    thread = Thread().call(
        "Read", {"file_path": "/w/a.py"}, "retry_limit,\nthe retry_limit counts attempts before failing"
    )
    assert kept(thread)[0].text == "the retry_limit counts attempts before failing"
    used = "total = sum_widgets(shelf, owner, counter)"
    declared = "def sum_widgets(shelf, owner, counter):"
    thread = Thread().call("Read", {"file_path": "/w/a.py"}, f"{used}\n{declared}")
    assert kept(thread)[0].text == declared


def test_talk_that_says_something_new_comes_before_talk_that_repeats() -> None:
    """Words that stand in a kept line count for less, and announcements for less than findings."""
    thread = Thread()
    thread.agent("The cache forgets entries whenever writers overlap readers during startup.")
    thread.agent("Whenever writers overlap readers during startup, the cache forgets entries.")
    thread.agent("Migrations finish quickly because the ledger keeps checksums beside records.")
    thread.agent("Let me compare checksums beside records while migrations finish quickly today.")
    texts = [passage.text for passage in kept(thread)]
    assert {texts.index(text) for text in texts if text.startswith(("Whenever", "Migrations"))} == {0, 1}
    assert texts[-1].startswith("Let me")


def test_talk_that_tells_something_comes_before_talk_that_passes() -> None:
    """The first line of a message, a whole thought, and what was found out count for more than remarks and halves."""
    thread = Thread()
    thread.agent("Weights.\nGradient clipping stops sudden overflow during early warmup while lower layers converge.")
    thread.agent("Sampling stops because shuffled batches exhaust every iterator before validation completes early.")
    texts = [passage.text for passage in kept(thread)]
    assert texts[0].startswith("Sampling stops because")
    assert texts[1].startswith("Gradient clipping")
    assert texts[2:] == ["Weights."]


def test_every_kind_of_edit_gives_its_new_lines() -> None:
    """What the agent wrote is kept, not what it replaced."""
    thread = Thread().call(
        "MultiEdit",
        {"file_path": "/w/a.py", "edits": [{"old_string": "old_name", "new_string": "set the new_name here once"}, 3]},
    )
    thread.call("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": "plot the error_rate by day"})
    thread.call("Write", {"file_path": "/w/notes.md", "content": "the retry_limit is three by default"})
    thread.call(
        "Edit",
        {"file_path": "/w/b.py", "old_string": "x", "new_string": "use the other_name below"},
        "not found",
        failed=True,
    )
    texts = {passage.text for passage in kept(thread)}
    assert {"set the new_name here once", "plot the error_rate by day", "the retry_limit is three by default"} <= texts
    assert not any("old_name" in text for text in texts)


def test_reminders_and_line_numbers_are_not_quoted() -> None:
    """What a client put round a result is no part of it; very long lines are cut at sentences."""
    sentence = "The frob_count is kept per widget and never reset. "
    thread = Thread().call(
        "Read",
        {"file_path": "/w/a.py"},
        "     7→the frob_count is reset here daily\n<system-reminder>be good_always</system-reminder>",
    )
    thread.agent(sentence * 10 + "frob_count " * 60)
    texts = [passage.text for passage in kept(thread)]
    assert "the frob_count is reset here daily" in texts
    assert sentence.strip() in texts
    assert not any("good_always" in text for text in texts)
    assert max(map(len, texts)) <= 300


def test_names_are_found_in_any_text() -> None:
    """Paths by their last two parts, files, identifiers, commits, flags and tickets; plain words are none."""
    assert specific_names("see /a/b/cmd/cli/state.go and state.go") == ("cli/state.go", "state.go")
    assert specific_names("call getFoo or make_bar, MAX_SIZE") == ("getFoo", "make_bar", "MAX_SIZE")
    assert specific_names("commit 1a2b3c4d with --no-verify for ENT-221") == (
        "1a2b3c4d",
        "--no-verify".strip("-"),
        "ENT-221",
    )
    assert specific_names("Nothing here is a name, not even 20261121.") == ()
