"""Rewound branches of a transcript are marked, and nothing else is."""

from __future__ import annotations

from reverie.importers.join import main_line
from reverie.importers.rewinds import is_prompt, rewound_positions
from reverie.models import Entry, EntryKind
from support.story import Story, call, result, text
from support.talk import thread_entries


def check(talk: Story, *rewound: str) -> None:
    """Assert that exactly these texts are marked as rewound, and that none is missing."""
    entries = thread_entries(talk.bytes())
    words = {str(entry.content): entry for entry in entries if entry.kind is EntryKind.SPEECH}
    marked = {str(message.content): message.rewound for message in main_line(entries, verbatim=True)}
    assert marked.keys() == words.keys()
    assert {shown for shown, is_rewound in marked.items() if is_rewound} == {str(x) for x in rewound}


def user_text(words: str) -> str:
    return str([text(words)])


def test_a_talk_without_branches() -> None:
    """Nothing is marked in a conversation without branches."""
    talk = Story()
    talk.user("q1")
    talk.assistant(text("a1"))
    talk.user("q2")
    check(talk)


def test_rewinding_one_prompt() -> None:
    """A rewound prompt and its answer are marked; messages before it and the new branch are not."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.user("q2 better", parent=point)
    talk.assistant(text("a3"))
    check(talk, "q2", user_text("a2"))


def test_rewinding_a_prompt_without_an_answer() -> None:
    """A prompt rewound before its answer is marked."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("wrong")
    talk.user("right", parent=point)
    check(talk, "wrong")


def test_rewinding_several_prompts_and_twice() -> None:
    """Everything on the abandoned branches is marked."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(call("c"))
    talk.user([result("c")])
    talk.user("q3")
    talk.user("q4", parent=point)
    talk.assistant(text("a4"))
    talk.user("q5", parent=point)
    check(talk, "q2", str([call("c")]), str([result("c")]), "q3", "q4", user_text("a4"))


def test_client_lines_between_the_branch_point_and_the_prompt() -> None:
    """Durations, hooks, attachments and meta lines do not hide that a prompt begins the branch."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.add("system", subtype="turn_duration")
    talk.add("attachment")
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.add("progress", parent=point)
    talk.user("note", isMeta=True)
    talk.user("q3")
    check(talk, "q2", user_text("a2"))


def test_slash_commands_are_prompts() -> None:
    """A slash command that led to work can be rewound, and can begin the new branch."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("<command-name>/review</command-name>")
    talk.assistant(text("reviewed"))
    talk.user("<command-name>/plan</command-name>", parent=point)
    talk.assistant(text("planned"))
    talk.user("q2")
    check(talk, user_text("reviewed"))


def test_rewinding_to_the_start_of_the_session() -> None:
    """Two root prompts of one session are branches; another session's root in the same file is none."""
    talk = Story()
    talk.user("q1", parent=None)
    talk.assistant(text("a1"))
    talk.user("q2", parent=None)
    talk.user("other", parent=None, sessionId="s2")
    check(talk, "q1", user_text("a1"))


def test_parallel_calls_are_no_rewind() -> None:
    """Parallel calls, whose results and reply have different parents, mark nothing as rewound."""
    talk = Story()
    talk.user("q1")
    one = talk.assistant(call("a"), reply="m")
    talk.assistant(call("b"), reply="m2")
    talk.user([result("a")], parent=one)
    talk.assistant(text("a1"))
    talk.user("q2")
    check(talk)


def test_a_resumed_session_is_no_rewind() -> None:
    """A resumed session, beside the branch of `/exit` commands that the first one left, marks nothing as rewound."""
    talk = Story()
    talk.user("q1")
    talk.assistant(text("a1"))
    point = talk.user("caveat", isMeta=True)
    talk.user("<command-name>/exit</command-name>")
    talk.user("<local-command-stdout>Bye</local-command-stdout>")
    talk.assistant(text("No response requested."), parent=point)
    talk.user("q2")
    check(talk)


def test_a_missing_parent_is_no_rewind() -> None:
    """A prompt whose parent is not in the file is not rewound: it continues from the line before it."""
    talk = Story()
    talk.user("q1", parent="gone")
    talk.assistant(text("a1"))
    talk.user("q2", parent="lost as well")
    check(talk)


def test_an_interruption_notice_begins_no_branch() -> None:
    """The client's notice of an interruption begins no branch: nothing is marked as rewound."""
    talk = Story()
    point = talk.assistant(call("a"))
    talk.user([result("a", "rejected")])
    talk.user([text("[Request interrupted by user for tool use]")], parent=point)
    talk.user("q2", parent=point)
    check(talk)


def test_a_queued_prompt_is_no_rewind() -> None:
    """A prompt queued while the assistant worked, beside its next step, is not marked as rewound."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("queued")
    talk.assistant(text("a2"), parent=point)
    talk.user("q2")
    check(talk)


def test_a_compaction_is_no_rewind() -> None:
    """A compaction, and messages after it with parents before it, mark nothing as rewound."""
    talk = Story()
    talk.user("q1")
    preserved = talk.assistant(text("a1"))
    talk.compact("so far")
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.assistant(text("a3"), parent=preserved)
    talk.user("q3")
    check(talk)


def test_rewinding_to_before_a_compaction() -> None:
    """Everything after the compaction on the abandoned branch is marked."""
    talk = Story()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.compact("so far")
    talk.user("q3")
    talk.user("q4", parent=point)
    check(talk, "q2", user_text("a2"), "q3")


def test_two_clients_side_by_side_keep_both_branches() -> None:
    """A branch that gets prompts after the other one began is not marked as rewound."""
    talk = Story()
    point = talk.assistant(text("a1"))
    talk.user("left 1")
    first = talk.assistant(text("left a"))
    talk.user("right 1", parent=point)
    talk.assistant(text("right a"))
    talk.user("left 2", parent=first)
    check(talk)


def test_cyclic_and_forward_parents_are_ignored() -> None:
    """A parent that comes after its child in the file, or is the child itself, is ignored."""
    talk = Story()
    talk.user("a", uuid="a", parent="b")
    talk.user("b", uuid="b", parent="a")
    talk.user("self", uuid="self", parent="self")
    check(talk)


def test_a_rewound_call_gets_no_result_of_another_branch() -> None:
    """A rewound call and a result of the same id on the main line are not joined."""
    talk = Story()
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(call("a"), reply="m")
    talk.user("q3", parent=point)
    talk.assistant(text("more"), reply="m")
    talk.user([result("a")])
    messages = main_line(thread_entries(talk.bytes()), verbatim=True)
    shown = [f"{message.role} {message.rewound}" for message in messages]
    assert shown == ["assistant False", "user True", "assistant True", "user False", "assistant False", "user False"]


def test_a_branch_of_hundred_thousand_lines_is_walked_without_recursion() -> None:
    """A deep branch does not exhaust the stack."""
    chain = [
        Entry(kind=EntryKind.SPEECH, role="user", content="q", id=str(number), parent=str(number - 1))
        for number in range(100_000)
    ]
    back = Entry(kind=EntryKind.SPEECH, role="user", content="q", id="back", parent="0")
    assert rewound_positions([*chain, back]) == frozenset(range(1, 100_000))


def test_which_lines_are_prompts() -> None:
    """Texts and images of a user are prompts; results, notices, replies and meta lines are not."""
    talk = Story()
    talk.user("words")
    talk.user([{"type": "image", "source": {}}])
    talk.user([result("a"), text("and words")])
    talk.user([result("a")])
    talk.user("[Request interrupted by user]")
    talk.user([text("[Request interrupted by user for tool use]")])
    talk.user("meta", isMeta=True)
    talk.assistant(text("reply"))
    assert [is_prompt(entry) for entry in thread_entries(talk.bytes())] == [True] * 3 + [False] * 5
