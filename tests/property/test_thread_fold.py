"""A working state computed from checkpoints equals the one computed from the whole thread."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.distill.distiller import Extractive
from reverie.errors import Conflict
from reverie.importers.join import main_line
from reverie.models import NO_RESULT, WorkingState
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases import threads, working_state
from reverie.usecases.entries import entry_record, opened_entry
from reverie.usecases.working_state import Checkpoint, StateJob, StatePlan
from support.shared import all_sessions
from support.soak import count

AT = "2026-03-05T09:00:00.000Z"
EXAMPLES = count(50, 3_000)
SAID = (
    "please add a retry to the exporter",
    "no, stop, that is wrong. Use tabs from now on.",
    "ok",
    "go on",
    "yes, do it that way",
    "let's go with the second option because it is simpler",
    "what does src/app/retry.py do?",
    "fix the login\nand then the logout, too",
    "[Request interrupted by user]",
    "word " * 900 + "?",
    "<command-name>/clear</command-name>",
)
REPLIES = (
    "Shall I use one queue for both exporters, or two of them?",
    "I suggest we keep the old table. Is that all right?",
    "We decided to keep the old parser because the new one is slower.",
    "All tests pass now. Next, I'll update the README file.",
    "Still to do: the docs need a chapter on retries.",
    "Fixed the parser so that it reads the last line, too.",
    "Let me look at the exporter first",
    "Now let me run the tests and the linter.",
    "I\u2019m adding `read_all` to the exporter.",
    "Let me continue.",
    "The real question is: does it read the last line?",
    "Done.\n```\ncode\n",
)
RESULTS = (
    "ok",
    "Exit code 1\nFAILED tests/test_a.py - Error: nope",
    "[main abc1234] fix the parser",
    "Task #2 created",
    "#1 [completed] write the test\n#2 [pending] tell Ann [blocked by #1]",
    "No tasks found",
    NO_RESULT,
)
PATHS = ("/w/app/a.py", "/w/app/b/c.py", "/w/app/b/d.py", "src/e.py", "/x", "/v/other.py")
STATUS = st.sampled_from(("pending", "in_progress", "completed", "deleted"))
STEPS = ("write the test", "fix the exporter", "update the docs", "tell Ann", "add `read_all`", "run the tests")
CODE = ("def read_all(path): ...", "read_all(path)", "")
CALLS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.tuples(
        st.just("Bash"),
        st.fixed_dictionaries(
            {
                "command": st.sampled_from(
                    (
                        "pytest -q",
                        "make build",
                        "ruff check .",
                        "git commit -m 'let us keep the old parser for now'",
                        "git commit --amend",
                        "gh pr create",
                        "ls",
                        "sed -i s/a/b/ src/e.py",
                    )
                )
            }
        ),
    ),
    st.tuples(
        st.sampled_from(("Edit", "Write", "Read", "Grep")),
        st.fixed_dictionaries({"file_path": st.sampled_from(PATHS), "new_string": st.sampled_from(CODE)}),
    ),
    st.tuples(st.just("TaskList"), st.just({})),
    st.tuples(
        st.just("TodoWrite"),
        st.fixed_dictionaries(
            {
                "todos": st.lists(
                    st.fixed_dictionaries({"content": st.sampled_from(STEPS), "status": STATUS}), max_size=4
                )
            }
        ),
    ),
    st.tuples(st.just("TaskCreate"), st.fixed_dictionaries({"subject": st.sampled_from(STEPS)})),
    st.tuples(
        st.just("TaskUpdate"), st.fixed_dictionaries({"taskId": st.sampled_from(("1", "2", "7")), "status": STATUS})
    ),
)
RESULT = st.tuples(st.one_of(st.sampled_from(RESULTS), st.just("https://example.org/a/b/pull/7")), st.booleans())
PIECES = st.one_of(
    st.tuples(st.just("said"), st.sampled_from(SAID)),
    st.tuples(st.just("reply"), st.sampled_from(REPLIES)),
    st.tuples(st.just("call"), st.tuples(CALLS, RESULT)),
    st.tuples(st.just("open"), CALLS),  # nobody answers
    st.tuples(st.just("late"), st.tuples(st.integers(0, 12), RESULT)),  # an answer to an earlier call, or a second one
    st.tuples(st.just("again"), st.tuples(st.integers(0, 12), CALLS, RESULT)),  # an id that was used before
    st.tuples(st.just("set"), st.sampled_from(SAID[:2])),  # the agent sets its task
)
USUAL = st.lists(PIECES.filter(lambda piece: piece[0] not in {"late", "again", "open"}), max_size=40)


class Store:
    """A thread in memory: sealed entries, the stored state, and the last checkpoint."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, bytes]] = []
        self.kept: WorkingState | None = None
        self.since = 0
        self.checkpoint: Checkpoint | None = None
        self.calls = 0
        self.whole = 0  # how often the whole thread was read

    def say(self, role: str, content: Any) -> None:
        entry = threads.entries_of([(role, content)], None, AT)[0]
        self.rows.append((len(self.rows) + 1, seal(entry_record(entry), Redactor()).data))

    def play(self, kind: str, value: Any) -> None:
        match kind:
            case "said":
                self.say("user", value)
            case "reply":
                self.say("assistant", value)
            case "call":
                self.call(*value[0])
                self.answer(self.calls, *value[1])
            case "open":
                self.call(*value)
            case "late":
                self.answer(value[0], *value[1])
            case "again":
                self.say("assistant", [tool_use(value[0], *value[1])])
                self.answer(value[0], *value[2])
            case _:
                self.kept = WorkingState(current_task=value, next_steps=("tell Ann",))
                self.since = len(self.rows)

    def call(self, name: str, tool_input: dict[str, Any]) -> None:
        self.calls += 1
        self.say("assistant", [tool_use(self.calls, name, tool_input)])

    def answer(self, call: int, text: str, failed: bool) -> None:  # noqa: FBT001 - drawn
        block = {"type": "tool_result", "tool_use_id": f"t{call}", "content": text, "is_error": failed}
        self.say("user", [block])

    def job(self, checkpoint: Checkpoint | None) -> StateJob:
        if checkpoint is not None and not (self.since == checkpoint.state_seq or self.since >= checkpoint.seq):
            checkpoint = None
        return StateJob(
            thread="t",
            project=None,
            created_at=AT,
            distilled_through=0,
            last_seq=len(self.rows),
            entries=[row for row in self.rows if row[0] > (checkpoint.seq if checkpoint else 0)],
            checkpoint=checkpoint,
            previous=self.kept,
            state_seq=self.since,
            version=None,
        )

    def follow(self) -> StatePlan:
        """Return the state as the daemon computes it: from the checkpoint, else from the beginning."""
        try:
            plan = working_state.decide(self.job(self.checkpoint))
        except Conflict as conflict:
            self.whole += bool(conflict.details["stale"])
            plan = working_state.decide(self.job(None))
        self.checkpoint = msgspec.msgpack.decode(msgspec.msgpack.encode(plan.checkpoint), type=Checkpoint)
        return plan

    def read(self) -> WorkingState:
        """Return the state computed from all entries at once."""
        messages = [
            message
            for message in main_line(opened_entry("t", *row) for row in self.rows)
            if message.last_seq > self.since
        ]
        return Extractive().working_state(messages, self.kept)


def tool_use(call: int, name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{call}", "name": name, "input": tool_input}


def check(pieces: list[tuple[str, Any]]) -> Store:
    store = Store()
    for kind, drawn in pieces:
        store.play(kind, drawn)
        plan = store.follow()
        assert plan.state == store.read()
        assert plan == msgspec.structs.replace(working_state.decide(store.job(None)), checkpoint=plan.checkpoint)
    return store


def test_an_order_that_is_repeated_has_the_same_request_before_it() -> None:
    """A repeated short order is stated with the other request before it, also in the accumulated state."""
    check([("said", SAID[0]), ("said", SAID[6]), ("said", SAID[6])])


def test_edits_before_many_other_calls_are_known() -> None:
    """Files edited since the last words show after any number of other calls, also in the accumulated state."""
    edit = ("call", (("Edit", {"file_path": "/x", "new_string": "a"}), ("ok", False)))
    look = ("call", (("Read", {"file_path": "/x"}), ("ok", False)))
    check([("said", SAID[0]), ("reply", "Now let me add a counter."), edit, edit, *30 * [look]])


@settings(max_examples=EXAMPLES, deadline=None)
@given(USUAL)
def test_states_from_checkpoints(pieces: list[tuple[str, Any]]) -> None:
    """States and recall queries from checkpoints equal those of the whole thread, without reading it again."""
    assert check(pieces).whole == 0


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_malformed_threads_are_read_again(pieces: list[tuple[str, Any]]) -> None:
    """Late, repeated or missing tool results and reused ids still give the state of the whole thread."""
    check(pieces)


def test_checkpoints_of_whole_sessions() -> None:
    """States after checkpoints of a session, appended message by message, equal those of the whole thread."""
    for path in all_sessions(count(4, 10), step=count(10, 1)):
        store = Store()
        spoken = [message for message in transcript(path) if not message.rewound]
        every = max(1, len(spoken) // count(12, 200))
        for number, message in enumerate(spoken):
            store.say(message.role, message.content)
            if number % every == 0:
                assert store.follow().state == store.read()
        assert store.whole == 0


def transcript(path: Any) -> Any:
    from reverie.importers.find import read_entries

    return main_line(read_entries(path, tokens=False))
