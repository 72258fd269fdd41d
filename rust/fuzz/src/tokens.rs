//! Laws of token counts, for any bytes.

use reverie_core::tokens::{ENCODINGS, Encoding};

/// Both encodings, and the text of some bytes.
fn given(data: &[u8]) -> (Vec<Encoding>, String) {
    let encodings = ENCODINGS.iter().filter_map(|name| Encoding::named(name).ok()).collect();
    (encodings, String::from_utf8_lossy(data).into_owned())
}

/// A text that is cut to a limit begins the text and fits the limit, and it is the text where that fits.
pub fn cuts_fit(data: &[u8]) {
    let (limit, data) = data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    let (encodings, text) = given(data);
    for encoding in encodings {
        let total = encoding.count(&text);
        let cut = encoding.truncate(&text, limit);
        assert!(text.starts_with(cut));
        assert!(encoding.count(cut) <= limit);
        assert_eq!(encoding.fits(&text, limit), total <= limit);
        assert_eq!(cut.len() == text.len(), total <= limit);
    }
}

/// Items counted alone add up to the list of them.
pub fn items_add_up(data: &[u8]) {
    let (encodings, text) = given(data);
    let bodies: Vec<String> = text.split(['\r', '\n']).map(|line| format!("x{line}")).collect();
    let list = bodies.iter().fold(String::new(), |list, body| list + "- " + body + "\n");
    for encoding in encodings {
        assert_eq!(encoding.count_items(&bodies).iter().sum::<usize>(), encoding.count(&list));
    }
}

/// Counting again, in a batch, and after others have been counted comes to the same.
pub fn counts_are_the_same_again(data: &[u8]) {
    let (encodings, text) = given(data);
    let parts: Vec<&str> = text.split_inclusive(' ').collect();
    for encoding in encodings {
        let first = encoding.count(&text);
        let alone: Vec<usize> = parts.iter().map(|part| encoding.count(part)).collect();
        assert_eq!(encoding.count_many(&parts), alone);
        assert_eq!(encoding.count(&text), first);
    }
}
