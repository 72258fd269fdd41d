//! Two insertions at one place: both are kept, each where it belongs, and what is in both is kept once.

use std::collections::HashMap;
use std::ops::Range;

use crate::blocks::{self, Kind, Sections};
use crate::diff::Lines;
use crate::merge::Texts;
use crate::merge::pieces::Bit;

/// Lines before an insertion that are looked at for the block that it may go on.
const CONTEXT_LINES: usize = 64;

/// What an insertion goes on. Parts come in this order: a part that went on something smaller
/// would end up inside a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Goes {
    /// The block before.
    Block,
    /// The list before.
    List,
    /// The section before.
    Section,
    /// The document: a section of its own; the value is 6 minus the level of its heading.
    Document(usize),
}

/// The lines of both insertions.
pub(crate) fn both(texts: &Texts<'_>, ours: &Range<usize>, theirs: &Range<usize>, fenced: bool) -> Vec<Bit> {
    let mut union = Union { texts, bits: Vec::new(), ends_blank: true };
    if fenced {
        union.blocks(&Lot::lines(ours), &Lot::lines(theirs), 0);
        return union.bits;
    }
    let (ours_on, theirs_on) = (continued(&texts.ours, ours), continued(&texts.theirs, theirs));
    union.lists(ours, theirs, ours_on, theirs_on);
    union.bits
}

/// How many lines at the beginning of an insertion belong to the block before it.
pub(crate) fn continued(side: &Lines<'_>, lines: &Range<usize>) -> usize {
    let window = (lines.start.saturating_sub(CONTEXT_LINES)..lines.start).rev();
    let first = window.clone().find(|&line| begins_block(side, line));
    let Some(from) = first.or_else(|| window.clone().next_back()) else { return 0 };
    let block = units(side, &(from..lines.end)).into_iter().find(|unit| unit.lines.end > lines.start);
    let Some(block) = block.filter(|unit| unit.lines.start < lines.start) else { return 0 };
    let end = block.lines.end.min(lines.end);
    let speaks = (lines.start..end).rev().find(|&line| !is_blank(side, line));
    speaks.map_or(0, |last| last + 1 - lines.start)
}

/// Whether a line begins a block, whatever stands before it.
fn begins_block(side: &Lines<'_>, line: usize) -> bool {
    let text = side.slice(line, line + 1);
    let marked = text.starts_with(['#', '-', '*', '+', '`', '~', '|', '>']);
    let apart = line == 0 || is_blank(side, line - 1);
    marked || apart && !text.starts_with([' ', '\t']) && !is_blank(side, line)
}

fn is_blank(side: &Lines<'_>, line: usize) -> bool {
    side.slice(line, line + 1).trim_ascii().is_empty()
}

/// A block as lines of its text.
#[derive(Clone, Debug)]
struct Unit {
    lines: Range<usize>,
    kind: Kind,
    level: usize,
}

/// The blocks of some lines.
fn units(side: &Lines<'_>, lines: &Range<usize>) -> Vec<Unit> {
    let text = side.slice(lines.start, lines.end);
    let Ok(blocks) = blocks::parse(text.as_bytes(), Sections::Never) else { return Vec::new() };
    let offset = side.start(lines.start);
    let mut units: Vec<Unit> = Vec::with_capacity(blocks.len());
    let mut from = lines.start;
    for block in blocks {
        // A lone CR ends a line for a block, but not for a merge: such a block goes with the one before.
        let end = from + side.ends[from..lines.end].partition_point(|&end| end < offset + block.end);
        let Some(&reached) = side.ends.get(end) else { break };
        if reached == offset + block.end && end < lines.end {
            units.push(Unit { lines: from..end + 1, kind: block.kind, level: block.level });
            from = end + 1;
        }
    }
    if from < lines.end {
        units.push(Unit { lines: from..lines.end, kind: Kind::Opaque, level: 0 });
    }
    units
}

/// Lines of one side as things that are compared whole.
struct Lot {
    parts: Vec<Range<usize>>,
}

impl Lot {
    fn lines(lines: &Range<usize>) -> Self {
        Self { parts: lines.clone().map(|line| line..line + 1).collect() }
    }

    fn units(side: &Lines<'_>, lines: &Range<usize>) -> Self {
        Self { parts: units(side, lines).into_iter().map(|unit| unit.lines).collect() }
    }
}

/// What one side inserted that goes on one thing.
struct Share {
    goes: Goes,
    lines: Range<usize>,
}

/// The shares of an insertion, in order.
fn shares(side: &Lines<'_>, lines: &Range<usize>, on_block: usize) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    let mut from = lines.start;
    if on_block > 0 {
        from += on_block;
        shares.push(Share { goes: Goes::Block, lines: lines.start..from });
    }
    let mut pending = from;
    for unit in units(side, &(from..lines.end)) {
        let blank = || unit.lines.clone().all(|line| is_blank(side, line));
        let goes = match unit.kind {
            Kind::Bullet => Goes::List,
            Kind::Title | Kind::Heading => Goes::Document(6_usize.saturating_sub(unit.level)),
            _ if blank() => continue,
            _ => Goes::Section,
        };
        match shares.last_mut().filter(|last| last.goes >= goes) {
            Some(last) => last.lines.end = unit.lines.end,
            None => shares.push(Share { goes, lines: pending..unit.lines.end }),
        }
        pending = unit.lines.end;
    }
    match shares.last_mut() {
        Some(last) => last.lines.end = lines.end,
        None => shares.push(Share { goes: Goes::Block, lines: lines.clone() }),
    }
    shares
}

struct Union<'u> {
    texts: &'u Texts<'u>,
    bits: Vec<Bit>,
    /// Whether what stands so far ends with a blank line, or with nothing.
    ends_blank: bool,
}

impl Union<'_> {
    /// Both insertions, share by share.
    fn lists(&mut self, ours: &Range<usize>, theirs: &Range<usize>, ours_on: usize, theirs_on: usize) {
        let left = shares(&self.texts.ours, ours, ours_on);
        let right = shares(&self.texts.theirs, theirs, theirs_on);
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some(us), Some(them)) if us.goes == them.goes => {
                    let (goes, us, them) = (us.goes, us.lines.clone(), them.lines.clone());
                    left.next();
                    right.next();
                    self.share(goes, &us, &them);
                }
                (Some(us), them) if them.is_none_or(|them| us.goes < them.goes) => {
                    let lines = us.lines.clone();
                    left.next();
                    self.ours(lines);
                }
                (_, Some(them)) => {
                    let lines = them.lines.clone();
                    right.next();
                    self.theirs(lines);
                }
                _ => return,
            }
        }
    }

    /// What both sides inserted on one thing.
    fn share(&mut self, goes: Goes, ours: &Range<usize>, theirs: &Range<usize>) {
        let (us, them) = (&self.texts.ours, &self.texts.theirs);
        let blank_ahead =
            |side: &Lines<'_>, lines: &Range<usize>| lines.clone().take_while(|&line| is_blank(side, line)).count();
        let ahead = blank_ahead(us, ours).min(blank_ahead(them, theirs));
        let (our_core, their_core) = (ours.start + ahead..ours.end, theirs.start + ahead..theirs.end);
        let blank_behind = |side: &Lines<'_>, lines: &Range<usize>| {
            lines.clone().rev().take_while(|&line| is_blank(side, line)).count()
        };
        let behind = blank_behind(us, &our_core).min(blank_behind(them, &their_core));
        let (our_core, their_core) = (our_core.start..our_core.end - behind, their_core.start..their_core.end - behind);
        let apart = ahead.max(behind);
        self.alike(ours.start..our_core.start, theirs.start..their_core.start);
        match goes {
            Goes::Block => self.blocks(&Lot::lines(&our_core), &Lot::lines(&their_core), apart),
            Goes::List => self.items(our_core.clone(), &their_core),
            Goes::Section => self.blocks(&Lot::units(us, &our_core), &Lot::units(them, &their_core), apart),
            Goes::Document(_) => self.sections(&our_core, &their_core, apart),
        }
        self.alike(our_core.end..ours.end, their_core.end..theirs.end);
    }

    /// What stands at the beginning of both once, then the rest of ours and of theirs, then what ends both.
    fn blocks(&mut self, ours: &Lot, theirs: &Lot, apart: usize) {
        let (us, them) = (&self.texts.ours, &self.texts.theirs);
        let equal =
            |(left, right): &(&Range<usize>, &Range<usize>)| us.ids[(*left).clone()] == them.ids[(*right).clone()];
        let (ours, theirs) = (&ours.parts[..], &theirs.parts[..]);
        let head = ours.iter().zip(theirs).take_while(equal).count();
        let (our_rest, their_rest) = (&ours[head..], &theirs[head..]);
        let tail = our_rest.iter().rev().zip(their_rest.iter().rev()).take_while(equal).count();
        let (our_rest, their_rest) = (&our_rest[..our_rest.len() - tail], &their_rest[..their_rest.len() - tail]);
        let ends = (our_rest.len() + head, their_rest.len() + head);
        for (left, right) in ours[..head].iter().zip(theirs) {
            self.alike(left.clone(), right.clone());
        }
        for part in our_rest {
            self.ours(part.clone());
        }
        if !our_rest.is_empty() && !their_rest.is_empty() {
            self.part(apart, their_rest.first(), &self.texts.theirs);
        }
        for part in their_rest {
            self.theirs(part.clone());
        }
        for (left, right) in ours[ends.0..].iter().zip(&theirs[ends.1..]) {
            self.alike(left.clone(), right.clone());
        }
    }

    /// The items of ours, then those of theirs that ours does not have.
    fn items(&mut self, ours: Range<usize>, theirs: &Range<usize>) {
        let (us, them) = (&self.texts.ours, &self.texts.theirs);
        let mut had: HashMap<&[u32], usize> = HashMap::new();
        for unit in units(us, &ours) {
            *had.entry(&us.ids[unit.lines]).or_default() += 1;
        }
        let theirs = units(them, theirs);
        self.ours(ours);
        for unit in theirs {
            let ids = &self.texts.theirs.ids[unit.lines.clone()];
            match had.get_mut(ids).filter(|left| unit.kind == Kind::Bullet && **left > 0) {
                Some(left) => *left -= 1,
                None => self.theirs(unit.lines),
            }
        }
    }

    /// The sections of ours, each with what theirs says under the same heading, then the other sections of theirs.
    fn sections(&mut self, ours: &Range<usize>, theirs: &Range<usize>, apart: usize) {
        let their_sections = sections(&self.texts.theirs, theirs);
        // Under each heading the numbers of their sections, the first last.
        let mut under: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, section) in their_sections.iter().enumerate().rev() {
            under.entry(self.texts.theirs.ids[section.start]).or_default().push(number);
        }
        let mut taken = vec![false; their_sections.len()];
        for (number, section) in sections(&self.texts.ours, ours).into_iter().enumerate() {
            if number > 0 {
                self.part(apart, Some(&section), &self.texts.ours);
            }
            let heading = self.texts.ours.ids[section.start];
            let Some(same) = under.get_mut(&heading).and_then(Vec::pop) else {
                self.ours(section);
                continue;
            };
            taken[same] = true;
            let same = &their_sections[same];
            self.alike(section.start..section.start + 1, same.start..same.start + 1);
            self.lists(&(section.start + 1..section.end), &(same.start + 1..same.end), 0, 0);
        }
        for (section, taken) in their_sections.into_iter().zip(taken) {
            if !taken {
                self.part(apart, Some(&section), &self.texts.theirs);
                self.theirs(section);
            }
        }
    }

    /// A blank line before a part, if blank lines part such parts and none stands there yet.
    fn part(&mut self, apart: usize, next: Option<&Range<usize>>, side: &Lines<'_>) {
        let blank_next = next.is_some_and(|next| next.is_empty() || is_blank(side, next.start));
        if apart > 0 && !self.ends_blank && !blank_next {
            self.bits.push(Bit::Text("\n".to_owned()));
            self.ends_blank = true;
        }
    }

    fn ours(&mut self, lines: Range<usize>) {
        if let Some(last) = lines.clone().last() {
            self.ends_blank = is_blank(&self.texts.ours, last);
            self.bits.push(Bit::Ours(lines));
        }
    }

    fn theirs(&mut self, lines: Range<usize>) {
        if let Some(last) = lines.clone().last() {
            self.ends_blank = is_blank(&self.texts.theirs, last);
            self.bits.push(Bit::Theirs(lines));
        }
    }

    fn alike(&mut self, ours: Range<usize>, theirs: Range<usize>) {
        if let Some(last) = ours.clone().last() {
            self.ends_blank = is_blank(&self.texts.ours, last);
            self.bits.push(Bit::Both(ours, theirs));
        }
    }
}

/// Lines that begin with a heading, cut before each heading of the same level.
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
