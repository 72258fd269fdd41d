//! Passwords on command lines: behind an option that has this meaning for the program only (`mysql -pX`).

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::labels::shell_word;
use crate::redact::rules::{CLIENTS, Client, Place};
use crate::redact::value::{is_name, is_placeholder};

/// Bytes of a command line that are examined.
const COMMAND_MAX: usize = 512;
/// Bytes of the shortest password.
const PASSWORD_MIN: usize = 3;
/// Quotes around a word.
const QUOTES: [char; 3] = ['"', '\'', '\\'];

impl Findings<'_> {
    /// Add the passwords in the command line of a client whose name is at `start..end`.
    pub(crate) fn find_client_password(&mut self, client: &Client, start: usize, end: usize) {
        let line = self.slice(end, end + COMMAND_MAX);
        let (mut at, mut entered, mut is_next) = (0, client.subcommand.is_empty(), false);
        while self.starts_word(start) {
            let rest = line.get(at..).unwrap_or_default();
            at += rest.len() - rest.trim_start_matches([' ', '\t', '\\']).len();
            let Some(word) = line.get(at..at + shell_word(line.as_bytes().get(at..).unwrap_or_default())) else {
                return;
            };
            // Another client's own command line is found by its own name: each one is read once.
            if word.is_empty() || CLIENTS.iter().any(|other| other.programs.contains(&word)) {
                return;
            }
            let attached = word.strip_prefix(client.option).filter(|value| !value.is_empty());
            let value = match client.place {
                _ if !entered => None,
                Place::First => (!word.starts_with('-')).then_some(word),
                Place::Next | Place::Either if is_next => Some(word),
                Place::Attached | Place::Either => attached,
                Place::Next => None,
            };
            is_next = word == client.option;
            entered |= word == client.subcommand;
            at += word.len();
            if let Some(value) = value {
                self.add_client_password(end + at - value.len(), value, client.place);
                if client.place == Place::First {
                    return;
                }
            }
        }
    }

    /// Add the password in one word, without its quotes, if it is more than a placeholder.
    fn add_client_password(&mut self, from: usize, word: &str, place: Place) {
        let opened = word.trim_start_matches(QUOTES);
        let value = opened.trim_end_matches(QUOTES);
        let refused = value.len() < PASSWORD_MIN
            || value.starts_with(['-', '='])
            || is_placeholder(value)
            || place != Place::Attached && is_name(value.as_bytes())
            || value.bytes().all(|byte| byte.is_ascii_alphabetic())
            || value.contains("[REDACTED:");
        let start = from + word.len() - opened.len();
        let span = Span { start, end: start + value.len(), kind: "password" };
        self.add((!refused).then_some(span), Rule::Label);
    }
}
