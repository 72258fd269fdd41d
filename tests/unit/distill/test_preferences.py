"""Standing preferences of a user, apart from one-time requests, questions and withdrawn ones."""

from __future__ import annotations

import pytest

from reverie.consolidate import decide
from reverie.distill.distiller import Extractive
from reverie.distill.wishes import preference_sentence
from reverie.models import Candidate, Keep, Memory, MemoryType, Skip, Tier
from support.thread import Thread


def learnt(thread: Thread, kind: MemoryType = MemoryType.PREFERENCE) -> list[Candidate]:
    """Return the memories of one type that a thread gives."""
    return [one for one in Extractive().candidates(thread.messages) if one.type is kind]


@pytest.mark.parametrize(
    ("message", "preference"),
    [
        ("I prefer tabs over spaces.", "Prefers tabs over spaces"),
        ("btw we generally prefer short functions", "Prefers short functions"),
        ("My preference is for pathlib over os.path", "Prefers pathlib over os.path"),
        ("I usually squash commits", "Prefers to squash commits"),
        ("I really hate emojis in commit messages", "Dislikes emojis in commit messages"),
        ("From now on always use `uv run pytest -x`.", "Wants agents to always use `uv run pytest -x`"),
        ("Fix it, and from now on use `uv run pytest -x`.", "Wants agents to always use `uv run pytest -x`"),
        ("Going forward, I'd like you to write tests first", "Wants agents to always write tests first"),
        ("Use British spelling from now on.", "Wants agents to always use British spelling"),
        ("from now on, stop adding comments to every line", "Wants agents to stop adding comments to every line"),
        ("In the future, don't push without asking", "Wants agents never to push without asking"),
        ("Never push to main.", "Wants agents never to push to main"),
        ("No, never push to main", "Wants agents never to push to main"),
        ("Don\u2019t ever commit secrets!", "Wants agents never to commit secrets"),
        ("please don't push to main again", "Wants agents never to push to main"),
        ("please always run the linter first", "Wants agents to always run the linter first"),
        ("You should always ask before deleting files", "Wants agents to always ask before deleting files"),
        ("Remember to update the changelog", "Wants agents to always update the changelog"),
        ("Remember: never edit generated files", "Wants agents never to edit generated files"),
        ("I never use semicolons in scripts", "Wants agents never to use semicolons in scripts"),
    ],
)
def test_preferences_are_in_the_third_person(message: str, preference: str) -> None:
    """A message is rephrased as a preference in the third person, with only the words that it needs."""
    assert preference_sentence(message) == preference


@pytest.mark.parametrize(
    "message",
    [
        "nah let's roll back, they don't really need to exist in the future state",
        "Yes, force push",
        "I'd prefer that",
        "I'd prefer the first one",
        "should we always do it?",
        "is it the same as in the future?",
        "I always get an error",
        "I never said that",
        "Never mind",
        "Never displayed - the field is computed but not shown",
        "Always failing on the build server",
        "please never do that again",
        "Please always use tabs in this file",
        "To suppress this warning in future sessions, run",
        "The hook never writes",
        "please use the other branch",
        "never " + "again and " * 40,
        "",
    ],
)
def test_one_time_requests_are_no_preferences(message: str) -> None:
    """Reverts, answers, questions, complaints, references back, and requests about the current object."""
    assert preference_sentence(message) == ""


def test_a_preference_inside_a_longer_message_is_found() -> None:
    """One preference among the requests of a longer message becomes a memory about the user."""
    thread = Thread().user(
        "The importer loses the last line of the file.\nFind out why and fix it. I prefer tabs over spaces. "
        "When it is done, show me the difference."
    )
    [wish] = learnt(thread)
    assert (wish.content, wish.subject, wish.provenance) == ("Prefers tabs over spaces.", "user", {"seqs": [1]})


def test_small_differences_make_one_memory() -> None:
    """Several wordings of one preference give one memory; its opposite is another preference."""
    thread = Thread()
    for request in (
        "From now on always use `uv run pytest -x`.",
        "please always use `uv run pytest -x` for the tests",
        "Remember: always use `uv run pytest -x`!",
        "never use `uv run pytest -x`",
        "Never push to main.",
        "don't ever push to main, ok",
    ):
        thread.user(request).agent("Understood.")
    assert [wish.content for wish in learnt(thread)] == [
        "Wants agents never to push to main, ok.",
        "Wants agents never to use `uv run pytest -x`.",
        "Wants agents to always use `uv run pytest -x`.",
    ]


@pytest.mark.parametrize("tier", list(Tier))
def test_a_preference_repeated_in_another_thread_is_the_same_memory(tier: Tier) -> None:
    """A preference stored months ago and stated again in another thread is kept, and the new one is skipped."""
    stored = "Prefers tabs over spaces."
    memory = Memory("m", MemoryType.PREFERENCE, stored, (), "facts/p.md", "2026-01-01", "2026-01-01")
    changes = decide(learnt(Thread().user("I prefer tabs over spaces")), (memory,), tier).changes
    assert [type(change) for change in changes] == [Keep, Skip]


def test_a_pasted_document_gives_no_preferences() -> None:
    """Rules in a pasted text are not the user's."""
    assert learnt(Thread().user("Always use tabs in Makefiles.\n" * 50)) == []


@pytest.mark.parametrize("stopped", ["[Request interrupted by user for tool use]", "The user doesn't want to proceed"])
def test_a_rule_stated_as_the_agent_breaks_it_is_a_mistake(stopped: str) -> None:
    """A correction is stored once, as a mistake; the same rule without a cause for correction is a preference."""
    rule = "Never push to the main branch."
    for thread in (
        Thread().call("Bash", {"command": "git push"}, stopped, failed=True).user(rule),
        Thread().agent("I will push.").user("[Request interrupted by user]").user(rule),
        Thread().agent("I will push.").user(f"No, {rule.lower()}"),
    ):
        assert learnt(thread) == []
        [mistake] = learnt(thread, MemoryType.MISTAKE)
        assert mistake.content.startswith("Never push to the main branch: the user had to correct this")
    quiet = Thread().user(rule)
    assert learnt(quiet, MemoryType.MISTAKE) == []
    assert [wish.content for wish in learnt(quiet)] == ["Wants agents never to push to the main branch."]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Tabs or spaces?", "Tabs (Recommended)", "Tabs"),
        ("Should notes be embedded files or inline strings?", "Inline strings", "Inline strings"),
        ("Ready to force-push the rebased branch to update it?", "Yes, force push", None),
        ("Ready to write it down, or more to discuss?", "Write it", None),
        ("Should locking be part of this work, or a separate concern?", "Separate", None),
        ("One file or two?", "are there other ways to do it?", None),
        ("One file or two?", "both", None),
        ("One file or two?", "ok", None),
        ("One file or two?", "it depends on what comes in from the other side of the queue", None),
        ("Where should the plan be written?", "In a file", None),
    ],
)
def test_only_choices_between_alternatives_become_memories(question: str, answer: str, expected: str | None) -> None:
    """An answer is a memory if it chooses between alternatives, not if it permits, is vague, or asks in return."""
    thread = Thread().call(
        "AskUserQuestion", {"questions": [{"question": question}]}, f'answers: "{question}"="{answer}"'
    )
    contents = [one.content for one in learnt(thread, MemoryType.FACT)]
    assert contents == ([] if expected is None else [f"Asked “{question}”, the user chose “{expected}” (2026-03-05)."])


@pytest.mark.parametrize(
    ("sentence", "preference"),
    [
        ("From now on spaces, not tabs.", "Wants agents to use spaces, not tabs"),
        ("from now on, only pnpm", "Wants agents to use pnpm"),
        ("double quotes from now on", "Wants agents to use double quotes"),
        ("Spaces, not tabs, please.", "Wants agents to use spaces, not tabs"),
        ("pnpm, not npm", "Wants agents to use pnpm, not npm"),
        ("Postgres, not SQLite, for tests", "Wants agents to use Postgres, not SQLite, for tests"),
        ("No, `uv`, not pip", "Wants agents to use `uv`, not pip"),
        ("Vitest, not Jest, please.", "Wants agents to use Vitest, not Jest"),
        ("pnpm, nicht npm", "The user wants: “pnpm, nicht npm”"),
        ("pnpm, no npm.", "The user wants: “pnpm, no npm”"),
        ("Non, pnpm, pas npm", "The user wants: “Non, pnpm, pas npm”"),
        ("Postgres, nicht SQLite, für die Tests", "The user wants: “Postgres, nicht SQLite, für die Tests”"),
        ("pnpm，不是 npm。", "The user wants: “pnpm，不是 npm”"),
        ("npmではなくpnpm", "The user wants: “npmではなくpnpm”"),
        ("Postgres, not SQLite", ""),
        ("Postgres, not SQLite, for now", ""),
        ("Postgres, not SQLite, in this test", ""),
        ("Python, not Java", ""),
        ("Monday, not Tuesday, for tests", ""),
        ("red, not blue", ""),
        ("pnpm, not npm?", ""),
        ("It uses pnpm, not npm, for the tests", ""),
        ("pnpm", ""),
        ("From now on tests.", ""),
    ],
)
def test_a_value_alone_is_a_wish_in_a_lasting_frame_or_beside_another(sentence: str, preference: str) -> None:
    """A value without a verb is a preference only in a lasting frame or beside the value that it is preferred to."""
    assert preference_sentence(sentence) == preference


@pytest.mark.parametrize(
    ("sentence", "preference"),
    [
        ("we don't want special cases in the parser if we can help it", "The user wants: “{}”"),
        ("Open points should get a ticket going forward", "The user wants: “{}”"),
        ("use British spelling please", "Wants agents to always use British spelling"),
        ("No emojis please", "Wants agents never to use emojis"),
        ("please reply in German", "Wants agents to always reply in German"),
        ("Given the privacy focus, it's better not to store any names in cookies", "The user wants: “{}”"),
        ("Given the deadline, it's better to skip it", ""),
        ("From now on, every commit message must name its ticket", "The user wants: “{}”"),
        ("From now on: no more console.log in the services", "The user wants: “{}”"),
        ("As a rule, we squash before a merge", "The user wants: “{}”"),
        ("Whenever you change the schema, regenerate the client", "The user wants: “{}”"),
        ("Before every commit, run `just lint`", "Wants agents to always run `just lint` before every commit"),
        ("run `just lint` before every commit", "Wants agents to always run `just lint` before every commit"),
        ("Before every new endpoint, ask for a design", "The user wants: “{}”"),
        ("do this before every commit", ""),
        ("The hook runs before every commit", ""),
        ("When you add a route, always document it in openapi.yaml", "The user wants: “{}”"),
        ("Make sure to always run `cargo fmt` first", "Wants agents to always run `cargo fmt` first"),
        ("Never, ever push to main", "Wants agents never to push to main"),
        ("In future sessions, start by reading PLAN.md", "Wants agents to always start by reading PLAN.md"),
        ("No, we use uv here, not pip.", "Wants agents to use uv, not pip"),
        (
            "use Postgres, not SQLite, for the slow tests",
            "Wants agents to use Postgres, not SQLite, for the slow tests",
        ),
        ("from now on it must be broken", ""),
        ("from now on we should perhaps do that", ""),
        ("From now on no idea", ""),
        ("Whenever you change the schema, the client breaks", ""),
        ("After each deploy, it hangs", ""),
        ("commit this and never touch it again", ""),
        ("The plan says: always validate input", ""),
        ("the main rule is to never let the user wait", ""),
        ("use British spelling in this file", ""),
        ("no emojis in this commit", ""),
        ("we don't want this", ""),
        ("I feel like we might want to improve this in future", ""),
        ("the tests should pass from now on?", ""),
        ("reply in the thread", ""),
    ],
)
def test_rules_in_other_forms(sentence: str, preference: str) -> None:
    """Rules without "always" are lasting by their words or by what they are about."""
    assert preference_sentence(sentence) == preference.format(sentence)


@pytest.mark.parametrize(
    "afterthought",
    ["...not sure about the others though", ", but I think we should ask Ann", " but maybe not at night"],
)
def test_an_afterthought_is_left_out(afterthought: str) -> None:
    """A rule with an afterthought is quoted up to it."""
    told = preference_sentence(f"the overriding rule is to warn and go on{afterthought}")
    assert told == "The user wants: “the overriding rule is to warn and go on”"


def test_a_choice_of_which_only_a_plan_was_written_may_change() -> None:
    """A choice is no memory if only a plan was written after it; it is one if code was edited, or nothing followed."""
    asked = {"questions": [{"question": "Should ships be sorted by name or by length?"}]}
    answer = 'answers: "Should ships be sorted by name or by length?"="By name"'

    def choices(thread: Thread) -> int:
        return len(learnt(thread, MemoryType.FACT))

    assert choices(Thread().call("AskUserQuestion", asked, answer).edit("/w/docs/plan.md")) == 0
    assert choices(Thread().call("AskUserQuestion", asked, answer).edit("/w/docs/plan.md").edit("/w/ships.py")) == 1
    assert choices(Thread().edit("/w/docs/plan.md").call("AskUserQuestion", asked, answer)) == 1
