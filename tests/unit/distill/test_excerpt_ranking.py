"""Ranking of excerpts: which passages are quoted verbatim, in which order, and with which origin."""

from __future__ import annotations

import pytest

from reverie import tokenizer
from reverie.distill import excerpts
from reverie.distill.distiller import Extractive
from reverie.distill.sentences import specific_names
from reverie.models import Passage
from support.talk import Talk, logger_fix

ENGINE = Extractive()


def ranked_excerpts(thread: Talk, budget: int = 1_000, tail_from_seq: int | None = None) -> tuple[Passage, ...]:
    tail = tail_from_seq or len(thread.messages) + 1
    distilled = ENGINE.distill(
        thread.messages, number=1, previous=None, tail_from_seq=tail, passage_tokens=budget, summary_tokens=0
    )
    return distilled.passages


def long_thread() -> Talk:
    """Return a thread with a file read early and never used again, and one that the work edits."""
    thread = Talk().user("Please make `resolveConfig` in src/settings.py refuse unknown keys")
    old = "\n".join(f"    {n}\tdef forgotten_helper_{n}(self): return old_value_{n} of nothing" for n in range(200))
    thread.call("Read", {"file_path": "/w/app/src/legacy.py"}, old)
    for turn in range(12):
        thread.agent(f"Step {turn}: the function `resolveConfig` still accepts what `knownKeys` does not list.")
        thread.edit(
            "/w/app/src/settings.py", "", f"def resolve_config_{turn}(known_keys, given): refuse what is unknown"
        )
    return thread


def test_the_newest_request_ranks_first_and_is_verbatim() -> None:
    """The newest request has rank 0."""
    passages = ranked_excerpts(logger_fix())
    assert passages[0].text == "no, don't touch the public makeLogger signature in src/logger.ts"
    assert passages[1].text.startswith("The logger writes to stdout in worker mode")
    assert {passage.origin for passage in passages[:2]} == {"The user"}


def test_a_very_long_request_is_shortened_visibly() -> None:
    """The excerpt is the request's beginning, followed by an ellipsis mark."""
    passages = ranked_excerpts(Talk().user("please look at everything " * 100))
    assert passages[0].text.startswith("please look at everything")
    assert passages[0].text.endswith("[…]")
    assert len(passages[0].text) < 700
    assert ranked_excerpts(Talk().user("x" * 2_000))[0].text == "x" * 640 + " […]"


def test_the_rest_of_a_long_request_can_be_an_excerpt() -> None:
    """Lines of a pasted plan that the shortened request leaves out are excerpts; its first lines are not repeated."""
    plan = ["Please carry out this plan for `resolveConfig`:"]
    plan += [f"{n}. Move the reading of section {n} into `readSection{n}` and call it from main" for n in range(20)]
    texts = [passage.text for passage in ranked_excerpts(Talk().user("\n".join(plan)))]
    assert texts[0].startswith(plan[0])
    assert plan[-1] in texts
    assert plan[0] not in texts
    assert plan[2] not in texts


def test_a_long_line_is_cut_into_pieces() -> None:
    """JSON on one line gives pieces of whole words; encoded data gives none."""
    members = ", ".join(f'"member_{n}": "the value of entry {n}"' for n in range(60))
    image = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 40
    thread = Talk().call("fetch", {"address": "members"}, f'{{{members}, "image": "{image}"}}')
    texts = [passage.text for passage in ranked_excerpts(thread, 4_000) if passage.origin == "fetch"]
    assert all(len(text) <= 300 for text in texts)
    assert all(any(f'"member_{n}":' in text for text in texts) for n in range(50))
    assert not any("QUJDREVGR0" in text for text in texts)


def test_excerpts_fit_the_budget_with_exact_counts() -> None:
    """The token sum is within the budget; each count is that of the text and a newline."""
    for budget in (0, 30, 200, 1_000):
        passages = ranked_excerpts(long_thread(), budget)
        assert sum(passage.tokens for passage in passages) <= budget
        assert all(passage.tokens == tokenizer.count(passage.text + "\n") for passage in passages)
    assert [passage.rank for passage in ranked_excerpts(long_thread())] == list(
        range(len(ranked_excerpts(long_thread())))
    )


def test_edited_files_rank_before_files_only_read() -> None:
    """A recently edited file ranks before one read long ago."""
    few = ranked_excerpts(long_thread(), 160)
    texts = " ".join(passage.text for passage in few)
    assert "resolve_config_11" in texts
    assert "forgotten_helper" not in texts


def test_nothing_is_taken_from_the_preserved_tail() -> None:
    """No excerpt comes from the tail's entries, which stay in the context verbatim."""
    thread = logger_fix()
    passages = ranked_excerpts(thread, tail_from_seq=9)
    assert passages
    assert all(passage.seq < 9 for passage in passages)


def test_origins_are_files_commands_and_speakers() -> None:
    """Each excerpt names its file, command or speaker."""
    origins = {passage.origin for passage in ranked_excerpts(logger_fix(), 3_000)}
    assert {"logger.ts", "lineTransport.ts", "The agent", "The user"} <= origins
    thread = Talk().call(
        "Grep", {"pattern": "makeLogger", "path": "/w/src"}, "src/logger.ts:1: makeLogger is made here now"
    )
    thread.call(
        "Task",
        {"description": "Find callers", "prompt": "Find who calls makeLogger anywhere"},
        "callers of makeLogger: none",
    )
    thread.call("mcp__tracker__get", {"id": "ENT-12345"}, "ENT-12345 is about the logger_leak in workers")
    assert {passage.origin for passage in ranked_excerpts(thread)} >= {
        "Grep makeLogger in /w/src",
        "Find callers",
        "mcp__tracker__get",
    }


def test_lines_that_explain_a_name_rank_first() -> None:
    """A line about a name ranks before the name alone, and a declaration before a use."""
    thread = Talk().call(
        "Read", {"file_path": "/w/a.py"}, "retry_limit,\nthe retry_limit counts attempts before failing"
    )
    assert ranked_excerpts(thread)[0].text == "the retry_limit counts attempts before failing"
    used = "total = sum_widgets(shelf, owner, counter)"
    declared = "def sum_widgets(shelf, owner, counter):"
    thread = Talk().call("Read", {"file_path": "/w/a.py"}, f"{used}\n{declared}")
    assert ranked_excerpts(thread)[0].text == declared


def test_new_statements_rank_before_repetitions() -> None:
    """Words of an already chosen line count less."""
    thread = Talk()
    thread.agent("The cache forgets entries whenever writers overlap readers during startup.")
    thread.agent("Whenever writers overlap readers during startup, the cache forgets entries.")
    thread.agent("Migrations finish quickly because the ledger keeps checksums beside records.")
    texts = [passage.text for passage in ranked_excerpts(thread)]
    assert texts[-1].startswith("The cache") or texts[-1].startswith("Whenever")


def test_every_kind_of_edit_gives_its_new_lines() -> None:
    """The text that an edit wrote is an excerpt, the text that it replaced is not."""
    thread = Talk().call(
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
    texts = {passage.text for passage in ranked_excerpts(thread)}
    assert {"set the new_name here once", "plot the error_rate by day", "the retry_limit is three by default"} <= texts
    assert not any("old_name" in text for text in texts)


def test_reminders_and_line_numbers_are_not_quoted() -> None:
    """Text that a client adds to a result is left out; very long lines are cut at sentences."""
    sentence = "The frob_count is kept per widget and never reset. "
    thread = Talk().call(
        "Read",
        {"file_path": "/w/a.py"},
        "     7→the frob_count is reset here daily\n<system-reminder>be good_always</system-reminder>",
    )
    thread.agent(sentence * 10 + "frob_count " * 60)
    texts = [passage.text for passage in ranked_excerpts(thread)]
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


def test_lines_that_share_their_words_are_valued_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pasted style sheet, of which each chosen line makes every other one worth less, costs no square of it."""
    valued = 0
    value = excerpts._Candidate.value

    def counted(candidate: excerpts._Candidate, *arguments: object) -> float:
        nonlocal valued
        valued += 1
        return value(candidate, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(excerpts._Candidate, "value", counted)
    monkeypatch.setattr(excerpts, "_EXACT", 10_000)
    lines = 3_000
    sheet = "\n".join(f"+.c{n} {{ color: #{n:06x}; margin: {n}px }}" for n in range(lines))

    told = ranked_excerpts(Talk().user(f"Please review\n{sheet}"), budget=30_000)

    assert valued < 10_000 + 12 * lines  # 2.6 million before
    assert len(told) > 500
