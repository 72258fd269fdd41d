//! Lines of a text: `\n`, `\r\n` and a lone `\r` end one, as in `CommonMark`.

/// Where the lines of a text begin.
pub(crate) struct LineNumbers(Vec<usize>);

impl LineNumbers {
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_last = |at: usize| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
        Self(memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| is_last(*at)).map(|at| at + 1).collect())
    }

    /// The number, from 1, of the line that the byte at `offset` belongs to.
    pub(crate) fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= offset)
    }
}

/// The line ending that most lines of a text have; `\n` if none has one.
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
    // The second half of `\r\n` was counted as well.
    unix -= windows;
    match unix.max(windows).max(old_mac) {
        most if most == unix => "\n",
        most if most == windows => "\r\n",
        _ => "\r",
    }
}
