//! Anchors: literal strings that begin or announce a secret, all found in one pass, and the rule that each triggers.

use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::{Anchored, dfa::DFA};

use crate::redact::findings::{Findings, Rule};
use crate::redact::rules::{Begins, CLIENTS, Client, INFIXES, Infix, KEYWORDS, Keyword, Token, tokens};
use crate::redact::{Scope, Span};

/// The rule that an anchor triggers.
enum Anchor {
    Token(&'static Token),
    Infix(&'static Infix),
    Keyword(&'static Keyword),
    Client(&'static Client),
    Cookie,
    Jwt,
    Jwk,
    Pem,
    Scheme,
    Bearer,
    Basic,
    Sql,
    Pgpass,
    Pair,
    User,
    Escape,
    OwnMarker,
    ForeignMarker { kind: &'static str, close: u8 },
}

/// The anchors and their automaton, compiled on first use.
static ANCHORS: LazyLock<(Vec<Anchor>, Option<DFA>)> = LazyLock::new(|| {
    let (anchors, patterns): (Vec<_>, Vec<_>) = anchors().into_iter().unzip();
    // It fails only for patterns too large to compile, which these are not.
    (anchors, DFA::builder().build(&patterns).ok())
});

/// Return every anchor with the string that triggers it.
fn anchors() -> Vec<(Anchor, String)> {
    let mut anchors: Vec<(Anchor, String)> =
        tokens().map(|token| (Anchor::Token(token), token.prefix.to_owned())).collect();
    anchors.extend(INFIXES.iter().map(|infix| (Anchor::Infix(infix), infix.middle.to_owned())));
    for keyword in KEYWORDS {
        anchors.extend(written_forms(keyword.word).into_iter().map(|form| (Anchor::Keyword(keyword), form)));
    }
    for client in CLIENTS {
        let lines = client.programs.iter().map(|program| (Anchor::Client(client), format!("{program} ")));
        anchors.extend(lines);
    }
    anchors.extend(cookie_forms().into_iter().map(|form| (Anchor::Cookie, form)));
    for form in ["Basic ", "basic ", "BASIC "] {
        anchors.push((Anchor::Basic, form.to_owned()));
    }
    for form in ["Bearer ", "bearer ", "BEARER "] {
        anchors.push((Anchor::Bearer, form.to_owned()));
    }
    for between in [": ", ":", "\": \"", "\":\"", "': '", "\\\": \\\"", "\\\":\\\"", "=", " = \""] {
        for scheme in ["Basic ", "basic ", "token ", "Token ", "NTLM ", "ApiKey ", "Key ", " ", ""] {
            anchors.push((Anchor::Bearer, format!("uthorization{between}{scheme}")));
        }
    }
    for form in ["IDENTIFIED BY ", "identified by ", "PASSWORD ", "password ", " BY ", " by "] {
        anchors.push((Anchor::Sql, form.to_owned()));
    }
    for port in [":5432:", ":5433:", ":6432:", ":*:"] {
        anchors.push((Anchor::Pgpass, port.to_owned()));
    }
    for word in ["login", "creds", "credentials"] {
        anchors.extend(written_forms(word).into_iter().map(|form| (Anchor::Pair, form)));
    }
    for form in [" -u ", " --user ", " --user=", " --proxy-user ", " --auth ", " -U "] {
        anchors.push((Anchor::User, form.to_owned()));
    }
    for form in ["%2", "%3", "%4", "%5", "%6", "%7", "\\u00", "\\x", "&#", "\u{200b}", "\u{200c}", "\u{200d}"] {
        anchors.push((Anchor::Escape, form.to_owned()));
    }
    for form in ["\u{200e}", "\u{200f}", "\u{2060}", "\u{2061}", "\u{2062}", "\u{2063}", "\u{feff}", "\u{ad}"] {
        anchors.push((Anchor::Escape, form.to_owned()));
    }
    anchors.push((Anchor::Jwt, "eyJ".to_owned()));
    anchors.push((Anchor::Jwk, "\"kty\"".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY-----".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY BLOCK-----".to_owned()));
    anchors.push((Anchor::Scheme, "://".to_owned()));
    anchors.push((Anchor::OwnMarker, "[REDACTED:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "byok", close: b']' }, "[BYOK:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "foreign", close: b'>' }, "<REDACTED:".to_owned()));
    anchors
}

/// Return the forms in which a word is written: lower case, upper case and capitalized.
fn written_forms(word: &str) -> Vec<String> {
    let first = word.chars().next().map_or(0, char::len_utf8);
    let capitalized = word[..first].to_uppercase() + &word[first..];
    let mut forms = vec![word.to_owned(), word.to_uppercase(), capitalized];
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Return what is written before the cookies of a header or of an option.
fn cookie_forms() -> Vec<String> {
    let mut forms = Vec::new();
    for name in ["ookie", "OOKIE"] {
        for between in [": ", ":", "\": \"", "\":\"", "': '", "\\\": \\\"", "\\\":\\\""] {
            forms.push(format!("{name}{between}"));
        }
    }
    for option in ["--cookie ", "--cookie=", " -b "] {
        for quote in ["", "'", "\"", "\\\""] {
            forms.push(format!("{option}{quote}"));
        }
    }
    forms
}

impl Findings<'_> {
    /// Find every anchor in the text and apply its rule, as far as the scope allows.
    pub(crate) fn scan_anchors(&mut self, scope: Scope) {
        let (anchors, automaton) = &*ANCHORS;
        let Some(automaton) = automaton else { return };
        let Ok(mut state) = automaton.start_state(Anchored::No) else { return };
        // Stepped by hand: the search functions begin anew after each match, and in a text of anchors each byte is one.
        for (at, byte) in self.bytes.iter().enumerate() {
            state = automaton.next_state(Anchored::No, state, *byte);
            if !automaton.is_special(state) || !automaton.is_match(state) {
                continue;
            }
            for nth in 0..automaton.match_len(state) {
                let pattern = automaton.match_pattern(state, nth);
                let anchor = &anchors[pattern.as_usize()];
                self.match_anchor(anchor, at + 1 - automaton.pattern_len(pattern), at + 1, scope);
            }
        }
    }

    /// Apply the rule of one anchor found at `start..end`.
    fn match_anchor(&mut self, anchor: &Anchor, start: usize, end: usize, scope: Scope) {
        let (span, rule) = match anchor {
            // In the key of an identifier, a UUID with a word before it is an identifier.
            Anchor::Token(token) if token.begins == Begins::Uuid && scope == Scope::Identifier => return,
            Anchor::Token(token) => (self.prefixed_token(token, start, end), Rule::Format(token.prefix.len())),
            Anchor::Infix(infix) => (self.infixed_token(infix, start, end), Rule::Format(infix.middle.len())),
            Anchor::Jwt => (self.jwt(start), Rule::Shape),
            Anchor::Pem => (self.pem(start, end), Rule::Format(end - start)),
            Anchor::Escape => {
                self.escapes.push(start);
                return;
            }
            Anchor::OwnMarker => {
                self.add_own_marker(start, end);
                return;
            }
            _ if scope == Scope::Identifier => return,
            // The kind in a marker is no name; a text of markers is as quick as any.
            Anchor::Keyword(_) if self.is_in_last_marker(start) => return,
            Anchor::Keyword(keyword) => {
                self.find_compared_value(keyword, start, end);
                match self.assigned_value(keyword, start, end) {
                    Some(span) => (Some(span), Rule::Label),
                    None => return self.find_stated_value(keyword, start, end),
                }
            }
            Anchor::Client(client) => {
                self.find_client_password(client, start, end);
                return;
            }
            Anchor::Jwk => {
                self.find_jwk(start, end);
                return;
            }
            Anchor::Cookie => {
                self.find_cookies(end);
                return;
            }
            Anchor::Basic => (self.basic_credentials(start, end), Rule::Label),
            Anchor::Bearer => (self.authorization(end), Rule::Label),
            Anchor::Pgpass => (self.pgpass_password(end), Rule::Label),
            Anchor::Pair => (self.paired_password(start, end), Rule::Label),
            Anchor::Sql => (self.sql_password(end), Rule::Label),
            Anchor::User => (self.user_password(end), Rule::Label),
            Anchor::Scheme => (self.connection_password(end), Rule::Label),
            Anchor::ForeignMarker { kind, close } => {
                (self.marker_end(end, *close).map(|end| Span { start, end, kind }), Rule::Format(end - start))
            }
        };
        self.add(span, rule);
    }
}
