"""Cuts through a session, the names that a text keeps of them, and the plain baselines."""

from __future__ import annotations

import pytest

from reverie.evals.continuity import Mean, mean_over_sessions, names_in_context, plain_tail, score, talk_alone
from reverie.evals.cuts import Cut, find_cuts, names, read_lines, word_sequences, words_beside
from reverie.tokenizer import count
from support.story import Story, compacted_session, text
from support.talk import thread_entries

LINE = "The retry counter of `reset_parser` lives in src/parser_core.py beside the clock"


def cut(needed: dict[str, str], asked: str = "") -> Cut:
    """Return a cut whose needed names occur on the given lines before it."""
    near = {name: words_beside(line, name) for name, line in needed.items()}
    return Cut("s", (), (), "", tuple(needed), near, word_sequences(asked))


@pytest.mark.parametrize(
    ("text_", "expected"),
    [
        ("see /home/ann/queue/src/parser.py.", ["src/parser.py"]),
        ("parser_core.py and main.rs", ["parser_core.py", "main.rs"]),
        ("read_twice, readTwice, ReadTwice and Readtwice", ["read_twice", "readTwice", "ReadTwice"]),
        ("commit 1a2b3c4 but not 1234567 or 1a2b", ["1a2b3c4"]),
        ("--no-verify and --all", ["--no-verify".strip("-")]),
        ("file_path old_string run_in_background", []),
        ("a_b it is", []),
        ("read_twice read_twice", ["read_twice"]),
    ],
)
def test_names(text_: str, expected: list[str]) -> None:
    """Names are paths (last two parts), identifiers, commits and flags; not numbers, short words or tool parameters."""
    assert names(text_) == expected


def test_a_name_counts_with_its_words() -> None:
    """A name counts if it is among the same words as before the cut; alone or among other words it does not."""
    cut_ = cut({"reset_parser": LINE})
    assert names_in_context("here the retry counter of reset_parser lives", cut_) == {"reset_parser"}
    for text_ in ("reset_parser", "reset_parser apple banana cherry grape lemon", "retry of reset_parser"):
        assert names_in_context(text_, cut_) == frozenset()
        assert score(text_, cut_).needed == 1.0


def test_a_list_of_names_does_not_count() -> None:
    """No name counts in a passage with more than four names."""
    many = " ".join(f"other_name_{letter}" for letter in "abcd")
    cut_ = cut({"reset_parser": LINE})
    assert names_in_context(f"{LINE.replace('src/parser_core.py', 'it')} {many}", cut_) == frozenset()
    assert names_in_context(f"{LINE.replace('src/parser_core.py', 'it')}\n{many}", cut_) == {"reset_parser"}


def test_long_lines_are_split_into_sentences() -> None:
    """A long line is read sentence by sentence, so that a list of names at its end does not matter at its beginning."""
    long = f"{LINE}. " + "Nothing of note is said in this sentence about any name at all. " * 6
    crowd = " ".join(f"other_name_{letter}" for letter in "abcde")
    assert names_in_context(f"{long}{crowd}", cut({"reset_parser": LINE})) == {"reset_parser"}


def test_asked_share() -> None:
    """`asked` is the share of sequences of four words; None if the message has too few of them."""
    words = "please make the parser count its retries again and tell me when it is done"
    assert score(words.upper(), cut({"reset_parser": LINE}, words)).asked == 1.0
    assert score("please make the parser", cut({"reset_parser": LINE}, words)).asked == pytest.approx(1 / 12)
    assert score(words, cut({"reset_parser": LINE}, "please make the parser")).asked is None


def test_mean_over_sessions() -> None:
    """The mean is over sessions; one session has no standard error, no session no mean."""
    assert mean_over_sessions([("a", 0.0), ("a", 1.0), ("b", 1.0), ("b", None)]) == Mean(75.0, 25.0)
    assert mean_over_sessions([("a", 0.25)]) == Mean(25.0, None)
    assert mean_over_sessions([("a", None)]) is None


def test_cuts_are_the_compactions() -> None:
    """The needed names are those of the work after a compaction that occur before it."""
    (cut_,) = find_cuts("s", thread_entries(compacted_session()))
    assert set(cut_.needed) == {
        *(f"src/{name}.py" for name in ("parser_0", "router_1", "exporter_2", "ledger_3", "mailer_4")),
        *(f"reset_{name}" for name in ("parser_0", "router_1", "exporter_2", "ledger_3", "mailer_4")),
    }
    assert {"keeps", "retry", "counter"} <= cut_.near["reset_parser_0"]
    assert cut_.summary.startswith("The person works on the queue")
    assert not any(line.summary for line in cut_.before)
    assert "please make the mailer_4" in cut_.asked
    assert len(cut_.entries) == len(cut_.before) + 1


def test_chosen_points() -> None:
    """A session without compactions is cut at lines where the person speaks, and only on request."""
    entries = thread_entries(compacted_session(compacted=False, tasks=9))
    assert list(find_cuts("s", entries)) == []
    cuts = list(find_cuts("s", entries, points=2))
    assert cuts
    assert all(cut.summary == "" and entries[len(cut.entries)].role == "user" for cut in cuts)


def test_too_little_before_or_after_a_cut() -> None:
    """A compaction near the beginning or the end of a session is skipped."""
    assert list(find_cuts("s", thread_entries(compacted_session(tasks=2)))) == []
    assert list(find_cuts("s", thread_entries(compacted_session()[:-1].rsplit(b"\n", 12)[0]))) == []
    assert list(find_cuts("s", [])) == list(find_cuts("s", [], points=3)) == []


def test_read_lines() -> None:
    """Subagents, repeated lines and lines without a message are left out; `words` has no text inserted by a client."""
    transcript = Story()
    transcript.user("<system-reminder>be brief</system-reminder>Please look")
    transcript.assistant(text("Looking."), isSidechain=True)
    transcript.user("<command-name>/clear</command-name>")
    transcript.user("Caveat: what follows was made by commands")
    transcript.user("a skill", isMeta=True)
    transcript.add("progress", data={"x": 1})
    transcript.assistant(text("I look."), {"type": "image", "source": {}})
    transcript.lines.append(dict(transcript.lines[0]))
    lines = read_lines(thread_entries(transcript.bytes()))
    assert [(line.role, line.words) for line in lines] == [
        ("user", "Please look"),
        ("user", ""),
        ("user", ""),
        ("user", ""),
        ("assistant", "I look."),
    ]
    assert lines[3].text == "a skill"


def test_names_after_escaped_white_space() -> None:
    """A name after a tab or a line break in a tool input does not begin with the letter of the escape."""
    transcript = Story()
    code = "func main() {\n\tparse_header(x)\n\n\t\tread_body(y)\n}"
    transcript.assistant({"type": "tool_use", "id": "t1", "name": "Write", "input": {"content": code}})
    (line,) = read_lines(thread_entries(transcript.bytes()))
    assert names(line.text) == ["parse_header", "read_body"]
    assert code in line.text


def test_baselines() -> None:
    """The plain-tail baseline stops at the first line over the budget; the talk-alone baseline skips that line."""
    transcript = Story()
    transcript.user("the first words")
    transcript.user("many words " * 100)
    transcript.user("the last words")
    before = read_lines(thread_entries(transcript.bytes()))
    assert plain_tail(before, 20) == "the last words"
    assert talk_alone(before, 20) == "the first words\nthe last words"
    assert plain_tail(before, 1) == talk_alone(before, 1) == ""
    assert count(plain_tail(before, 400)) <= 400
