//! Passwords on command lines: behind an option that has this meaning for the program only (`mysql -pX`).

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::labels::shell_word;
use crate::redact::rules::{Argument, ByteSet, CLIENTS, Client};
use crate::redact::value::{EXAMINED_MAX, is_placeholder};

/// Bytes of a command line that are examined.
const COMMAND_MAX: usize = 512;
/// Bytes of the shortest password.
const PASSWORD_MIN: usize = 3;
/// Words behind an option in prose about it.
const PROSE: [&str; 8] = ["option", "flag", "argument", "switch", "parameter", "and", "or", "to"];

impl Findings<'_> {
    /// Add the password in the command line of a client whose name ends at `end`.
    pub(crate) fn find_client_password(&mut self, client: &Client, start: usize, end: usize) {
        if self.before(start).last().is_some_and(|byte| ByteSet::Dotted.contains(*byte)) && !self.starts_word(start) {
            return;
        }
        let until = self.bytes.len().min(end + COMMAND_MAX);
        let mut at = end;
        let mut entered = client.subcommand.is_empty();
        let mut places = 0;
        while let Some((from, to)) = self.next_argument(at, until) {
            at = to;
            let word = self.part(from, to);
            if CLIENTS.iter().any(|other| other.programs.iter().any(|program| program.as_bytes() == word)) {
                return; // its own command line, found by its own name: each one is read once
            }
            if !entered {
                entered = word == client.subcommand.as_bytes();
                continue;
            }
            if !matches!(word[0], b'-' | b'/' | b'<' | b'>') {
                places += 1;
                if client.argument == Argument::Positional(places) {
                    self.add_positional_password(from, to);
                    return;
                }
            }
            let Some(option) = client.options.iter().find(|option| word.starts_with(option.as_bytes())) else {
                continue;
            };
            let assigned = usize::from(option.starts_with("--") && word.get(option.len()) == Some(&b'='));
            let attached = (word.len() > option.len()).then_some((from + option.len() + assigned, to));
            let password = match client.argument {
                Argument::Positional(_) => None,
                Argument::Attached => attached,
                Argument::Either if attached.is_some() => attached,
                Argument::Next | Argument::Either | Argument::Behind(_) if attached.is_some() => None,
                Argument::Next | Argument::Either => self.next_argument(to, until),
                Argument::Behind(separator) => self.next_argument(to, until).and_then(|(from, to)| {
                    let user = self.part(from, to).iter().position(|byte| *byte == separator)?;
                    Some((from + user + 1, to))
                }),
            };
            let span = password.and_then(|(from, to)| self.client_password(from, to));
            self.add(span, Rule::Label);
        }
    }

    /// Add the password that a program knows by its place. A plain word there is prose: `requirepass directive is missing`.
    fn add_positional_password(&mut self, from: usize, to: usize) {
        if !self.part(from, to).iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b',')) {
            self.add(self.client_password(from, to), Rule::Label);
        }
    }

    /// Return the next word of a command line, which continues behind a backslash at the end of a line.
    fn next_argument(&self, at: usize, until: usize) -> Option<(usize, usize)> {
        let mut at = at;
        loop {
            match self.part(at, until) {
                [b' ' | b'\t', ..] => at += 1,
                [b'\\', b'\n', ..] => at += 2,
                _ => break,
            }
        }
        let length = shell_word(self.part(at, until));
        (length > 0).then_some((at, at + length))
    }

    /// Return the password in one word, without its quotes, if it is more than a placeholder.
    fn client_password(&self, from: usize, to: usize) -> Option<Span> {
        let word = self.text.get(from..to)?;
        let quotes = ['"', '\'', '\\'];
        let opened = word.trim_start_matches(quotes);
        let value = opened.trim_end_matches(quotes);
        let start = from + word.len() - opened.len();
        let examined = &value[..value.floor_char_boundary(EXAMINED_MAX)];
        let named = examined.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let refused = value.len() < PASSWORD_MIN
            || value.starts_with('-')
            || named
            || is_placeholder(examined)
            || examined.starts_with("assword")
            || value.contains("[REDACTED:")
            || PROSE.contains(&examined);
        (!refused).then_some(Span { start, end: start + value.len(), kind: "password" })
    }
}
