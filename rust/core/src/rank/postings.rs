//! Where a term stands: the slots of its texts in ascending order, removed ones among them until they are swept out.

use super::weight::{Mark, Scale};

/// Counts below this have a class of their own.
const CLASSES: usize = 8;

/// The texts that hold a term.
pub(super) struct Postings {
    slots: Vec<u32>,
    marks: Vec<Mark>,
    live: u32,
    /// For each count of mentions (the last class: or more) the class of the shortest text that had it.
    shortest: [u8; CLASSES],
    /// A bit for each of these classes that a text is in.
    seen: u8,
}

impl Default for Postings {
    fn default() -> Self {
        Self { slots: Vec::new(), marks: Vec::new(), live: 0, shortest: [u8::MAX; CLASSES], seen: 0 }
    }
}

impl Postings {
    /// How many texts hold the term now.
    pub(super) fn live(&self) -> usize {
        self.live as usize
    }

    /// The slots in ascending order, each with its mark at the same place of [`Self::marks`].
    pub(super) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The marks, in the order of the slots.
    pub(super) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Adds a text; its slot is higher than all before.
    pub(super) fn push(&mut self, slot: u32, mark: Mark) {
        self.slots.push(slot);
        self.marks.push(mark);
        self.live += 1;
        self.note(mark);
    }

    /// One of its texts was removed.
    pub(super) fn lost(&mut self) {
        self.live = self.live.saturating_sub(1);
        if self.live == 0 {
            *self = Self::default();
        }
    }

    /// Renames the slots and drops those without a new name.
    pub(super) fn rename(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let (slots, marks) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.marks));
        *self = Self::default();
        self.slots.reserve_exact(slots.len());
        self.marks.reserve_exact(slots.len());
        for (slot, mark) in slots.into_iter().zip(marks) {
            if let Some(slot) = new(slot) {
                self.push(slot, mark);
            }
        }
    }

    /// The mark of a text at or after the place `from`.
    pub(super) fn find(&self, slot: u32, from: usize) -> Option<Mark> {
        let place = self.reach(slot, from);
        (self.slots.get(place) == Some(&slot)).then(|| self.marks[place])
    }

    /// The first place at or after `from` whose slot is not below this one.
    pub(super) fn reach(&self, slot: u32, from: usize) -> usize {
        let rest = self.slots.get(from..).unwrap_or_default();
        let mut step = 1;
        while step < rest.len() && rest[step - 1] < slot {
            step *= 2;
        }
        let start = step / 2;
        let end = step.min(rest.len());
        from + start + rest[start..end].partition_point(|&at| at < slot)
    }

    /// What the term gives to a text at most, as [`Scale::about`] reckons.
    pub(super) fn bound(&self, scale: &Scale, top: f32) -> f32 {
        (1_u8..).zip(self.shortest).fold(0.0, |most, (times, length)| {
            if self.seen >> (times - 1) & 1 == 0 {
                return most;
            }
            let times = if usize::from(times) == CLASSES { u8::MAX } else { times };
            scale.about(Mark { times, length }, top).max(most)
        })
    }

    fn note(&mut self, mark: Mark) {
        let class = usize::from(mark.times).clamp(1, CLASSES) - 1;
        self.shortest[class] = self.shortest[class].min(mark.length);
        self.seen |= 1 << class;
    }
}
