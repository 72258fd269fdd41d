//! Words that hold sentences together and say nothing of what they are about.

/// Whether a word, in lower case, is left out of every text: it stands in all of them.
pub(super) fn is_common(word: &str) -> bool {
    word.len() <= 5
        && matches!(
            word,
            "a" | "an"
                | "and"
                | "are"
                | "as"
                | "at"
                | "be"
                | "but"
                | "by"
                | "for"
                | "from"
                | "has"
                | "have"
                | "he"
                | "in"
                | "is"
                | "it"
                | "its"
                | "of"
                | "on"
                | "or"
                | "that"
                | "the"
                | "their"
                | "this"
                | "to"
                | "was"
                | "we"
                | "were"
                | "which"
                | "will"
                | "with"
        )
}

/// Whether a word, in lower case, is one that nearly every question is made of, or what an apostrophe leaves of such a
/// one (`don't` gives `don` and `t`).
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION.binary_search(&word).is_ok()
}

/// In order, for a binary search.
const FUNCTION: [&str; 137] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be", "been", "being", "but",
    "by", "can", "could", "couldn", "d", "did", "didn", "do", "does", "doesn", "doing", "don", "either", "ever", "for",
    "from", "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "him", "his", "how",
    "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "let", "ll", "m", "may", "me", "might",
    "mine", "much", "my", "myself", "neither", "nor", "not", "of", "on", "onto", "or", "other", "our", "ours",
    "perhaps", "please", "re", "really", "s", "shall", "she", "should", "shouldn", "since", "so", "some", "such", "t",
    "tell", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "though", "thus", "to", "too", "us", "ve", "very", "was", "wasn", "we", "were", "weren", "what", "whatever",
    "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "won", "would",
    "wouldn", "yes", "yet", "you", "your", "yours", "yourself",
];
