//! Query parsing: a query text as weighted terms of the index.

use std::collections::BTreeMap;

use super::Index;
use super::analyzer::for_each_term;
use super::bm25::idf;
use super::char_folding::is_unspaced;
use super::general_words::is_general;
use super::languages::Languages;
use super::stem::stem;
use super::stop_words::{is_function_word, is_stop_word};
use super::vocabulary::PREFIX_BYTES;

/// Query terms that are searched, those of highest weight first: it bounds the work of a query that is a whole page.
const TERMS_MAX: usize = 64;
/// Weight factor of a term that only shares a prefix with the query word, see [`related`].
const RELATED_WEIGHT: f64 = 0.5;
/// In a query of function words alone, a word counts only if at most one document in 8 contains it.
const FUNCTION_SHARE: usize = 8;
/// Below this many documents every function word counts: a share of so few documents means nothing.
const FUNCTION_TEXTS_MIN: usize = 16;

/// Texts without any word that are added for the rarity of words: of three texts each word is in a third.
const SMOOTHING: usize = 100;

/// Rarity from which an identifier is a name of few things: one text in twenty may have it.
const NAME_RARITY: f64 = 0.3;

/// Power of the number of topic words that the matched ones are divided by, see [`Query::relevance`].
const LENGTH_POWER: f64 = 0.75;

/// What an unknown word counts that found a related term: enough for a query of one word, and not for one of two.
const RELATED_FOUND: f64 = 0.6;

/// What the words of a text must count together to answer a query of another language: one of them alone may be there
/// by chance, two of which one is rare are not.
const FOREIGN_FOUND: f64 = 1.2;

/// Known terms that one unknown query word may be expanded to.
const RELATED_MAX: usize = 8;
/// Bytes that an unknown word may be longer than the known term that it begins with (`deployer` finds `deploy`).
const SUFFIX_MAX: usize = 4;

/// A term of a query: its spelling, its weight (IDF, halved for a related term) and the query word that it came from.
pub(super) struct QueryTerm {
    pub(super) spelling: String,
    pub(super) weight: f64,
    pub(super) word: String,
}

/// What a word that says what a query is about counts: in the query, and in a text that has it or a related term.
#[derive(Default)]
struct Topic {
    asked: f64,
    found: f64,
    /// It may be a name in any language: the index has the word, which is no letter and not of a script without spaces.
    is_known: bool,
}

/// A parsed query.
pub(super) struct Query {
    /// In the order of their spelling, so that scores are always summed in the same order.
    pub(super) terms: Vec<QueryTerm>,
    /// The number of these terms that a document must contain (minimum should match).
    pub(super) min_matches: usize,
    topic: BTreeMap<String, Topic>,
    /// The query is of a language that the index does not know.
    is_foreign: bool,
}

impl Query {
    /// Parse a query against the terms of an index.
    ///
    /// Function words count only if the query has no other word: "how do I deploy" searches for `deploy` alone, else
    /// every text phrased as a question would match. A query of function words alone ("who are you") must match two of
    /// them, and those in more than one document of 8 are dropped.
    pub(super) fn new(index: &Index, query: &str) -> Self {
        let Asked { words, has_content_word, is_foreign } = searched_words(index, query);
        let mut by_spelling: BTreeMap<String, QueryTerm> = BTreeMap::new();
        for (term, word) in &words {
            let (expansions, factor) = expansions(index, term);
            for (spelling, frequency) in expansions {
                let weight = factor * idf(index.len(), frequency);
                if weight > by_spelling.get(&spelling).map_or(0.0, |previous| previous.weight) {
                    by_spelling.insert(spelling.clone(), QueryTerm { spelling, weight, word: word.clone() });
                }
            }
        }
        let terms = heaviest(by_spelling.into_values().collect());
        let min_matches = if has_content_word { 1 } else { terms.len().min(2) };
        let topic = if has_content_word { topic(index, &words) } else { BTreeMap::new() };
        Self { terms, min_matches, topic, is_foreign }
    }

    /// Return 0 to 1: how much of what a query is about is in a text that has these of its words.
    ///
    /// The query's words are divided by a power of their number, since a long query is about several things, and a text
    /// about one of them: of words that count alike, two of 4 give 0.71, and 4 of 16 give 0.5.
    /// Each of `more` things beside its words that the query asks for and the text has counts as a word. A query without
    /// such words ("and then?") is about nothing.
    ///
    /// Words that no text has count against a text, but not in a query of another language, where they are all words but
    /// names: "почему commit падает после login" is about `commit` and `login`.
    pub(super) fn relevance<'w>(&self, matched: impl Iterator<Item = &'w str>, more: usize) -> f64 {
        let matched: Vec<&Topic> = matched.filter_map(|word| self.topic.get(word)).collect();
        let more = f64::from(u8::try_from(more).unwrap_or(u8::MAX));
        let share = |counts: fn(&Topic) -> bool, least: f64| {
            let all: f64 = self.topic.values().filter(|topic| counts(topic)).map(|topic| topic.asked).sum();
            let found: f64 = matched.iter().filter(|topic| counts(topic)).map(|topic| topic.found).sum();
            if all > 0.0 && found >= least { ((found + more) / all.powf(LENGTH_POWER)).min(1.0) } else { 0.0 }
        };
        let of_all = share(|_| true, 0.0);
        if self.is_foreign { of_all.max(share(|topic| topic.is_known, FOREIGN_FOUND)) } else { of_all }
    }
}

/// Return what each word that says what a query is about counts for [`Query::relevance`].
///
/// A word counts by how rare it is, one that no text has the most, so that what a text lacks counts against it. Where
/// the query has an identifier that few texts have, unknown words do not count: they are of another language, as in
/// "warum bricht loadConfig ab". General words ([`is_general`]) and numbers that no text has say nothing.
fn topic(index: &Index, words: &BTreeMap<String, String>) -> BTreeMap<String, Topic> {
    let all = index.len() + SMOOTHING;
    let rarity = |frequency: usize| idf(all, frequency) / idf(all, 0);
    let is_named = |term: &str| {
        let frequency = index.document_frequency(term);
        frequency > 0 && rarity(frequency) > NAME_RARITY
    };
    let names_known = words.iter().any(|(term, word)| is_identifier(word) && is_named(term));
    let mut topic: BTreeMap<String, Topic> = BTreeMap::new();
    for (term, word) in words {
        let frequency = index.document_frequency(term);
        let is_noise = frequency == 0 && (names_known || term.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_general(term) && !is_noise {
            let weight = rarity(frequency).sqrt();
            let of_word = topic.entry(word.clone()).or_default();
            of_word.asked = of_word.asked.max(weight);
            of_word.found = of_word.found.max(if frequency > 0 { weight } else { RELATED_FOUND });
            of_word.is_known |= frequency > 0 && term.len() > 1 && !term.chars().any(is_unspaced);
        }
    }
    topic
}

/// Return true for a word that names something in code: `loadConfig`, `max_tokens`.
fn is_identifier(word: &str) -> bool {
    word.contains('_') || word.chars().any(char::is_uppercase)
}

/// The words of a query that count.
struct Asked {
    /// The word of each term.
    words: BTreeMap<String, String>,
    /// One of them is no function word.
    has_content_word: bool,
    is_foreign: bool,
}

/// Return the words of a query that count.
fn searched_words(index: &Index, query: &str) -> Asked {
    let mut all: Vec<(String, String)> = Vec::new();
    for_each_term(query, |term, word| all.push((term.to_owned(), word.to_owned())));
    let languages = Languages::of(&all.iter().map(|(_, word)| word.as_str()));
    let is_function = |word: &str| is_function_word(word) || languages.have(word) || languages.have_parts_of(word);
    let has_content_word = all.iter().any(|(_, word)| !is_function(word));
    // More of its words are unknown than are such as any English text has: "how do I bake bread" has three of these.
    let is_unknown = |term: &str, word: &str| languages.have(word) || index.document_frequency(term) == 0;
    let unknown = all.iter().filter(|(term, word)| is_unknown(term, word)).count();
    let is_english = |word: &str| is_stop_word(word) || is_function_word(word) || is_general(stem(word));
    let lower = query.to_lowercase();
    let spoken = lower.split(|character: char| !character.is_alphanumeric());
    let is_foreign = unknown > spoken.filter(|word| is_english(word) && !languages.have(word)).count();
    // Where words of one term differ, the first that counts is kept: "wir" and "wire" have one stem.
    all.retain(|(term, word)| if has_content_word { !is_function(word) } else { is_selective(index, term) });
    let mut words = BTreeMap::new();
    for (term, word) in all {
        words.entry(term).or_insert(word);
    }
    Asked { words, has_content_word, is_foreign }
}

/// Return the terms of a query word, with their document frequencies, and the factor of their weight.
///
/// The word itself with factor 1; or, if no document contains it, related terms with factor 0.5.
fn expansions(index: &Index, term: &str) -> (Vec<(String, usize)>, f64) {
    let frequency = index.document_frequency(term);
    if frequency > 0 {
        return (vec![(term.to_owned(), frequency)], 1.0);
    }
    let with_frequency = |term: String| {
        let frequency = index.document_frequency(&term);
        (term, frequency)
    };
    (related(index, term).into_iter().map(with_frequency).collect(), RELATED_WEIGHT)
}

/// Return the terms nearest to one that no document contains.
///
/// Up to 8 terms that begin with it, shortest first, or else the longest term that it begins with: `config` gives
/// `configuration`. Scripts written without spaces give nothing.
fn related(index: &Index, term: &str) -> Vec<String> {
    if term.chars().any(is_unspaced) {
        return Vec::new();
    }
    let mut longer = index.terms_with_prefix(term);
    longer.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    longer.dedup();
    longer.truncate(RELATED_MAX);
    if longer.is_empty() {
        longer.extend(shorter(index, term));
    }
    longer
}

/// Return the longest known term that this one extends by up to `SUFFIX_MAX` bytes.
fn shorter(index: &Index, term: &str) -> Option<String> {
    (1..=SUFFIX_MAX)
        .filter_map(|suffix| term.get(..term.len().checked_sub(suffix)?))
        .filter(|shorter| shorter.len() >= PREFIX_BYTES)
        .map(stem)
        .find(|shorter| index.document_frequency(shorter) > 0)
        .map(str::to_owned)
}

/// Return true if a function word is rare enough in this index to select documents.
fn is_selective(index: &Index, term: &str) -> bool {
    index.len() < FUNCTION_TEXTS_MIN || index.document_frequency(term) * FUNCTION_SHARE <= index.len()
}

/// The `TERMS_MAX` terms of highest weight, in their old order.
fn heaviest(terms: Vec<QueryTerm>) -> Vec<QueryTerm> {
    if terms.len() <= TERMS_MAX {
        return terms;
    }
    let mut numbered: Vec<(usize, QueryTerm)> = terms.into_iter().enumerate().collect();
    numbered.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(&b.0)));
    numbered.truncate(TERMS_MAX);
    numbered.sort_unstable_by_key(|&(position, _)| position);
    numbered.into_iter().map(|(_, terms)| terms).collect()
}
