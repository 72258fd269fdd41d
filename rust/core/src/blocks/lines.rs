//! What one line of markdown is, as far as memory documents need to know.

/// One line: its span with its line ending, and its text without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: &'t str,
}

impl<'t> Line<'t> {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| byte == b' ' || byte == b'\t')
    }

    /// Columns of white space before the text; a tab reaches the next multiple of four.
    pub(crate) fn indent(&self) -> usize {
        let mut column = 0;
        for byte in self.text.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
        }
        column
    }

    /// The text behind the white space, if there are fewer columns of it than make a code block.
    fn flush(&self) -> Option<&'t str> {
        (self.indent() < 4).then(|| self.text.trim_start_matches([' ', '\t']))
    }

    /// Level and text of an ATX heading.
    pub(crate) fn heading(&self) -> Option<(usize, &'t str)> {
        let text = self.flush()?;
        let rest = text.trim_start_matches('#');
        let level = text.len() - rest.len();
        let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
        if !(1..=6).contains(&level) || !spaced {
            return None;
        }
        let rest = rest.trim();
        let unclosed = rest.trim_end_matches('#');
        let closed = unclosed.is_empty() || unclosed.ends_with([' ', '\t']);
        Some((level, if closed { unclosed.trim_end() } else { rest }))
    }

    /// The text of a `> Summary:` line.
    pub(crate) fn summary(&self) -> Option<&'t str> {
        Some(self.flush()?.strip_prefix('>')?.trim_start().strip_prefix("Summary:")?.trim())
    }

    /// The column where the text of a list item begins, and the text, for `-`, `*` and `+`.
    pub(crate) fn bullet(&self) -> Option<(usize, &'t str)> {
        let text = self.flush()?;
        let rest = text.strip_prefix(['-', '*', '+'])?;
        let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
        if !spaced || self.is_rule() {
            return None;
        }
        Some((self.indent() + 2, rest.trim_start_matches([' ', '\t'])))
    }

    /// A thematic break: three or more of one of `-`, `*`, `_`, with nothing but white space between.
    pub(crate) fn is_rule(&self) -> bool {
        let Some(text) = self.flush() else { return false };
        let Some(mark) = text.chars().next().filter(|mark| "-*_".contains(*mark)) else { return false };
        let marks = text.chars().filter(|character| *character == mark).count();
        marks >= 3 && text.chars().all(|character| character == mark || character == ' ' || character == '\t')
    }

    /// The fence that this line opens.
    pub(crate) fn fence(&self) -> Option<Fence> {
        let text = self.flush()?;
        let mark = text.chars().next().filter(|mark| "`~".contains(*mark))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        let is_code_span = mark == '`' && rest.contains('`');
        (length >= 3 && !is_code_span).then_some(Fence { mark, length })
    }

    /// How the HTML block ends that this line opens: with `-->` for a comment, else with a blank line.
    pub(crate) fn html(&self) -> Option<HtmlEnd> {
        let rest = self.flush()?.strip_prefix('<')?;
        if rest.starts_with("!--") {
            return Some(HtmlEnd::CommentClosed);
        }
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let named =
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '!' || first == '?');
        // `<https://…>` and `<name@host>` are links in a paragraph.
        let head = name.split(['>', ' ', '\t']).next().unwrap_or("");
        (named && !head.contains([':', '@'])).then_some(HtmlEnd::BlankLine)
    }

    /// `---`, which opens front matter on the first line, and which closes it, as `...` does.
    pub(crate) fn is_front_matter_mark(&self, closing: bool) -> bool {
        let text = self.text.trim_end();
        text == "---" || closing && text == "..."
    }

    /// Whether this line can go on a paragraph that it does not belong to by its indentation.
    pub(crate) fn continues_lazily(&self) -> bool {
        !self.is_blank()
            && self.heading().is_none()
            && self.bullet().is_none()
            && self.fence().is_none()
            && self.html().is_none()
            && !self.is_rule()
            && !self.flush().is_some_and(|text| text.starts_with('>') || text.starts_with('|'))
    }
}

/// What ends an HTML block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    BlankLine,
    CommentClosed,
}

/// An open code fence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    pub(crate) fn closed_by(self, line: &Line<'_>) -> bool {
        let text = line.text.trim();
        text.chars().count() >= self.length && text.chars().all(|character| character == self.mark)
    }
}

/// The lines of a text; `\n`, `\r\n` and a lone `\r` end a line, as in `CommonMark`.
pub(crate) fn lines(text: &str, from: usize) -> Vec<Line<'_>> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = from;
    while start < bytes.len() {
        let length = bytes[start..].iter().position(|byte| *byte == b'\n' || *byte == b'\r');
        let stop = length.map_or(bytes.len(), |length| start + length);
        let ending = match bytes[stop..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        lines.push(Line { start, end: stop + ending, text: &text[start..stop] });
        start = stop + ending;
    }
    lines
}
