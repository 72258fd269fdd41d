//! A bit-parallel pre-tokenizer for ASCII text: the starts of pieces in 64 bytes at once, by operations on byte sets.
//!
//! A window begins where a piece begins. What a rule asks about the bytes before a byte is a shift to the left, so that
//! it is evaluated for all bytes at once. Only three rules look ahead: white space (its end matters), the letters after
//! an apostrophe, and slashes that follow the newlines after other characters. Where these reach the end of the valid
//! bytes, or are rare, the starts after them are left out, and the next window begins at the last known start.

use crate::tokens::ascii_masks::{ByteMasks, WIDTH};
use crate::tokens::pre_tokenizer::Pattern;

/// Return the positions in the window, one bit each, at which pieces certainly begin; position 0 is always one.
///
/// Only bytes before the first non-ASCII byte and before `valid` are used; there is at least one.
#[inline]
pub(crate) fn piece_starts(bytes: &[u8; WIDTH], valid: usize, pattern: Pattern) -> u64 {
    let masks = ByteMasks::of(bytes);
    let valid = valid.min(masks.non_ascii.trailing_zeros() as usize);
    if valid == 0 {
        return 1;
    }
    let window = AsciiWindow::new(&masks, valid);
    let mut starts = 1 | window.letters() | window.numbers() | window.others() | window.white_space();
    starts &= window.certain();
    if pattern == Pattern::O200k {
        starts |= window.case_changes() & window.certain();
        window.attach_contractions(&mut starts, masks.apostrophe, bytes);
        starts &= window.before_slashes(masks.slash);
    } else {
        window.split_contractions(&mut starts, masks.apostrophe, bytes);
    }
    starts
}

/// Disjoint sets of the valid bytes.
struct AsciiWindow {
    valid: usize,
    letter: u64,
    lower: u64,
    digit: u64,
    /// White space except newlines.
    space: u64,
    newline: u64,
    /// The space character.
    blank: u64,
    other: u64,
    /// Newlines that belong to the other characters before them.
    absorbed: u64,
}

impl AsciiWindow {
    /// Build the sets for the first `valid` bytes.
    #[inline]
    fn new(masks: &ByteMasks, valid: usize) -> Self {
        let all = below(valid);
        let newline = masks.newline & all;
        let other = all & !(masks.letter | masks.digit | masks.white);
        // Adding the first bit of a run of bits clears the run by its carry.
        let absorbed = newline & !newline.wrapping_add(newline & other << 1);
        Self {
            valid,
            letter: masks.letter & all,
            lower: masks.letter & masks.lower & all,
            digit: masks.digit & all,
            space: masks.white & !masks.newline & all,
            newline,
            blank: masks.blank & all,
            other,
            absorbed,
        }
    }

    /// Return the letters that begin a piece.
    ///
    /// They do after digits and newlines, and after other characters, unless that is a single one without a space
    /// before it, which belongs to them as white space does.
    #[inline]
    fn letters(&self) -> u64 {
        let after_others = self.other << 1 & (self.other | self.blank) << 2;
        self.letter & ((self.digit | self.newline) << 1 | after_others)
    }

    /// Upper case after lower case begins a piece.
    #[inline]
    fn case_changes(&self) -> u64 {
        self.letter & !self.lower & self.lower << 1
    }

    /// Every third digit of a run begins a piece.
    #[inline]
    fn numbers(&self) -> u64 {
        let mut firsts = self.digit & !(self.digit << 1);
        let mut starts = firsts;
        let fourths = self.digit & self.digit << 1 & self.digit << 2 & self.digit << 3;
        if fourths != 0 {
            while firsts != 0 {
                firsts = firsts << 3 & fourths;
                starts |= firsts;
            }
        }
        starts
    }

    /// A run of other characters is one piece, with one space before it.
    #[inline]
    fn others(&self) -> u64 {
        self.other & !((self.other | self.blank) << 1)
    }

    /// Return the white space that begins a piece.
    ///
    /// A run is a piece up to its last newline; then one without its last character, which always begins a piece.
    #[inline]
    fn white_space(&self) -> u64 {
        let white = self.space | self.newline;
        let unabsorbed = white & !self.absorbed;
        let mut after_newline = self.space & self.newline << 1;
        let mut newline_again = self.space.wrapping_add(after_newline) & self.newline;
        while newline_again != 0 {
            let behind = after_newline & (newline_again & newline_again.wrapping_neg()).wrapping_sub(1);
            let nearest = 63 - behind.leading_zeros().min(63);
            after_newline &= !(1 << nearest);
            newline_again &= newline_again - 1;
        }
        unabsorbed & !(unabsorbed << 1) | self.space & !(white >> 1) | after_newline
    }

    /// The positions at which a start is certain: all before white space at the end of the valid bytes.
    #[inline]
    fn certain(&self) -> u64 {
        let white = (self.space | self.newline) << (WIDTH - self.valid);
        let trailing = white.leading_ones() as usize;
        if trailing == 0 { u64::MAX } else { below((self.valid - trailing + 1).min(WIDTH)) }
    }

    /// The positions before the first slash that follows absorbed newlines (such a slash belongs to their piece).
    #[inline]
    fn before_slashes(&self, slash: u64) -> u64 {
        let absorbed = slash & self.absorbed << 1 & self.other;
        if absorbed == 0 { u64::MAX } else { ((absorbed & absorbed.wrapping_neg()) - 1) | 1 }
    }

    /// Join `'s` and other contractions to the word before them (o200k).
    #[inline]
    fn attach_contractions(&self, starts: &mut u64, apostrophe: u64, bytes: &[u8; WIDTH]) {
        let mut remaining = apostrophe & self.letter << 1 & self.other;
        let mut after_last = 0;
        while remaining != 0 {
            let at = remaining.trailing_zeros() as usize;
            remaining &= remaining - 1;
            let Some(length) = self.contraction(at, bytes) else {
                *starts &= below(at);
                return;
            };
            // A contraction directly after another one is a word of its own.
            if length == 0 || at == after_last {
                continue;
            }
            after_last = at + length;
            *starts &= !(below(after_last) & !below(at));
            *starts |= self.letter & below(after_last + 1) & !below(after_last);
        }
    }

    /// Make `'s` and other contractions pieces of their own where they begin one (cl100k).
    #[inline]
    fn split_contractions(&self, starts: &mut u64, apostrophe: u64, bytes: &[u8; WIDTH]) {
        let mut remaining = apostrophe & *starts & below(self.valid);
        while remaining != 0 {
            let at = remaining.trailing_zeros() as usize;
            remaining &= remaining - 1;
            let Some(length) = self.contraction(at, bytes) else {
                *starts &= below(at + 1);
                return;
            };
            if length > 0 {
                *starts |= self.letter & below(at + length + 1) & !below(at + length);
            }
        }
    }

    /// Return the length of the contraction at an apostrophe, 0 for none; None if the valid bytes end too early.
    #[inline]
    fn contraction(&self, at: usize, bytes: &[u8; WIDTH]) -> Option<usize> {
        if at + 2 >= self.valid {
            return None;
        }
        let lower = |at: usize| bytes.get(at).map_or(0, |byte| byte | 0x20);
        Some(match (lower(at + 1), lower(at + 2)) {
            (b's' | b't' | b'm' | b'd', _) => 2,
            (b'r' | b'v', b'e') | (b'l', b'l') => 3,
            _ => 0,
        })
    }
}

/// A mask of the first `count` of 64 positions.
#[inline]
fn below(count: usize) -> u64 {
    if count >= WIDTH { u64::MAX } else { (1 << count) - 1 }
}
