"""Standing wishes in everyday words are kept as they were said; orders of one task, reports and talk are not."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

LEARNT = {MemoryType.PREFERENCE, MemoryType.MISTAKE, MemoryType.FACT, MemoryType.SKILL}

WISHES = """
In this repo we run the tests with `just test`, never with `go test` directly
in this repository we use pnpm
In our monorepo, please never commit directly to main
In harbor-api please always tag release 1 with the prefix har1-
We use Conventional Commits here
We follow semantic versioning here
We use trunk-based development in this repo
We use pnpm and not npm, please never run npm install
we log with slog everywhere, structured
We use pino for logging everywhere
From now on we deploy on Mondays
commit messages: imperative mood, max 50 characters, no emoji please
Commits: present tense, lower case, max 72 chars
Branch names: kebab-case, prefixed with the ticket number
My preference: tabs, not spaces, in Makefiles
time.Sleep in tests is not allowed here
console.log is forbidden in production code
tests should use testify/require and not assert
You forgot to run the linter again, please run `just lint` after each change
No semicolons, please
please no nested ternaries
No default exports, please
Don't use mocks in tests, use real objects
Please don't add getters and setters, use public fields
Avoid mocks in unit tests, prefer fakes
Don't write comments that repeat the code
Make sure that every public function has a doc comment
Make sure each endpoint has an integration test
Each migration must have a down script
I'd rather have small PRs than a big one
I'd rather have explicit loops than clever comprehensions
Use British English in docs
Please run `just lint` after each change
Keep your answers short
Please keep your explanations brief and to the point
Stop apologizing
Stop explaining every line to me, keep your answers short
No more apologies please
You don't need to explain everything
Please be brief
Try to be concise
Answer in at most three sentences
Shorter answers please
Bei uns laufen die Tests mit `just test`, nie direkt mit cargo
In diesem Repo benutzen wir pnpm
Wir benutzen pnpm und nicht npm, bitte nie npm install aufrufen
Wir verwenden hier Conventional Commits
wir loggen überall mit slog
Commit-Nachrichten: Imperativ, keine Emojis
console.log ist in Tests nicht erlaubt
Keine Semikolons, bitte
Bitte keine Mocks in Tests, sondern echte Objekte
Achte darauf, dass jede öffentliche Funktion einen Doc-Kommentar hat
Ich mag keine verschachtelten Ternaries
Ich hätte lieber kleine PRs als einen großen
Halte deine Antworten kurz
Hör auf, dich zu entschuldigen
Fass dich bitte kurz
En este proyecto ejecutamos los tests con `make test`, nunca con pytest
Usamos pnpm y no npm, por favor nunca ejecutes npm install
Mensajes de commit: imperativo, sin emojis
No uses mocks en tests, usa objetos reales
Asegúrate de que cada función pública tenga un comentario
Mantén tus respuestas cortas
Deja de disculparte
Dans ce projet on lance les tests avec `make test`, jamais avec pytest
Nous utilisons pnpm et non npm
Messages de commit : impératif, sans emoji
Pas de point-virgules
Garde tes réponses courtes
Arrête de t'excuser
我们用 pnpm，不用 npm
在这个项目里我们用 pnpm
提交信息：用祈使句，不用表情
回答请简短一点
不要再道歉了
このプロジェクトではpnpmを使います
コミットメッセージは英語で書いてください
コミットメッセージ：命令形、絵文字なし
返事は短くしてください
謝らないでください
"""
DECISIONS = """
We decided to use Redis for the rate limiter, not an in-memory map, because we run four replicas
We decided to store timestamps as integers instead of strings because sorting is cheaper
We decided that all error texts live in locales/en.json, not in the code
Wir haben entschieden, dass die Fehlermeldungen in locales/de.json stehen und nicht im Code
Wir haben beschlossen, Kafka statt RabbitMQ zu verwenden, weil wir Nachrichten wiederholen müssen
Hemos decidido usar Redis en vez de un mapa en memoria porque hay cuatro réplicas
Nous avons décidé d'utiliser Redis plutôt qu'une table en mémoire car il y a quatre instances
我们决定用 Redis，而不是内存里的表，因为有四个副本
メモリ上の表ではなくRedisを使うことにしました
"""
NOTHING = """
don't commit yet
use the second option for now
in this function never return nil
run the tests please
keep the answer short this time
Keep your answer to this question short.
make your answer shorter
let's go with option 2
make sure all tests pass
Make sure every test passes before we merge
make sure all tests have passed
Make sure every file has the new header
make sure that every endpoint in this file has a test
ensure all users have access
Every user must have an email address
every column should have a width of 10 px
Every request must be signed with the key before it is sent
I'd rather have the first one than the second
I'd rather have tea than coffee
I'd rather see it fail than hang
Stop the server.
stop explaining and just fix it
stop explaining everything and do it
Stop summarizing the diff
please don't apologize for that one
be more concise in the second paragraph
keep the messages short in this dialog
commits: 3 new, no errors
Commits: only two, on main
branches: main, dev, feature/x are not merged
error messages: not shown in the dialog
imports: circular, never resolved
docs: remove emojis, no functional change
our style: it depends
my preference: the second one
The user is not allowed to edit invoices here.
Empty names are not allowed.
Duplicate keys are not allowed in JSON
names must be unique and not empty
tests should be green, not red
You forgot to run it again
You forgot to add the test file again
you forgot to handle the null case again
You forgot a semicolon in line 4.
no errors in tests, use the fixture
No mocks were used
No tabs in the Makefile, that is why it breaks
no sleeps in tests, use the clock from fake.go
don't add comments that explain line 12
don't use the second server, use the first
Please don't use Redis for this, use a map
No changes to the parser, please.
Could you keep your answers short?
should we use Conventional Commits here?
If every public function has a doc comment we can enable the linter.
If we used pnpm we would not have this problem.
We use a mutex here to protect the map.
we use it everywhere
we use the Parser class everywhere so be careful
We use a queue there, but it breaks all the time.
in this repo we run into trouble with the tests after each change
in this repo we fixed the tests with a hack
In our project we write to two databases in one request, please fix that
From now on we use the new table for that, so migrate the rows
From now on we deploy on Mondays, haha
It works now. Keep it that way.
The button is blue. Keep it that way.
We decided on a name.
we decided to merge this PR tomorrow
We decided to go to lunch at noon.
We decided to keep the old one because it works
we decided to skip that test because it is slow
We decided to move the meeting to Monday because Ann is away
we agreed to use the first approach rather than the second because it is faster
We decided to add the Login button instead of the link
Our team decided to not ship this feature because of the deadline.
Wir haben entschieden, morgen zu mergen.
Wir nehmen Kaffee und nicht Tee
Wir benutzen hier eine Queue, die ist aber voll
Ich mag keine Montage
ich will keine Tests sehen
Keine Mocks gefunden
heute bitte kurze Antworten
bitte keine Tests mehr laufen lassen
Du hast schon wieder vergessen, das zu speichern
Nein, das ist falsch: der Wert muss 3 sein.
usamos Python y no funciona
No, eso está mal: la línea 3 falta
no uses mocks en este test, usa el cliente
我们用 Redis，不用了
这里用 Redis 报错
テストでモックを使わないと動きません
"""


def learnt(*messages: str, tools: bool = True) -> list[str]:
    """Return what a thread with these messages of the person gives, without what was done."""
    thread = Thread().user("Please look at the loader and install the packages.")
    thread = thread.bash("./deploy.sh staging", "ok") if tools else thread
    for message in messages:
        thread = thread.agent("I have done it.").user(message)
    thread = thread.agent("Understood.")
    return [one.content for one in Extractive().candidates(thread.messages) if one.type in LEARNT]


def lines(text: str) -> list[str]:
    return text.strip().split("\n")


@pytest.mark.parametrize("wish", lines(WISHES))
def test_a_wish_in_everyday_words_is_quoted(wish: str) -> None:
    """A rule of the project, or about how the agent talks, becomes a wish in the person's own words."""
    assert learnt(wish) == [f"The user wants: “{wish}”"]


@pytest.mark.parametrize("decision", lines(DECISIONS))
def test_a_decision_is_kept_with_what_was_rejected_and_why(decision: str) -> None:
    """A decision of the person that says two of what it rejects, its reason and a name is a fact."""
    assert learnt(decision) == [f"The user said: “{decision}” (2026-03-05)."]


@pytest.mark.parametrize("message", lines(NOTHING))
def test_orders_of_one_task_reports_and_questions_give_nothing(message: str) -> None:
    """A sentence that concerns one occasion, asks, reports or only supposes gives no memory."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "Summarise the diff. Please be brief.",
        "What does this do? Answer in at most three sentences.",
        "Build me a page with a form. No semicolons, please.",
        "Port the loader to Go. Make sure that every public function has a doc comment.",
        "Move the tests to pytest. Don't use mocks in tests, use real objects.",
    ],
)
def test_an_order_beside_a_task_is_about_that_task(message: str) -> None:
    """Brevity or style asked for beside a task or a question is about that answer or that work."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "> Please keep your answers short",
        "The readme says:\nWe use Conventional Commits here.",
        "The reviewer wrote: “In this repo we run the tests with tox.”",
        "```\ncommit messages: imperative mood, no emoji\n```",
        "We use Conventional Commits here, she said",
        "Implement the following plan:\n# Plan\n## Rules\nWe use Conventional Commits here.",
    ],
)
def test_words_of_others_give_nothing(message: str) -> None:
    """Quoted, pasted or reported text in a message is no wish of the person."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    ("message", "wish"),
    [
        ("Keep your answers short.", "Keep your answers short"),
        ("Please stop apologizing", "Please stop apologizing"),
        ("Hör auf, dich zu entschuldigen!", "Hör auf, dich zu entschuldigen"),
    ],
)
def test_how_the_agent_talks_is_a_wish_in_a_chat_too(message: str, wish: str) -> None:
    """In a thread without tools, too, a wish about the answers is learnt."""
    assert learnt(message, tools=False) == [f"The user wants: “{wish}”"]


@pytest.mark.parametrize(
    "message",
    [
        "I'd rather have pizza than pasta",
        "We use Google Maps here.",
        "stop apologizing to everyone, you did nothing wrong!",
        "Don't thank me, thank Anna",
        "No more small talk, let's eat",
        "We decided to adopt a dog instead of a cat because of my allergy",
        "My rule: never skip dessert",
        "Every house needs a dog",
        "You forgot to call me again",
        "Please don't apologize, it was my fault",
        "Ich mag keine Tomaten",
        "fass dich kurz, der Bus kommt",
    ],
)
def test_talk_between_people_gives_nothing(message: str) -> None:
    """In a chat about anything, the forms of a project's rules give nothing."""
    assert learnt(message, tools=False) == []


def test_a_statement_that_is_to_stay_so_is_kept_with_the_order() -> None:
    """The sentence before "keep it that way" is a rule, and is kept with it."""
    assert learnt("Our API returns dates as RFC 3339 in UTC. Keep it that way!") == [
        "The user wants: “Our API returns dates as RFC 3339 in UTC. Keep it that way”"
    ]
    assert learnt("Unsere API liefert Daten als RFC 3339 in UTC. Das soll so bleiben.") == [
        "The user wants: “Unsere API liefert Daten als RFC 3339 in UTC. Das soll so bleiben”"
    ]


def test_the_rule_behind_a_reproach_is_kept_without_it() -> None:
    """Of "why did you …? we log with slog everywhere" only the rule is quoted."""
    assert learnt("why did you use fmt.Println? we log with slog everywhere") == [
        "The user wants: “we log with slog everywhere”"
    ]


def test_what_an_agent_forgot_again_is_an_order_for_good() -> None:
    """A complaint with "again" about a routine becomes a rule; the order behind it is another."""
    assert learnt("You forgot to run the linter again.") == ["Wants agents to always run the linter."]
    assert learnt("You forgot to run the linter.") == []
    assert learnt("You forgot to run the linter again. Please run `just lint` after each change.") == [
        "Wants agents to always run the linter.",
        "The user wants: “Please run `just lint` after each change”",
    ]


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("Nein, das ist falsch: keine any-Typen, nimm stattdessen zod", "“keine any-Typen, nimm stattdessen zod”"),
        (
            "Das ist der falsche Befehl: immer `make check` statt `make test` verwenden.",
            "“immer `make check` statt `make test` verwenden”",
        ),
        ("No, that's wrong: no any types, use zod instead", "No any types, use zod instead"),
        ("No, eso está mal: usa zod en lugar de any", "“usa zod en lugar de any”"),
        ("Non, c'est faux : utilise zod partout", "“utilise zod partout”"),
        ("不对，这是错的：用 zod，不要用 any", "“用 zod，不要用 any”"),
    ],
)
def test_a_correction_behind_its_verdict_is_kept(message: str, order: str) -> None:
    """Text behind "that is wrong:" is a correction, as text behind "no," is."""
    [text] = learnt(message)
    assert text.startswith(f"{order}: the user had to correct this")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "Don't ever use panic in library code, return errors wrapped with %w.",
            "Wants agents never to use panic in library code; instead: return errors wrapped with %w.",
        ),
        (
            "Never push directly to main, open a pull request instead.",
            "Wants agents never to push directly to main; instead: open a pull request.",
        ),
        (
            "Never add, remove or rename files in vendor/.",
            "Wants agents never to add, remove or rename files in vendor/.",
        ),
        ("I hate hidden side effects on import; pass it in.", "Dislikes hidden side effects on import."),
        (
            "please always ask me before you add a dependency to go.mod",
            "Wants agents to always ask the user before they add a dependency to go.mod.",
        ),
        (
            "Never touch my notes in `my/notes` unless I ask for it",
            "The user wants: “Never touch my notes in `my/notes` unless I ask for it”",
        ),
        (
            "Never edit the files in `my/notes` of my folder",
            "Wants agents never to edit the files in `my/notes` of the user's folder.",
        ),
    ],
)
def test_a_wish_in_the_third_person_reads_as_it_was_meant(message: str, text: str) -> None:
    """The alternative that is wanted is no part of what is never done, and "me", "my" and "you" are named."""
    assert learnt(message) == [text]
