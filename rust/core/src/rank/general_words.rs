//! General English words: those that say little about what a text is about, so that sharing one proves nothing.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::stem::stem;

/// Return true if a term is a general word's stem: all but `bake` and `bread` of "what is the best way to bake bread".
pub(super) fn is_general(term: &str) -> bool {
    static STEMS: LazyLock<HashSet<&str>> = LazyLock::new(|| GENERAL_WORDS.split_whitespace().map(stem).collect());
    STEMS.contains(term)
}

/// The words in which people ask for anything at all: requests, amounts, times, judgements and courtesies. Words that
/// name things of a trade (`build`, `test`, `version`), or that facts about a person begin with (`name`, `job`), are not
/// among them, since memories are about such things; nor is `care`, which has the stem of `car`.
const GENERAL_WORDS: &str = "
    able above accept account across act action actual add advice after again against age ago agree ahead allow
    almost alone along already alright although always among amount another answer anybody anyone anything anyway
    anywhere apart appear apply april area around arrive ask august available avoid away awesome back bad base
    basic basically because become before begin behind believe below beside best better between beyond big bit
    both bottom break brief bring busy call came carry case cause certain chance change check choose clear
    close come common compare complete compose concern consider contain continue correct cost couple course cover
    create current daily day deal december decide deep definitely depend describe design detail develop die
    difference different difficult direct discover discuss done double down draw during each early easy effect
    eight else end enough entire especially etc even evening event every everybody everyone everything everywhere
    exact example except exist expect experience explain extra face fact fail fair fall far fast february feel few
    fifth figure fill final find fine finish first fit five fix follow forget form formal forward found four free
    friday front full fun further future gave general generate get gets getting give given go goes going gone
    gonna good got gotten great group grow guess guide half hand handle happen happy hard hear held hello
    help hey hi high hold hope hot hour however huge hundred hurry idea immediately implement important include
    indeed inform information inside instead interest interesting into introduce involve january join july june
    keep kind knew know known lack large last late later latest lead learn least leave left less letter level life
    light like likely line list listen little live long longer look lose lost lot love low lower made main make
    making manage manner many march matter maybe mean meant meet mention middle might mind minute mistake moment
    monday month more morning most mostly move must near nearly necessary need never new news next nice night nine
    nobody none nope normal nothing notice november now number obvious october off offer often oh ok okay old once
    one ones only open opinion opposite option others otherwise out outside over own page paragraph part
    particular past pay people percent perfect person pick piece place play plenty point poor possible prefer
    prepare present pretty prevent previous probably problem produce proper provide purpose put quality question
    quick quickly quite raise range rate rather reach read ready real reason receive recent recently recommend
    reduce refer regard relate remain remember remove repeat reply require respond rest result return rewrite
    right round safe said same sample saturday saw say second see seem seen sense sentence sentences separate
    september serious set seven several short show side similar simple simply single sit situation six size slow
    small somebody someone something sometimes somewhere soon sorry sort sound speak special specific spend stand
    start stay still stop story straight strong stuff style suggest suggestion suit summarise summarize summary
    sunday suppose sure surprise take taken taking talk teach ten term thank thanks thing things think third
    thought thousand three through throughout thursday time times tip today together told tomorrow tonight took
    top topic total touch toward translate treat tried trouble true try tuesday turn twice two typical under
    understand unless unlike until up upon use used useful using usual usually various via visit wait walk want
    watch way wednesday week weekend welcome well went whether whole wide win wish within without wonder word
    words work worse worst worth write written wrong wrote yeah year years yesterday young zero
";

#[cfg(test)]
mod tests {
    use super::{GENERAL_WORDS, is_general};

    /// The list is sorted without repetition, and inflected words are found by their stem.
    #[test]
    fn words_are_sorted_and_found() {
        let words: Vec<&str> = GENERAL_WORDS.split_whitespace().collect();
        assert!(words.is_sorted_by(|a, b| a < b));
        for word in ["write", "explained", "differences", "best"] {
            assert!(is_general(super::stem(word)), "{word}");
        }
        for word in ["pier", "worktree", "test"] {
            assert!(!is_general(super::stem(word)), "{word}");
        }
    }
}
