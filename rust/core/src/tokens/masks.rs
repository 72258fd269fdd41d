//! What a splitter knows of 64 bytes at once.

/// One bit for each byte; a byte beyond ASCII is in `beyond` and may be in any other set, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) beyond: u64,
    pub(crate) letter: u64,
    /// Bytes with the bit that tells lower from upper case; of use for letters only.
    pub(crate) lower: u64,
    pub(crate) digit: u64,
    /// White space, newlines included.
    pub(crate) white: u64,
    /// `\r` and `\n`
    pub(crate) newline: u64,
    pub(crate) blank: u64,
    pub(crate) slash: u64,
    pub(crate) apostrophe: u64,
}
