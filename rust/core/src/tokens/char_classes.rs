//! Character classes of the pre-tokenizer patterns, in the Unicode version of tiktoken's own tables (16).

use std::sync::LazyLock;

use regex_syntax::hir::{Class as HirClass, HirKind};

/// The character classes that the patterns distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Neither letter, number, white space nor mark.
    Other,
    /// `\p{Lu}` or `\p{Lt}`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `\p{Lm}` or `\p{Lo}`: letters without case
    Caseless,
    /// `\p{M}`
    Mark,
    /// `\p{N}`
    Number,
    /// `\s` but `\r` and `\n`
    Space,
    /// `\r` or `\n`
    Newline,
}

impl Class {
    /// `\p{L}`
    pub(crate) fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Caseless)
    }

    /// `\s`
    pub(crate) fn is_space(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }
}

/// Each class as a pattern in `regex` syntax; characters in none are [`Class::Other`].
const PATTERNS: [(&str, Class); 6] = [
    (r"[\p{Lu}\p{Lt}]", Class::Upper),
    (r"\p{Ll}", Class::Lower),
    (r"[\p{Lm}\p{Lo}]", Class::Caseless),
    (r"\p{M}", Class::Mark),
    (r"\p{N}", Class::Number),
    (r"\s", Class::Space),
];

/// The classes of 256 consecutive code points.
type Page = [Class; 256];

/// The class of every character in a two-level table: pages by the upper bits of a code point, equal pages stored once.
pub(crate) struct Classes {
    ascii: [Class; 128],
    page_of: Vec<u8>,
    pages: Vec<Page>,
}

/// The table, built on first use from the tables of `regex-syntax`, whose version is pinned to the one in tiktoken.
pub(crate) static CLASSES: LazyLock<Classes> = LazyLock::new(Classes::build);

impl Classes {
    /// Build the table from the patterns.
    fn build() -> Self {
        let mut classes = vec![Class::Other; 0x11_0000];
        for (pattern, class) in PATTERNS {
            for (first, last) in ranges(pattern) {
                classes[first as usize..=last as usize].fill(class);
            }
        }
        for newline in ['\r', '\n'] {
            classes[newline as usize] = Class::Newline;
        }
        let mut pages: Vec<Page> = Vec::new();
        let mut page_of = Vec::with_capacity(classes.len() / 256);
        for chunk in classes.chunks_exact(256) {
            let number = pages.iter().position(|page| page == chunk).unwrap_or_else(|| {
                let mut page = [Class::Other; 256];
                page.copy_from_slice(chunk);
                pages.push(page);
                pages.len() - 1
            });
            page_of.push(u8::try_from(number).unwrap_or(u8::MAX));
        }
        let mut ascii = [Class::Other; 128];
        ascii.copy_from_slice(&classes[..128]);
        Self { ascii, page_of, pages }
    }

    /// Return the class of the character that begins at byte `at`, and its length in bytes.
    #[inline]
    pub(crate) fn at(&self, text: &str, at: usize) -> Option<(Class, usize)> {
        let byte = *text.as_bytes().get(at)?;
        match self.ascii.get(usize::from(byte)) {
            Some(class) => Some((*class, 1)),
            None => self.non_ascii(text, at),
        }
    }

    /// The slow path of [`Self::at`].
    fn non_ascii(&self, text: &str, at: usize) -> Option<(Class, usize)> {
        let character = text.get(at..)?.chars().next()?;
        Some((self.of(character), character.len_utf8()))
    }

    /// Return the class of a character.
    pub(crate) fn of(&self, character: char) -> Class {
        let point = character as usize;
        self.pages[usize::from(self.page_of[point >> 8])][point & 0xFF]
    }
}

/// Return the code point ranges that a pattern of one character matches.
fn ranges(pattern: &str) -> Vec<(u32, u32)> {
    let parsed = regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind);
    match parsed {
        Ok(HirKind::Class(HirClass::Unicode(class))) => {
            class.iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of every class have it, and a character that is a letter only from Unicode 17 on is not one.
    #[test]
    fn characters_have_the_classes_of_unicode_16() {
        for (character, class) in [
            ('A', Class::Upper),
            ('ǅ', Class::Upper),
            ('ß', Class::Lower),
            ('ʰ', Class::Caseless),
            ('中', Class::Caseless),
            ('\u{301}', Class::Mark),
            ('Ⅷ', Class::Number),
            ('\u{85}', Class::Space),
            ('\u{1c}', Class::Other),
            ('\n', Class::Newline),
            ('👍', Class::Other),
            ('\u{1c89}', Class::Upper),
            ('\u{a7ce}', Class::Other),
        ] {
            assert_eq!(CLASSES.of(character), class, "{character:?}");
        }
        assert!(CLASSES.pages.len() < 256);
    }
}
