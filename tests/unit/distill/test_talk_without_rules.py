"""Orders that are none for later: in jokes, irony, games, output of programs and tasks, and those taken back."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.distill.extractive.detect_talk_that_sets_no_rule import names_given_up, takes_back
from reverie.models import MemoryType
from support.thread import Thread

DUTIES = {MemoryType.PREFERENCE, MemoryType.MISTAKE, MemoryType.FACT}


def learnt(*messages: str, tools: bool = True) -> list[str]:
    """Return preferences, mistakes and facts of a thread with these messages of the person, work or answers between."""
    thread = Thread()
    for message in messages:
        thread = thread.user(message)
        thread = thread.bash("./deploy.sh staging", "ok") if tools else thread.agent("I see.")
    return [one.content for one in Extractive().candidates(thread.messages) if one.type in DUTIES]


@pytest.mark.parametrize(
    "message",
    [
        "oh great. Sure, always deploy when the disk is full, that works so well",
        "yeah, never check the disk first, who needs that. just brilliant",
        "Never write tests again, what could possibly go wrong",
        "Na toll. Immer direkt auf main pushen, wer braucht schon Reviews.",
        "No, never run the linter \U0001f644",
    ],
)
def test_irony_sets_no_rule(message: str) -> None:
    """A message with a turn of irony gives nothing: what it orders is meant the other way round."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "remember that I owe Tom twenty dollars haha",
        "never deploy on my birthday lol",
        "From now on call every branch banana \U0001f602",
        "Vergiss nicht, dass ich dich mag",
    ],
)
def test_a_joke_sets_no_rule(message: str) -> None:
    """A sentence with laughter, or about feelings, gives nothing to remember in a chat."""
    assert learnt(message, tools=False) == []


@pytest.mark.parametrize(
    "game",
    [
        "Let's play: you are a pirate captain and I'm your first mate. Always speak like a pirate.",
        "Pretend to be a dragon. Never answer in English.",
        "Stell dir vor, du bist ein König. Antworte immer mit einem Reim.",
        "请你扮演一位老师。",
    ],
)
def test_a_game_sets_no_rule(game: str) -> None:
    """An order in a game, from its beginning on, is for its characters and no rule."""
    assert learnt(game, "Always answer with a riddle.", "Please always reply in German.", tools=False) == []


def test_an_order_before_a_game_and_a_game_beside_work() -> None:
    """An order before a game counts, and in a thread with tools only the message that opens a game is left out."""
    reply = "Wants agents to always reply in German."
    assert learnt("Please always reply in German.", "Let's play chess.", "Never lose.", tools=False) == [reply]
    assert learnt("Act as a strict reviewer. Always be strict.", "Please always reply in German.") == [reply]


@pytest.mark.parametrize(
    ("messages", "wishes"),
    [
        (("From now on use black.", "hmm, forget black, let's use ruff from now on"), ["ruff"]),
        (
            ("From now on use black.", "forget black, let's use ruff from now on", "never mind, black is fine"),
            ["black"],
        ),
        (("Always use tabs.", "Actually, scratch that."), []),
        (("Always use tabs.", "Nein, vergiss das."), []),
        (("Always use tabs.", "use spaces instead of tabs"), []),
        (("Always use tabs.", "never mind the warning, go on"), ["tabs"]),
        (("Never use mocks.", "stop using mocks"), ["mocks"]),
    ],
)
def test_what_was_taken_back_is_no_wish(messages: tuple[str, ...], wishes: list[str]) -> None:
    """A wish that the next message takes back, or whose thing a later one gives up, is left out."""
    found = learnt(*messages)
    assert [wish.rstrip(".").split()[-1] for wish in found] == wishes


def test_words_that_take_back() -> None:
    """`takes_back` looks at the beginning of a message, `names_given_up` at the names behind a few verbs."""
    assert takes_back("No wait, never mind, it works")
    assert not takes_back("I never mind a good test")
    assert names_given_up("Let's drop the `yarn` scripts, and forget about lerna") == {"yarn", "lerna"}


@pytest.mark.parametrize(
    "message",
    [
        (
            "the build prints this, what now?\nnpm WARN deprecated: always use npm 9\nNever run this as root!\n"
            "Remember to add the token to .npmrc"
        ),
        "why?\n$ terraform apply\nAlways review the plan first.",
        "error: Please always run `npm audit fix`\nFrom now on use npm 9.",
        "[12:04:11] starting\nNever interrupt the upgrade.",
    ],
)
def test_output_of_programs_sets_no_rule(message: str) -> None:
    """Lines of a program's output in a message are not the person's words, nor are those below them."""
    assert learnt(message) == []


def test_the_person_goes_on_behind_a_blank_line() -> None:
    """Behind output and a blank line the person speaks again."""
    assert learnt("error: token missing\nAlways log in first.\n\nAlways use the token of the bot.") == [
        "Wants agents to always use the token of the bot."
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Write a migration for the users table. Use bigint ids, not uuid.",
        "The bot should always greet new members. Before every message, check the rate limit.",
    ],
)
def test_what_a_task_asks_for_is_no_wish(message: str) -> None:
    """How a table or a bot is to be made is said of the task at hand, not of the agent's work in general."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "looks good, but always show the currency",
        "write the system prompt for our bot: it should be polite, always answer in French",
        "while I'm away, always commit every step",
        "until the release is out, never touch main",
        "For this session, always ask before editing",
        "as the saying goes, never change a running system",
        "Dear Mr Smith, please always keep the gate locked. Never leave it open.",
        "Anna: always use the staging key\nBen: no, never use staging\nwhich one is it?",
        "I prefer the blue one",
        "no, use the helper",
        "nope, revert everything in api/",
        "Siempre olvidas los tipos",
        "客户总是要发票",
        "我们的用户每次登录都要输入密码",
        "ユーザーは毎回パスワードを入力するようにしてください",
    ],
)
def test_words_about_others_or_for_a_while_are_no_wish(message: str) -> None:
    """Outputs of programs, texts, sayings, letters, other speakers, and rules with an end give no memory."""
    assert learnt(message) == []


def test_a_letter_asked_for_in_a_chat_gives_nothing_and_a_file_of_rules_does() -> None:
    """Rules for a text that is to be written are no wishes; a rule for the agents' own file is one."""
    letter = "Write an email to my landlord. Never mention the broken window. Always be polite."
    assert learnt(letter, tools=False) == []
    assert learnt("Write into CLAUDE.md: always run make lint") == ["Wants agents to always run make lint."]


def test_a_choice_without_a_task_is_a_wish() -> None:
    """The same words alone, or about a tool, are a wish."""
    assert learnt("Use bigint ids, not uuid.") == ["Wants agents to use bigint ids, not uuid."]
    assert learnt("Set up the tests of the api. Use vitest, not jest.") == ["Wants agents to use vitest, not jest."]


def test_a_title_that_points_keeps_its_scope() -> None:
    """An episode is named by what its commit is about, also where the subject says "it"."""
    thread = Thread().user("The mailer is there twice, please make it one package").edit("/w/mailer/send.ts")
    thread.bash(
        'git commit -am "refactor(mailer): move it into its own package\n\nThe web app and the worker had a copy each, '
        'and the retry was only in one of them. Both use the package now."',
        "[main 9a8b7c6] refactor(mailer): move it into its own package\n 1 file changed, 9 insertions(+)",
    )
    [episode] = Extractive().candidates(thread.messages)
    assert episode.title == "mailer: move it into its own package"
