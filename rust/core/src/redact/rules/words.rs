//! Word lists: names of secrets, words of names that only describe one, placeholders, keys of identifiers.

/// A word in a name that announces a secret as that name's value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keyword {
    pub(crate) word: &'static str,
    pub(crate) kind: &'static str,
    /// True if people choose the value, as for passwords; tokens and keys are always generated.
    pub(crate) worded: bool,
    /// True for a word of English, which code and prose have everywhere.
    pub(crate) english: bool,
    /// True for a word that is a part of others (`compass`): only the beginning of a word counts.
    pub(crate) short: bool,
}

/// Build a keyword of English, for short table rows.
const fn keyword(word: &'static str, kind: &'static str) -> Keyword {
    let worded = kind.len() == 8; // `password`
    Keyword { word, kind, worded, english: true, short: word.len() <= 4 && word.as_bytes()[0] == b'p' }
}

/// Build the name of a password in another language.
const fn foreign(word: &'static str) -> Keyword {
    Keyword { word, kind: "password", worded: true, english: false, short: false }
}

/// The keywords, in lower case; they also match in upper case and capitalized.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[Keyword] = &[
    keyword("password", "password"), keyword("passwd", "password"), keyword("passphrase", "password"),
    keyword("pwd", "password"), keyword("pass", "password"), keyword("pw", "password"), keyword("pswd", "password"),
    keyword("psswd", "password"), keyword("pasword", "password"), keyword("psword", "password"), keyword("psswrd", "password"), keyword("passcode", "password"), keyword("assword", "password"),
    foreign("passwort"), foreign("kennwort"), foreign("wachtwoord"), foreign("mot de passe"), foreign("contraseña"),
    foreign("contrasena"), foreign("senha"), foreign("hasło"), foreign("lösenord"), foreign("пароль"),
    foreign("密码"), foreign("密碼"), foreign("口令"), foreign("パスワード"), foreign("비밀번호"), foreign("암호"),
    keyword("secret", "secret"), keyword("token", "token"), keyword("bearer", "token"), keyword("contribsys__com", "secret"),
    keyword("accessid", "key"), keyword("access_id", "key"), keyword("key", "key"), keyword("credential", "secret"),
    keyword("credentials", "secret"),
];

/// Names ending in `key` that are secret (most are not), in lower case without `_` and `-`.
#[rustfmt::skip]
pub(crate) const SECRET_KEYS: &[&str] = &[
    "apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey", "encryptionkey", "accountkey",
    "sharedkey", "masterkey", "servicekey", "apisecretkey", "sessionkey", "licensekey",
];

/// Words that, behind a keyword in a name, say that the value only describes the secret (`password_length`).
#[rustfmt::skip]
pub(crate) const DESCRIPTION_WORDS: &[&str] = &[
    "algorithm", "at", "attribute", "budget", "cache", "class", "column", "count", "counter", "created", "date",
    "dir", "directory", "enabled", "endpoint", "env", "error", "exp", "expires", "expiry", "exception", "factory",
    "field", "file", "filename", "fingerprint", "format", "generator", "handler", "hash", "header", "hint", "id",
    "index", "input", "key", "kind", "label", "len", "length", "lifetime", "limit", "list", "location",
    "manager", "map", "max", "message", "method", "min", "mode", "name", "names", "number", "parser", "path",
    "pattern", "permission", "placeholder", "policy", "position", "prefix", "prompt", "provider", "ref", "regex",
    "required", "rotation", "rule", "scope", "service", "set", "size", "source", "status", "store", "storage",
    "strategy", "suffix", "template", "time", "timeout", "title", "ttl", "type", "types", "updated", "uri", "url",
    "usage", "validator", "version",
];

/// Values that are placeholders for a secret.
#[rustfmt::skip]
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "none", "null", "nil", "true", "false", "undefined", "string", "number", "integer", "boolean", "required",
    "optional", "redacted", "hidden", "secret", "password", "token", "default", "unknown", "unset", "disabled",
    "enabled", "bearer", "basic", "pass", "passwd", "example", "changeme", "fail", "failed", "failure", "passed",
    "error", "skip", "skipped", "success",
];

/// Keys of JSON objects whose strings are identifiers, never content: only published formats are searched in them.
#[rustfmt::skip]
pub(crate) const IDENTIFIER_KEYS: &[&str] = &[
    "id", "uuid", "parentUuid", "leafUuid", "logicalParentUuid", "sourceToolAssistantUUID", "tool_use_id",
    "toolUseID", "toolUseId", "parentToolUseID", "parent_tool_use_id", "sessionId", "session_id", "requestId",
    "request_id", "messageId", "agentId", "promptId", "type", "role", "model", "timestamp",
];
