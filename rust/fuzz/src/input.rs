//! Conversion of fuzzing input to texts.

/// The byte that separates the parts of an input; UTF-8 never has it.
pub const SEPARATOR: u8 = 0xff;

/// Decode bytes as UTF-8, with U+FFFD for invalid ones.
#[must_use]
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}
