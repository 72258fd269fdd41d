//! Classes of random values: UUIDs and hexadecimal numbers may be the identifiers of something, others are secrets.

use crate::redact::plausibility::{EXAMINED_MAX, is_random};
use crate::redact::rules::ByteSet;

/// Bytes of a UUID with dashes.
pub(crate) const UUID_BYTES: usize = 36;

/// Class of a random value that may be no secret but the identifier of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineClass {
    Uuid,
    Hex,
    Other,
}

/// Classify a random value; None if it is not random.
pub(crate) fn machine_class(value: &[u8]) -> Option<MachineClass> {
    if is_uuid(value) {
        return Some(MachineClass::Uuid);
    }
    let hex = value.iter().all(u8::is_ascii_hexdigit);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if hex && digits > 0 && digits < value.len() {
        return Some(MachineClass::Hex);
    }
    if !is_random(value) {
        return None;
    }
    Some(if is_name_with_uuid(value) { MachineClass::Uuid } else { MachineClass::Other })
}

/// Return true if a value is a UUID with a name or a date before or behind it, as files of sessions are called
/// (`rollout-2026-01-02T03-04-05-550e8400-…`): it identifies something as the UUID alone does.
fn is_name_with_uuid(value: &[u8]) -> bool {
    if value.len() <= UUID_BYTES || value.len() > EXAMINED_MAX {
        return false;
    }
    let (head, behind) = value.split_at(value.len() - UUID_BYTES);
    let (before, tail) = value.split_at(UUID_BYTES);
    let is_name = |rest: &[u8]| !is_random(rest) && !rest.iter().all(u8::is_ascii_hexdigit);
    is_uuid(behind) && head.ends_with(b"-") | head.ends_with(b"_") && is_name(head)
        || is_uuid(before) && tail.starts_with(b"-") | tail.starts_with(b"_") && is_name(tail)
}

/// Return true if a value is a UUID with dashes.
fn is_uuid(value: &[u8]) -> bool {
    value.len() == UUID_BYTES
        && [8, 13, 18, 23].iter().all(|at| value[*at] == b'-')
        && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        && value.iter().all(|byte| ByteSet::Hex.contains(*byte) || *byte == b'-')
}
