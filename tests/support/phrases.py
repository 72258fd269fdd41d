"""Generated phrases with a secret in them: how people, programs and files write a password, and values to put there."""

from __future__ import annotations

import base64
import random
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SYMBOLS = "!@#$%^&*_+=.?~-"
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]

# A phrase by name, with the place of its value; a name other than S is the kind of value that can stand there.
PHRASES = {
    # seen to be missed
    "Cookie": "Cookie: lang=en; sessionid={S}; theme=dark",
    "Set-Cookie": "Set-Cookie: session={S}; Path=/; HttpOnly; SameSite=Lax",
    "mysql -p": "mysql -h db.tide.example -u root -p{S} shop < dump.sql",
    "sshpass": "sshpass -p {S} ssh ann@10.0.0.7 uptime",
    "the password is": "By the way, the password is {S}, please keep it.",
    "my password is": "my password is {S}",
    "the passphrase is": "For the backup: the passphrase is {S}.",
    "the api key is": "the api key is {HEX}",
    "password =": "password = {SYMBOL}",
    "Basic": "Authorization: Basic {BASIC}",
    "Basic alone": "it sent `Basic {BASIC}` twice",
    # other clients
    "mysqldump quoted": "mysqldump --single-transaction -uroot -p'{S}' shop > shop.sql",
    "curl -u": "curl -u ann:{S} https://tide.example/api",
    "psql url": "psql postgres://ann:{URL}@db.example:5432/shop",
    "redis-cli": "redis-cli -h cache -a {S} PING",
    "docker login": "docker login -u ann -p {S} registry.example",
    "PGPASSWORD": "PGPASSWORD={S} psql -h db shop",
    "--password=": "tide connect --password={S} --host db",
    "mongosh": "mongosh --host db -u admin -p {S} --authenticationDatabase admin",
    "ldapsearch": "ldapsearch -x -D cn=admin,dc=example -w {S} -b dc=example",
    "sqlcmd": "sqlcmd -S db.example -U sa -P '{S}' -Q 'select 1'",
    "7z": "7z a -p{S} backup.7z notes/",
    "smbclient": "smbclient //host/share -U ann%{S}",
    "curl --cookie": "curl --cookie 'sid={S}' https://tide.example",
    # languages
    "pin": "the pin is {PIN}",
    "German": "Das Passwort ist {S}.",
    "German, for": "Das Passwort für den Server lautet {S}",
    "French": "mot de passe : {S}",
    "French, verb": "Le mot de passe est {S}",
    "Spanish": "la contraseña es {S}",
    "Portuguese": "a senha é {S}",
    "Polish": "hasło to {S}",
    "Russian": "пароль: {S}",
    "Chinese": "密码是{S}",
    "Japanese": "パスワードは {S} です",
    # other sentences
    "for the": "The password for the staging database is {S}.",
    "changed to": "I changed it; the root password was changed to {S}",
    "quoted": 'the password is "{S}", with the quotes left out',
    "in backticks": "the new passphrase is now `{S}`",
    "api key, for": "our API key for the billing service is {TOKEN}",
    "access token": "The access token is {TOKEN}.",
    # files
    "JSON": '{"user": "ann", "password": "{S}"}',
    "YAML": "db:\n  user: ann\n  password: {YAML}\n",
    ".netrc": "machine tide.example login ann password {S}",
    "ini": "[client]\nuser=ann\npassword={S}\n",
    "XML": "<db><user>ann</user><password>{XML}</password></db>",
    # other places and clients
    "curl -u quoted": 'curl -s -u "ann:{S}" https://tide.example/api',
    "curl --user single quotes": "curl --user 'ann:{S}' https://tide.example/api",
    "user colon": "user: ann\npassword: {S}\n",
    "login slash": "login for staging: ann / {S}",
    "table": "| host | user | password |\n|---|---|---|\n| db.example | ann | {S} |\n",
    "table row": "| password | {S} |\n| host | db.example |\n",
    "YAML env": "env:\n  - name: DB_PASSWORD\n    value: {YAML}\n",
    "JSON in JSON": '{"body": "{\\"user\\":\\"ann\\",\\"password\\":\\"{PLAIN}\\"}"}',
    "export": "export SHOP_API_TOKEN={TOKEN}\n",
    "ADO string": "Server=db.example;Database=shop;User Id=ann;Password={CONN};Encrypt=true;",
    "libpq string": "host=db.example user=ann password={PLAIN} dbname=shop",
    ".pgpass": "db.example:5432:shop:ann:{PGPASS}\n",
    ".netrc lines": "machine tide.example\n  login ann\n  password {S}\n",
    "X-Api-Key": "curl -H 'X-Api-Key: {TOKEN}' https://tide.example/v1/me",
    "--token": "tide deploy --token {TOKEN} --env prod",
    "passin": "openssl rsa -in key.pem -passin pass:{S} -out plain.pem",
    "gpg": "gpg --batch --passphrase {S} -d notes.gpg",
    "jdbc": "jdbc:mysql://db.example:3306/shop?user=ann&password={PLAIN}&useSSL=false",
    "keyword argument": "db = connect(host='db', user='ann', password='{S}')",
    "query": "GET /v1/me?api_key={HEX}&page=2 HTTP/1.1",
    # programs that read a password from their input, or know it by its place
    "sudo -S": "echo '{S}' | sudo -S systemctl restart shop",
    "passwd --stdin": "passwd --stdin ann <<< '{S}'",
    "chpasswd": "echo 'ann:{S}' | chpasswd",
    "docker --password-stdin": "printf '%s' '{S}' | docker login -u ann --password-stdin",
    "htpasswd": "htpasswd -b -c .htpasswd ann '{S}'",
    "ssh-keygen": "ssh-keygen -t ed25519 -N '{S}' -f id_shop",
    "net user": "net user ann '{S}' /add",
    "requirepass": "requirepass {S}\n",
    "xfreerdp": "xfreerdp /u:ann /p:'{S}' /v:host",
    "SecureString": "ConvertTo-SecureString '{S}' -AsPlainText -Force",
    # the value before its name, or right behind it
    "use as": "use {S} as the password",
    "as, quoted": "sign in as ann with `{S}` as your new passphrase.",
    "is the password": "By the way {S} is my password for the wiki",
    "in brackets": "log in as ann (password {S})",
    "with password": "Connect as ann with password {S} please",
    "credentials are": "the credentials are ann / {S}",
}

# Phrases that no rule was written for: what is covered of them is an estimate for those that nobody thought of.
HELD_OUT = {
    "Dockerfile": "ENV DB_PASSWORD={S}\nRUN make\n",
    "environ": "os.environ['DB_PASSWORD'] = '{S}'",
    "Go struct": 'cfg := Config{User: "ann", Password: "{S}"}',
    "properties": "spring.datasource.username=ann\nspring.datasource.password={S}\n",
    "git remote": "git remote add origin https://ann:{URL}@git.example/shop.git",
    "stringData": "stringData:\n  user: ann\n  admin-password: {YAML}\n",
    "creds": "creds: ann:{S}",
    "wget": "wget --http-user=ann --http-password={S} https://tide.example/x",
    "wifi": "The Wi-Fi password at the office: {S}",
    "HTML input": '<input type="password" name="pw" value="{XML}">',
    "X-Auth-Token": "> X-Auth-Token: {TOKEN}\n> Accept: */*\n",
    "Slack style": "hey, db pw: {S} (ann is the user)",
}


KINDS = ("S", "HEX", "SYMBOL", "TOKEN", "BASIC", "PIN", "URL", "XML", "YAML", "PLAIN", "CONN", "PGPASS")


def value(pick: random.Random, kind: str) -> str:
    """Return a made-up value: words, hexadecimal, base64 or with punctuation, as far as the kind allows."""
    if kind == "PIN":
        return "".join(pick.choices(string.digits, k=pick.choice((4, 6, 8))))
    if kind == "BASIC":
        return base64.b64encode(f"{_word(pick)}:{value(pick, 'S')}".encode()).decode()
    makers = {"HEX": [_hexadecimal], "SYMBOL": [_symbols], "TOKEN": [_hexadecimal, _base64]}
    made = pick.choice(makers.get(kind, [_words, _hexadecimal, _base64, _symbols]))(pick)
    # What the syntax around it does not allow would be written in another way there.
    refused = {
        "URL": "/@?#%&+=",
        "XML": '&<"',
        "YAML": "#&*!%@?",
        "PLAIN": '&%+#"\\?=~^*!@$',
        "CONN": ";=\"'",
        "PGPASS": ":\\",
    }.get(kind, "")
    return "".join(letter for letter in made if letter not in refused)


def filled(name: str, count: int, seed: int = 12) -> list[tuple[str, str]]:
    """Return `count` copies of a phrase, each with another generated secret, as pairs of the text and the secret."""
    pick = random.Random(f"{name}{seed}")
    template = {**PHRASES, **HELD_OUT}[name]
    kind = next(kind for kind in KINDS if f"{{{kind}}}" in template)
    values = [value(pick, kind) for _ in range(count)]
    return [(template.replace(f"{{{kind}}}", made), made) for made in values]


def covered(name: str, spans: Callable[[str], Iterable[tuple[int, int, str]]], count: int) -> int:
    """Return how many of a phrase's generated secrets lie whole in one span, apart from punctuation at their end."""
    hits = 0
    for text, made in filled(name, count):
        start = text.index(made)
        end = start + len(made.rstrip(".,!?;:="))
        hits += any(first <= start and last >= end for first, last, _ in spans(text))
    return hits


def _word(pick: random.Random) -> str:
    """Return a word that can be spoken and is in no dictionary."""
    return "".join(pick.choices(SYLLABLES, k=pick.choice((2, 3))))


def _words(pick: random.Random) -> str:
    """Return a passphrase of made-up words."""
    words = [_word(pick) for _ in range(pick.choice((2, 3)))]
    if len(words) < 3:  # two words alone are a name: people add a number
        return pick.choice(("-", "_", ".", "")).join([*words, str(pick.randrange(10, 10_000))])
    return pick.choice(("-".join(words), "".join(word.capitalize() for word in words) + str(pick.randrange(100))))


def _hexadecimal(pick: random.Random) -> str:
    """Return hexadecimal digits, with at least one letter and one digit."""
    return pick.choice("abcdef") + pick.choice("0123456789") + pick.randbytes(pick.choice((6, 12, 16, 20))).hex()


def _base64(pick: random.Random) -> str:
    """Return base64, with padding or without."""
    return base64.b64encode(pick.randbytes(pick.choice((9, 12, 16, 18, 24)))).decode()


def _symbols(pick: random.Random) -> str:
    """Return what a generator of passwords makes: letters, digits, and two marks or more; it begins with a letter."""
    length = pick.choice((8, 12, 16, 20))
    letters = [pick.choice(string.ascii_letters + string.digits) for _ in range(length)]
    for at in pick.sample(range(1, length), k=max(2, length // 5)):
        letters[at] = pick.choice(SYMBOLS)
    letters[0] = pick.choice(string.ascii_letters + "$%")
    return "".join(letters)
