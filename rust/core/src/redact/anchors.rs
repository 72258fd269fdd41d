//! Anchors: literal strings that begin or announce a secret, all found in one pass, and the rule that each triggers.

use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::{Anchored, StartKind, dfa::DFA};

use crate::redact::findings::{Findings, Rule};
use crate::redact::rules::{Begins, CLIENTS, Client, INFIXES, Infix, KEYWORDS, Keyword, Token, tokens};
use crate::redact::{Scope, Span};

/// The rule that an anchor triggers.
#[derive(Clone, Copy)]
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
    Pair,
    User,
    Escape,
    OwnMarker,
    ForeignMarker { kind: &'static str, close: u8 },
}

/// The anchors, compiled on first use.
struct Anchors {
    all: Vec<Anchor>,
    automaton: Option<DFA>,
    /// A bit for each hash of three bytes with which a string begins.
    beginnings: [u64; BEGINNINGS],
}

/// Bits of the hash of three bytes: few enough for the nearest cache.
const HASH_BITS: u32 = 17;
const BEGINNINGS: usize = 1 << (HASH_BITS - 6);

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let (anchors, patterns): (Vec<_>, Vec<_>) = anchors().into_iter().unzip();
    let mut beginnings = [0; BEGINNINGS];
    for (anchor, pattern) in anchors.iter().zip(&patterns) {
        let follows = |third: u8| match anchor {
            Anchor::Token(token) => token.body.contains(third),
            Anchor::Escape if pattern.is_ascii() => third.is_ascii_hexdigit() || third == b'x',
            _ => true,
        };
        for third in 0..=u8::MAX {
            if let [first, second, rest @ ..] = pattern.as_bytes()
                && rest.first().map_or_else(|| follows(third), |byte| *byte == third)
            {
                let (place, bit) = beginning(u32::from_le_bytes([*first, *second, third, 0]));
                beginnings[place % BEGINNINGS] |= bit;
            }
        }
    }
    // It fails only for patterns too large to compile, which these are not.
    Anchors {
        all: anchors,
        automaton: DFA::builder().start_kind(StartKind::Anchored).build(&patterns).ok(),
        beginnings,
    }
});

/// Return the place and the bit of three bytes.
fn beginning(three: u32) -> (usize, u64) {
    let hash = three.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS);
    (hash as usize >> 6, 1 << (hash & 63))
}

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
    for between in [": ", ":", "\": \"", "\":\"", "': '", "\\\": \\\"", "\\\":\\\"", "=", " = \""] {
        for scheme in ["Basic ", "basic ", "token ", "Token ", "NTLM ", "ApiKey ", "Key ", " ", ""] {
            anchors.push((Anchor::Bearer, format!("uthorization{between}{scheme}")));
        }
    }
    for word in ["login", "creds", "credentials"] {
        anchors.extend(written_forms(word).into_iter().map(|form| (Anchor::Pair, form)));
    }
    let byok = Anchor::ForeignMarker { kind: "byok", close: b']' };
    let foreign = Anchor::ForeignMarker { kind: "foreign", close: b'>' };
    let escapes = "%2 %3 %4 %5 %6 %7 \\u00 \\x &# \u{200b} \u{200c} \u{200d} \u{200e} \u{200f} \u{2060} \u{2061} \u{2062} \
                   \u{2063} \u{feff} \u{ad}";
    anchors.extend(escapes.split(' ').map(|form| (Anchor::Escape, form.to_owned())));
    let forms: [(Anchor, &[&str]); 11] = [
        (Anchor::Basic, &["Basic ", "basic ", "BASIC "]),
        (Anchor::Bearer, &["Bearer ", "bearer ", "BEARER "]),
        (Anchor::Sql, &["IDENTIFIED BY ", "identified by ", "PASSWORD ", "password ", " BY ", " by "]),
        (Anchor::User, &[" -u ", " --user ", " --user=", " --proxy-user ", " --auth ", " -U "]),
        (Anchor::Jwt, &["eyJ"]),
        (Anchor::Jwk, &["\"kty\""]),
        (Anchor::Pem, &["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"]),
        (Anchor::Scheme, &["://"]),
        (Anchor::OwnMarker, &["[REDACTED:"]),
        (byok, &["[BYOK:"]),
        (foreign, &["<REDACTED:"]),
    ];
    anchors.extend(forms.iter().flat_map(|(anchor, forms)| forms.iter().map(|form| (*anchor, (*form).to_owned()))));
    anchors
}

/// Return the forms in which a word is written: lower case, upper case and capitalized.
fn written_forms(word: &str) -> Vec<String> {
    let mut rest = word.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    let mut forms = vec![word.to_owned(), word.to_uppercase(), first.chain(rest).collect()];
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
        let beginnings = &ANCHORS.beginnings;
        let mut three = self.bytes.iter().take(2).rev().fold(0, |three, byte| three << 8 | u32::from(*byte) << 8);
        // Three bytes at each position, with zeros behind the last one.
        for (at, third) in self.bytes.iter().skip(2).chain(&[0; 2]).enumerate() {
            three = three >> 8 | u32::from(*third) << 16;
            let (place, bit) = beginning(three);
            if beginnings[place % BEGINNINGS] & bit != 0 {
                self.match_anchors(at, scope);
            }
        }
    }

    /// Apply the rules of all anchors that begin at a position.
    #[inline(never)]
    fn match_anchors(&mut self, start: usize, scope: Scope) {
        let Anchors { all: anchors, automaton: Some(automaton), .. } = &*ANCHORS else { return };
        let Ok(mut state) = automaton.start_state(Anchored::Yes) else { return };
        for (nth, byte) in self.part(start, usize::MAX).iter().enumerate() {
            state = automaton.next_state(Anchored::Yes, state, *byte);
            if automaton.is_dead(state) {
                return;
            }
            for pattern in (0..if automaton.is_match(state) { automaton.match_len(state) } else { 0 })
                .map(|nth| automaton.match_pattern(state, nth))
            {
                // A string that ends here may have begun later.
                if automaton.pattern_len(pattern) == nth + 1
                    && let Some(anchor) = anchors.get(pattern.as_usize())
                {
                    self.match_anchor(anchor, start, start + nth + 1, scope);
                }
            }
        }
    }

    /// Apply the rule of one anchor found at `start..end`.
    #[inline(never)]
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
            Anchor::OwnMarker => return self.add_own_marker(start, end),
            _ if scope == Scope::Identifier => return,
            // The kind in a marker is no name; a text of markers is as quick as any.
            Anchor::Keyword(_) if self.is_in_last_marker(start) => return,
            // What scripts wait for, in place of `password` and `Password`.
            Anchor::Keyword(keyword)
                if keyword.word == "assword" && matches!(self.before(start), [.., b'p' | b'P']) =>
            {
                return;
            }
            Anchor::Keyword(keyword) => {
                self.find_compared_value(keyword, start, end);
                match self.assigned_value(keyword, start, end) {
                    Some(span) => (Some(span), Rule::Label),
                    None => return self.find_stated_value(keyword, start, end),
                }
            }
            Anchor::Client(client) => return self.find_client_password(client, start, end),
            Anchor::Jwk => return self.find_jwk(start, end),
            Anchor::Cookie => return self.find_cookies(end),
            Anchor::Basic => (self.basic_credentials(start, end), Rule::Label),
            Anchor::Bearer => (self.authorization(end), Rule::Label),
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
