//! Several texts out of one piece of bytes.

/// What separates the parts of an input: a byte that UTF-8 does not have.
pub const SEPARATOR: u8 = 0xff;

/// The bytes as text, with U+FFFD for what is none.
#[must_use]
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}
