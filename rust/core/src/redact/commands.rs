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
        if self.bytes[..start].last().is_some_and(|byte| ByteSet::Dotted.contains(*byte)) && !self.starts_word(start) {
            return;
        }
        let until = self.bytes.len().min(end + COMMAND_MAX);
        let mut at = end;
        let mut entered = client.subcommand.is_empty();
        let (mut places, mut last, mut lettered) = (0, None, false);
        while let Some((from, to)) = self.next_argument(at, until) {
            at = to;
            let word = &self.bytes[from..to];
            if CLIENTS.iter().any(|other| other.programs.iter().any(|program| program.as_bytes() == word)) {
                return; // its own command line, found by its own name: each one is read once
            }
            if !entered {
                entered = word == client.subcommand.as_bytes();
                continue;
            }
            if !matches!(word[0], b'-' | b'/' | b'<' | b'>') {
                (places, last) = (places + 1, Some((from, to)));
                if client.argument == Argument::Positional(places) {
                    self.add_positional_password(from, to);
                    return;
                }
            }
            if let Argument::LastWith(letter) = client.argument {
                lettered |= word[0] == b'-' && word.get(1) != Some(&b'-') && word.contains(&letter);
            }
            let Some(option) = client.options.iter().find(|option| word.starts_with(option.as_bytes())) else {
                continue;
            };
            let assigned = usize::from(option.starts_with("--") && word.get(option.len()) == Some(&b'='));
            let attached = (word.len() > option.len()).then_some((from + option.len() + assigned, to));
            let password = match client.argument {
                Argument::Positional(_) | Argument::LastWith(_) => None,
                Argument::Attached => attached,
                Argument::Either if attached.is_some() => attached,
                Argument::Next | Argument::Either | Argument::Behind(_) if attached.is_some() => None,
                Argument::Next | Argument::Either => self.next_argument(to, until),
                Argument::Behind(separator) => self.next_argument(to, until).and_then(|(from, to)| {
                    let user = self.bytes[from..to].iter().position(|byte| *byte == separator)?;
                    Some((from + user + 1, to))
                }),
            };
            let span = password.and_then(|(from, to)| self.client_password(from, to));
            self.add(span, Rule::Label);
        }
        if let Some((from, to)) = last.filter(|_| lettered && places > 1) {
            self.add_positional_password(from, to);
        }
    }

    /// Add the password that a program knows by its place. A plain word there is prose: `requirepass directive is missing`.
    fn add_positional_password(&mut self, from: usize, to: usize) {
        if !self.bytes[from..to].iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b',')) {
            self.add(self.client_password(from, to), Rule::Label);
        }
    }

    /// Add the password that a program reads from its input: `echo X | sudo -S ls`, `passwd --stdin ann <<< X`.
    ///
    /// The program and its option are at `start..end`. With `pairs` it reads `user:password`.
    pub(crate) fn find_piped_password(&mut self, start: usize, end: usize, pairs: bool) {
        let window = start.saturating_sub(COMMAND_MAX);
        let line =
            self.bytes[window..start].iter().rposition(|byte| *byte == b'\n').map_or(window, |at| window + at + 1);
        let behind = &self.bytes[end..self.bytes.len().min(end + COMMAND_MAX)];
        let behind = &behind[..behind.iter().position(|byte| *byte == b'\n').unwrap_or(behind.len())];
        let word = if let Some(at) = behind.windows(3).position(|bytes| bytes == b"<<<") {
            self.next_argument(end + at + 3, end + behind.len())
        } else {
            let Some(pipe) = self.bytes[line..start].iter().rposition(|byte| *byte == b'|') else { return };
            self.echoed_word(line, line + pipe)
        };
        let Some((from, to)) = word else { return };
        let user = self.bytes[from..to].iter().position(|byte| *byte == b':');
        let password = if pairs { user.map(|user| (from + user + 1, to)) } else { Some((from, to)) };
        let span = password.and_then(|(from, to)| self.client_password(from, to));
        self.add(span, Rule::Label);
    }

    /// Return the last word that `echo` or `printf` prints between two positions.
    fn echoed_word(&self, from: usize, until: usize) -> Option<(usize, usize)> {
        let printers: [&[u8]; 2] = [b"echo ", b"printf "];
        let behind = printers.iter().filter_map(|program| {
            let at = self.bytes[from..until].windows(program.len()).rposition(|bytes| bytes == *program)?;
            Some(from + at + program.len())
        });
        let mut at = behind.max()?;
        let mut last = None;
        while let Some((from, to)) = self.next_argument(at, until) {
            at = to;
            last = (self.bytes[from] != b'-').then_some((from, to)).or(last);
        }
        last
    }

    /// Return the next word of a command line, which continues behind a backslash at the end of a line.
    fn next_argument(&self, at: usize, until: usize) -> Option<(usize, usize)> {
        let mut at = at;
        loop {
            match self.bytes[at..until] {
                [b' ' | b'\t', ..] => at += 1,
                [b'\\', b'\n', ..] => at += 2,
                _ => break,
            }
        }
        let length = shell_word(&self.bytes[at..until]);
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
