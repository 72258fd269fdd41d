//! Classification of markdown lines (a subset of `CommonMark`): headings, list items, fences, HTML, thematic breaks.

/// A line: its span including the line ending, and its text without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: &'t str,
}

impl<'t> Line<'t> {
    /// Return true if the line has only spaces and tabs.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| byte == b' ' || byte == b'\t')
    }

    /// Return the indentation in columns; a tab advances to the next multiple of four.
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

    /// The text behind the indentation, or None if that is four columns or more (an indented code block).
    fn unindented(&self) -> Option<&'t str> {
        (self.indent() < 4).then(|| self.text.trim_start_matches([' ', '\t']))
    }

    /// Return level and text of an ATX heading (`## Title ##`).
    pub(crate) fn heading(&self) -> Option<(usize, &'t str)> {
        let text = self.unindented()?;
        let rest = text.trim_start_matches('#');
        let level = text.len() - rest.len();
        let is_followed_by_space = rest.is_empty() || rest.starts_with([' ', '\t']);
        if !(1..=6).contains(&level) || !is_followed_by_space {
            return None;
        }
        let rest = rest.trim();
        let without_closing = rest.trim_end_matches('#');
        let has_closing = without_closing.is_empty() || without_closing.ends_with([' ', '\t']);
        Some((level, if has_closing { without_closing.trim_end() } else { rest }))
    }

    /// Return the text of a `> Summary:` line.
    pub(crate) fn summary(&self) -> Option<&'t str> {
        Some(self.unindented()?.strip_prefix('>')?.trim_start().strip_prefix("Summary:")?.trim())
    }

    /// Return the column at which the text of a bullet item begins, and the text; the marker is `-`, `*` or `+`.
    pub(crate) fn bullet(&self) -> Option<(usize, &'t str)> {
        let text = self.unindented()?;
        let rest = text.strip_prefix(['-', '*', '+'])?;
        let is_followed_by_space = rest.is_empty() || rest.starts_with([' ', '\t']);
        if !is_followed_by_space || self.is_rule() {
            return None;
        }
        Some((self.indent() + 2, rest.trim_start_matches([' ', '\t'])))
    }

    /// Return the column at which the text of a numbered item begins.
    pub(crate) fn numbered(&self) -> Option<usize> {
        let text = self.unindented()?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = text[digits..].strip_prefix(['.', ')'])?;
        let is_followed_by_space = rest.is_empty() || rest.starts_with([' ', '\t']);
        ((1..=9).contains(&digits) && is_followed_by_space).then(|| self.indent() + digits + 2)
    }

    /// Return true if this line begins a numbered list even inside a paragraph: only a list that starts with 1 can.
    fn interrupts_paragraph_as_list(&self) -> bool {
        let text = self.text.trim_start_matches([' ', '\t']);
        (text.starts_with("1. ") || text.starts_with("1) ")) && self.numbered().is_some()
    }

    /// Return true if the line is a thematic break: three or more of one of `-`, `*`, `_`, with only blanks between.
    pub(crate) fn is_rule(&self) -> bool {
        let Some(text) = self.unindented() else { return false };
        let Some(marker) = text.bytes().next().filter(|marker| b"-*_".contains(marker)) else { return false };
        let mut markers = 0;
        text.bytes().all(|byte| {
            markers += usize::from(byte == marker);
            byte == marker || byte == b' ' || byte == b'\t'
        }) && markers >= 3
    }

    /// Return the code fence that this line opens.
    pub(crate) fn fence(&self) -> Option<Fence> {
        let text = self.unindented()?;
        let marker = text.chars().next().filter(|marker| "`~".contains(*marker))?;
        let rest = text.trim_start_matches(marker);
        let length = text.len() - rest.len();
        let is_code_span = marker == '`' && rest.contains('`');
        (length >= 3 && !is_code_span).then_some(Fence { marker, length })
    }

    /// Return the end condition of the HTML block that this line opens.
    pub(crate) fn html(&self) -> Option<HtmlEnd> {
        let rest = self.unindented()?.strip_prefix('<')?;
        if rest.starts_with("!--") {
            return Some(HtmlEnd::CommentClosed);
        }
        // `<https://…>` and `<name@host>` are autolinks in a paragraph.
        let head = rest.split(['>', ' ', '\t']).next().unwrap_or("");
        if RAW_TEXT_TAGS.iter().any(|name| head.eq_ignore_ascii_case(name)) {
            return Some(HtmlEnd::TagClosed);
        }
        let name = head.strip_prefix('/').unwrap_or(head);
        let is_tag_name =
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '!' || first == '?');
        (is_tag_name && !name.contains([':', '@'])).then_some(HtmlEnd::BlankLine)
    }

    /// Return true if this line ends an HTML block with that end condition.
    pub(crate) fn closes(&self, end: HtmlEnd) -> bool {
        match end {
            HtmlEnd::BlankLine => self.is_blank(),
            HtmlEnd::CommentClosed => self.text.contains("-->"),
            HtmlEnd::TagClosed => self.text.match_indices("</").any(|(at, _)| {
                let rest = &self.text.as_bytes()[at + 2..];
                let is_tag =
                    |name: &&str| rest.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()));
                RAW_TEXT_TAGS.iter().find(|name| is_tag(name)).is_some_and(|name| rest.get(name.len()) == Some(&b'>'))
            }),
        }
    }

    /// Return true if the line is `---`, which opens and closes front matter, or with `closing` also `...`.
    pub(crate) fn is_front_matter_fence(&self, closing: bool) -> bool {
        let text = self.text.trim_end();
        text == "---" || closing && text == "..."
    }

    /// Return true if this line continues a paragraph without its list item's indentation (a lazy continuation line).
    pub(crate) fn is_lazy_continuation(&self) -> bool {
        !self.is_blank()
            && self.heading().is_none()
            && self.bullet().is_none()
            && self.fence().is_none()
            && self.html().is_none()
            && !self.is_rule()
            && !self.interrupts_paragraph_as_list()
            && !self.unindented().is_some_and(|text| text.starts_with('>') || text.starts_with('|'))
    }
}

/// HTML tags whose content may have blank lines.
const RAW_TEXT_TAGS: [&str; 4] = ["pre", "script", "style", "textarea"];

/// End condition of an HTML block: a blank line, `-->` for a comment, or the closing tag of `<pre>` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    BlankLine,
    CommentClosed,
    TagClosed,
}

/// An open code fence: its character and length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    marker: char,
    length: usize,
}

impl Fence {
    /// Return true if the line closes the fence: at least as many of the same character and nothing else.
    pub(crate) fn closed_by(self, line: &Line<'_>) -> bool {
        let text = line.text.trim();
        text.chars().count() >= self.length && text.chars().all(|character| character == self.marker)
    }
}

/// Split a text into lines from byte `from`; `\n`, `\r\n` and a lone `\r` end a line, as in `CommonMark`.
pub(crate) fn lines(text: &str, from: usize) -> Vec<Line<'_>> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = from;
    for line_end in memchr::memchr2_iter(b'\n', b'\r', &bytes[from..]).map(|at| from + at) {
        // The `\n` of a `\r\n` that was consumed together with its `\r`.
        if line_end < start {
            continue;
        }
        let end = line_end + if bytes[line_end..].starts_with(b"\r\n") { 2 } else { 1 };
        lines.push(Line { start, end, text: &text[start..line_end] });
        start = end;
    }
    if start < bytes.len() {
        lines.push(Line { start, end: bytes.len(), text: &text[start..] });
    }
    lines
}
