"""What a person took back is marked, and nothing else is."""

from __future__ import annotations

from reverie.importers.branches import is_prompt, rewound_positions
from reverie.importers.messages import main_line
from reverie.models import Entry, EntryKind
from support.transcripts import Transcript, call, result, text


def check(talk: Transcript, *taken: str) -> None:
    """These words were taken back, all others were not, and none is missing."""
    entries = talk.entries()
    words = {str(entry.content): entry for entry in entries if entry.kind is EntryKind.SPEECH}
    marked = {str(message.content): message.rewound for message in main_line(entries, verbatim=True)}
    assert marked.keys() == words.keys()
    assert {shown for shown, is_rewound in marked.items() if is_rewound} == {str(x) for x in taken}


def said(words: str) -> str:
    return str([text(words)])


def test_a_talk_without_branches() -> None:
    """Nothing is marked."""
    talk = Transcript()
    talk.user("q1")
    talk.assistant(text("a1"))
    talk.user("q2")
    check(talk)


def test_going_back_one_prompt() -> None:
    """The prompt and its answer are marked; what was before and what came instead are not."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.user("q2 better", parent=point)
    talk.assistant(text("a3"))
    check(talk, "q2", said("a2"))


def test_going_back_before_an_answer_came() -> None:
    """A prompt taken back at once is taken back."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("wrong")
    talk.user("right", parent=point)
    check(talk, "wrong")


def test_going_back_several_prompts_and_twice() -> None:
    """Everything on the branches that were left is marked."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(call("c"))
    talk.user([result("c")])
    talk.user("q3")
    talk.user("q4", parent=point)
    talk.assistant(text("a4"))
    talk.user("q5", parent=point)
    check(talk, "q2", str([call("c")]), str([result("c")]), "q3", "q4", said("a4"))


def test_lines_of_the_client_between_the_branch_and_the_point() -> None:
    """Durations, hooks, attachments and meta lines do not hide that a prompt opens the branch."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.add("system", subtype="turn_duration")
    talk.add("attachment")
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.add("progress", parent=point)
    talk.user("note", isMeta=True)
    talk.user("q3")
    check(talk, "q2", said("a2"))


def test_a_command_and_its_work_can_be_taken_back_and_can_replace() -> None:
    """A slash command that led to work is a prompt."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("<command-name>/review</command-name>")
    talk.assistant(text("reviewed"))
    talk.user("<command-name>/plan</command-name>", parent=point)
    talk.assistant(text("planned"))
    talk.user("q2")
    check(talk, said("reviewed"))


def test_going_back_to_the_start_of_the_session() -> None:
    """Two prompts of one session without parent; another session's in the same file is a beginning."""
    talk = Transcript()
    talk.user("q1", parent=None)
    talk.assistant(text("a1"))
    talk.user("q2", parent=None)
    talk.user("other", parent=None, sessionId="s2")
    check(talk, "q1", said("a1"))


def test_parallel_calls_are_no_way_back() -> None:
    """Each result hangs on its own call, and the answer on only one of them."""
    talk = Transcript()
    talk.user("q1")
    one = talk.assistant(call("a"), reply="m")
    talk.assistant(call("b"), reply="m2")
    talk.user([result("a")], parent=one)
    talk.assistant(text("a1"))
    talk.user("q2")
    check(talk)


def test_a_session_left_and_resumed_is_no_way_back() -> None:
    """`/exit` leaves a branch of commands; the next session goes on beside it."""
    talk = Transcript()
    talk.user("q1")
    talk.assistant(text("a1"))
    point = talk.user("caveat", isMeta=True)
    talk.user("<command-name>/exit</command-name>")
    talk.user("<local-command-stdout>Bye</local-command-stdout>")
    talk.assistant(text("No response requested."), parent=point)
    talk.user("q2")
    check(talk)


def test_a_lost_parent_is_no_way_back() -> None:
    """A prompt that hangs on what is not here goes on from what stands before it."""
    talk = Transcript()
    talk.user("q1", parent="gone")
    talk.assistant(text("a1"))
    talk.user("q2", parent="lost as well")
    check(talk)


def test_a_notice_of_interruption_opens_nothing() -> None:
    """The client wrote it; the prompt beside it goes on from there."""
    talk = Transcript()
    point = talk.assistant(call("a"))
    talk.user([result("a", "rejected")])
    talk.user([text("[Request interrupted by user for tool use]")], parent=point)
    talk.user("q2", parent=point)
    check(talk)


def test_a_queued_prompt_beside_the_work_is_no_way_back() -> None:
    """The other branch opens with the assistant's own next step."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("queued")
    talk.assistant(text("a2"), parent=point)
    talk.user("q2")
    check(talk)


def test_a_compaction_is_no_way_back() -> None:
    """Not by its boundary, nor by prompts that hang on messages kept from before it."""
    talk = Transcript()
    talk.user("q1")
    kept = talk.assistant(text("a1"))
    talk.compaction("so far")
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.assistant(text("a3"), parent=kept)
    talk.user("q3")
    check(talk)


def test_what_was_done_after_a_compaction_goes_with_its_branch() -> None:
    """A person went back to a point before the compaction."""
    talk = Transcript()
    talk.user("q1")
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(text("a2"))
    talk.compaction("so far")
    talk.user("q3")
    talk.user("q4", parent=point)
    check(talk, "q2", said("a2"), "q3")


def test_two_clients_side_by_side_keep_both_branches() -> None:
    """A branch that still gets prompts was not left."""
    talk = Transcript()
    point = talk.assistant(text("a1"))
    talk.user("left 1")
    left = talk.assistant(text("left a"))
    talk.user("right 1", parent=point)
    talk.assistant(text("right a"))
    talk.user("left 2", parent=left)
    check(talk)


def test_ids_in_a_cycle_or_before_their_parents_end() -> None:
    """A parent counts only when it stands before its child."""
    talk = Transcript()
    talk.user("a", uuid="a", parent="b")
    talk.user("b", uuid="b", parent="a")
    talk.user("self", uuid="self", parent="self")
    check(talk)


def test_a_reply_taken_back_does_not_take_results_of_another() -> None:
    """A rewound call and a kept result of the same id are not joined."""
    talk = Transcript()
    point = talk.assistant(text("a1"))
    talk.user("q2")
    talk.assistant(call("a"), reply="m")
    talk.user("q3", parent=point)
    talk.assistant(text("more"), reply="m")
    talk.user([result("a")])
    messages = main_line(talk.entries(), verbatim=True)
    shown = [f"{message.role} {message.rewound}" for message in messages]
    assert shown == ["assistant False", "user True", "assistant True", "user False", "assistant False", "user False"]


def test_a_branch_of_hundred_thousand_lines_is_walked_without_recursion() -> None:
    """Depth costs memory, not stack."""
    chain = [
        Entry(kind=EntryKind.SPEECH, role="user", content="q", id=str(number), parent=str(number - 1))
        for number in range(100_000)
    ]
    back = Entry(kind=EntryKind.SPEECH, role="user", content="q", id="back", parent="0")
    assert rewound_positions([*chain, back]) == frozenset(range(1, 100_000))


def test_what_a_prompt_is() -> None:
    """Words or pictures of a person; not results, notices, replies or meta lines."""
    talk = Transcript()
    talk.user("words")
    talk.user([{"type": "image", "source": {}}])
    talk.user([result("a"), text("and words")])
    talk.user([result("a")])
    talk.user("[Request interrupted by user]")
    talk.user([text("[Request interrupted by user for tool use]")])
    talk.user("meta", isMeta=True)
    talk.assistant(text("reply"))
    assert [is_prompt(entry) for entry in talk.entries()] == [True] * 3 + [False] * 5
