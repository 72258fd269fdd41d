//! Stop words, which are never indexed, and function words, which most queries ignore.

/// Return true if a lower-case word is a stop word: it is in nearly every English text, so that it is not indexed.
pub(super) fn is_stop_word(word: &str) -> bool {
    match word {
        _ if word.len() > 5 => false,
        "a" | "an" | "and" | "are" | "as" | "at" | "be" | "but" | "by" | "for" | "from" | "has" | "have" | "he"
        | "in" | "is" | "it" | "its" | "of" | "on" | "or" | "that" | "the" | "their" | "this" | "to" | "was" | "we"
        | "were" | "which" | "will" | "with" => true,
        _ => false,
    }
}

/// Return true if a lower-case word is a function word of questions, or what an apostrophe leaves of one (`don't` gives
/// `don` and `t`).
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Function words, sorted for binary search.
const FUNCTION_WORDS: [&str; 137] = [
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
