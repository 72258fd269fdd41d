//! Numbers as varints (7 bits per byte, least significant first), and ascending numbers as varints of their gaps.

/// Append a number.
#[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
pub(super) fn write(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Read a number from the front of `bytes`; None at the end.
#[inline]
pub(super) fn read(bytes: &mut &[u8]) -> Option<u32> {
    // Most numbers are gaps below 128.
    if let [byte @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u32::from(*byte));
    }
    let (mut number, mut shift) = (0_u32, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << (shift & 31);
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Encode ascending numbers.
pub(super) fn encode_ascending(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let (mut bytes, mut previous) = (Vec::new(), 0_u32);
    for number in numbers {
        write(number.wrapping_sub(previous), &mut bytes);
        previous = number;
    }
    bytes
}

/// Iterate over numbers that [`encode_ascending`] encoded.
pub(super) fn ascending(mut bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut number = 0_u32;
    std::iter::from_fn(move || {
        number = number.wrapping_add(read(&mut bytes)?);
        Some(number)
    })
}
