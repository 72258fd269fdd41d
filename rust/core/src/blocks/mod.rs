//! A parser of markdown documents into blocks whose spans join to the document byte for byte, whatever the document is.

mod beside;
mod content;
mod lines;

use std::cell::Cell;

use crate::error::Error;
use lines::{HtmlEnd, Line, lines};

pub use beside::{Beside, parse_beside};

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// YAML between `---` lines at the very start.
    FrontMatter,
    /// The first heading of level 1.
    Title,
    /// The first `> Summary:` line.
    Summary,
    /// Any other heading.
    Heading,
    /// A top-level list item with its continuation lines.
    Bullet,
    /// A `##` heading with its `- Key: value` fields and everything else under it.
    Section,
    /// Everything that is not interpreted: paragraphs, code, tables, blank lines.
    Opaque,
}

impl Kind {
    /// Return the name of the kind in the Python API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FrontMatter => "front_matter",
            Self::Title => "title",
            Self::Summary => "summary",
            Self::Heading => "heading",
            Self::Bullet => "bullet",
            Self::Section => "section",
            Self::Opaque => "opaque",
        }
    }
}

/// A block: its span in bytes and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: Kind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last, line ending included.
    pub end: usize,
    /// The heading level, 1 to 6, of headings and sections; else 0.
    pub level: usize,
    /// Its text without markers, tags and indentation, lines joined by `\n`; empty for opaque blocks.
    pub text: String,
    /// The `#tags` at its end, in lower case.
    pub tags: Vec<String>,
    /// The `Key: value` pairs of a section, in order.
    pub fields: Vec<(String, String)>,
}

/// Which `##` headings begin a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sections {
    /// All of them: the document is a list of episodes.
    Always,
    /// None: headings only group bullets.
    Never,
    /// Those with a `Summary` or `Date` field among their fields.
    ByFields,
}

/// Parse a document into its blocks, in order; their spans join to the whole document.
///
/// # Errors
/// The document is not UTF-8.
pub fn parse(document: &[u8], sections: Sections) -> Result<Vec<Block>, Error> {
    let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
    let bom_length = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let lines = lines(text, bom_length);
    let mut parser = Parser {
        lines: &lines,
        at: 0,
        sections,
        has_title: false,
        has_summary: false,
        unclosed_comment: Cell::new(usize::MAX),
        unclosed_tag: Cell::new(usize::MAX),
        blocks: Vec::new(),
    };
    if bom_length > 0 {
        parser.push(Kind::Opaque, 0, bom_length, String::new());
    }
    parser.front_matter();
    while parser.at < lines.len() {
        parser.next();
    }
    Ok(parser.blocks)
}

/// Return the lines of a text without their endings.
pub(crate) fn line_texts(text: &str) -> Vec<&str> {
    lines(text, 0).into_iter().map(|line| line.text).collect()
}

/// The parser's position and what it has seen so far.
struct Parser<'t> {
    lines: &'t [Line<'t>],
    at: usize,
    sections: Sections,
    has_title: bool,
    has_summary: bool,
    /// From this line on no line closes a comment, or a tag; it keeps the search for the end linear.
    unclosed_comment: Cell<usize>,
    unclosed_tag: Cell<usize>,
    blocks: Vec<Block>,
}

impl Parser<'_> {
    /// Parse the block at the current line.
    fn next(&mut self) {
        let line = self.lines[self.at];
        if let Some((level, text)) = line.heading() {
            self.heading(level, text);
        } else if line.bullet().is_some() {
            let end = self.item_end(self.at, self.lines.len());
            let (text, tags) = content::item(&self.lines[self.at..end]);
            self.take(Kind::Bullet, end, text);
            self.last().tags = tags;
        } else if let Some(text) = line.summary().filter(|_| !self.has_summary) {
            self.has_summary = true;
            self.take(Kind::Summary, self.at + 1, text.to_owned());
        } else {
            self.take(Kind::Opaque, self.opaque_end(self.at), String::new());
        }
    }

    /// Parse front matter, if the document begins with it.
    fn front_matter(&mut self) {
        if !self.lines.first().is_some_and(|line| line.is_front_matter_fence(false)) {
            return;
        }
        if let Some(close) = self.lines.iter().skip(1).position(|line| line.is_front_matter_fence(true)) {
            let text = content::join_lines(self.lines[1..=close].iter().map(|line| line.text));
            self.take(Kind::FrontMatter, close + 2, text);
        }
    }

    /// Parse a heading as section, title or plain heading.
    fn heading(&mut self, level: usize, text: &str) {
        if level == 2 && self.sections != Sections::Never {
            let end = self.section_end();
            let fields = self.fields(self.at + 1, end);
            let has_episode_field = fields.iter().any(|(key, _)| key == "Summary" || key == "Date");
            if has_episode_field || self.sections == Sections::Always {
                let (text, tags) = content::split_tags(text);
                self.take(Kind::Section, end, text.to_owned());
                let section = self.last();
                (section.level, section.tags, section.fields) = (level, tags, fields);
                return;
            }
        }
        let is_title = level == 1 && !self.has_title;
        self.has_title |= is_title;
        self.take(if is_title { Kind::Title } else { Kind::Heading }, self.at + 1, text.to_owned());
        self.last().level = level;
    }

    /// Return the line after the section that begins here, without the blank lines that separate it from the next.
    fn section_end(&self) -> usize {
        let mut at = self.at + 1;
        let mut end = at;
        while at < self.lines.len() && self.lines[at].heading().is_none_or(|(level, _)| level > 2) {
            let blank = self.lines[at].is_blank();
            at = self.element_end(at, self.lines.len());
            if !blank {
                end = at;
            }
        }
        end
    }

    /// Return the `- Key: value` fields in a range of lines.
    fn fields(&self, from: usize, end: usize) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let mut at = from;
        while at < end {
            let element_end = self.element_end(at, end);
            if self.lines[at].bullet().is_some() {
                fields.extend(content::field(&self.lines[at..element_end]));
            }
            at = element_end;
        }
        fields
    }

    /// Return the line after the element at `from`: one item, paragraph or other element, or one blank line.
    fn element_end(&self, from: usize, limit: usize) -> usize {
        match &self.lines[from] {
            line if line.is_blank() => from + 1,
            line if line.bullet().is_some() || line.numbered().is_some() => self.item_end(from, limit),
            _ => self.paragraph_end(from),
        }
    }

    /// Return the line after the list item at `from`.
    ///
    /// It has its indented lines, blank lines between them, and lazy continuation lines of its last paragraph.
    fn item_end(&self, from: usize, limit: usize) -> usize {
        let line = &self.lines[from];
        let content_column = line.bullet().map(|(column, _)| column).or_else(|| line.numbered()).unwrap_or_default();
        let mut end = from + 1;
        let mut at = end;
        while at < limit {
            let line = &self.lines[at];
            let blank = line.is_blank();
            let indented = !blank && line.indent() >= content_column;
            let lazy = at == end && line.is_lazy_continuation();
            if !(blank || indented || lazy) {
                break;
            }
            at += 1;
            if !blank {
                end = at;
            }
        }
        end
    }

    /// Return the line after the opaque block at `from` (paragraph, numbered list, fence, HTML) and its blank lines.
    fn opaque_end(&self, from: usize) -> usize {
        let mut at = self.element_end(from, self.lines.len());
        if self.lines[from].numbered().is_some() {
            while self.lines.get(at).is_some_and(|line| line.numbered().is_some()) {
                at = self.item_end(at, self.lines.len());
            }
        }
        while self.lines.get(at).is_some_and(Line::is_blank) {
            at += 1;
        }
        at
    }

    /// Return the line after the fence, thematic break, HTML block or paragraph at `from`.
    fn paragraph_end(&self, from: usize) -> usize {
        let line = &self.lines[from];
        let rest = || self.lines.iter().enumerate().skip(from + 1);
        if let Some(fence) = line.fence() {
            return rest().find(|(_, line)| fence.closed_by(line)).map_or(self.lines.len(), |(at, _)| at + 1);
        }
        if line.is_rule() {
            return from + 1;
        }
        if let Some(end) = line.html() {
            return self.html_end(from, end);
        }
        let ends = |line: &Line<'_>| !line.is_lazy_continuation() || line.summary().is_some();
        rest().find(|(_, line)| ends(line)).map_or(self.lines.len(), |(at, _)| at)
    }

    /// Return the line after the HTML block at `from`; an unclosed one ends at a blank line.
    fn html_end(&self, from: usize, end: HtmlEnd) -> usize {
        let to_blank =
            || self.lines[from..].iter().position(Line::is_blank).map_or(self.lines.len(), |length| from + length);
        let unclosed = match end {
            HtmlEnd::BlankLine => return to_blank(),
            HtmlEnd::CommentClosed => &self.unclosed_comment,
            HtmlEnd::TagClosed => &self.unclosed_tag,
        };
        // A search from an earlier line found no end, so that none is here either.
        if from >= unclosed.get() {
            return to_blank();
        }
        let close = self.lines[from..].iter().position(|line| line.closes(end));
        if close.is_none() {
            unclosed.set(from);
        }
        close.map_or_else(to_blank, |length| from + length + 1)
    }

    /// Push the block from the current line to `end_line` (exclusive), and move there.
    fn take(&mut self, kind: Kind, end_line: usize, text: String) {
        let (start, end) = (self.lines[self.at].start, self.lines[end_line - 1].end);
        self.at = end_line;
        self.push(kind, start, end, text);
    }

    /// Push a block with empty level, tags and fields.
    fn push(&mut self, kind: Kind, start: usize, end: usize, text: String) {
        self.blocks.push(Block { kind, start, end, level: 0, text, tags: Vec::new(), fields: Vec::new() });
    }

    /// The block pushed last.
    fn last(&mut self) -> &mut Block {
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }
}
