//! Word tables of phrases and commands: labels, what joins a label and its value, and clients that take a password.

use crate::redact::rules::Keyword;

/// Build a label of a password.
const fn password(word: &'static str) -> Keyword {
    Keyword { word, kind: "password", worded: true }
}

/// Build a label of a key.
const fn key(word: &'static str) -> Keyword {
    Keyword { word, kind: "key", worded: false }
}

/// Build a label of a token.
const fn token(word: &'static str) -> Keyword {
    Keyword { word, kind: "token", worded: false }
}

/// Names of a secret besides [`super::KEYWORDS`], in lower case: only whole words, as some are parts of ordinary ones.
#[rustfmt::skip]
pub(crate) const LABELS: &[Keyword] = &[
    // English, German, Dutch
    password("passcode"), password("pass code"), password("pass phrase"), password("pin"), password("pin code"),
    password("pincode"), password("access code"), password("zugangscode"), password("geheimzahl"),
    password("wachtwoord"), password("wachtwoordzin"),
    // French, Spanish, Portuguese, Italian, Romanian
    password("mot de passe"), password("phrase de passe"), password("code secret"), password("contrasena"),
    password("clave"), password("palavra-passe"), password("palavra passe"), password("parola"),
    password("parola d'ordine"), password("parolă"),
    // Scandinavian, Finnish, Hungarian, Turkish
    password("lösenord"), password("lösenordet"), password("adgangskode"), password("adgangskoden"),
    password("passord"), password("passordet"), password("salasana"), password("jelszó"), password("şifre"),
    password("şifresi"), password("şifreniz"), password("parolası"),
    // Slavic, Greek
    password("hasło"), password("heslo"), password("geslo"), password("lozinka"), password("пароля"),
    password("пинкод"), password("пин-код"), password("κωδικός"),
    // Asian
    password("口令"), password("パスコード"), password("暗証番号"), password("패스워드"), password("mật khẩu"),
    password("kata sandi"), password("kata laluan"), password("รหัสผ่าน"), password("पासवर्ड"),
    password("كلمة المرور"), password("كلمة السر"), password("סיסמה"),
    // What people call the pair of a name and a password, and a phrase of several words
    password("credenciales"), password("credenciais"), password("credenziali"), password("identifiants"),
    password("zugangsdaten"), password("anmeldedaten"), password("logindaten"), password("inloggegevens"),
    password("creds"), password("凭证"), password("凭据"), password("憑證"), password("認証情報"),
    password("recovery phrase"), password("seed phrase"), password("mnemonic"), password("passwortsatz"),
    password("frase de paso"), password("frase de contraseña"), password("frase secreta"),
    password("code d'accès"), password("código de acceso"), password("codice di accesso"),
    password("phrase secrète"), password("mdp"), password("パスフレーズ"), password("合言葉"), password("비번"),
    // Tokens and secrets
    token("令牌"), token("權杖"), token("トークン"), token("토큰"), token("токен"), token("jeton"),
    key("geheimnis"), key("secreto"), key("segredo"), key("segreto"), key("секрет"), key("シークレット"),
    password("identified by"),
    // Keys
    key("schlüssel"), key("秘密鍵"), key("钥匙"), key("api鍵"), key("鍵"), key("clé"), key("chave"), key("chiave"),
    key("llave"), key("キー"),
    key("api-schlüssel"), key("clé api"), key("clé d'api"), key("clave api"), key("clave de api"),
    key("clave de la api"), key("chave de api"), key("chave da api"), key("chave api"), key("chiave api"),
    key("klucz api"), key("api-sleutel"), key("api-nyckel"), key("ключ api"), key("api-ключ"), key("密钥"),
    key("密鑰"), key("金鑰"), key("apiキー"), key("api キー"), key("api 키"),
];

/// Verbs that state a value: `the password is …`.
#[rustfmt::skip]
pub(crate) const COPULAS: &[&str] = &[
    "is", "was", "are", "be", "equals", "remains", "becomes",
    "ist", "lautet", "war", "heißt", "heisst",
    "est", "était", "sera", "es", "era", "será", "é", "foi", "è", "sarà", "este",
    "luidt", "är", "er", "on", "jest", "brzmi", "je", "это", "является", "είναι", "là", "adalah", "ialah",
];

/// Verbs of a change; `to` and the value follow: `the password was changed to …`.
pub(crate) const CHANGES: &[&str] =
    &["set", "reset", "changed", "updated", "rotated", "switched", "geändert", "gesetzt", "changé", "cambiada"];

/// Words that follow a label and lead to the verb: a preposition and what it names, or an auxiliary verb.
#[rustfmt::skip]
pub(crate) const LEADS: &[&str] = &[
    "for", "of", "to", "on", "in", "at", "from", "will", "should", "must", "shall", "has", "now", "you", "i", "we",
    "für", "fuer", "von", "vom", "zum", "zur", "der", "des", "im", "pour", "du", "de", "d'accès", "del", "para", "da",
    "do", "per", "di", "voor", "van", "för", "til", "till", "dla", "pro", "для", "от", "к",
];

/// Words between a value and its label behind it: `X as the password`, `X is my password`.
pub(crate) const BACKWARD_LINKS: &[&str] =
    &["as", "is", "was", "als", "ist", "comme", "est", "como", "es", "come", "è", "é"];

/// Adverbs between the verb and the value.
#[rustfmt::skip]
pub(crate) const ADVERBS: &[&str] = &[
    "now", "still", "currently", "just", "simply", "actually", "probably", "jetzt", "nun", "aktuell", "derzeit",
    "maintenant", "toujours", "ahora", "agora", "adesso", "ora", "teraz", "nu", "nyt", "теперь", "as", "follows",
];

/// Particles that state a value in languages that write no space before it.
#[rustfmt::skip]
pub(crate) const PARTICLES: &[&str] = &["是", "为", "為", "は", "が", "는", "은", "가", "이", "："];

/// Plain words that describe a password (`the password is wrong`); those with an ending of a participle or adverb are
/// recognized by it.
#[rustfmt::skip]
pub(crate) const STATE_WORDS: &[&str] = &[
    "about", "absent", "account", "active", "again", "alphanumeric", "always", "another", "anything", "argon2",
    "argon2id", "ascii", "base32", "base64", "bcrypt", "before", "blank", "broken", "case", "clear", "cleartext",
    "correct", "correcta", "correcte", "correto", "default", "different", "either", "empty", "enough", "equal",
    "everything", "evident", "expert", "expirado", "explicit", "falsch", "false", "fine", "fixed", "forgotten",
    "from", "given", "global", "gone", "good", "guest", "hard", "here", "hidden", "identical", "important",
    "incorrect", "incorrecta", "incorrecte", "inside", "intact", "invalid", "invalide", "known", "leer", "legal",
    "literal", "local", "long", "longer", "lost", "mandatory", "masked", "md5", "missing", "needed", "never", "none",
    "nothing", "null", "obligatorio", "obvious", "often", "okay", "only", "optional", "other", "outside", "part",
    "pbkdf2", "plain", "plaintext", "present", "private", "public", "random", "read", "ready", "richtig", "right",
    "safe", "same", "scrypt", "secret", "secure", "sent", "sha1", "sha256", "sha512", "short", "shorter", "shown",
    "simple", "something", "stale", "still", "string", "strong", "taken", "temporary", "their", "there", "these",
    "this", "too", "transient", "true", "unclear", "under", "undefined", "unique", "unknown", "unset", "urgent",
    "used", "useless", "utf8", "valid", "vide", "visible", "weak", "what", "whatever", "where", "which", "whoever",
    "within", "without", "written", "wrong", "yours",
];

/// Where a client takes its password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The word of this number, counted from 1 behind the subcommand and without options: `net user ann X`.
    Positional(usize),
    /// The last word, if one of the options with one dash has the letter: `htpasswd -nb ann X`.
    LastWith(u8),
    /// The password, in the same word as the option: `-pX`.
    Attached,
    /// The password, as the next word.
    Next,
    /// The password, either way.
    Either,
    /// The next word, behind the user and this byte.
    Behind(u8),
}

/// A client program that takes a password on its command line.
pub(crate) struct Client {
    /// The programs.
    pub(crate) programs: &'static [&'static str],
    /// The options that take it, as they are written; none where its place says what it is.
    pub(crate) options: &'static [&'static str],
    pub(crate) argument: Argument,
    /// The subcommand without which the option has another meaning; may be empty.
    pub(crate) subcommand: &'static str,
}

/// Build a client, for short table rows.
const fn client(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    argument: Argument,
    subcommand: &'static str,
) -> Client {
    Client { programs, options, argument, subcommand }
}

/// Clients that take a password on the command line.
#[rustfmt::skip]
pub(crate) const CLIENTS: &[Client] = &[
    client(&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlsh", "mysqlslap",
             "mysqlbinlog", "mysqlpump", "mariadb", "mariadb-dump", "mariadb-admin", "xtrabackup"],
           &["-p"], Argument::Attached, ""),
    client(&["7z", "7za", "7zz", "rar", "unrar"], &["-p"], Argument::Attached, ""),
    client(&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat",
             "cypher-shell", "cqlsh", "kadmin"],
           &["-p"], Argument::Either, ""),
    client(&["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "oc", "az", "cf"],
           &["-p"], Argument::Next, "login"),
    client(&["redis-cli", "valkey-cli", "keydb-cli"], &["-a"], Argument::Next, ""),
    client(&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldapcompare"],
           &["-w"], Argument::Next, ""),
    client(&["sqlcmd", "bcp", "osql", "tsql", "ipmitool", "mosquitto_pub", "mosquitto_sub", "zip", "unzip"],
           &["-P"], Argument::Either, ""),
    client(&["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"], &["-A", "-X"], Argument::Next, ""),
    client(&["smbclient", "rpcclient", "smbget"], &["-U"], Argument::Behind(b'%'), ""),
    client(&["lftp"], &["-u"], Argument::Behind(b','), ""),
    client(&["ssh-keygen"], &["-N", "-P"], Argument::Next, ""),
    client(&["openssl"], &["-k", "-K"], Argument::Next, ""),
    client(&["hydra", "medusa", "ncrack"], &["-p"], Argument::Next, ""),
    client(&["xfreerdp", "xfreerdp3", "wfreerdp"], &["/p:"], Argument::Attached, ""),
    client(&["gh"], &["-b", "--body"], Argument::Either, "secret"),
    client(&["net", "NET", "net.exe"], &[], Argument::Positional(2), "user"),
    client(&["rabbitmqctl"], &[], Argument::Positional(2), "add_user"),
    client(&["rabbitmqctl"], &[], Argument::Positional(2), "change_password"),
    client(&["ConvertTo-SecureString", "requirepass", "masterauth"], &[], Argument::Positional(1), ""),
    client(&["htpasswd"], &[], Argument::LastWith(b'b'), ""),
];

/// Options and programs that read a password from the input; true for one that reads `user:password`.
pub(crate) const READERS: &[(&str, bool)] = &[
    ("sudo -S", false),
    ("sudo -kS", false),
    ("sudo -Sk", false),
    ("--password-stdin", false),
    ("passwd --stdin", false),
    ("--with-token", false),
    ("--passphrase-fd 0", false),
    ("-pass stdin", false),
    ("chpasswd", true),
];

/// Parts of a cookie's name that say that its value proves a user's identity.
#[rustfmt::skip]
pub(crate) const COOKIE_NAMES: &[&str] = &[
    "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "user", "key", "secret", "ticket",
    "credential", "identity", "access", "sso", "cookie", "asp",
];

/// Attributes of `Set-Cookie`, which are no cookies.
#[rustfmt::skip]
pub(crate) const COOKIE_ATTRIBUTES: &[&str] = &[
    "path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment", "port",
];
