//! Merge of two insertions at the same position: both are kept, each next to what it continues, common parts once.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use crate::blocks::{self, Kind, Sections};
use crate::diff::Lines;
use crate::merge::chunk::Fragment;
use crate::merge::{Side, Texts};

/// Lines before an insertion that are searched for the beginning of the block that it may continue.
const CONTEXT_LINES: usize = 64;

/// Structure that a portion of an insertion continues, from the smallest to the largest.
///
/// Portions are output in this order: a new list item behind a new section would become part of that section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Continues {
    /// The block before (more lines of a list item or paragraph).
    Block,
    /// The list before (new items).
    List,
    /// The section before (new paragraphs).
    Section,
    /// The document (a section of its own); the value is 6 minus the level of its heading.
    Document(usize),
}

/// Merge the lines that both sides inserted at the same position; `is_fenced` means inside fenced code.
pub(crate) fn merge(texts: &Texts<'_>, ours: &Range<usize>, theirs: &Range<usize>, is_fenced: bool) -> Vec<Fragment> {
    let mut combiner = Combiner { texts, fragments: Vec::new(), ends_blank: true };
    if is_fenced {
        combiner.merge_sequences(&each_line(ours), &each_line(theirs), 0);
        return combiner.fragments;
    }
    let (ours_on, theirs_on) = (continued_lines(&texts.ours, ours), continued_lines(&texts.theirs, theirs));
    combiner.merge_portions(ours, theirs, ours_on, theirs_on);
    combiner.fragments
}

/// Return how many lines at the beginning of an insertion belong to the block before it.
pub(crate) fn continued_lines(side: &Lines<'_>, lines: &Range<usize>) -> usize {
    let window = (lines.start.saturating_sub(CONTEXT_LINES)..lines.start).rev();
    let first = window.clone().find(|&line| begins_block(side, line));
    let Some(from) = first.or_else(|| window.clone().next_back()) else { return 0 };
    let block = units(side, &(from..lines.end)).into_iter().find(|unit| unit.lines.end > lines.start);
    let Some(block) = block.filter(|unit| unit.lines.start < lines.start) else { return 0 };
    let end = block.lines.end.min(lines.end);
    let last_nonblank = (lines.start..end).rev().find(|&line| !side.is_blank(line));
    last_nonblank.map_or(0, |last| last + 1 - lines.start)
}

/// Return true if a line begins a block whatever is before it, or is unindented after a blank line.
fn begins_block(side: &Lines<'_>, line: usize) -> bool {
    let text = side.line(line);
    let marked = text.starts_with(['#', '-', '*', '+', '`', '~', '|', '>']);
    let after_blank = line == 0 || side.is_blank(line - 1);
    marked || after_blank && !text.starts_with([' ', '\t']) && !side.is_blank(line)
}

/// A markdown block as a range of lines.
#[derive(Clone, Debug)]
pub(crate) struct BlockLines {
    pub(crate) lines: Range<usize>,
    pub(crate) kind: Kind,
    level: usize,
}

/// Parse a range of lines into blocks.
pub(crate) fn units(side: &Lines<'_>, lines: &Range<usize>) -> Vec<BlockLines> {
    let text = side.slice(lines.start, lines.end);
    let Ok(blocks) = blocks::parse(text.as_bytes(), Sections::Never) else { return Vec::new() };
    let offset = side.start(lines.start);
    let mut units: Vec<BlockLines> = Vec::with_capacity(blocks.len());
    let mut from = lines.start;
    for block in blocks {
        // A lone CR ends a line for the block parser, but not for the merge: such a block is joined to the one before.
        let end = from + side.ends[from..lines.end].partition_point(|&end| end < offset + block.end);
        let Some(&reached) = side.ends.get(end) else { break };
        if reached == offset + block.end && end < lines.end {
            units.push(BlockLines { lines: from..end + 1, kind: block.kind, level: block.level });
            from = end + 1;
        }
    }
    if from < lines.end {
        units.push(BlockLines { lines: from..lines.end, kind: Kind::Opaque, level: 0 });
    }
    units
}

/// Return each line on its own.
fn each_line(lines: &Range<usize>) -> Vec<Range<usize>> {
    lines.clone().map(|line| line..line + 1).collect()
}

/// Return each block on its own.
fn each_unit(side: &Lines<'_>, lines: &Range<usize>) -> Vec<Range<usize>> {
    units(side, lines).into_iter().map(|unit| unit.lines).collect()
}

/// The part of an insertion that continues one thing.
struct Portion {
    continues: Continues,
    lines: Range<usize>,
}

/// Divide an insertion into portions, in the order of what they continue; `on_block` lines continue the block before.
fn portions(side: &Lines<'_>, lines: &Range<usize>, on_block: usize) -> Vec<Portion> {
    let mut portions: Vec<Portion> = Vec::new();
    let mut from = lines.start;
    if on_block > 0 {
        from += on_block;
        portions.push(Portion { continues: Continues::Block, lines: lines.start..from });
    }
    let mut pending = from;
    for unit in units(side, &(from..lines.end)) {
        let blank = || unit.lines.clone().all(|line| side.is_blank(line));
        let continues = match unit.kind {
            Kind::Bullet => Continues::List,
            Kind::Title | Kind::Heading => Continues::Document(6_usize.saturating_sub(unit.level)),
            _ if blank() => continue,
            _ => Continues::Section,
        };
        match portions.last_mut().filter(|last| last.continues >= continues) {
            Some(last) => last.lines.end = unit.lines.end,
            None => portions.push(Portion { continues, lines: pending..unit.lines.end }),
        }
        pending = unit.lines.end;
    }
    match portions.last_mut() {
        Some(last) => last.lines.end = lines.end,
        None => portions.push(Portion { continues: Continues::Block, lines: lines.clone() }),
    }
    portions
}

/// The fragments of the merged insertion while it is composed.
struct Combiner<'u> {
    texts: &'u Texts<'u>,
    fragments: Vec<Fragment>,
    /// True if the fragments so far end with a blank line, or are empty.
    ends_blank: bool,
}

impl Combiner<'_> {
    /// Merge two insertions portion by portion.
    fn merge_portions(&mut self, ours: &Range<usize>, theirs: &Range<usize>, ours_on: usize, theirs_on: usize) {
        let mut left = portions(&self.texts.ours, ours, ours_on).into_iter().peekable();
        let mut right = portions(&self.texts.theirs, theirs, theirs_on).into_iter().peekable();
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(our), Some(their)) => our.continues.cmp(&their.continues),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            match (left.next_if(|_| order.is_le()), right.next_if(|_| order.is_ge())) {
                (Some(our), Some(their)) => self.merge_portion(our.continues, &our.lines, &their.lines),
                (Some(our), None) => self.push(Side::Ours, our.lines),
                (None, Some(their)) => self.push(Side::Theirs, their.lines),
                (None, None) => return,
            }
        }
    }

    /// Merge two portions that continue the same thing, with common blank lines around them once.
    fn merge_portion(&mut self, continues: Continues, ours: &Range<usize>, theirs: &Range<usize>) {
        let (our_side, their_side) = (&self.texts.ours, &self.texts.theirs);
        let blank_ahead =
            |side: &Lines<'_>, lines: &Range<usize>| lines.clone().take_while(|&line| side.is_blank(line)).count();
        let ahead = blank_ahead(our_side, ours).min(blank_ahead(their_side, theirs));
        let (our_core, their_core) = (ours.start + ahead..ours.end, theirs.start + ahead..theirs.end);
        let blank_behind = |side: &Lines<'_>, lines: &Range<usize>| {
            lines.clone().rev().take_while(|&line| side.is_blank(line)).count()
        };
        let behind = blank_behind(our_side, &our_core).min(blank_behind(their_side, &their_core));
        let (our_core, their_core) = (our_core.start..our_core.end - behind, their_core.start..their_core.end - behind);
        let blank_lines = ahead.max(behind);
        self.push_common(ours.start..our_core.start, theirs.start..their_core.start);
        match continues {
            Continues::Block => self.merge_sequences(&each_line(&our_core), &each_line(&their_core), blank_lines),
            Continues::List => self.merge_items(our_core.clone(), &their_core),
            Continues::Section => {
                let (ours, theirs) = (each_unit(our_side, &our_core), each_unit(their_side, &their_core));
                self.merge_sequences(&ours, &theirs, blank_lines);
            }
            Continues::Document(_) => self.merge_sections(&our_core, &their_core, blank_lines),
        }
        self.push_common(our_core.end..ours.end, their_core.end..theirs.end);
    }

    /// Output the common beginning once, then the rest of ours and of theirs, then the common end once.
    fn merge_sequences(&mut self, ours: &[Range<usize>], theirs: &[Range<usize>], blank_lines: usize) {
        let (our_side, their_side) = (&self.texts.ours, &self.texts.theirs);
        let equal = |(left, right): &(&Range<usize>, &Range<usize>)| {
            our_side.ids[(*left).clone()] == their_side.ids[(*right).clone()]
        };
        let head = ours.iter().zip(theirs).take_while(equal).count();
        let (our_rest, their_rest) = (&ours[head..], &theirs[head..]);
        let tail = our_rest.iter().rev().zip(their_rest.iter().rev()).take_while(equal).count();
        let (our_rest, their_rest) = (&our_rest[..our_rest.len() - tail], &their_rest[..their_rest.len() - tail]);
        let ends = (our_rest.len() + head, their_rest.len() + head);
        for (left, right) in ours[..head].iter().zip(theirs) {
            self.push_common(left.clone(), right.clone());
        }
        for part in our_rest {
            self.push(Side::Ours, part.clone());
        }
        if !our_rest.is_empty() && !their_rest.is_empty() {
            self.push_blank_line(blank_lines, their_rest.first(), Side::Theirs);
        }
        for part in their_rest {
            self.push(Side::Theirs, part.clone());
        }
        for (left, right) in ours[ends.0..].iter().zip(&theirs[ends.1..]) {
            self.push_common(left.clone(), right.clone());
        }
    }

    /// Output our items, then those of theirs that are not equal to one of ours.
    fn merge_items(&mut self, ours: Range<usize>, theirs: &Range<usize>) {
        let (our_side, their_side) = (&self.texts.ours, &self.texts.theirs);
        let mut our_items: HashMap<&[u32], usize> = HashMap::new();
        for unit in units(our_side, &ours) {
            *our_items.entry(&our_side.ids[unit.lines]).or_default() += 1;
        }
        let theirs = units(their_side, theirs);
        self.push(Side::Ours, ours);
        for unit in theirs {
            let ids = &self.texts.theirs.ids[unit.lines.clone()];
            match our_items.get_mut(ids).filter(|left| unit.kind == Kind::Bullet && **left > 0) {
                Some(left) => *left -= 1,
                None => self.push(Side::Theirs, unit.lines),
            }
        }
    }

    /// Output our sections, each merged with theirs of the same heading, then the other sections of theirs.
    fn merge_sections(&mut self, ours: &Range<usize>, theirs: &Range<usize>, blank_lines: usize) {
        let their_sections = sections(&self.texts.theirs, theirs);
        // For each heading the numbers of their sections in reverse order, so that pop returns the first.
        let mut by_heading: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, section) in their_sections.iter().enumerate().rev() {
            by_heading.entry(self.texts.theirs.ids[section.start]).or_default().push(number);
        }
        let mut is_merged = vec![false; their_sections.len()];
        for (number, section) in sections(&self.texts.ours, ours).into_iter().enumerate() {
            if number > 0 {
                self.push_blank_line(blank_lines, Some(&section), Side::Ours);
            }
            let heading = self.texts.ours.ids[section.start];
            let Some(same) = by_heading.get_mut(&heading).and_then(Vec::pop) else {
                self.push(Side::Ours, section);
                continue;
            };
            is_merged[same] = true;
            let same = &their_sections[same];
            self.push_common(section.start..section.start + 1, same.start..same.start + 1);
            self.merge_portions(&(section.start + 1..section.end), &(same.start + 1..same.end), 0, 0);
        }
        for (section, is_merged) in their_sections.into_iter().zip(is_merged) {
            if !is_merged {
                self.push_blank_line(blank_lines, Some(&section), Side::Theirs);
                self.push(Side::Theirs, section);
            }
        }
    }

    /// Output a blank line before the next part, if parts here are separated by blank lines and there is none yet.
    fn push_blank_line(&mut self, blank_lines: usize, next: Option<&Range<usize>>, side: Side) {
        let blank_next = next.is_some_and(|next| next.is_empty() || self.texts.side(side).is_blank(next.start));
        if blank_lines > 0 && !self.ends_blank && !blank_next {
            self.fragments.push(Fragment::Text("\n".to_owned()));
            self.ends_blank = true;
        }
    }

    /// Output lines of one side.
    fn push(&mut self, side: Side, lines: Range<usize>) {
        if let Some(last) = lines.clone().last() {
            self.ends_blank = self.texts.side(side).is_blank(last);
            self.fragments.push(Fragment::Side(side, lines));
        }
    }

    /// Output lines that both have.
    fn push_common(&mut self, ours: Range<usize>, theirs: Range<usize>) {
        if let Some(last) = ours.clone().last() {
            self.ends_blank = self.texts.ours.is_blank(last);
            self.fragments.push(Fragment::Both(ours, theirs));
        }
    }
}

/// Split lines that begin with a heading before each heading of the same level.
fn sections(side: &Lines<'_>, lines: &Range<usize>) -> Vec<Range<usize>> {
    let units = units(side, lines);
    let top = units.iter().map(|unit| unit.level).filter(|&level| level > 0).min().unwrap_or(0);
    let mut sections: Vec<Range<usize>> = Vec::new();
    for unit in units {
        match sections.last_mut().filter(|_| unit.level != top) {
            Some(last) => last.end = unit.lines.end,
            None => sections.push(unit.lines),
        }
    }
    sections
}
