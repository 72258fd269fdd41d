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

    /// The column where the text of a numbered item begins.
    pub(crate) fn numbered(&self) -> Option<usize> {
        let text = self.flush()?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = text[digits..].strip_prefix(['.', ')'])?;
        let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
        ((1..=9).contains(&digits) && spaced).then(|| self.indent() + digits + 2)
    }

    /// Whether a numbered list begins here even in the middle of a paragraph.
    fn starts_numbering(&self) -> bool {
        let text = self.text.trim_start_matches([' ', '\t']);
        (text.starts_with("1. ") || text.starts_with("1) ")) && self.numbered().is_some()
    }

    /// A thematic break: three or more of one of `-`, `*`, `_`, with nothing but white space between.
    pub(crate) fn is_rule(&self) -> bool {
        let Some(text) = self.flush() else { return false };
        let Some(mark) = text.bytes().next().filter(|mark| b"-*_".contains(mark)) else { return false };
        let mut marks = 0;
        text.bytes().all(|byte| {
            marks += usize::from(byte == mark);
            byte == mark || byte == b' ' || byte == b'\t'
        }) && marks >= 3
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

    /// How the HTML block ends that this line opens.
    pub(crate) fn html(&self) -> Option<HtmlEnd> {
        let rest = self.flush()?.strip_prefix('<')?;
        if rest.starts_with("!--") {
            return Some(HtmlEnd::CommentClosed);
        }
        // `<https://…>` and `<name@host>` are links in a paragraph.
        let head = rest.split(['>', ' ', '\t']).next().unwrap_or("");
        if VERBATIM.iter().any(|name| head.eq_ignore_ascii_case(name)) {
            return Some(HtmlEnd::TagClosed);
        }
        let name = head.strip_prefix('/').unwrap_or(head);
        let named =
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '!' || first == '?');
        (named && !name.contains([':', '@'])).then_some(HtmlEnd::BlankLine)
    }

    /// Whether this line ends an HTML block.
    pub(crate) fn closes(&self, end: HtmlEnd) -> bool {
        match end {
            HtmlEnd::BlankLine => self.is_blank(),
            HtmlEnd::CommentClosed => self.text.contains("-->"),
            HtmlEnd::TagClosed => self.text.match_indices("</").any(|(at, _)| {
                let rest = &self.text.as_bytes()[at + 2..];
                let is_tag =
                    |name: &&str| rest.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()));
                VERBATIM.iter().find(|name| is_tag(name)).is_some_and(|name| rest.get(name.len()) == Some(&b'>'))
            }),
        }
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
            && !self.starts_numbering()
            && !self.flush().is_some_and(|text| text.starts_with('>') || text.starts_with('|'))
    }
}

/// Tags whose content may hold blank lines.
const VERBATIM: [&str; 4] = ["pre", "script", "style", "textarea"];

/// What ends an HTML block: a blank line, `-->` for a comment, `</pre>` and its like for what they open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    BlankLine,
    CommentClosed,
    TagClosed,
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
    for stop in memchr::memchr2_iter(b'\n', b'\r', &bytes[from..]).map(|at| from + at) {
        // The second half of an ending that was taken whole.
        if stop < start {
            continue;
        }
        let end = stop + if bytes[stop..].starts_with(b"\r\n") { 2 } else { 1 };
        lines.push(Line { start, end, text: &text[start..stop] });
        start = end;
    }
    if start < bytes.len() {
        lines.push(Line { start, end: bytes.len(), text: &text[start..] });
    }
    lines
}
