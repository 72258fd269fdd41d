//! Tests of the search index against a reference that scores every text.

#![expect(clippy::unwrap_used, reason = "numbers of a test are small")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::rank::{Entry, Filter, Hit, Index};

/// A text in the reference: words, groups, timestamp.
type Text = (Vec<String>, Vec<String>, Option<i64>);

/// The start of the length class of a length: exact below 32, then 16 classes for each doubling.
fn class_start(length: usize) -> f64 {
    let step = if length < 32 { 1 } else { 1 << (length.ilog2() - 4) };
    f64::from(u32::try_from(length / step * step).unwrap())
}

/// A count as a floating-point number.
fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// Score every text by BM25, best first, equal scores by id.
fn reference_ranking(texts: &BTreeMap<String, Text>, query: &str, filter: &Filter) -> Vec<(String, f64)> {
    let all = number(texts.len());
    let average = (number(texts.values().map(|(words, ..)| words.len()).sum()) / all).max(1.0);
    let query_words: BTreeSet<&str> = query.split(' ').filter(|word| !word.is_empty()).collect();
    let document_frequency =
        |word: &str| number(texts.values().filter(|(words, ..)| words.iter().any(|other| other == word)).count());
    let weights: Vec<(&str, f64)> = query_words
        .into_iter()
        .map(|word| (word, (1.0 + (all - document_frequency(word) + 0.5) / (document_frequency(word) + 0.5)).ln()))
        .collect();
    let mut ranking: Vec<(String, f64)> = texts
        .iter()
        .filter(|(id, text)| accepts(filter, id, text))
        .map(|(id, (words, ..))| {
            let norm = 1.2 * (0.25 + 0.75 * class_start(words.len()) / average);
            let score = weights.iter().map(|(word, weight)| {
                let frequency = number(words.iter().filter(|other| other == word).count());
                weight * frequency * 2.2 / (frequency + norm)
            });
            (id.clone(), score.sum())
        })
        .filter(|(_, score)| *score > 0.0)
        .collect();
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranking
}

/// Return true if a filter accepts a text.
fn accepts(filter: &Filter, id: &str, (_, groups, at): &Text) -> bool {
    filter.any_of.iter().all(|set| set.iter().any(|group| groups.contains(group)))
        && !filter.none_of.iter().any(|group| groups.contains(group))
        && filter.ids.as_ref().is_none_or(|ids| ids.iter().any(|other| other == id))
        && filter.since.is_none_or(|since| at.is_some_and(|at| at >= since))
        && filter.before.is_none_or(|before| at.is_some_and(|at| at < before))
}

/// Check that hits have the expected scores up to rounding, and the expected ids except for ties within rounding.
fn check(hits: &[Hit], expected: &[(String, f64)], limit: usize) {
    assert_eq!(hits.len(), expected.len().min(limit));
    for (hit, (id, score)) in hits.iter().zip(expected) {
        assert!((hit.score - score).abs() <= score * 1e-9, "{} {} is not {id} {score}", hit.id, hit.score);
        let own = expected.iter().find(|(id, _)| *id == hit.id).map_or(0.0, |(_, score)| *score);
        assert!((hit.score - own).abs() <= own * 1e-9, "{} scores {own}, not {}", hit.id, hit.score);
        let sum = hit.terms.iter().map(|(_, share)| share).sum::<f64>();
        assert!((hit.score - sum).abs() <= score * 1e-9);
    }
    for pair in hits.windows(2) {
        assert!(
            pair[0].score > pair[1].score
                || (pair[0].score.total_cmp(&pair[1].score).is_eq() && pair[0].id < pair[1].id)
        );
    }
}

/// Insert a text into the index and the reference.
fn insert(index: &mut Index, texts: &mut BTreeMap<String, Text>, id: &str, text: &Text) {
    let (words, groups, at) = text;
    let groups_of = groups.iter().map(String::as_str).collect();
    index.insert(&Entry { id, text: &words.join(" "), groups: groups_of, at: *at, ..Entry::default() });
    texts.insert(id.to_owned(), text.clone());
}

/// A pseudorandom generator with a fixed sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A word; low numbers are far more frequent than high ones.
    fn word(&mut self) -> String {
        let widest = 1 + self.below(400);
        let number = self.below(widest);
        format!("w{number}x")
    }
}

/// Over many score windows, with removed and replaced texts, pruning loses no result.
#[test]
fn pruning_loses_no_result_in_a_large_index() {
    let mut random = Random(7);
    let (mut index, mut texts) = (Index::default(), BTreeMap::new());
    for turn in 0..14_000 {
        let id = format!("m{}", random.below(11_000));
        if turn % 6 == 5 {
            assert_eq!(index.remove(&id), texts.remove(&id).is_some());
            continue;
        }
        let length = 1 + random.below(12) + random.below(4) * random.below(12);
        let words = (0..length).map(|_| random.word()).collect();
        let groups = vec![format!("type:{}", random.below(3)), format!("tag:{}", random.below(300))];
        let at = (random.below(4) > 0).then(|| i64::try_from(random.below(1000)).unwrap());
        insert(&mut index, &mut texts, &id, &(words, groups, at));
    }
    assert_eq!(index.len(), texts.len());
    for turn in 0..40_u64 {
        let query = (0..=turn % 7).map(|_| random.word()).collect::<Vec<_>>().join(" ");
        let filter = match turn % 4 {
            0 | 1 => Filter::default(),
            2 => Filter { any_of: vec![vec!["type:0".into(), "type:9".into()]], since: Some(200), ..Filter::default() },
            _ => Filter {
                any_of: vec![vec![format!("tag:{turn}"), "type:1".into()]],
                none_of: vec!["tag:5".into()],
                before: Some(900),
                ..Filter::default()
            },
        };
        let expected = reference_ranking(&texts, &query, &filter);
        for limit in [1, 10, 700] {
            check(&index.search_within(&query, limit, &filter).unwrap(), &expected, limit);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Scores equal BM25 by its definition, and removed texts have no influence.
    #[test]
    fn scores_equal_the_definition_of_bm25(
        steps in vec((0_u8..9, vec("[k-m]x", 0..40), vec("[ab]", 0..2), prop::option::of(-2_i64..3), 0_u8..4), 0..24),
        query in vec("[k-n]x", 0..5),
        (any_of, none_of) in (vec(vec("[abc]", 0..3), 0..2), vec("[ac]", 0..2)),
        ids in prop::option::of(vec("[0-9]", 0..5)),
        (since, before) in (prop::option::of(-2_i64..3), prop::option::of(-2_i64..3)),
        limit in 0_usize..12,
    ) {
        let (mut index, mut texts) = (Index::default(), BTreeMap::new());
        for (id, words, groups, at, step) in steps {
            let id = id.to_string();
            if step == 0 {
                prop_assert_eq!(index.remove(&id), texts.remove(&id).is_some());
            } else {
                insert(&mut index, &mut texts, &id, &(words, groups, at));
            }
        }
        let filter = Filter { any_of, none_of, ids, since, before };
        let query = query.join(" ");
        check(&index.search_within(&query, limit, &filter).unwrap(), &reference_ranking(&texts, &query, &filter), limit);
    }
}

/// Compaction after removals changes no result.
#[test]
fn compaction_does_not_change_results() {
    let mut random = Random(3);
    let (mut index, mut fresh) = (Index::default(), Index::default());
    let texts: Vec<String> = (0..4000).map(|_| (0..8).map(|_| random.word()).collect::<Vec<_>>().join(" ")).collect();
    for (number, text) in texts.iter().enumerate() {
        let id = number.to_string();
        let group = if number % 2 == 0 { "even" } else { "odd" };
        let entry = Entry { id: &id, text, groups: vec![group], at: i64::try_from(number).ok(), ..Entry::default() };
        index.insert(&entry);
        if number % 3 == 0 {
            fresh.insert(&entry);
        }
    }
    for number in (0..texts.len()).filter(|number| number % 3 != 0) {
        assert!(index.remove(&number.to_string()));
    }
    assert_eq!(index.len(), fresh.len());
    for _ in 0..30 {
        let query = format!("{} {} {}", random.word(), random.word(), random.word());
        assert_eq!(index.search(&query, 20), fresh.search(&query, 20));
        let filter = Filter { any_of: vec![vec!["odd".into()]], since: Some(500), ..Filter::default() };
        assert_eq!(index.search_within(&query, 20, &filter), fresh.search_within(&query, 20, &filter));
    }
}

/// A query word that no text has matches terms that begin with it, or a term that it begins with.
#[test]
fn unknown_words_match_by_prefix() {
    let mut index = Index::default();
    index.add("config", "the configuration is read once", &[] as &[&str]);
    index.add("deploy", "how to deploy", &[] as &[&str]);
    index.add("commit", "fixed in 9cc68c8d01aa2233", &[] as &[&str]);
    let ids = |query: &str| index.search(query, 9).unwrap().into_iter().map(|hit| hit.id).collect::<Vec<_>>();
    assert_eq!(ids("config"), ["config"]);
    assert_eq!(ids("9cc68c8"), ["commit"]);
    assert_eq!(ids("deployment"), ["deploy"]);
    assert_eq!(ids("con"), [] as [&str; 0]);
    assert_eq!(ids("deploymentally"), [] as [&str; 0]);
}
