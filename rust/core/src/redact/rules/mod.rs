//! What a secret looks like, in tables: published formats, the words that announce a value, and the names of services.
//!
//! Formats are facts that the issuers publish; the lengths are kept below the published ones, so that a truncated
//! secret is still covered.

mod body;
mod clouds;
mod formats;
mod services;
mod words;

pub(crate) use body::{Begins, Body, Infix, Token};
pub(crate) use clouds::CLOUDS;
pub(crate) use formats::{FORMATS, INFIXES};
pub(crate) use services::SERVICES;
pub(crate) use words::{
    BENIGN, BENIGN_KEYS, COMMON, CREDENTIALS, DIGESTS, IDENTIFIERS, KEYWORDS, Keyword, NAMES, NOT_THE_VALUE,
    PLACEHOLDERS, SECRET_KEYS, STRONG,
};

/// Every published format that begins with a prefix.
pub(crate) fn tokens() -> impl Iterator<Item = &'static Token> {
    FORMATS.iter().chain(CLOUDS)
}

#[cfg(test)]
mod tests {
    use super::{BENIGN, BENIGN_KEYS, COMMON, CREDENTIALS, DIGESTS, SERVICES, STRONG};

    /// The words are looked up by halving.
    #[test]
    fn words_are_in_order() {
        for list in [BENIGN, BENIGN_KEYS, COMMON, CREDENTIALS, DIGESTS, SERVICES, STRONG] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
