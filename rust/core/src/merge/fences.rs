//! Whether a line stands in fenced code, where no line is a block.

use crate::diff::Lines;

/// The fence that is open before a line; asked for lines in rising order, it reads the text once.
#[derive(Default)]
pub(crate) struct Fences {
    at: usize,
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Whether a fence is open before a line.
    pub(crate) fn open_before(&mut self, lines: &Lines<'_>, line: usize) -> bool {
        for at in self.at..line {
            let text = lines.slice(at, at + 1).trim_ascii();
            let Some(&mark) = text.as_bytes().first().filter(|mark| b"`~".contains(mark)) else { continue };
            let length = text.bytes().take_while(|&byte| byte == mark).count();
            match self.open {
                Some((open, opened)) if open == mark && length >= opened && length == text.len() => self.open = None,
                None if length >= 3 => self.open = Some((mark, length)),
                _ => {}
            }
        }
        self.at = self.at.max(line);
        self.open.is_some()
    }
}
