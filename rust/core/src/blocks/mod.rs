//! Memory documents as blocks: spans that join to the document byte for byte, whatever the document is.

mod content;
mod lines;

use std::cell::Cell;

use crate::error::Error;
use lines::{HtmlEnd, Line, lines};

/// What a block is.
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
    /// A `##` heading with its `- Key: value` fields and whatever else stands under it.
    Section,
    /// Everything that is not read: paragraphs, code, tables, blank lines.
    Opaque,
}

impl Kind {
    /// The word that Python sees.
    #[must_use]
    pub fn word(self) -> &'static str {
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

/// One block: `start..end` in bytes, and what is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last, line ending included.
    pub end: usize,
    /// 1 to 6 for headings and sections, else 0.
    pub level: usize,
    /// What it says, without marks, tags and indentation, lines joined by `\n`; empty for opaque blocks.
    pub text: String,
    /// The `#tags` at its end, in lower case.
    pub tags: Vec<String>,
    /// The `Key: value` pairs of a section, in order.
    pub fields: Vec<(String, String)>,
}

/// When a `##` heading is a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sections {
    /// Always: the document is a list of episodes.
    Always,
    /// Never: headings only group bullets.
    Never,
    /// If fields stand under it and one of them is `Summary` or `Date`.
    ByFields,
}

/// The blocks of a document, in order; their spans join to the whole of it.
///
/// # Errors
/// The document is not UTF-8.
pub fn parse(document: &[u8], sections: Sections) -> Result<Vec<Block>, Error> {
    let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let lines = lines(text, mark);
    let mut parser = Parser {
        lines: &lines,
        at: 0,
        sections,
        titled: false,
        summarised: false,
        open_comment: Cell::new(usize::MAX),
        open_tag: Cell::new(usize::MAX),
        blocks: Vec::new(),
    };
    if mark > 0 {
        parser.push(Kind::Opaque, 0, mark, String::new());
    }
    parser.front_matter();
    while parser.at < lines.len() {
        parser.next();
    }
    Ok(parser.blocks)
}

/// The lines of a text without their endings.
pub(crate) fn texts_of_lines(text: &str) -> Vec<&str> {
    lines(text, 0).into_iter().map(|line| line.text).collect()
}

struct Parser<'t> {
    lines: &'t [Line<'t>],
    at: usize,
    sections: Sections,
    titled: bool,
    summarised: bool,
    /// From this line on nothing closes a comment, or a tag.
    open_comment: Cell<usize>,
    open_tag: Cell<usize>,
    blocks: Vec<Block>,
}

impl Parser<'_> {
    fn next(&mut self) {
        let line = self.lines[self.at];
        if let Some((level, text)) = line.heading() {
            self.heading(level, text);
        } else if line.bullet().is_some() {
            let end = self.item_end(self.at, self.lines.len());
            let (text, tags) = content::item(&self.lines[self.at..end]);
            self.take(Kind::Bullet, end, text);
            self.last().tags = tags;
        } else if let Some(text) = line.summary().filter(|_| !self.summarised) {
            self.summarised = true;
            self.take(Kind::Summary, self.at + 1, text.to_owned());
        } else {
            self.take(Kind::Opaque, self.opaque_end(self.at), String::new());
        }
    }

    fn front_matter(&mut self) {
        if !self.lines.first().is_some_and(|line| line.is_front_matter_mark(false)) {
            return;
        }
        if let Some(close) = self.lines.iter().skip(1).position(|line| line.is_front_matter_mark(true)) {
            let text = content::joined(self.lines[1..=close].iter().map(|line| line.text));
            self.take(Kind::FrontMatter, close + 2, text);
        }
    }

    fn heading(&mut self, level: usize, text: &str) {
        if level == 2 && self.sections != Sections::Never {
            let end = self.section_end();
            let fields = self.fields(self.at + 1, end);
            let told = fields.iter().any(|(key, _)| key == "Summary" || key == "Date");
            if told || self.sections == Sections::Always {
                let (text, tags) = content::split_tags(text);
                self.take(Kind::Section, end, text.to_owned());
                let section = self.last();
                (section.level, section.tags, section.fields) = (level, tags, fields);
                return;
            }
        }
        let is_title = level == 1 && !self.titled;
        self.titled |= is_title;
        self.take(if is_title { Kind::Title } else { Kind::Heading }, self.at + 1, text.to_owned());
        self.last().level = level;
    }

    /// The line after the section that begins here, without the blank lines that part it from the next.
    fn section_end(&self) -> usize {
        let mut at = self.at + 1;
        let mut end = at;
        while at < self.lines.len() && self.lines[at].heading().is_none_or(|(level, _)| level > 2) {
            let blank = self.lines[at].is_blank();
            at = self.thing_end(at, self.lines.len());
            if !blank {
                end = at;
            }
        }
        end
    }

    fn fields(&self, from: usize, end: usize) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let mut at = from;
        while at < end {
            let thing_end = self.thing_end(at, end);
            if self.lines[at].bullet().is_some() {
                fields.extend(content::field(&self.lines[at..thing_end]));
            }
            at = thing_end;
        }
        fields
    }

    /// The line after whatever stands at `from`: one item, paragraph or other block, or one blank line.
    fn thing_end(&self, from: usize, limit: usize) -> usize {
        match &self.lines[from] {
            line if line.is_blank() => from + 1,
            line if line.bullet().is_some() || line.numbered().is_some() => self.item_end(from, limit),
            _ => self.paragraph_end(from),
        }
    }

    /// The line after the list item at `from`: its indented lines, blank lines between them, and the lines that
    /// go on its last paragraph without indentation.
    fn item_end(&self, from: usize, limit: usize) -> usize {
        let line = &self.lines[from];
        let content_column = line.bullet().map(|(column, _)| column).or_else(|| line.numbered()).unwrap_or_default();
        let mut end = from + 1;
        let mut at = end;
        while at < limit {
            let line = &self.lines[at];
            let blank = line.is_blank();
            let indented = !blank && line.indent() >= content_column;
            let lazy = at == end && line.continues_lazily();
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

    /// The line after the opaque block at `from`: one paragraph, numbered list, fence or HTML block, and the blank
    /// lines behind it.
    fn opaque_end(&self, from: usize) -> usize {
        let mut at = self.thing_end(from, self.lines.len());
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

    /// The line after the fence, thematic break, HTML block or paragraph at `from`.
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
        let ends = |line: &Line<'_>| !line.continues_lazily() || line.summary().is_some();
        rest().find(|(_, line)| ends(line)).map_or(self.lines.len(), |(at, _)| at)
    }

    /// The line after the HTML block at `from`. What nothing closes ends with a blank line.
    fn html_end(&self, from: usize, end: HtmlEnd) -> usize {
        let to_blank =
            || self.lines[from..].iter().position(Line::is_blank).map_or(self.lines.len(), |length| from + length);
        let unclosed = match end {
            HtmlEnd::BlankLine => return to_blank(),
            HtmlEnd::CommentClosed => &self.open_comment,
            HtmlEnd::TagClosed => &self.open_tag,
        };
        // Where nothing closed one, nobody looks again.
        if from >= unclosed.get() {
            return to_blank();
        }
        let close = self.lines[from..].iter().position(|line| line.closes(end));
        if close.is_none() {
            unclosed.set(from);
        }
        close.map_or_else(to_blank, |length| from + length + 1)
    }

    fn take(&mut self, kind: Kind, end_line: usize, text: String) {
        let (start, end) = (self.lines[self.at].start, self.lines[end_line - 1].end);
        self.at = end_line;
        self.push(kind, start, end, text);
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, text: String) {
        self.blocks.push(Block { kind, start, end, level: 0, text, tags: Vec::new(), fields: Vec::new() });
    }

    fn last(&mut self) -> &mut Block {
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }
}
