//! Plausibility of a value as a secret: random enough, and not a placeholder, path, number or template.

use crate::redact::rules::{ByteSet, FUNCTION_WORDS, Keyword, PLACEHOLDERS, SECRET_KEYS, STATE_WORDS};

/// Bytes of a value that are examined, so that a long line of keywords stays linear.
pub(crate) const EXAMINED_MAX: usize = 256;
/// Hexadecimal digits of the longest digest in use (SHA-512).
const DIGEST_MAX: usize = 128;

/// Form in which a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// In quotes.
    Quoted,
    /// Without quotes.
    Bare,
}

/// Return true if a value reads as a secret, given the keyword that announced it and its quoting.
///
/// Passwords are words of people: in quotes 4 characters are enough, without quotes 6; keys and tokens need 8 and must
/// look machine-made. `token = "refresh"` is not a secret, `token = "a8f3k2x9"` is.
pub(crate) fn is_plausible(value: &str, keyword: &Keyword, quoting: Quoting) -> bool {
    let quoted = quoting == Quoting::Quoted;
    let free_form = quoted && keyword.worded;
    let length_min = match (keyword.worded, quoted) {
        (true, true) => 4,
        (true, false) => 6,
        (false, _) => 8,
    };
    if value.len() < length_min || value.bytes().any(|byte| byte.is_ascii_whitespace()) || is_placeholder(value) {
        return false;
    }
    let code = !quoted && value.contains('(');
    let looks_secret = free_form
        || is_hex_pair(value)
        || is_number(value) && !keyword.worded
        || (mixes_letters_and_digits(value) || has_scrambled_case(value)) && !code
        || is_heavily_punctuated(value)
        || keyword.worded
            && !code
            && (has_password_symbols(value)
                || is_hyphenated_passphrase(value)
                || value.len() >= 8 && is_mixed_case_by_chance(value));
    looks_secret && !(keyword.word == "pwd" && is_path(value)) && !is_location(value)
}

/// Return true if a value that a sentence states reads as a secret: it is no plain word.
pub(crate) fn is_stated_secret(value: &str, label: &Keyword) -> bool {
    let bytes = value.as_bytes();
    let all = |wanted: fn(&u8) -> bool| bytes.iter().all(wanted);
    if value.len() < 4 || is_placeholder(value) || is_location(value) || value.contains("://") || value.contains("()") {
        return false;
    }
    if all(|byte| byte.is_ascii_digit() || b" -".contains(byte)) {
        return label.worded && !all(|byte| b" -".contains(byte)) || is_number(value);
    }
    // `12-character`, `8-bit`
    let counted = value.split_once('-').is_some_and(|(number, unit)| {
        number.bytes().all(|byte| byte.is_ascii_digit()) && unit.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let lower = value.to_ascii_lowercase();
    if counted || all(u8::is_ascii_whitespace) || value.contains(' ') || STATE_WORDS.contains(&lower.as_str()) {
        return false;
    }
    if !label.worded {
        return value.len() >= 8 && (mixes_letters_and_digits(value) || has_scrambled_case(value));
    }
    let inner_capital = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    value.len() >= 5 && mixes_letters_and_digits(value)
        || has_password_symbols(value)
        || is_hyphenated_passphrase(value)
        || inner_capital && value.len() >= 8 && all(u8::is_ascii_alphabetic)
        || has_scrambled_case(value)
}

/// Return true if a plain word can be the value of `the password is …`, and does not describe the password.
///
/// Participles and adjectives have endings that few made-up words have: `the password is stored`, `… is missing`.
pub(crate) fn is_plain_secret_word(value: &str) -> bool {
    const ENDINGS: [&str; 14] =
        ["ed", "ing", "able", "ible", "ly", "ous", "less", "ful", "ary", "ant", "ent", "ive", "ical", "ten"];
    let lower = value.to_lowercase();
    let plain = value.len() >= 5 && value.len() <= 32 && value.bytes().all(|byte| byte.is_ascii_lowercase());
    plain
        && !is_placeholder(value)
        && STATE_WORDS.binary_search(&lower.as_str()).is_err()
        && FUNCTION_WORDS.binary_search(&lower.as_str()).is_err()
        && !ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// Return true if a bare value has letters, and marks that passwords have and names and numbers do not.
///
/// Those are two different marks, or one between upper and lower case or digits. `a.b-c_d` has none of them.
pub(crate) fn has_password_symbols(value: &str) -> bool {
    let bytes = &value.as_bytes()[..value.len().min(EXAMINED_MAX)];
    let is_symbol = |byte: &u8| b"!@#$%^&*?~+".contains(byte);
    let mut symbols: Vec<u8> = bytes.iter().copied().filter(is_symbol).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let any = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let letters = any(u8::is_ascii_alphabetic);
    let cases = any(u8::is_ascii_lowercase) && (any(u8::is_ascii_uppercase) || any(u8::is_ascii_digit));
    let inside = bytes.len() > 2 && bytes[1..bytes.len() - 1].iter().any(is_symbol);
    let code = value.contains("&&") || value.contains("::") || any(|byte| b"()[]{}\"'`".contains(byte));
    value.len() >= 6 && letters && !code && (symbols.len() >= 2 || symbols.len() == 1 && cases && inside)
}

/// Return true if a value is three words or more with hyphens between, as generators of passphrases write them.
pub(crate) fn is_hyphenated_passphrase(value: &str) -> bool {
    let words = value.split('-');
    let written = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let function = |word: &str| FUNCTION_WORDS.binary_search(&word).is_ok() || STATE_WORDS.binary_search(&word).is_ok();
    value.len() >= 14 && words.clone().count() >= 3 && words.clone().all(|word| written(word) && !function(word))
}

/// Return true if letters change between upper and lower case as no words do: `KUvXBiFoBSYn`, not `getUserName`.
///
/// In names, a lower-case letter stands alone and capitals stand together seldom.
pub(crate) fn is_mixed_case_by_chance(value: &str) -> bool {
    let bytes = value.as_bytes();
    let (mut odd, mut at, mut marks) = (0, 0, false);
    while at < bytes.len() {
        let same: fn(&u8) -> bool = match bytes[at] {
            b'a'..=b'z' => u8::is_ascii_lowercase,
            b'A'..=b'Z' => u8::is_ascii_uppercase,
            _ => {
                marks = true;
                at += 1;
                continue;
            }
        };
        let length = bytes[at..].iter().take_while(|byte| same(byte)).count();
        let single_lower = length == 1 && bytes[at].is_ascii_lowercase() && at > 0;
        odd += usize::from(single_lower || length > 1 && bytes[at].is_ascii_uppercase());
        at += length;
    }
    let both = bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    let code = value.contains(['(', '[', '{', '<', '.']) && odd < 3;
    both && !code && odd >= if marks { 1 } else { 2 }
}

/// Return true if the credentials behind a scheme in an HTTP header read as real. Base64 for Basic may have no digit.
pub(crate) fn is_authorization(scheme: &str, credentials: &str) -> bool {
    let bytes = credentials.as_bytes();
    let any = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let base64 = || bytes.len().is_multiple_of(4) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    bytes.len() >= 8
        && !any(u8::is_ascii_whitespace)
        && (mixes_letters_and_digits(credentials) || scheme.eq_ignore_ascii_case("basic") && base64())
        && !is_placeholder(credentials)
}

/// Return true if a name that ends in `key` is that of a secret key (`api_key`, but not `primary_key`).
pub(crate) fn is_secret_key_name(name: &[u8]) -> bool {
    // From the end, without what separates words: `API-Key` ends as `apikey` does.
    let letters = || {
        let word = name.iter().rev().take_while(|byte| ByteSet::Word.contains(**byte));
        word.filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
    };
    SECRET_KEYS.iter().any(|secret| {
        let mut letters = letters();
        secret.bytes().rev().all(|letter| letters.next() == Some(letter))
    })
}

/// Return true if the word `key` behind this word makes the name of a secret key: `API` does.
pub(crate) fn is_secret_key_word(before: &str) -> bool {
    let is = |secret: &&str| {
        secret.strip_suffix("key").is_some_and(|word| ends_with_folded(before.trim_end_matches('_'), word))
    };
    SECRET_KEYS.iter().any(is)
}

/// Return true if a word ends with a lower-case one, in any case.
fn ends_with_folded(word: &str, end: &str) -> bool {
    let from = word.len().checked_sub(end.len());
    from.is_some_and(|from| word.as_bytes()[from..].eq_ignore_ascii_case(end.as_bytes()))
}

/// Return true if a value is two hexadecimal numbers of equal length with a colon between.
pub(crate) fn is_hex_pair(value: &str) -> bool {
    let hex = |half: &str| half.len() >= 8 && half.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.split_once(':').is_some_and(|(first, second)| first.len() == second.len() && hex(first) && hex(second))
}

/// Return true if a value has only digits, and at least 16: more than a count or a timestamp has.
pub(crate) fn is_number(value: &str) -> bool {
    value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Return true if a value is an absolute path: `PWD`, the working directory, is named like a password.
fn is_path(value: &str) -> bool {
    matches!(value.as_bytes(), [b'/' | b'~', ..] | [_, b':', b'/' | b'\\', ..])
}

/// Return true if a value is a path or URL, which may contain a secret but is none.
pub(crate) fn is_location(value: &str) -> bool {
    ["/", "./", "../", "~/", "http://", "https://", "file:"].iter().any(|place| value.starts_with(place))
}

/// Return true if a value has both letters and digits, which ordinary words do not.
pub(crate) fn mixes_letters_and_digits(value: &str) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    any(u8::is_ascii_alphabetic) && any(u8::is_ascii_digit)
}

/// Return true if a value has upper case, lower case and digits.
pub(crate) fn has_three_char_classes(value: &[u8]) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.iter().any(wanted);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// Return true if a value is letters with at least 5 different punctuation marks (6 in all), as password rules ask for.
pub(crate) fn is_heavily_punctuated(value: &str) -> bool {
    let (mut ascii, mut others, mut count, mut letters) = (0_u128, Vec::new(), 0, false);
    for character in value.chars().take(EXAMINED_MAX) {
        letters |= character.is_alphabetic();
        if character.is_alphanumeric() || character == '_' || character == '-' {
            continue;
        }
        count += 1;
        if character.is_ascii() {
            ascii |= 1 << u32::from(character);
        } else if !others.contains(&character) {
            others.push(character);
        }
    }
    ascii.count_ones() as usize + others.len() >= 5 && count >= 6 && (letters || value.chars().any(char::is_alphabetic))
}

/// Return true if a long value without digits mixes upper and lower case as no identifier does.
///
/// Its camel-case segments have 3.4 characters or fewer on average: `aGVsbGxvIHdvcmxk` against `parseHeaderLine`.
fn has_scrambled_case(value: &str) -> bool {
    let bytes = &value.as_bytes()[..value.len().min(EXAMINED_MAX)];
    let plain = bytes.iter().all(|byte| byte.is_ascii_alphabetic() || b"+/=".contains(byte));
    plain && value.len() >= 16 && {
        let shape = Shape::of(bytes);
        shape.upper >= 3 && shape.lower >= 3 && shape.alnum * 10 <= shape.segments * 34
    }
}

/// The class of each byte: `d`igit, `u`pper case, `l`ower case, or 0.
const LETTER_CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([0; 256], 0_u8);
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'0'..=b'9' => b'd',
            b'A'..=b'Z' => b'u',
            b'a'..=b'z' => b'l',
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Character statistics of a value.
#[derive(Default)]
struct Shape {
    alnum: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// Camel-case words and numbers: `getUser42` has three.
    segments: usize,
    numbers: usize,
}

impl Shape {
    /// Count the characters and segments of a value.
    #[expect(clippy::needless_bitwise_bool, reason = "branches on random text are mispredicted: half the speed")]
    fn of(value: &[u8]) -> Self {
        let mut shape = Self::default();
        let (mut before, mut capitals) = (0_u8, 0_usize);
        for byte in value {
            let class = LETTER_CLASSES[usize::from(*byte)];
            shape.alnum += usize::from(class != 0);
            shape.digits += usize::from(class == b'd');
            shape.upper += usize::from(class == b'u');
            shape.lower += usize::from(class == b'l');
            let capitalised = (before == b'u') & (class == b'l') & (capitals == 1);
            // Without branches, which random text makes unpredictable.
            let begins = (class != 0) & (class != before) & !capitalised;
            shape.segments += usize::from(begins);
            shape.numbers += usize::from(begins & (class == b'd'));
            capitals = (capitals + 1) * usize::from(class == b'u');
            before = class;
        }
        shape
    }

    /// Return true if letters, cases and digits alternate as often as in random text.
    ///
    /// Segments of random base64 are short: about 2 characters. The limits (3.0, 3.6 or 4.6 characters a segment on
    /// average, 8.0 for long values of one case) leave room for chance, while words of identifiers are longer.
    fn alternates_randomly(&self) -> bool {
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

/// Return true if a value looks random: it is long enough and has a part without punctuation that does.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let value = &value[..value.len().min(EXAMINED_MAX)];
    let whole = Shape::of(value);
    if whole.alnum < 14 || whole.digits == 0 || whole.upper + whole.lower < 2 {
        return false;
    }
    let capitals = whole.lower == 0 && whole.alnum >= 24 && whole.digits >= 4 && whole.numbers >= 3;
    let parts = || value.split(|byte| !byte.is_ascii_alphanumeric());
    capitals
        || parts().any(|part| part.len() >= 10 && Shape::of(part).alternates_randomly())
        || value.len() >= 20 && whole.upper > 2 && whole.lower > 2 && whole.alnum * 10 <= whole.segments * 26
}

/// Return true if a value is written like a digest: hexadecimal digits of one case.
pub(crate) fn is_digest(value: &[u8]) -> bool {
    let all = |upper: fn(&u8) -> bool| value.iter().all(|byte| byte.is_ascii_hexdigit() && !upper(byte));
    if value.len() > DIGEST_MAX {
        return false;
    }
    all(u8::is_ascii_uppercase) || all(u8::is_ascii_lowercase)
}

/// Return true if a value is certainly random: long, with upper case, lower case and digits, frequently alternating.
pub(crate) fn is_surely_random(value: &[u8]) -> bool {
    let shape = Shape::of(&value[..value.len().min(EXAMINED_MAX)]);
    shape.alnum >= 20
        && shape.upper > 2
        && shape.lower > 2
        && shape.digits > 1
        && shape.alnum * 10 <= shape.segments * 27
}

/// Return true if a value only replaces a secret: a variable, a template, a mask (`********`) or a placeholder word.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    let lower = value[..value.floor_char_boundary(EXAMINED_MAX)].to_ascii_lowercase();
    let opens = b"$<{%[(@*".contains(&first) && !is_heavily_punctuated(value) && !is_marked_password(bytes);
    opens
        || contains_template(bytes)
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

/// Return true if a value that begins with a mark of templates is none: `$kX9&mP2q`, as its rest is no name.
fn is_marked_password(value: &[u8]) -> bool {
    let Some((b'$' | b'%' | b'@' | b'*', rest)) = value.split_first() else { return false };
    let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-:[](){}<>'\"/,=|%".contains(byte);
    let any = |wanted: fn(&u8) -> bool| rest.iter().any(wanted);
    let symbols = rest.iter().any(|byte| b"!@#$^&*?~+%".contains(byte));
    let delimited = any(|byte| b"()[]{}<>'\"".contains(byte)) || value[0] == b'%' && rest.ends_with(b"%");
    // A variable has words and a number at the end; letters on both sides of two numbers are no name.
    let scrambled = Shape::of(&rest[..rest.len().min(EXAMINED_MAX)]).numbers >= 2 && any(u8::is_ascii_alphabetic);
    let name = rest.iter().all(is_name_byte) && !symbols;
    rest.len() >= 5 && !delimited && any(u8::is_ascii_alphabetic) && (!name || scrambled)
}

/// Return true if a value contains `${NAME}` or `{{ name }}`.
fn contains_template(value: &[u8]) -> bool {
    let value = &value[..value.len().min(EXAMINED_MAX)];
    value.windows(2).enumerate().any(|(at, open)| {
        let close: &[u8] = match open {
            b"${" => b"}",
            b"{{" => b"}}",
            _ => return false,
        };
        let name = value[at + 2..].iter().take_while(|byte| ByteSet::Dotted.contains(**byte) || **byte == b' ').count();
        name > 0 && value[at + 2 + name..].starts_with(close)
    })
}
