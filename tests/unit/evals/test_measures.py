"""What counts as kept: names among words that they stood with, never lists; and the person's own words."""

from __future__ import annotations

import pytest

from reverie.evals.baselines import plain_tail, talk_alone
from reverie.evals.events import Event, events, grams
from reverie.evals.lines import lines_of
from reverie.evals.measures import Mean, held, mean_over_sessions, score
from reverie.evals.names import names, words_beside
from reverie.tokens import count
from support.compacted import compacted_session
from support.transcripts import Transcript, stored, text

LINE = "The retry counter of `reset_parser` lives in src/parser_core.py beside the clock"


def event(needed: dict[str, str], asked: str = "") -> Event:
    """An event whose names stood on the given lines."""
    near = {name: words_beside(line, name) for name, line in needed.items()}
    return Event("s", (), (), "", tuple(needed), near, grams(asked))


@pytest.mark.parametrize(
    ("given", "found"),
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
def test_names_are_specific(given: str, found: list[str]) -> None:
    """Paths by their last two parts, identifiers, commits, flags; not numbers, short words or a tool's parameters."""
    assert names(given) == found


def test_a_name_is_kept_with_its_words() -> None:
    """On a line of those words it counts, alone or among other words it does not, though it occurs."""
    seen = event({"reset_parser": LINE})
    assert held("here the retry counter of reset_parser lives", seen) == {"reset_parser"}
    for text_ in ("reset_parser", "reset_parser apple banana cherry grape lemon", "retry of reset_parser"):
        assert held(text_, seen) == frozenset()
        assert score(text_, seen).needed == 1.0


def test_a_list_of_names_is_worth_nothing() -> None:
    """More than four names in one piece, whatever stands between them."""
    many = " ".join(f"other_name_{letter}" for letter in "abcd")
    seen = event({"reset_parser": LINE})
    assert held(f"{LINE.replace('src/parser_core.py', 'it')} {many}", seen) == frozenset()
    assert held(f"{LINE.replace('src/parser_core.py', 'it')}\n{many}", seen) == {"reset_parser"}


def test_long_lines_count_by_their_sentences() -> None:
    """A long line is read sentence by sentence, so that names far apart do not stand in each other's way."""
    long = f"{LINE}. " + "Nothing of note is said in this sentence about any name at all. " * 6
    crowd = " ".join(f"other_name_{letter}" for letter in "abcde")
    assert held(f"{long}{crowd}", event({"reset_parser": LINE})) == {"reset_parser"}


def test_what_was_asked_is_measured_by_word_sequences() -> None:
    """Four words in a row count; too few of them measure nothing."""
    words = "please make the parser count its retries again and tell me when it is done"
    assert score(words.upper(), event({"reset_parser": LINE}, words)).asked == 1.0
    assert score("please make the parser", event({"reset_parser": LINE}, words)).asked == pytest.approx(1 / 12)
    assert score(words, event({"reset_parser": LINE}, "please make the parser")).asked is None


def test_a_session_counts_once() -> None:
    """The mean is over sessions; one session has no standard error, no session no mean."""
    assert mean_over_sessions([("a", 0.0), ("a", 1.0), ("b", 1.0), ("b", None)]) == Mean(75.0, 25.0)
    assert mean_over_sessions([("a", 0.25)]) == Mean(25.0, None)
    assert mean_over_sessions([("a", None)]) is None


def test_events_are_the_compactions() -> None:
    """What the work used and had seen is needed; what it had not seen, and what others said, is not."""
    (found,) = events("s", stored(compacted_session()))
    assert set(found.needed) == {
        *(f"src/{name}.py" for name in ("parser_0", "router_1", "exporter_2", "ledger_3", "mailer_4")),
        *(f"reset_{name}" for name in ("parser_0", "router_1", "exporter_2", "ledger_3", "mailer_4")),
    }
    assert {"keeps", "retry", "counter"} <= found.near["reset_parser_0"]
    assert found.summary.startswith("The person works on the queue")
    assert not any(line.summary for line in found.before)
    assert "please make the mailer_4" in found.asked
    assert len(found.entries) == len(found.before) + 1


def test_sessions_without_compactions_are_cut_on_request() -> None:
    """At lines where the person begins to speak, and only when asked for."""
    entries = stored(compacted_session(compacted=False, tasks=9))
    assert list(events("s", entries)) == []
    found = list(events("s", entries, cuts=2))
    assert found
    assert all(each.summary == "" and entries[len(each.entries)].role == "user" for each in found)


def test_little_before_or_after_is_no_event() -> None:
    """A compaction right at the beginning or at the end measures nothing."""
    assert list(events("s", stored(compacted_session(tasks=2)))) == []
    assert list(events("s", stored(compacted_session()[:-1].rsplit(b"\n", 12)[0]))) == []
    assert list(events("s", [])) == list(events("s", [], cuts=3)) == []


def test_lines_are_what_was_said() -> None:
    """Subagents, repeated lines and lines without a message are left out; what the client added is not speech."""
    story = Transcript()
    story.user("<system-reminder>be brief</system-reminder>Please look")
    story.assistant(text("Looking."), isSidechain=True)
    story.user("<command-name>/clear</command-name>")
    story.user("Caveat: what follows was made by commands")
    story.user("a skill", isMeta=True)
    story.add("progress", data={"x": 1})
    story.assistant(text("I look."), {"type": "image", "source": {}})
    story.lines.append(dict(story.lines[0]))
    lines = lines_of(stored(story.bytes()))
    assert [(line.role, line.said) for line in lines] == [
        ("user", "Please look"),
        ("user", ""),
        ("user", ""),
        ("user", ""),
        ("assistant", "I look."),
    ]
    assert lines[3].text == "a skill"


def test_names_in_tool_inputs_are_read_after_their_white_space() -> None:
    """A name indented by a tab or at the beginning of a line is the name itself, without the letter of the escape."""
    story = Transcript()
    code = "func main() {\n\tparse_header(x)\n\n\t\tread_body(y)\n}"
    story.assistant({"type": "tool_use", "id": "t1", "name": "Write", "input": {"content": code}})
    (line,) = lines_of(stored(story.bytes()))
    assert names(line.text) == ["parse_header", "read_body"]
    assert code in line.text


def test_baselines_fit_and_take_the_newest() -> None:
    """The tail stops at the first line too long for it; the talk goes on to shorter ones."""
    story = Transcript()
    story.user("the first words")
    story.user("many words " * 100)
    story.user("the last words")
    before = lines_of(stored(story.bytes()))
    assert plain_tail(before, 20) == "the last words"
    assert talk_alone(before, 20) == "the first words\nthe last words"
    assert plain_tail(before, 1) == talk_alone(before, 1) == ""
    assert count(plain_tail(before, 400)) <= 400
