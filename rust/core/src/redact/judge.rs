//! Whether a value reads as a secret: made by chance, or only standing for another.

use crate::redact::rules::{Body, Keyword, PLACEHOLDERS, SECRET_KEYS};

/// A value is judged by no more than its first bytes, so that a long line of keywords stays linear.
pub(crate) const JUDGED_MAX: usize = 256;
/// The longest digest in use, SHA-512, in hexadecimal digits.
const DIGEST_MAX: usize = 128;

/// What something wrote between the name and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// In quotes.
    Quoted,
    /// In none.
    Bare,
}

/// Whether a value reads as a secret, by the keyword that announced it and how it stood.
pub(crate) fn plausible(value: &str, keyword: &Keyword, stands: Stands) -> bool {
    let quoted = stands == Stands::Quoted;
    let free_form = quoted && keyword.worded;
    let least = match (keyword.worded, quoted) {
        (true, true) => 4,
        (true, false) => 6,
        (false, _) => 8,
    };
    if value.len() < least || value.bytes().any(|byte| byte.is_ascii_whitespace()) || stands_for_another(value) {
        return false;
    }
    let code = !quoted && value.contains('(');
    let alike = free_form
        || halves(value)
        || is_number(value) && !keyword.worded
        || (made_by_machine(value) || scrambled(value)) && !code
        || punctuated(value);
    alike && !(keyword.word == "pwd" && is_path(value)) && !is_place(value)
}

/// Whether what follows a scheme in an HTTP header proves a right. The base64 of Basic may be without digits.
pub(crate) fn authorizes(scheme: &str, credentials: &str) -> bool {
    let bytes = credentials.as_bytes();
    let any = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let base64 = || bytes.len().is_multiple_of(4) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    bytes.len() >= 8
        && !any(u8::is_ascii_whitespace)
        && (made_by_machine(credentials) || scheme.eq_ignore_ascii_case("basic") && base64())
        && !stands_for_another(credentials)
}

/// Whether a name that ends in `key` is one of those that are secret.
pub(crate) fn names_a_secret_key(name: &[u8]) -> bool {
    let word = name.iter().rev().take_while(|byte| Body::Word.holds(**byte)).count();
    let name: String = name[name.len() - word..]
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    SECRET_KEYS.iter().any(|secret| name.ends_with(secret))
}

/// Two hexadecimal numbers of one length with a colon between.
pub(crate) fn halves(value: &str) -> bool {
    let hex = |half: &str| half.len() >= 8 && half.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.split_once(':').is_some_and(|(first, second)| first.len() == second.len() && hex(first) && hex(second))
}

/// Digits only, more than a count or a time has.
pub(crate) fn is_number(value: &str) -> bool {
    value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// The working directory has the same name as a password.
fn is_path(value: &str) -> bool {
    matches!(value.as_bytes(), [b'/' | b'~', ..] | [_, b':', b'/' | b'\\', ..])
}

/// A file or an address, which may hold a secret but is none.
fn is_place(value: &str) -> bool {
    ["/", "./", "../", "~/", "http://", "https://", "file:"].iter().any(|place| value.starts_with(place))
}

/// Digits among letters: what an ordinary word does not have.
pub(crate) fn made_by_machine(value: &str) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    any(u8::is_ascii_alphabetic) && any(u8::is_ascii_digit)
}

/// Upper case, lower case and digits together.
pub(crate) fn of_three_classes(value: &[u8]) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.iter().any(wanted);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// Punctuation of many kinds among letters, as people are told to put into passwords.
pub(crate) fn punctuated(value: &str) -> bool {
    let mut kinds: Vec<char> =
        value.chars().take(JUDGED_MAX).filter(|held| !held.is_alphanumeric() && *held != '_' && *held != '-').collect();
    let count = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() >= 5 && count >= 6 && value.chars().any(char::is_alphabetic)
}

/// Long and without a digit, but with the cases of letters mixed as no name mixes them.
fn scrambled(value: &str) -> bool {
    let bytes = &value.as_bytes()[..value.len().min(JUDGED_MAX)];
    let plain = bytes.iter().all(|byte| byte.is_ascii_alphabetic() || b"+/=".contains(byte));
    plain && value.len() >= 16 && {
        let shape = Shape::of(bytes);
        shape.upper >= 3 && shape.lower >= 3 && shape.alnum * 10 <= shape.segments * 34
    }
}

/// What a value is made of.
#[derive(Default)]
struct Shape {
    alnum: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// Words, as a reader of camel case sees them, and numbers.
    segments: usize,
    numbers: usize,
}

impl Shape {
    fn of(value: &[u8]) -> Self {
        let mut shape = Self::default();
        let (mut before, mut capitals) = (0_u8, 0_usize);
        for byte in value {
            let class = match byte {
                b'0'..=b'9' => b'd',
                b'A'..=b'Z' => b'u',
                b'a'..=b'z' => b'l',
                _ => 0,
            };
            shape.alnum += usize::from(class != 0);
            shape.digits += usize::from(class == b'd');
            shape.upper += usize::from(class == b'u');
            shape.lower += usize::from(class == b'l');
            let capitalised = before == b'u' && class == b'l' && capitals == 1;
            if class != 0 && class != before && !capitalised {
                shape.segments += 1;
                shape.numbers += usize::from(class == b'd');
            }
            capitals = if class == b'u' { capitals + 1 } else { 0 };
            before = class;
        }
        shape
    }

    /// Letters and digits change as often as they do by chance.
    fn restless(&self) -> bool {
        let both = self.upper > 0 && self.lower > 0;
        let tenths = match (both, self.numbers) {
            (false, 3..) if self.alnum >= 32 => 80,
            (true, _) => 30,
            (false, 0..=2) => 36,
            (false, _) => 46,
        };
        self.digits > 0
            && self.upper + self.lower > 0
            && (self.numbers > 1 || both)
            && self.alnum * 10 <= self.segments * tenths
    }
}

/// Whether a value reads as made by chance: a part of it without punctuation does, and it is long enough.
pub(crate) fn random(value: &[u8]) -> bool {
    let value = &value[..value.len().min(JUDGED_MAX)];
    let whole = Shape::of(value);
    if whole.alnum < 14 || whole.digits == 0 || whole.upper + whole.lower < 2 {
        return false;
    }
    let capitals = whole.lower == 0 && whole.alnum >= 24 && whole.digits >= 4 && whole.numbers >= 3;
    let parts = || value.split(|byte| !byte.is_ascii_alphanumeric());
    capitals
        || parts().any(|part| part.len() >= 10 && Shape::of(part).restless())
        || value.len() >= 20 && whole.upper > 2 && whole.lower > 2 && whole.alnum * 10 <= whole.segments * 26
}

/// Whether a value is as digests are written: hexadecimal digits of one case, whatever it begins with.
pub(crate) fn is_digest(value: &[u8]) -> bool {
    let all = |upper: fn(&u8) -> bool| value.iter().all(|byte| byte.is_ascii_hexdigit() && !upper(byte));
    if value.len() > DIGEST_MAX {
        return false;
    }
    all(u8::is_ascii_uppercase) || all(u8::is_ascii_lowercase)
}

/// Random without doubt: long, of three classes, changing often.
pub(crate) fn surely_random(value: &[u8]) -> bool {
    let shape = Shape::of(&value[..value.len().min(JUDGED_MAX)]);
    shape.alnum >= 20
        && shape.upper > 2
        && shape.lower > 2
        && shape.digits > 1
        && shape.alnum * 10 <= shape.segments * 27
}

/// What kind of name of a thing a value could also be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Uuid,
    Hex,
    Other,
}

/// The class of a value that was made by chance; none if it was not.
pub(crate) fn class(value: &[u8]) -> Option<Class> {
    if is_uuid(value) {
        return Some(Class::Uuid);
    }
    let hex = value.iter().all(u8::is_ascii_hexdigit);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if hex && digits > 0 && digits < value.len() {
        return Some(Class::Hex);
    }
    random(value).then_some(Class::Other)
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A variable, a template, a mask or a word that says what kind of value belongs here.
pub(crate) fn stands_for_another(value: &str) -> bool {
    let bytes = value.as_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    let lower = value[..value.floor_char_boundary(JUDGED_MAX)].to_ascii_lowercase();
    let opens = b"$<{%[(@*".contains(&first) && !punctuated(value);
    opens
        || holds_a_template(bytes)
        || bytes.iter().all(|byte| *byte == bytes[0])
        || PLACEHOLDERS.contains(&lower.as_str())
        || [
            "process.env",
            "os.environ",
            "os.getenv",
            "env.",
            "your_",
            "your-",
            "self.",
            "this.",
            "config.",
            "[redacted",
        ]
        .iter()
        .any(|code| lower.starts_with(code))
}

/// `${NAME}` or `{{ name }}` somewhere inside.
fn holds_a_template(value: &[u8]) -> bool {
    let value = &value[..value.len().min(JUDGED_MAX)];
    value.windows(2).enumerate().any(|(at, open)| {
        let close: &[u8] = match open {
            b"${" => b"}",
            b"{{" => b"}}",
            _ => return false,
        };
        let name = value[at + 2..].iter().take_while(|byte| Body::Dotted.holds(**byte) || **byte == b' ').count();
        name > 0 && value[at + 2 + name..].starts_with(close)
    })
}
