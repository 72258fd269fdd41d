//! Writes the merged text from chunks: line endings, the final newline, and the position of each conflict.

use std::ops::Range;

use crate::diff::Lines;
use crate::merge::chunk::{Chunk, Fragment, Resolution};
use crate::merge::{BYTE_ORDER_MARK, Conflict, Merged, Part, Side, Texts};

/// The most frequent line ending of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LineEnding {
    Lf,
    Crlf,
}

impl LineEnding {
    /// The line ending of at least half of the lines; None for a text without line endings.
    fn of(lines: &Lines<'_>) -> Option<Self> {
        if !lines.has_crlf {
            return lines.text.contains('\n').then_some(Self::Lf);
        }
        let crlf = (0..lines.len()).filter(|&line| lines.parts(line).1 == "\r\n").count();
        Some(if 2 * crlf >= lines.len() { Self::Crlf } else { Self::Lf })
    }

    /// The characters of the line ending.
    fn ending(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
        }
    }
}

/// Merge a single value three-way: the side that changed it wins; if both did, the greater value.
pub(crate) fn merge_value<T: Ord + Copy>(base: T, ours: T, theirs: T) -> T {
    if ours == base {
        theirs
    } else if theirs == base {
        ours
    } else {
        ours.max(theirs)
    }
}

/// Write the merged text of the chunks.
pub(crate) fn write(texts: &Texts<'_>, chunks: &[Chunk], with_byte_order_mark: bool) -> Merged {
    let endings = [&texts.base, &texts.ours, &texts.theirs].map(LineEnding::of);
    let merged_ending = merge_value(endings[0], endings[1], endings[2]);
    let no_crlf = ![&texts.base, &texts.ours, &texts.theirs].iter().any(|lines| lines.has_crlf);
    let mut writer = Writer {
        texts,
        side_endings: [endings[1], endings[2]].map(|merged_ending| merged_ending.unwrap_or(LineEnding::Lf).ending()),
        ending: merged_ending.unwrap_or(LineEnding::Lf).ending(),
        no_crlf,
        text: String::with_capacity(texts.ours.text.len() + texts.theirs.text.len() / 4 + 64),
        lines: 0,
    };
    if with_byte_order_mark {
        writer.text.push(BYTE_ORDER_MARK);
    }
    let start = writer.text.len();
    let mut conflicts = Vec::new();
    for chunk in chunks {
        let is_conflict = matches!(chunk.resolution, Resolution::Conflict);
        if is_conflict && !chunk.ours.is_empty() {
            writer.end_line();
        }
        let from = (writer.lines, writer.text.len());
        writer.push_chunk(chunk);
        if is_conflict {
            conflicts.push(Conflict {
                base: part(&texts.base, &chunk.base),
                ours: part(&texts.ours, &chunk.ours),
                theirs: part(&texts.theirs, &chunk.theirs),
                lines: from.0..writer.lines,
                bytes: from.1..writer.text.len(),
            });
        }
    }
    let newlines = [&texts.base, &texts.ours, &texts.theirs].map(|lines| ends_with_newline(lines.text));
    let text = writer.finish(start, merge_value(newlines[0], newlines[1], newlines[2]));
    for conflict in &mut conflicts {
        conflict.bytes = extend_to_line_end(&text, &conflict.bytes);
    }
    Merged { text, conflicts }
}

/// Extend a range to the line ending that its last line got later, or shorten it by the one that it lost.
fn extend_to_line_end(text: &str, range: &Range<usize>) -> Range<usize> {
    let (start, end) = (range.start.min(text.len()), range.end.min(text.len()));
    if start == end || text[..end].ends_with('\n') {
        return start..end;
    }
    let rest = &text.as_bytes()[end..];
    let ending = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
    start..end + ending
}

/// Return true if a text ends with a newline; None for an empty one, which has no say in the merge.
fn ends_with_newline(text: &str) -> Option<bool> {
    (!text.is_empty()).then(|| text.ends_with('\n'))
}

/// Copy a range of lines for a conflict.
fn part(lines: &Lines<'_>, range: &Range<usize>) -> Part {
    Part { text: lines.slice(range.start, range.end).to_owned(), lines: range.clone() }
}

/// The merged text while it is written.
struct Writer<'o> {
    texts: &'o Texts<'o>,
    /// The most frequent line ending of ours and of theirs.
    side_endings: [&'static str; 2],
    /// The most frequent line ending of the merged text.
    ending: &'static str,
    /// True if none of the texts has CR LF: then lines are copied without looking at their endings.
    no_crlf: bool,
    text: String,
    lines: usize,
}

impl Writer<'_> {
    /// Write a chunk by its resolution.
    fn push_chunk(&mut self, chunk: &Chunk) {
        match &chunk.resolution {
            Resolution::Same if self.no_crlf => self.push_slice(&self.texts.ours, &chunk.ours),
            Resolution::Same => self.push_unchanged(chunk),
            Resolution::Conflict => self.push_side(Side::Ours, &chunk.ours),
            Resolution::Side(side) => self.push_side(*side, chunk.lines(*side)),
            Resolution::Both => self.push_common(&chunk.ours, &chunk.theirs),
            Resolution::Fragments(fragments) => fragments.iter().for_each(|fragment| self.push_fragment(fragment)),
        }
    }

    /// Write a fragment.
    fn push_fragment(&mut self, fragment: &Fragment) {
        match fragment {
            Fragment::Side(side, lines) => self.push_side(*side, lines),
            Fragment::Both(ours, theirs) => self.push_common(ours, theirs),
            Fragment::Text(text) => text.split_terminator('\n').for_each(|line| self.push_line(line, self.ending)),
        }
    }

    /// Write lines unchanged; for texts without CR LF.
    fn push_slice(&mut self, lines: &Lines<'_>, range: &Range<usize>) {
        if !range.is_empty() {
            self.end_line();
            self.text.push_str(lines.slice(range.start, range.end));
            self.lines += range.len();
        }
    }

    /// Write lines of one side: the usual line ending there becomes the usual ending of the merged text, others stay.
    fn push_side(&mut self, side: Side, range: &Range<usize>) {
        let (lines, side_ending) = (self.texts.side(side), self.side_endings[side as usize]);
        if self.no_crlf {
            return self.push_slice(lines, range);
        }
        for line in range.clone() {
            let (content, ending) = lines.parts(line);
            self.push_line(content, if ending == side_ending { self.ending } else { ending });
        }
    }

    /// Write lines that both sides have, whose endings may differ.
    fn push_common(&mut self, ours: &Range<usize>, theirs: &Range<usize>) {
        if self.no_crlf {
            return self.push_slice(&self.texts.ours, ours);
        }
        for (left, right) in ours.clone().zip(theirs.clone()) {
            let (content, our_ending) = self.texts.ours.parts(left);
            let their_ending = self.texts.theirs.parts(right).1;
            let is_usual = our_ending == self.side_endings[0] || their_ending == self.side_endings[1];
            self.push_line(content, if is_usual { self.ending } else { our_ending.max(their_ending) });
        }
    }

    /// Write lines whose content no side changed, merging their line endings three-way.
    fn push_unchanged(&mut self, chunk: &Chunk) {
        for ((base, ours), theirs) in chunk.base.clone().zip(chunk.ours.clone()).zip(chunk.theirs.clone()) {
            let (content, our_ending) = self.texts.ours.parts(ours);
            let ending = merge_value(self.texts.base.parts(base).1, our_ending, self.texts.theirs.parts(theirs).1);
            self.push_line(content, ending);
        }
    }

    /// Write one line.
    fn push_line(&mut self, content: &str, ending: &str) {
        self.end_line();
        self.text.push_str(content);
        self.text.push_str(ending);
        self.lines += 1;
    }

    /// End the last line if it has no line ending, as it was the last one of its text.
    fn end_line(&mut self) {
        if self.lines > 0 && !self.text.ends_with('\n') {
            self.text.push_str(self.ending);
        }
    }

    /// Return the text with or without a final newline; a blank last line keeps its ending.
    fn finish(mut self, start: usize, newline: Option<bool>) -> String {
        match newline {
            Some(true) => self.end_line(),
            Some(false) => {
                let body = &self.text[start..];
                let without_newline = body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n')).unwrap_or(body);
                if !without_newline.is_empty() && !without_newline.ends_with('\n') {
                    self.text.truncate(start + without_newline.len());
                }
            }
            None => {}
        }
        self.text
    }
}
