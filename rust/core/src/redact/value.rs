//! What a value looks like: random, a password, or one of the things that code and prose have beside a secret's name.
//!
//! The estimate: a word counts 11 bits, however long; a letter of no word 4.7, a digit 3.3 (4 in hexadecimal), a mark
//! 4.5, one that separates parts of names 1; a character that repeats the one before or follows it in the alphabet 0.5.
//! `tr0ub4dor` has 32, `uint8ArrayToBase64` 52, `k3j5h2g8f1d9s7a4` 64.

use crate::redact::rules::{ByteSet, PLACEHOLDERS};

/// Bytes of a value that are examined, so that a long line of keywords stays linear.
pub(crate) const EXAMINED_MAX: usize = 256;
/// Bytes of a UUID with dashes.
pub(crate) const UUID_BYTES: usize = 36;
/// Hexadecimal digits of the longest digest in use (SHA-512).
const DIGEST_MAX: usize = 128;
/// Bits in tenths, as explained above.
const WORD_BITS: u32 = 110;
const LETTER_BITS: u32 = 47;
const DIGIT_BITS: u32 = 33;
const HEX_BITS: u32 = 40;
const MARK_BITS: u32 = 45;
const SEPARATOR_BITS: u32 = 10;
const REPEATED_BITS: u32 = 5;
/// Tenths of bits of the parts of a name that are no words (`x86`, `gnu`, `v1`), at most.
const CODE_BITS: u32 = 450;
/// Digits of a date, the longest number beside the words of a name.
const DATE_DIGITS: usize = 8;
/// Bits from which a value that its place announces is a generated one, and those of the weakest password.
const GENERATED_BITS: u32 = 24;
const PASSWORD_BITS: u32 = 18;
const QUOTED_BITS: u32 = 15;
/// Bits of a value that a sentence states without quotes.
const STATED_BITS: u32 = 24;
/// Bits of a value that nobody types by chance: it is random wherever it is written.
pub(crate) const CERTAIN_BITS: u32 = 50;

/// Letters that follow each letter in words and names of code: bit 0 is `a`. They make 98.5 % of all pairs there.
#[rustfmt::skip]
const PAIRS: [u32; 26] = [
    0x03fe_bdff, 0x011e_fb7f, 0x017e_fdff, 0x017e_f9ff, 0x01ff_fdff, 0x011e_f93f, 0x015e_f9fd, 0x011e_7919,
    0x02ae_fc7f, 0x0014_4111, 0x005c_e97d, 0x013e_fd7f, 0x011e_fd1f, 0x017e_fdff, 0x01fe_fdff, 0x015e_fdff,
    0x0010_0800, 0x017e_fdff, 0x017f_fdff, 0x03fe_fdff, 0x008e_f97f, 0x0004_5111, 0x000e_e99d, 0x010c_d93d,
    0x000e_f917, 0x0000_4111,
];

/// How a value is written in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// In quotes.
    Quoted,
    /// Without quotes.
    Bare,
}

/// Counts of one value's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Tenths of bits, by the estimate.
    tenths: u32,
    letters: usize,
    digits: usize,
    /// Letters in words, and in short runs of capitals (`JSON`).
    in_words: usize,
    words: usize,
    /// Runs of digits.
    numbers: usize,
    /// Runs of letters of one case, and of digits.
    runs: usize,
    upper: usize,
    lower: usize,
    /// Marks that no name has.
    symbols: usize,
    /// Marks that separate the parts of names.
    separators: usize,
}

impl Parts {
    /// Count the parts of a value.
    pub(crate) fn of(value: &[u8]) -> Self {
        let value = &value[..value.len().min(EXAMINED_MAX)];
        let hexadecimal = value.iter().all(u8::is_ascii_hexdigit) && value.iter().any(u8::is_ascii_digit);
        let mut parts = Self::default();
        let mut rest = value;
        let mut before = 0_u8;
        while let [first, behind @ ..] = rest {
            let run = if first.is_ascii_alphabetic() {
                letters_run(rest)
            } else if first.is_ascii_digit() {
                rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
            } else {
                parts.tenths += match first {
                    _ if *first == before => REPEATED_BITS,
                    b'-' | b'_' | b'.' | b'/' | b':' | b' ' | b'@' | b'#' | b'+' | b'~' | b'\\' | b'=' | b',' => {
                        parts.separators += 1;
                        SEPARATOR_BITS
                    }
                    _ => {
                        parts.symbols += 1;
                        MARK_BITS
                    }
                };
                (before, rest) = (*first, behind);
                continue;
            };
            let (run, behind) = rest.split_at(run.clamp(1, rest.len()));
            parts.runs += 1;
            if first.is_ascii_digit() {
                parts.numbers += 1;
                parts.digits += run.len();
                parts.tenths += spread(before, run, if hexadecimal { HEX_BITS } else { DIGIT_BITS });
            } else {
                parts.add_letters(before, run, hexadecimal);
            }
            before = run.last().copied().unwrap_or(before);
            rest = behind;
        }
        parts
    }

    /// Count a run of letters.
    fn add_letters(&mut self, before: u8, run: &[u8], hexadecimal: bool) {
        self.letters += run.len();
        let upper = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
        self.upper += upper;
        self.lower += run.len() - upper;
        let acronym = (2..=5).contains(&run.len()) && upper == run.len();
        if !hexadecimal && is_word(run) {
            self.words += 1;
            self.in_words += run.len();
            self.tenths += spread(before, run, LETTER_BITS).min(WORD_BITS);
        } else {
            self.in_words += if acronym { run.len() } else { 0 };
            self.tenths += spread(before, run, if hexadecimal { HEX_BITS } else { LETTER_BITS });
        }
    }

    /// Return the estimated bits.
    pub(crate) fn bits(self) -> u32 {
        self.tenths / 10
    }

    /// Return true if there are letters and digits.
    pub(crate) fn is_mixed(self) -> bool {
        self.letters > 0 && self.digits > 0
    }

    /// Return true if letters change their case as no words do: many short runs, and few words.
    fn is_scrambled(self) -> bool {
        self.upper >= 2 && self.lower >= 2 && 2 * self.in_words < self.letters && 10 * self.letters <= 36 * self.runs
    }
}

/// Return the length of the run of letters at the beginning: of one case, or one capital and small letters behind it.
fn letters_run(value: &[u8]) -> usize {
    let count = |from: usize, same: fn(&u8) -> bool| value.iter().skip(from).take_while(|byte| same(byte)).count();
    let capitals = count(0, u8::is_ascii_uppercase);
    let small = count(capitals, u8::is_ascii_lowercase);
    match (capitals, small) {
        (0 | 1, _) | (_, 0) => capitals + small,
        _ => capitals - 1, // the last capital begins the next word: `JSONFile`
    }
}

/// Return the tenths of bits of a run, of which each character has so many unless it follows the one before it.
fn spread(before: u8, run: &[u8], each: u32) -> u32 {
    let mut last = before;
    let mut tenths = 0;
    for byte in run {
        tenths += if *byte == last || *byte == last.wrapping_add(1) { REPEATED_BITS } else { each };
        last = *byte;
    }
    tenths
}

/// Return true if letters can be a word or a name of code: they have a vowel, and pairs that words have.
fn is_word(letters: &[u8]) -> bool {
    let index = |byte: u8| usize::from((byte | 0x20).wrapping_sub(b'a'));
    let rare =
        letters.windows(2).filter(|pair| PAIRS.get(index(pair[0])).is_none_or(|next| next >> index(pair[1]) & 1 == 0));
    let vowel = letters.iter().any(|byte| b"aeiouyAEIOUY".contains(byte));
    letters.len() >= 3 && vowel && rare.count() <= usize::from(letters.len() >= 6)
}

/// Return true if a value is a name: words in CamelCase, `snake_case` or kebab-case, of a path or an address, or a word
/// with a number: `uint8ArrayToBase64`, `ed25519Seed`, `tests/e2e/.env`, `epics.md#UX-DR1`, `sha256`.
pub(crate) fn is_name(value: &[u8]) -> bool {
    let value = &value[..value.len().min(EXAMINED_MAX)];
    let mut codes = 0;
    let named = value.split(|byte| !byte.is_ascii_alphanumeric()).all(|part| {
        let of = Parts::of(part);
        codes += if of.words == 0 && of.letters > 0 { of.tenths } else { 0 };
        is_name_part(part, of)
    });
    named && codes <= CODE_BITS && !has_symbols(value)
}

/// Return true if letters and digits without marks are a part of a name.
fn is_name_part(part: &[u8], of: Parts) -> bool {
    if part.len() <= 3 || of.letters == 0 || of.digits == 0 && of.words == 1 && of.in_words == part.len() {
        return true;
    }
    if of.digits > DATE_DIGITS && of.digits > of.letters {
        return false;
    }
    if of.runs <= 3 && part.len() <= 12 && (of.upper == 0 || of.lower == 0) {
        return true; // `pbkdf2`, `HS256`, `x25519`
    }
    if of.words == 0 {
        return of.digits == 0 && part.len() <= 5 || of.letters <= 2 && of.numbers <= 2 || part.len() <= 5;
    }
    // Words are long, and runs of chance short.
    let long = 10 * part.len() + 1 >= 27 * of.runs;
    long && (4 * of.in_words >= 3 * of.letters && of.numbers <= 3
        || 5 * of.in_words >= 3 * of.letters && of.numbers <= 1)
        || of.digits == 0 && 10 * part.len() >= 45 * of.runs
}

/// Return true if a value has marks that names do not have.
///
/// Those of addresses and anchors are between words: `ann@tide.example`, `epics.md#UX-DR1`, not `Prl23Db#@`.
fn has_symbols(value: &[u8]) -> bool {
    value.iter().enumerate().any(|(at, byte)| match byte {
        b'!' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}'
        | b'<' | b'>' | b'|' | b';' | b'`' => true,
        b'@' | b'#' | b'~' | b'+' => {
            let behind = value.get(at + 1..).unwrap_or_default();
            let part = behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let part = behind.get(..part).unwrap_or_default();
            let of = Parts::of(part);
            of.words == 0 && of.lower > 0 || part.is_empty()
        }
        _ => false,
    })
}

/// Return true if a value looks random wherever it is written: no name, letters and digits, and bits enough.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let of = Parts::of(value);
    (of.is_mixed() || of.is_scrambled()) && of.bits() >= CERTAIN_BITS && !is_name(value)
}

/// Return true if a value has capitals, small letters and digits.
pub(crate) fn has_three_classes(value: &[u8]) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.iter().any(wanted);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// Return true if a value that a label announces is a secret, and none of what else stands there.
///
/// `worded` says that people choose the value, as they do a password: then words with a number count if they are long.
pub(crate) fn is_secret(value: &str, worded: bool, quoting: Quoting) -> bool {
    let examined = &value[..value.floor_char_boundary(EXAMINED_MAX)];
    let bytes = examined.as_bytes();
    let quoted = quoting == Quoting::Quoted;
    let long_enough = bytes.len() >= if worded { 4 } else { 8 };
    if !long_enough
        || bytes.iter().any(u8::is_ascii_whitespace)
        || is_reference(examined)
        || is_elided(examined)
        || has_algorithm(examined)
        || examined.contains("://")
    {
        return false;
    }
    if is_number(bytes) {
        return bytes.len() >= 16 && bytes.iter().all(u8::is_ascii_digit) && (quoted || !worded);
    }
    let of = Parts::of(bytes);
    if is_uuid(bytes) || is_hex_pair(examined) {
        return !worded || quoted;
    }
    let strange = is_strange(examined);
    if is_code(examined) && !strange && (!quoted || is_expression(bytes)) {
        return false;
    }
    if is_name(bytes) {
        let scrap = quoted && of.words == 0 && of.is_mixed() && of.bits() >= GENERATED_BITS && bytes.len() >= 6;
        return worded && (scrap || is_worded_password(bytes, of));
    }
    if worded {
        let marked = of.symbols > 0 || of.separators > 0;
        let enough = if quoted { QUOTED_BITS } else { PASSWORD_BITS };
        return of.bits() >= enough && (of.digits > 0 || marked || of.is_scrambled()) || strange;
    }
    of.bits() >= GENERATED_BITS && (of.is_mixed() || of.is_scrambled()) || strange
}

/// Return true if a value that a sentence states is a secret: more than [`is_secret`] asks for.
pub(crate) fn is_stated(value: &str, worded: bool, quoted: bool) -> bool {
    let of = Parts::of(value.as_bytes());
    let bits = if quoted { PASSWORD_BITS } else { STATED_BITS };
    let named = is_name(value.as_bytes());
    is_secret(value, worded, Quoting::Bare) && (named || of.bits() >= bits) && !(is_uuid(value.as_bytes()) && worded)
}

/// Return true if a password is made of words and at least two digits at its end, and says nothing of itself.
fn is_worded_password(value: &[u8], of: Parts) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let names = std::str::from_utf8(value).is_ok_and(says_itself);
    value.len() >= 10 && digits >= 2 && of.numbers <= 2 && of.runs <= 2 + of.numbers && of.separators == 0 && !names
}

/// Return true if a value has a word for a secret or a placeholder in it: `password123`, `my-secret`.
pub(crate) fn says_itself(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| word.len() >= 4 && lower.contains(word))
}

/// Return true if a value has at least five different marks, six in all, as rules for passwords ask for; code has
/// brackets that match.
pub(crate) fn is_strange(value: &str) -> bool {
    let value = &value[..value.floor_char_boundary(EXAMINED_MAX)];
    let is_mark = |letter: &char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '[' | ']');
    let mut marks: Vec<char> = value.chars().filter(is_mark).collect();
    let count = marks.len();
    marks.sort_unstable();
    marks.dedup();
    let code = marks.iter().filter(|mark| !".,?!:;\\\"'`(){}&|=<>".contains(**mark)).count();
    let crossed = has_crossed_brackets(value);
    if ["[^", "a-z", "A-Z", "0-9", "\\s", "\\d", "\\w"].iter().any(|class| value.contains(class)) {
        return false; // a regular expression
    }
    marks.len() >= 5 && count >= 6 && value.chars().any(char::is_alphabetic) && (crossed || code >= 3)
}

/// Return true if a value has a bracket that closes one of another kind.
fn has_crossed_brackets(value: &str) -> bool {
    let mut open = Vec::new();
    value.bytes().any(|byte| {
        let opening = match byte {
            b'(' | b'[' | b'{' => {
                open.push(byte);
                return false;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return false,
        };
        open.pop().is_some_and(|last| last != opening)
    })
}

/// Return true if an unquoted value is code: it has brackets, calls or operators.
fn is_code(value: &str) -> bool {
    value.contains(['(', ')', '[', ']', '{', '}', '<', '>', '|', ';', '`', '"', '\''])
        || ["::", "=>", "->", "?.", "&&", "==", "??"].iter().any(|sign| value.trim_end_matches('=').contains(sign))
        || value.starts_with(['!', '&', '?']) && is_name(value.trim_start_matches(['!', '&', '?']).as_bytes())
        || value.starts_with("0x") && value.len() < 20
}

/// Return true if code in quotes has only names in it: `Option<Token>`, `crypto.randomBytes(32)`.
fn is_expression(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| is_name_part(part, Parts::of(part)))
}

/// Beginnings of values that code reads from elsewhere, and words of values that someone has yet to fill in.
#[rustfmt::skip]
const CODE: [&str; 10] = [
    "process.env", "os.environ", "os.getenv", "env.", "env[", "self.", "this.", "config.", "import.meta", "[redacted",
];
#[rustfmt::skip]
const FILLED_IN: [&str; 10] = [
    "your_", "your-", "yourp", "yours", "xxxx", "changeme", "change-me", "change_me", "placeholder", "redacted",
];

/// Return true if a value stands for another one: `$X`, `root@$X`, `${X}`, `{{ x }}`, `<X>`, `%X%`, `process.env.X`.
fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(first) = bytes.first() else { return true };
    let lower = value.to_ascii_lowercase();
    let named = |from: usize| {
        let name = bytes.iter().skip(from).take_while(|byte| ByteSet::Word.contains(**byte)).count();
        let rest = bytes.get(from + name..).unwrap_or_default();
        let name = bytes.get(from..from + name).unwrap_or_default();
        let ends = rest.first().is_none_or(|byte| b"/:.,@%-\"'\\)}]".contains(byte));
        !name.is_empty()
            && !name[0].is_ascii_digit()
            && ends
            && (is_name(name) || name.iter().all(u8::is_ascii_uppercase))
    };
    // `root@$HOST` names a variable, `Pa5$w0Rd` does not.
    let separate =
        |at: usize| at.checked_sub(1).and_then(|at| bytes.get(at)).is_none_or(|byte| b"@/:=.-_\"'({,".contains(byte));
    let variable = |at: usize| bytes.get(at) == Some(&b'$') && separate(at) && named(at + 1);
    let opens = b"<{[(".contains(first) && !is_strange(value);
    opens
        || value.starts_with("%(")
        || matches!(first, b'%' | b'@' | b'*' | b':') && named(1)
        || bytes.len() > 2 && *first == b'%' && bytes.ends_with(b"%")
        || (0..bytes.len()).any(variable)
        || has_template(bytes)
        || bytes.iter().all(|byte| byte == first || !byte.is_ascii_alphanumeric() && *byte < 0x80) && !is_strange(value)
        || PLACEHOLDERS.contains(&lower.as_str())
        || CODE.iter().any(|code| lower.starts_with(code))
        || FILLED_IN.iter().any(|word| lower.contains(word))
}

/// Return true if a value contains `${NAME…}`, `$(command)` or `{{ name }}`.
fn has_template(value: &[u8]) -> bool {
    value.windows(2).enumerate().any(|(at, open)| {
        let rest = value.get(at + 2..).unwrap_or_default();
        let name = rest.iter().take_while(|byte| ByteSet::Dotted.contains(**byte) || **byte == b' ').count();
        let next = rest.get(name).copied();
        match open {
            b"${" => name > 0 && matches!(next, Some(b'}' | b':' | b'[' | b'?' | b'#' | b'(' | b'%' | b'/') | None),
            b"{{" => {
                let rest = rest.get(name..).unwrap_or_default();
                name > 0 && (rest.starts_with(b"}}") || matches!(next, Some(b'|' | b'(') | None))
            }
            b"$(" => next.is_some(),
            [b'<', b'a'..=b'z' | b'A'..=b'Z'] => next == Some(b'>'),
            b"#{" | b"%{" => name > 0 && matches!(next, Some(b'}' | b'(' | b'[')),
            _ => false,
        }
    })
}

/// Return true if the end of a value was left out: `eyJhbGciOi...`.
fn is_elided(value: &str) -> bool {
    value.ends_with("..") || value.ends_with('…') || value.contains("...")
}

/// Return true if a value is a number, a time, an amount or arithmetics: `15*60`, `3.5e10`, `10px`, `2026-01-31`.
fn is_number(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.,*+/:%-() ".contains(byte));
    let starts = value.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.(".contains(byte));
    plain && starts && digits > 0 && letters <= 2 && letters < digits && !(letters > 0 && value.len() > 8)
}

/// Return true if a value is only a placeholder where even a weak secret counts: in a URL or behind an option.
pub(crate) fn is_placeholder(value: &str) -> bool {
    value.is_empty() || is_reference(value) || is_elided(value)
}

/// Return true if a value is two hexadecimal numbers of equal length with a colon between.
pub(crate) fn is_hex_pair(value: &str) -> bool {
    let hex = |half: &str| half.len() >= 8 && half.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.split_once(':').is_some_and(|(first, second)| first.len() == second.len() && hex(first) && hex(second))
}

/// Return true if a value is written like a digest: hexadecimal digits of one case.
pub(crate) fn is_digest(value: &[u8]) -> bool {
    let all = |upper: fn(&u8) -> bool| value.iter().all(|byte| byte.is_ascii_hexdigit() && !upper(byte));
    value.len() <= DIGEST_MAX && (all(u8::is_ascii_uppercase) || all(u8::is_ascii_lowercase))
}

/// Return true if a value is a digest behind the name of its algorithm: `sha512-…`, `sha256:…`, `h1:…` of Go.
pub(crate) fn has_algorithm(value: &str) -> bool {
    let behind = value.rsplit('@').next().unwrap_or(value); // `token:latest@sha256:…`
    let Some((algorithm, digest)) = behind.split_once([':', '-', '=']) else { return false };
    let name = algorithm.trim_end_matches(|letter: char| letter.is_ascii_digit());
    matches!(name, "h" | "zh" | "sha" | "md" | "blake" | "blake2b" | "SHA" | "MD")
        && digest.len() >= 2 * 16
        && digest.bytes().all(|byte| ByteSet::Wide.contains(byte))
}

/// Return true if a value is a UUID with dashes.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == UUID_BYTES
        && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        && value.iter().all(|byte| ByteSet::Hex.contains(*byte) || *byte == b'-')
}
