"""Reported obstacles, in six languages, apart from what blocks in a program and from conditions."""

from __future__ import annotations

import pytest

from reverie.distill.extractive import Extractive
from reverie.distill.extractive.blocker_phrases import is_blocker, is_unblocked
from support.thread import Thread

ENGINE = Extractive()


@pytest.mark.parametrize(
    "sentence",
    [
        "I am blocked: I need the credentials.",
        "Ich komme nicht weiter: mir fehlen die Zugangsdaten.",
        "Mir fehlt noch das Passwort für die Datenbank.",
        "Ich brauche noch den API-Schlüssel von dir.",
        "Ich kann ohne Zugang zum Server nicht testen.",
        "Wir warten noch auf die Freigabe.",
        "Estoy bloqueado: me faltan las credenciales.",
        "Necesito las credenciales de la base de datos.",
        "No puedo continuar sin acceso al servidor.",
        "Estamos esperando la aprobación.",
        "Je suis bloqué : il me manque les identifiants.",
        "Il me manque le mot de passe de la base.",
        "Je ne peux pas continuer sans accès au serveur.",
        "J'attends la validation.",
        "我卡住了：没有数据库的密码。",
        "没有访问权限，没法继续。",
        "我需要你提供 API 密钥。",
        "还在等审批。",
        "認証情報がないので先に進めません。",
        "パスワードがなくて作業を進められません。",
        "レビュー待ちです。",
    ],
)
def test_obstacles_in_six_languages(sentence: str) -> None:
    """An agent's obstacle waits for the user, and is gone once they answer."""
    assert is_blocker(sentence)
    thread = Thread().user("Deploy the service to staging, please").agent(sentence)
    assert ENGINE.working_state(thread.messages).blockers == (f"waiting for the user: {sentence}",)
    assert ENGINE.working_state(thread.user("Try `deploy.sh` then").messages).blockers == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Der Thread ist blockiert, bis die Sperre frei wird.",
        "Falls dir die Zugangsdaten fehlen, frag Anna.",
        "Wenn die Zugangsdaten fehlen, gibt die API 401 zurück.",
        "Mir fehlen die Worte.",
        "Mir fehlt hier ein Komma.",
        "Ich brauche Zugriff auf die Methode der Klasse.",
        "Ich brauche keine Zugangsdaten.",
        "Er kommt im Spiel nicht weiter.",
        "Brauchst du die Zugangsdaten?",
        "El hilo está bloqueado por el mutex.",
        "Si te faltan las credenciales, pídelas.",
        "Me falta tiempo.",
        "¿Necesitas las credenciales?",
        "Necesito acceso al campo privado de la clase.",
        "Le thread est bloqué par le verrou.",
        "S'il te manque les identifiants, dis-le.",
        "Il me manque une virgule.",
        "Tu me manques.",
        "线程被锁阻塞了。",
        "如果没有权限就无法部署。",
        "这个函数需要密码参数。",
        "我们需要密码字段。",
        "页面卡住了。",
        "スレッドがロックでブロックされています。",
        "権限がない場合は進めません。",
        "この関数にはパスワードが必要です。",
        "パスワードが必要ですか？",
    ],
)
def test_what_is_no_obstacle(sentence: str) -> None:
    """Locks in a program, conditions, denials, questions and everyday phrases are no blockers."""
    assert not is_blocker(sentence)


@pytest.mark.parametrize(
    ("obstacle", "end"),
    [
        ("Ich komme nicht weiter: mir fehlt das Passwort.", "Ich habe jetzt den Zugang bekommen."),
        ("Estoy bloqueado sin acceso.", "Ya tengo las credenciales."),
        ("Je suis bloqué.", "Voici les identifiants."),
        ("我卡住了：没有密码。", "权限已经开通。"),
        ("認証情報がないので先に進めません。", "アクセス権を付与しました。"),
    ],
)
def test_an_obstacle_of_the_person_ends_in_their_language(obstacle: str, end: str) -> None:
    """The person's own obstacle stays until they say that what was missing is there."""
    assert is_unblocked(end)
    thread = Thread().user("Deploy the service to staging, please").agent("I look at the script.").user(obstacle)
    assert ENGINE.working_state(thread.messages).blockers == (obstacle,)
    assert ENGINE.working_state(thread.agent("Good.").user("Ok.").messages).blockers == (obstacle,)
    assert ENGINE.working_state(thread.agent("Noted.").user(end).messages).blockers == ()
