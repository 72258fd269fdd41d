//! Properties of token counts.

use reverie_core::tokens::{ENCODINGS, Encoding};

/// Both encodings, and the input as text.
fn encodings_and_text(data: &[u8]) -> (Vec<Encoding>, String) {
    let encodings = ENCODINGS.iter().filter_map(|name| Encoding::named(name).ok()).collect();
    (encodings, String::from_utf8_lossy(data).into_owned())
}

/// A truncated text is a prefix that fits the limit, and the text itself if that fits.
pub fn truncated_texts_fit(data: &[u8]) {
    let (limit, data) = data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    let (encodings, text) = encodings_and_text(data);
    for encoding in encodings {
        let total = encoding.count(&text);
        let cut = encoding.truncate(&text, limit);
        assert!(text.starts_with(cut));
        assert!(encoding.count(cut) <= limit);
        assert_eq!(encoding.fits(&text, limit), total <= limit);
        assert_eq!(cut.len() == text.len(), total <= limit);
    }
}

/// The counts of single items add up to the count of their list.
pub fn item_counts_add_up(data: &[u8]) {
    let (encodings, text) = encodings_and_text(data);
    let bodies: Vec<String> = text.split(['\r', '\n']).map(|line| format!("x{line}")).collect();
    let list = bodies.iter().fold(String::new(), |list, body| list + "- " + body + "\n");
    for encoding in encodings {
        assert_eq!(encoding.count_items(&bodies).iter().sum::<usize>(), encoding.count(&list));
    }
}

/// Counting again, in a batch, and after other texts gives the same numbers.
pub fn counts_are_reproducible(data: &[u8]) {
    let (encodings, text) = encodings_and_text(data);
    let parts: Vec<&str> = text.split_inclusive(' ').collect();
    for encoding in encodings {
        let first = encoding.count(&text);
        let expected: Vec<usize> = parts.iter().map(|part| encoding.count(part)).collect();
        assert_eq!(encoding.count_many(&parts), expected);
        assert_eq!(encoding.count(&text), first);
    }
}
