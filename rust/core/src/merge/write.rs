//! The pieces as text: line endings, the last newline, and where each conflict stands.

use std::ops::Range;

use crate::diff::Lines;
use crate::merge::pieces::{Bit, Made, Piece};
use crate::merge::{Conflict, MARK, Merged, Part, Texts};

/// What ends most lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    Lf,
    Crlf,
}

impl Style {
    fn of(lines: &Lines<'_>) -> Option<Self> {
        if !lines.has_crlf {
            return lines.text.contains('\n').then_some(Self::Lf);
        }
        let crlf = (0..lines.len()).filter(|&line| lines.parts(line).1 == "\r\n").count();
        Some(if 2 * crlf >= lines.len() { Self::Crlf } else { Self::Lf })
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
        }
    }
}

/// What three values become: that of the side that changed it; if both did, the greater.
pub(crate) fn decided<T: Ord + Copy>(base: T, ours: T, theirs: T) -> T {
    if ours == base {
        theirs
    } else if theirs == base {
        ours
    } else {
        ours.max(theirs)
    }
}

/// The merged text of the pieces, after a byte order mark if `marked`.
pub(crate) fn write(texts: &Texts<'_>, pieces: &[Piece], marked: bool) -> Merged {
    let styles = [&texts.base, &texts.ours, &texts.theirs].map(Style::of);
    let style = decided(styles[0], styles[1], styles[2]);
    let plain = ![&texts.base, &texts.ours, &texts.theirs].iter().any(|lines| lines.has_crlf);
    let mut out = Out {
        texts,
        own: [styles[1], styles[2]].map(|style| style.unwrap_or(Style::Lf).ending()),
        ending: style.unwrap_or(Style::Lf).ending(),
        plain,
        text: String::with_capacity(texts.ours.text.len() + texts.theirs.text.len() / 4 + 64),
        lines: 0,
    };
    if marked {
        out.text.push(MARK);
    }
    let start = out.text.len();
    let mut conflicts = Vec::new();
    for piece in pieces {
        let undecided = matches!(piece.made, Made::Conflict);
        if undecided && !piece.ours.is_empty() {
            out.end_line();
        }
        let from = (out.lines, out.text.len());
        out.piece(piece);
        if undecided {
            conflicts.push(Conflict {
                base: part(&texts.base, &piece.base),
                ours: part(&texts.ours, &piece.ours),
                theirs: part(&texts.theirs, &piece.theirs),
                lines: from.0..out.lines,
                bytes: from.1..out.text.len(),
            });
        }
    }
    let newlines = [&texts.base, &texts.ours, &texts.theirs].map(|lines| ends_with_newline(lines.text));
    let text = out.finished(start, decided(newlines[0], newlines[1], newlines[2]));
    for conflict in &mut conflicts {
        conflict.bytes = whole_lines(&text, &conflict.bytes);
    }
    Merged { text, conflicts }
}

/// A place in the text with the ending that its last line got later, or without the one that it lost.
fn whole_lines(text: &str, place: &Range<usize>) -> Range<usize> {
    let (start, end) = (place.start.min(text.len()), place.end.min(text.len()));
    if start == end || text[..end].ends_with('\n') {
        return start..end;
    }
    let rest = &text.as_bytes()[end..];
    let ending = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
    start..end + ending
}

/// Whether a text ends with a newline; an empty one has no opinion.
fn ends_with_newline(text: &str) -> Option<bool> {
    (!text.is_empty()).then(|| text.ends_with('\n'))
}

fn part(lines: &Lines<'_>, range: &Range<usize>) -> Part {
    Part { text: lines.slice(range.start, range.end).to_owned(), lines: range.clone() }
}

struct Out<'o> {
    texts: &'o Texts<'o>,
    /// What ends most lines of ours and of theirs.
    own: [&'static str; 2],
    /// What ends most lines of the merged text.
    ending: &'static str,
    /// Whether no line ends with CR LF.
    plain: bool,
    text: String,
    lines: usize,
}

impl Out<'_> {
    fn piece(&mut self, piece: &Piece) {
        match &piece.made {
            Made::Same if self.plain => self.slice(&self.texts.ours, &piece.ours),
            Made::Same => self.same(piece),
            Made::Ours | Made::Conflict => self.side(&self.texts.ours, &piece.ours, self.own[0]),
            Made::Theirs => self.side(&self.texts.theirs, &piece.theirs, self.own[1]),
            Made::Both => self.alike(&piece.ours, &piece.theirs),
            Made::Of(bits) => bits.iter().for_each(|bit| self.bit(bit)),
        }
    }

    fn bit(&mut self, bit: &Bit) {
        match bit {
            Bit::Ours(lines) => self.side(&self.texts.ours, lines, self.own[0]),
            Bit::Theirs(lines) => self.side(&self.texts.theirs, lines, self.own[1]),
            Bit::Both(ours, theirs) => self.alike(ours, theirs),
            Bit::Text(text) => text.split_terminator('\n').for_each(|line| self.line(line, self.ending)),
        }
    }

    /// Lines as they stand in a text without CR LF.
    fn slice(&mut self, lines: &Lines<'_>, range: &Range<usize>) {
        if !range.is_empty() {
            self.end_line();
            self.text.push_str(lines.slice(range.start, range.end));
            self.lines += range.len();
        }
    }

    /// Lines of one side: those that end as most lines there do end as most merged lines do.
    fn side(&mut self, lines: &Lines<'_>, range: &Range<usize>, own: &str) {
        if self.plain {
            return self.slice(lines, range);
        }
        for line in range.clone() {
            let (content, ending) = lines.parts(line);
            self.line(content, if ending == own { self.ending } else { ending });
        }
    }

    /// Lines that both sides added.
    fn alike(&mut self, ours: &Range<usize>, theirs: &Range<usize>) {
        if self.plain {
            return self.slice(&self.texts.ours, ours);
        }
        for (left, right) in ours.clone().zip(theirs.clone()) {
            let (content, our_ending) = self.texts.ours.parts(left);
            let their_ending = self.texts.theirs.parts(right).1;
            let usual = our_ending == self.own[0] || their_ending == self.own[1];
            self.line(content, if usual { self.ending } else { our_ending.max(their_ending) });
        }
    }

    /// Lines that nobody changed, but for their endings.
    fn same(&mut self, piece: &Piece) {
        for ((base, ours), theirs) in piece.base.clone().zip(piece.ours.clone()).zip(piece.theirs.clone()) {
            let (content, our_ending) = self.texts.ours.parts(ours);
            let ending = decided(self.texts.base.parts(base).1, our_ending, self.texts.theirs.parts(theirs).1);
            self.line(content, ending);
        }
    }

    fn line(&mut self, content: &str, ending: &str) {
        self.end_line();
        self.text.push_str(content);
        self.text.push_str(ending);
        self.lines += 1;
    }

    /// A line that was the last of its text and is not any more gets its ending.
    fn end_line(&mut self) {
        if self.lines > 0 && !self.text.ends_with('\n') {
            self.text.push_str(self.ending);
        }
    }

    /// The text, with or without a newline at its end as was decided; a blank last line keeps what ends it.
    fn finished(mut self, start: usize, newline: Option<bool>) -> String {
        match newline {
            Some(true) => self.end_line(),
            Some(false) => {
                let body = &self.text[start..];
                let bare = body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n')).unwrap_or(body);
                if !bare.is_empty() && !bare.ends_with('\n') {
                    self.text.truncate(start + bare.len());
                }
            }
            None => {}
        }
        self.text
    }
}
