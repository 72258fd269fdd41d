"""Rules in the words of how things are, and what only looks like one: questions, reports, tasks, the past, guesses."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

WISHES = """
The tests always run with `make check`, never directly with pytest
The tests are only run via `make check`
ask before you update snapshots
Ask before adding any dependencies
a branch for each ticket, squash on merge
one commit for each change
Tests must always be run via `make check`
All tests run with `make check`, never with pytest directly
ask me before you add a dependency
don't update snapshots without asking
One branch per ticket
Keine Emojis in Commit-Nachrichten
Abhängigkeiten nie mit pip installieren
Beträge immer in Cent speichern
Tests bitte immer mit `make pruefen` starten
Pro Ticket ein Branch, beim Mergen squashen
antworte auf Deutsch
Responde en español
Pas d'emojis dans les messages de commit
Réponds en français
请用中文回答
不要在提交信息里用表情
日本語で答えてください
コミットメッセージに絵文字を使わないでください
Die Tests laufen immer mit `make pruefen`, niemals direkt mit pytest
Ich bevorzuge Antworten auf Deutsch
keine neuen Abhängigkeiten mit pip installieren, immer in pyproject.toml eintragen
Frag mich, bevor du Snapshots aktualisierst
Ein Branch pro Ticket, beim Merge squashen
Los tests se ejecutan siempre con `make test`, nunca con pytest
Prefiero las respuestas en español
Prefiero respuestas cortas
nada de dependencias nuevas con pip, siempre en pyproject.toml
Pregunta antes de actualizar los snapshots
una rama por ticket
Les tests se lancent toujours avec `make test`, jamais avec pytest
Je préfère des réponses courtes
pas de nouvelles dépendances avec pip, toujours dans pyproject.toml
Demande-moi avant d'ajouter des dépendances
Une branche par ticket
更新快照之前先问我
我更喜欢用中文回答
每个工单一个分支
テストは必ず `make test` で実行します
スナップショットを更新する前に必ず確認してください
チケットごとにブランチを作る
"""
FACTS = """
we store all timestamps in UTC
amounts are always in cents as integers, never floats
dates are always stored as ISO 8601
All timestamps are stored in UTC
We deploy only on Thursdays
we reset the staging database every Monday at 6:00
Wir deployen nur donnerstags
Wir setzen die Testdaten jeden Montag um 6 Uhr zurück
Desplegamos solo los jueves
Nous déployons uniquement le jeudi
我们每周四晚上发布
毎週木曜日にデプロイします
prices are in cents, not euros
Alle Zeiten werden in UTC gespeichert
Alle Zeiten in UTC speichern
Todas las fechas se guardan en UTC
Toutes les dates sont stockées en UTC
Wir speichern alle Zeiten in UTC
Beträge sind immer in Cent als Ganzzahlen, niemals als Kommazahlen
Guardamos todas las fechas en UTC
Los importes son siempre en céntimos, nunca en euros
Nous stockons toutes les dates en UTC
Les montants sont toujours en centimes, jamais en euros
所有时间都用 UTC 存储
すべての時刻はUTCで保存します
金額は常にセント単位の整数で扱います
"""
DECISIONS = """
I decided that we use Postgres 16 for the ledger because the JSON functions are better
We've decided to drop Python 3.10
We chose Postgres 16 over MySQL because of JSONB
We're going with Postgres 16 because of JSONB
Wir haben beschlossen, dass wir Postgres 16 nehmen
Ich habe mich für Postgres 16 entschieden, weil die JSON-Funktionen besser sind
Hemos decidido usar Postgres 16 porque las funciones JSON son mejores
J'ai décidé d'utiliser Postgres 16 parce que les fonctions JSON sont meilleures
我们决定使用 Postgres 16，因为 JSON 函数更好
Postgres 16 を使うことにしました
"""
NOTHING = """
Do the tests always run with `make check`?
must the tests be run via `make check`?
the tests had to be run via `make check`
the tests should be run with more memory
all tests run with `make check`, it never took so long
don't update this snapshot without asking
you did not update snapshots without asking
don't leave without asking
did anyone update snapshots without asking?
are all timestamps stored in UTC?
all timestamps were stored in UTC
we deploy on Thursday
do we deploy only on Thursdays?
we deployed only on Thursdays
maybe we deploy every Monday
we deploy today, not only on Thursdays
Wir deployen am Donnerstag
Deployen wir nur donnerstags?
Wir deployten nur donnerstags
Wir setzen die Testdaten heute zurück
Desplegamos el jueves
¿Desplegamos solo los jueves?
Nous déployons jeudi
Déployons-nous uniquement le jeudi ?
我们周四发布
我们每周四发布吗
木曜日にデプロイします
毎週木曜日にデプロイしますか
all timestamps are stored in the wrong column
all values are strings, not numbers?
the amounts were in cents, not euros
prices are in the red, not green
the log is in German, why not English
we chose the second option over the first
we chose a loop over recursion because it is simpler
we're going with the second option because it is simpler
we're going with Postgres?
Werden alle Zeiten in UTC gespeichert?
Alle Zeiten wurden in UTC gespeichert
Alle Zeiten in UTC heute noch speichern
Alle Tests in Rust neu schreiben
Beträge waren immer in Cent
Sollen wir Beträge immer in Cent speichern?
Tests immer mit Fehlern enden
Die Tests immer nur mit Glück bestehen
Warum Abhängigkeiten nie mit pip installieren
Er meinte, Abhängigkeiten nie mit pip installieren
Keine Emojis gefunden
Sind keine Emojis in Commit-Nachrichten?
Pro Ticket ein Branch war zu viel
Antwortet er auf Deutsch?
er antwortete auf Deutsch
antworte auf die Mail
Todas las fechas se guardaban en UTC
¿Todas las fechas se guardan en UTC?
¿Responde en español?
Responde en el hilo
Pas d'emojis ici
Il n'y a pas d'emojis dans les messages
Toutes les dates étaient stockées en UTC
Il répond en français
为什么不要在提交信息里用表情
他用中文回答
能用中文回答吗
日本語で答えましたか
彼は日本語で答えてくれました
絵文字を使わないでくださいと言われました
The tests always run with errors
The tests always run into a timeout with pytest
The tests always ran with `make check`
the tests would always run with `make check`
the build always runs with `--slow` again, why
ask before you start
ask before you merge this branch
did you ask before you updated snapshots?
Bob said: ask before you update snapshots
ask Ann before you update the page
tell me before you go
a branch for each ticket?
a branch for each ticket would be nice
there is a branch for each ticket
Fix the three findings. One commit per finding.
write the guide. a file for each section.
one test per function fails
we store all timestamps in the old table
we store all timestamps in UTC?
we stored all timestamps in UTC
maybe we store all timestamps in UTC
we keep all the things in mind
we wrote all times in UTC, which was wrong
write all times in UTC in this report
amounts are always in cents?
the amounts were always in cents
values are always returned as strings, never numbers
the tests are always in a weird state, never green
errors are always in German
the response is always given as null
I decided to go with the second option
I decided that we use Postgres for now
have we decided that we use Postgres 16?
he decided that we use Postgres 16
I decided to use a loop because it is simpler
if I decided to use Postgres 16, what would change
I have not decided to use Postgres 16
Laufen die Tests immer mit `make pruefen`?
Die Tests laufen immer mit Fehlern
Die Tests laufen immer noch mit `make pruefen`
Die Tests liefen immer mit `make pruefen`
Die Tests laufen immer mit `make pruefen` durch, nur heute nicht
Ich bevorzuge die zweite Variante
Ich bevorzuge das
Ich würde Antworten auf Deutsch bevorzugen, wenn das ginge
Bevorzugst du Antworten auf Deutsch?
Ich bevorzuge hier kurze Namen
Ich bevorzuge für diesen Commit kurze Namen
Keine Tests laufen, immer brechen sie ab
keine Ahnung, was die Skripte machen, immer wieder dieselben Fehler anzeigen
Nicht den Server starten, erst die Daten einspielen
Wir speichern gerade alle Zeiten in UTC
Speichern wir alle Zeiten in UTC?
Wir speicherten alle Zeiten in UTC
Wir schreiben alle Tests in Rust um
Beträge waren immer in Cent
Beträge sind immer in Cent, das ist ein Fehler
Sind Beträge immer in Cent?
Frag mich, bevor du das machst
Frag Anna, bevor du Snapshots aktualisierst
Er fragte, bevor er Snapshots aktualisierte
Gibt es einen Branch pro Ticket?
Ein Branch pro Ticket war zu viel
Ich habe mich für die zweite Variante entschieden
Ich habe mich noch nicht für Postgres 16 entschieden
Haben wir uns für Postgres 16 entschieden?
Vielleicht haben wir uns für Postgres 16 entschieden
¿Los tests se ejecutan siempre con `make test`?
Los tests se ejecutan siempre con errores
Los tests se ejecutaban siempre con `make test`
Prefiero la segunda opción
Prefiero esperar
Preferiría respuestas cortas
Prefiero que lo hagas mañana
ninguna mejora con la caché, siempre el mismo error
¿Guardamos todas las fechas en UTC?
Guardábamos todas las fechas en UTC
Guardamos todas las fechas en la tabla vieja
Los importes eran siempre en céntimos
Pregunta antes de borrar esta rama
Ana pregunta antes de actualizar los snapshots
¿Hemos decidido usar Postgres 16?
Hemos decidido usar la segunda opción
Est-ce que les tests se lancent toujours avec `make test` ?
Les tests se lancent toujours avec des erreurs
Je préfère la deuxième option
Je préfère attendre
Je préférerais des réponses courtes
aucune amélioration avec le cache, toujours la même erreur
On stocke toutes les dates dans l'ancienne table
Les montants étaient toujours en centimes
Demande avant de supprimer cette branche
J'ai décidé de garder la deuxième option
Avons-nous décidé d'utiliser Postgres 16 ?
更新快照之前先问我吗？
更新了快照之后再问我
我喜欢这个
我更喜欢用这个方案
所有时间都用 UTC 存储吗
所有测试都失败了
我们决定使用这个方案
我们决定使用 Postgres 16 了吗
这次更新这个快照之前先问我
テストは必ず失敗します
テストは必ず `make test` で実行しますか
このスナップショットを更新する前に確認してください
スナップショットを更新する前に確認しました
すべての時刻はUTCで保存されていませんでした
すべての時刻はUTCで保存しますか
この方法を使うことにしました
Postgres 16 を使うことにしましたか
"""


def learnt(message: str) -> list[tuple[str, str]]:
    """Return type and words of what the message alone gives in a thread with tool calls."""
    thread = Thread().bash("ls", "a").user(message).bash("ls", "b")
    return [
        (one.type.value, one.content.partition("“")[2].partition("”")[0] or one.content)
        for one in Extractive().candidates(thread.messages)
        if one.type is not MemoryType.EPISODE
    ]


@pytest.mark.parametrize("rule", WISHES.strip().split("\n"))
def test_rules_of_work_are_preferences(rule: str) -> None:
    """A rule about how to work is a preference in the person's words, with or without an opening."""
    assert learnt(f"{rule}.") == [("preference", rule)]


@pytest.mark.parametrize("rule", FACTS.strip().split("\n"))
def test_conventions_are_facts(rule: str) -> None:
    """A statement about all values of a kind is a fact in the person's words."""
    assert learnt(rule) == [("fact", rule)]


@pytest.mark.parametrize("said", DECISIONS.strip().split("\n"))
def test_decisions_are_facts_with_their_reason(said: str) -> None:
    """A decision for something named is a fact with the tag of decisions."""
    assert learnt(said) == [("fact", said)]
    thread = Thread().bash("ls", "a").user(said).bash("ls", "b")
    assert ["decision" in one.tags for one in Extractive().candidates(thread.messages)] == [True]


@pytest.mark.parametrize("message", NOTHING.strip().split("\n"))
def test_what_states_no_convention(message: str) -> None:
    """Questions, reports, the past, guesses, orders of one task and other people's words give nothing."""
    assert learnt(message) == []


@pytest.mark.parametrize("opening", ["No, ", "btw ", "And "])
def test_an_opening_is_left_out(opening: str) -> None:
    """The words before a rule are no part of it."""
    assert learnt(f"{opening}ask before you update snapshots") == [("preference", "ask before you update snapshots")]


@pytest.mark.parametrize("quote", ['"{}"', "> {}", "The page says: “{}”", "```\n{}\n```"])
@pytest.mark.parametrize("rule", ["we store all timestamps in UTC", "ask before you update snapshots"])
def test_quoted_rules_are_not_the_persons(quote: str, rule: str) -> None:
    """A rule inside quotation marks, a quotation or code gives nothing."""
    assert learnt(f"Look at this:\n\n{quote.format(rule)}\n") == []


@pytest.mark.parametrize(
    ("message", "wishes"),
    [
        ("Ich bevorzuge Antworten auf Deutsch", ["The user wants: “Ich bevorzuge Antworten auf Deutsch”"]),
        ("Ich bevorzuge lange Spaziergänge am Meer", []),
        ("Prefiero gatos negros", []),
        ("ask before you hug strangers", []),
        ("we keep all secrets in English", []),
    ],
)
def test_small_talk(message: str, wishes: list[str]) -> None:
    """In a chat only a preference about answers is a rule."""
    assert [one.content for one in Extractive().candidates(Thread().user(message).agent("ok").messages)] == wishes
