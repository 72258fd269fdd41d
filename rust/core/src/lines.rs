//! Line numbers and line endings; `\n`, `\r\n` and a lone `\r` end a line, as in `CommonMark`.

/// The byte offsets at which the lines of a text begin.
pub(crate) struct LineNumbers(Vec<usize>);

impl LineNumbers {
    /// Index the lines of a text.
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_line_end = |at: usize| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
        Self(memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| is_line_end(*at)).map(|at| at + 1).collect())
    }

    /// Return the number, from 1, of the line that contains the byte at `offset`.
    pub(crate) fn number(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= offset)
    }
}

/// Return the most frequent line ending of a text; `\n` if it has none or in a tie.
pub(crate) fn dominant_ending(text: &str) -> &'static str {
    let bytes = text.as_bytes();
    let (mut unix, mut windows, mut old_mac) = (0_usize, 0_usize, 0_usize);
    for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => windows += 1,
            b'\r' => old_mac += 1,
            _ => unix += 1,
        }
    }
    // The `\n` of each `\r\n` was counted as a line ending of its own.
    unix -= windows;
    match unix.max(windows).max(old_mac) {
        most if most == unix => "\n",
        most if most == windows => "\r\n",
        _ => "\r",
    }
}
