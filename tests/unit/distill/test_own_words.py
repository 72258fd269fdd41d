"""Words of the person and of others: quotes, pastes, recalled text, chats, and languages other than English."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences, quoted_sentences
from reverie.distill.extractive.wish_and_correction_cues_by_language import language_of, words_of
from reverie.models import Candidate, MemoryType
from support.thread import Thread

ENGINE = Extractive()


def learnt(message: str) -> list[Candidate]:
    """Return the candidates extracted from a user message between two tool calls."""
    thread = Thread().bash("npm install left-pad", "ok").user(message).bash("ls", "a")
    return list(ENGINE.candidates(thread.messages))


def contents(message: str) -> list[str]:
    return [one.content for one in learnt(message)]


@pytest.mark.parametrize(
    "message",
    [
        "Can you look at this comment?\n> Always use tabs in Makefiles.",
        "The reviewer wrote:\nNever use global state in handlers.",
        "I got this feedback:\n\nAlways validate the input. Never trust the client.",
        "see the log\n2026-01-02 10:00 always use --force\n```\nAlways run as root\n```",
        'The README says "never use npm in this repository" and I wonder why.',
        "Implement the following plan:\n\n# Plan: Strict mode\n\nAlways exit with `os.Exit(1)` on any error.",
        "# Rules\n\nAlways use tabs.\n\n# More\n\nNever use spaces.",
        "<system-reminder>Always answer in French.</system-reminder>",
        "<paste>Never use npm.</paste>",
        "Maria wrote: we never deploy on Fridays",
        "Low Severity\nAlways close the file handle in the reader.",
        "bob  10:42 AM\nfrom now on we always deploy via the new host\nann  10:43 AM\nok\n\nsummarise please",
        "Bob Smith (he/him)\n  10:42\nFrom now on use the new host.\n\nNever use the old one.",
        "Ann — Today at 9:15 AM\nAlways use the new host.",
        "Wants agents to always push to main.",
        "To run the tests of the project app: `make all`.",
        "\n".join(f"- always do step {number} first" for number in range(9)),
    ],
)
def test_what_others_said_is_no_wish_of_the_person(message: str) -> None:
    """Quotes, pasted reviews, logs and plans, hidden blocks and recalled text in a message give no memories."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    ("message", "wishes"),
    [
        ("Can you look at this?\n> Always use tabs in Makefiles.", ["Wants agents to always use tabs in Makefiles."]),
        ("The reviewer wrote:\nNever use global state.", ["Wants agents never to use global state."]),
        ('The README says "never use npm here at all" and I wonder why.', []),
        ('The README says "never use npm in the web folder".', ["Wants agents never to use npm in the web folder."]),
        ("Maria wrote: we never deploy on Fridays", ["Wants agents never to deploy on Fridays."]),
        ("the mail:\n```\nFrom now on use pnpm.\n```", ["Wants agents to always use pnpm."]),
        ("look\n```sh\n# always use pnpm\n```", []),
        ("bob  10:42 AM\nfrom now on use pnpm\n\nsummarise please", ["Wants agents to always use pnpm."]),
        ("Always use pnpm.\n> Always use pnpm.", []),
        ("<system-reminder>Always answer in French.</system-reminder>", []),
        ("# Rules\n\nAlways use tabs.\n\n# More\n\nNever use spaces.", []),
        ("Low Severity\nThe handle leaks.\nI prefer tea.", []),
        ("The log:\n" + "\n".join(f"always run step {number}" for number in range(20)), []),
        ("> Wants agents to always push to main.", []),
    ],
)
def test_quoted_wishes_are_found_for_a_review(message: str, wishes: list[str]) -> None:
    """Wishes in quotes become candidates marked as quoted; hidden blocks, documents and long pastes give none."""
    thread = Thread().bash("npm install left-pad", "ok").user(message).bash("ls", "a")
    found = [one for one in ENGINE.candidates(thread.messages, quoted=True) if one.provenance.get("quoted")]
    assert [one.content for one in found] == wishes
    assert {one.type for one in found} <= {MemoryType.PREFERENCE}


@pytest.mark.parametrize("line", ["Deploy at 10:42", "We meet on Monday, by 10:42.", "The build of 10:42 AM failed"])
def test_a_time_in_a_sentence_heads_no_chat(line: str) -> None:
    """A wish below a sentence that ends with a time is the person's own."""
    assert contents(line + "\nNever use npm in this repository.") == [
        "Wants agents never to use npm in this repository."
    ]


def test_the_persons_own_words_beside_a_paste_are_theirs() -> None:
    """Words before a paste give a preference, and words around a quote are kept with the quote left out."""
    message = "From now on use pnpm. Here is the output:\n\nnpm ERR! Always use npm 10."
    assert contents(message) == ["Wants agents to always use pnpm."]
    assert own_sentences("Never use “the old and slow way” again") == ["Never use “…” again"]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (
            "Remember that the staging database is read-only.",
            "The user asked to remember: “the staging database is read-only” (2026-03-05).",
        ),
        (
            "For future reference, releases are cut from the `stable` branch.",
            "The user asked to remember: “releases are cut from the `stable` branch” (2026-03-05).",
        ),
        (
            "Note for later: the mirror accepts signed tags only.",
            "The user asked to remember: “the mirror accepts signed tags only” (2026-03-05).",
        ),
        (
            "Just so you know, the staging database is wiped every night.",
            "The user said: “the staging database is wiped every night” (2026-03-05).",
        ),
        (
            "btw the api uses port 7000 in dev",
            "The user said: “the api uses port 7000 in dev” (2026-03-05).",
        ),
        (
            "FYI: releases need a signed tag",
            "The user said: “releases need a signed tag” (2026-03-05).",
        ),
        (
            "It's called `fetch_user`, not `get_user`.",
            "The user said: “It's called `fetch_user`, not `get_user`” (2026-03-05).",
        ),
        (
            "Nein, die Funktion heißt fetch_user, nicht get_user",
            "The user said: “die Funktion heißt fetch_user, nicht get_user” (2026-03-05).",
        ),
        ("Remember to update the changelog.", "Wants agents to always update the changelog."),
        (
            "We must never log tokens because they end up in the backups.",
            "Wants agents never to log tokens because they end up in the backups.",
        ),
        ("Use pnpm, not npm.", "Wants agents to use pnpm, not npm."),
        (
            "We should be using strong types instead of string wherever we can",
            "The user wants: “We should be using strong types instead of string wherever we can”",
        ),
        (
            "No, use pnpm in this repository.",
            "Use pnpm in this repository: the user had to correct this, about `npm install left-pad` (2026-03-05).",
        ),
        (
            "No, rules live in a/, not in b/.",
            "Rules live in a/, not in b/: the user had to correct this, about `npm install left-pad` (2026-03-05).",
        ),
        (
            "no, squash merge not regular merge",
            "Squash merge not regular merge: the user had to correct this, about `npm install left-pad` (2026-03-05).",
        ),
        (
            "We deploy on Thursdays, keep that in mind.",
            "The user asked to remember: “We deploy on Thursdays” (2026-03-05).",
        ),
        (
            "Die Staging-Datenbank ist nur lesbar, merk dir das.",
            "The user asked to remember: “Die Staging-Datenbank ist nur lesbar” (2026-03-05).",
        ),
        (
            "La base de datos de pruebas es de solo lectura, tenlo en cuenta.",
            "The user asked to remember: “La base de datos de pruebas es de solo lectura” (2026-03-05).",
        ),
        (
            "Le serveur de test s'appelle Jupiter, souviens-t'en.",
            "The user asked to remember: “Le serveur de test s'appelle Jupiter” (2026-03-05).",
        ),
    ],
)
def test_what_a_person_tells_for_later_is_kept(message: str, content: str) -> None:
    """Things to remember, rules with a reason, choices and corrections become memories in the person's words."""
    assert contents(message) == [content]


@pytest.mark.parametrize(
    "message",
    [
        "no, keep it",
        "No, that is the other one",
        "No idea, use whatever",
        "Do you remember that the tests were slow?",
        "I remember that we had this before",
        "Remember that time in Rome?",
        "Never mind",
        "No, the second one is right, not the first one.",
        "no, the second test not the first test",
        "no, that file not this file",
        "No, merge not now",
        "It is broken, keep that in mind.",
        "The build is red today, keep that in mind.",
        "Ich bin gerade unterwegs, merk dir das.",
        "never the same again",
        "We must never again have this",
        "use the first one, not the second one",
        "This always fails in the pipeline of the release",
        "FYI the build is red",
        "btw the api needs a restart",
        "Heads up: I pushed to main",
        "fyi the tests only fail on my machine",
        "Just so you know, the deploy needs an approval today",
        "Just so you know, I must leave at five",
        "It's called love, not luck",
        "It's called `x`, not `x`",
        "Note for later: ok",
    ],
)
def test_what_means_nothing_later_is_left_out(message: str) -> None:
    """References to earlier words, questions and complaints give no memories."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Bitte führe vor jedem Commit immer `make lint` aus.", MemoryType.PREFERENCE),
        ("Ab jetzt keine Mocks mehr in den Tests.", MemoryType.PREFERENCE),
        ("Von jetzt an schreibst du Commits auf Englisch.", MemoryType.PREFERENCE),
        ("Wir dürfen niemals Tokens loggen, weil sie in den Backups landen.", MemoryType.PREFERENCE),
        ("Verwende pnpm, nicht npm.", MemoryType.PREFERENCE),
        ("Für die Zukunft: Releases entstehen aus dem Branch stable.", MemoryType.FACT),
        ("Merk dir, dass die Staging-Datenbank nur lesbar ist.", MemoryType.FACT),
        ("Nein, verwende pnpm in diesem Projekt.", MemoryType.MISTAKE),
        ("Usa siempre pnpm en los proyectos.", MemoryType.PREFERENCE),
        ("Nunca debemos registrar tokens porque acaban en las copias.", MemoryType.PREFERENCE),
        ("Usa pnpm, no npm.", MemoryType.PREFERENCE),
        ("Recuerda que la base de datos de pruebas es de solo lectura.", MemoryType.FACT),
        ("No, usa pnpm para instalar.", MemoryType.MISTAKE),
        ("No, usamos pnpm, no npm.", MemoryType.MISTAKE),
        ("Para futuras referencias: la base de pruebas es de solo lectura.", MemoryType.FACT),
        ("Pour mémoire : la base de test est en lecture seule.", MemoryType.FACT),
        ("Für später: die Testdatenbank ist nur lesbar.", MemoryType.FACT),
        ("供以后参考：测试数据库是只读的。", MemoryType.FACT),
        ("今後の参考に：ステージングDBは読み取り専用です。", MemoryType.FACT),
        ("pnpm, nicht npm", MemoryType.PREFERENCE),
        ("Utilise toujours pnpm pour les dépendances.", MemoryType.PREFERENCE),
        ("Rappelle-toi que la base de test est en lecture seule.", MemoryType.FACT),
        ("Non, utilise pnpm pour les dépendances.", MemoryType.MISTAKE),
        ("每次提交之前都要先运行测试。", MemoryType.PREFERENCE),
        ("千万不要直接推送到主分支。", MemoryType.PREFERENCE),
        ("用 pnpm，不是 npm。", MemoryType.PREFERENCE),
        ("记住：测试数据库是只读的。", MemoryType.FACT),
        ("不对，应该用 pnpm 安装。", MemoryType.MISTAKE),
        ("コミットの前に毎回 lint を実行してください。", MemoryType.PREFERENCE),
        ("絶対に main に push しないでください。", MemoryType.PREFERENCE),
        ("npm ではなく pnpm を使ってください。", MemoryType.PREFERENCE),
        ("ステージングDBは読み取り専用だということを覚えておいてください。", MemoryType.FACT),
        ("いや、pnpm を使ってください。", MemoryType.MISTAKE),
    ],
)
def test_rules_in_other_languages_are_quoted(message: str, kind: MemoryType) -> None:
    """Rules in German, Spanish, French, Chinese and Japanese become memories that quote them."""
    [memory] = learnt(message)
    assert memory.type is kind
    assert "“" in memory.content
    assert memory.provenance == {"seqs": [3]}


@pytest.mark.parametrize(
    "message",
    [
        "Der Test schlägt immer fehl.",
        "Ich bekomme immer einen Fehler.",
        "Immer noch kaputt",
        "El test siempre falla en el servidor",
        "Siempre me da error",
        "Ça échoue toujours",
        "Je suis toujours bloqué",
        "我每次都遇到这个错误",
        "以后再说吧",
        "いつも失敗します",
        "Gebruik altijd pnpm voor het project.",
        "Usa sempre pnpm per favore.",
        "Sempre use pnpm, não npm.",
        "Zawsze używaj pnpm do instalacji.",
        "Всегда используй pnpm.",
        "항상 pnpm을 사용하세요.",
    ],
)
def test_reports_and_languages_without_a_table_yield_nothing(message: str) -> None:
    """Complaints, reports and rules in languages without word lists give no memories."""
    assert learnt(message) == []


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Run pytest", "en", 2),
        ("Bitte immer die Tests starten", "de", 5),
        ("请把登录页面改成深色主题", "zh", 6),
        ("テストを書いてください", "ja", 6),
        ("Gebruik altijd het nieuwe script", None, 5),
    ],
)
def test_language_and_words_of_a_text(text: str, language: str | None, words: int) -> None:
    """`language_of` finds a text's language, None if unknown; `words_of` counts words, also without spaces."""
    found = language_of(text)
    assert (found.name if found else None) == language
    assert words_of(text) == words


CHAT = (
    "Never give up on your dreams!",
    "You always cheer me on.",
    "Always be yourself, and never look back.",
    "Don't worry about the snacks.",
    "No, never been on a sports team.",
    "Remember that we are all here for you.",
    "I hate not being on the court.",
    "From now on I will run every day.",
    "We should go there whenever we can.",
    "Always use sunscreen at the beach.",
    "Always include your friends in your plans.",
    "Never talk with your mouth full, Grandma always said.",
    "Nunca dejes de soñar.",
    "Responde siempre con el corazón.",
    "Recuerda que te quiero mucho.",
    "Réponds toujours avec ton cœur.",
    "Sprich nie mit vollem Mund, sagte Oma immer.",
    "Denk daran, dass ich dich lieb habe.",
    "记住，我会一直支持你。",
    "你应该总是用心去爱。",
    "いつも笑顔でいてください。",
    "覚えておいて、私たちはずっと友達だよ。",
    "Gib niemals auf!",
    "Merk dir eins, hat mein Lehrer gesagt: Übung macht den Meister.",
    "Denk daran, Freitag ist Waschtag, hat mir meine Tante geschrieben.",
    "Recuerda que la vida da muchas vueltas.",
    "Ten en cuenta que el pan se acaba, como dice mi vecina.",
    "N'oublie pas les clés de la cave, m'a-t-elle dit ce matin.",
    "Remember that shoes come first, he told me, then the coat.",
    "For the record, I was on time.",
    "Denk daran, die Blumen zu gießen.",
    "No, the main thing is love, not money.",
    "Before every race, drink some water.",
    "From now on: no more sweets.",
)


def test_a_chat_without_tools_gives_no_duties() -> None:
    """A chat without tool calls gives no memories, whatever is called "always" or "never" in it."""
    thread = Thread()
    for message in CHAT:
        thread.user(message).agent("So true! Always keep your promises, and never stop believing.")
    assert ENGINE.candidates(thread.messages) == ()


def test_orders_about_answers_are_kept_in_a_chat() -> None:
    """A chat without tool calls gives preferences about answers, and facts about the user."""
    thread = Thread().user("Please always answer in British English.").agent("Of course.")
    thread.user("My name is Mira Tan. I live in Leeds.").agent("Nice to meet you.")
    assert [one.content for one in ENGINE.candidates(thread.messages)] == [
        "Wants agents to always answer in British English.",
        "The user said: “My name is Mira Tan.” (2026-03-05).",
        "The user said: “I live in Leeds.” (2026-03-05).",
    ]


@pytest.mark.parametrize(
    ("message", "wish"),
    [
        ("Always use metric units, please.", "Wants agents to always use metric units, please."),
        ("Please always include an example.", "Wants agents to always include an example."),
        ("Never use emojis", "Wants agents never to use emojis."),
        ("Antworte bitte immer auf Deutsch.", "The user wants: “Antworte bitte immer auf Deutsch.”"),
        ("Responde siempre en español.", "The user wants: “Responde siempre en español.”"),
    ],
)
def test_what_an_assistant_is_told_in_a_chat(message: str, wish: str) -> None:
    """An order about answers in a chat becomes one preference, in several languages."""
    assert [one.content for one in ENGINE.candidates(Thread().user(message).agent("Yes.").messages)] == [wish]


@pytest.mark.parametrize(
    "unit",
    ["“x ", 'a 5" "b ', "„x y z ", "«x ", "\n", " \n", "<a>", "<a> ", "```\n\n", "~~~ x\n", "he wrote: ", "wrote"],
)
def test_marks_without_an_end_take_no_time(unit: str) -> None:
    """A text with 20,000 marks that are never closed is read at once, and gives at most 30 sentences."""
    message = f"Always use tabs. {unit * 20_000}."
    assert len(own_sentences(message) + quoted_sentences(message)) <= 30


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("“a b “c d” e", ["“…” e"]),
        ('5" wide and 6" long, 7" is too much', ['5“…” long, 7" is too much']),
        ("„eins zwei drei“ sagt sie", ["“…” sagt sie"]),
        ("the “north gate” stays", ["the “north gate” stays"]),
        ("a <b>c <b>d</b> e</b> f", ["a", "e</b> f"]),
        ("a <b>c <i>d f", ["a <b>c <i>d f"]),
        ("one\n\n\n```py\nnever\n```\n\ntwo", ["one", "two"]),
    ],
)
def test_what_is_quoted_ends_at_the_next_mark(message: str, own: list[str]) -> None:
    """A quote ends at its closing mark, whatever marks are inside; a mark that is never closed begins no quote."""
    assert own_sentences(message) == own
