//! Rule tables: published token formats, words that announce a value, names of services.
//!
//! Formats are facts that the issuers publish; minimum lengths are below the published ones, so that a truncated secret
//! is still covered.

mod cloud_formats;
mod mentions;
mod phrases;
mod service_formats;
mod service_names;
mod token_format;
mod word_lists;

pub(crate) use cloud_formats::CLOUD_FORMATS;
pub(crate) use mentions::{BACK_POINTERS, CUES, IDENTIFYING_WORDS, POINTERS, UNSURE_LABELS};
pub(crate) use phrases::{
    ADVERBS, Argument, BACKWARD_LINKS, CHANGES, CLIENTS, COOKIE_ATTRIBUTES, COOKIE_NAMES, COPULAS, Client, LABELS,
    LEADS, PARTICLES, READERS, STATE_WORDS,
};
pub(crate) use service_formats::{INFIXES, SERVICE_FORMATS};
pub(crate) use service_names::SERVICES;
pub(crate) use token_format::{Begins, ByteSet, Infix, Token};
pub(crate) use word_lists::{
    CREDENTIAL_WORDS, DESCRIPTION_WORDS, DIGEST_WORDS, FUNCTION_WORDS, IDENTIFIER_KEYS, IDENTIFIER_PREFIXES,
    IDENTIFIER_WORDS, KEYWORDS, Keyword, LOOKUP_KEYS, PLACEHOLDERS, SECRET_KEYS, STRONG_CREDENTIALS,
};

/// Iterate over every published format that begins with a prefix.
pub(crate) fn tokens() -> impl Iterator<Item = &'static Token> {
    SERVICE_FORMATS.iter().chain(CLOUD_FORMATS)
}

#[cfg(test)]
mod tests {
    use super::{
        CREDENTIAL_WORDS, DIGEST_WORDS, FUNCTION_WORDS, IDENTIFIER_WORDS, LOOKUP_KEYS, SERVICES, STRONG_CREDENTIALS,
    };

    /// The word lists are sorted, as they are searched by bisection.
    #[test]
    fn words_are_in_order() {
        for list in [
            IDENTIFIER_WORDS,
            LOOKUP_KEYS,
            FUNCTION_WORDS,
            CREDENTIAL_WORDS,
            DIGEST_WORDS,
            SERVICES,
            STRONG_CREDENTIALS,
        ] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
