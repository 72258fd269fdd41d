//! Word tables of mentions: words near which something that is no word is a secret, and words that join the two.

use crate::redact::rules::Keyword;

/// Build a cue, for short table rows.
const fn cue(word: &'static str) -> Keyword {
    Keyword { word, kind: "password", worded: true }
}

/// Phrases about signing in: a value near one is a password if the sentence points at it.
#[rustfmt::skip]
pub(crate) const CUES: &[Keyword] = &[
    cue("sudo"), cue("login"), cue("log in"), cue("logging in"), cue("log into"), cue("sign in"), cue("signing in"),
    cue("logon"), cue("unlock"), cue("authenticate"), cue("decrypt"), cue("auth"), cue("credential"),
    cue("backup code"), cue("recovery code"), cue("security code"), cue("verification code"), cue("2fa"), cue("otp"),
    cue("protected"), cue("encrypted"), cue("kinit"), cue("pat:"), cue("pat is"), cue("net use"), cue("wifi"), cue("wi-fi"), cue("wlan"),
    // German, French, Spanish, Portuguese, Italian
    cue("zugang"), cue("anmelden"), cue("anmeldung"), cue("melde dich"), cue("einloggen"), cue("entsperren"),
    cue("connecte-toi"), cue("connectez-vous"), cue("se connecter"), cue("identifiant"), cue("déverrouiller"),
    cue("iniciar sesión"), cue("inicia sesión"), cue("usuario"), cue("ingresa"), cue("entra con"), cue("acceder"),
    cue("entrar com"), cue("accedi con"),
    // Asian
    cue("登录"), cue("登錄"), cue("登入"), cue("验证码"), cue("驗證碼"), cue("账号"), cue("帳號"), cue("解锁"),
    cue("ログイン"), cue("サインイン"), cue("認証"), cue("로그인"),
];

/// Words right before a value that point at it: `the password is now X`, `sign in with X`, `nimm X`.
#[rustfmt::skip]
pub(crate) const POINTERS: &[&str] = &[
    "is", "was", "are", "be", "been", "it's", "that's", "equals", "=", "to", "as", "with", "using", "use", "uses",
    "used", "type", "enter", "try", "tried", "typed", "entered", "now", "currently", "still", "just", "this",
    "follows", "into", "via", "by", "put", "paste", "provide", "give", "set", "says", "rejects", "from", "secret",
    "and", "new", "one", "called", "send", "echo",
    // German
    "ist", "lautet", "war", "heißt", "auf", "mit", "als", "nimm", "nutze", "benutze", "verwende", "gib", "und",
    "jetzt", "nun", "sudo",
    // French
    "est", "c'est", "était", "utilise", "utilisez", "tape", "tapez", "avec", "pour", "par", "comme", "et", "à",
    // Spanish, Portuguese, Italian
    "es", "fue", "era", "usa", "use", "utiliza", "pon", "con", "como", "a", "y", "é", "foi", "com", "para", "è", "e",
];

/// Words right behind a value that point back at it: `X is my token`, `X as the password`, `X for the sudo prompt`.
#[rustfmt::skip]
pub(crate) const BACK_POINTERS: &[&str] = &[
    "is", "was", "as", "for", "when", "if", "at", "even", "works", "should", "must", "could", "might", "will", "would",
    "has", "does", "sollte", "devrait", "debería",
    "ist", "war", "als", "für", "das", "ein", "est", "comme", "pour", "quand", "es", "como", "para", "cuando", "é",
    "è", "come", "per",
];

/// Words behind the name of a secret which say that a value identifies or describes it: `token id`, `password hash`.
#[rustfmt::skip]
pub(crate) const IDENTIFYING_WORDS: &[&str] = &[
    "algorithm", "count", "counter", "endpoint", "file", "filename", "format", "id", "ids", "index",
    "length", "limit", "name", "names", "path", "pattern", "policy", "regex", "size", "uri", "url", "version",
];

/// Labels that are ordinary words too, or names of many things.
#[rustfmt::skip]
pub(crate) const UNSURE_LABELS: &[&str] = &[
    "pass", "pin", "credential", "clave", "parola", "schlüssel", "clé", "chave", "chiave", "llave", "鍵", "キー", "jeton",
    "mnemonic",
];
