//! Tests of ranking messages with their surroundings against its definition.

#![expect(clippy::unwrap_used, reason = "a test stops where something unexpected fails")]

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::rank::{Applies, Boost, Entry, Filter, Index, Saturation, Surroundings};

const SATURATION: Saturation = Saturation { k1: 0.6, b: 0.3 };
const WEIGHT: f64 = 1.5;
/// Messages of this time are of tools: their words count by the factor, and they are in no window of others.
const TOOL_AT: i64 = 5;
const TOOL_FACTOR: f64 = 0.7;

/// A message of the reference: its words, whether it asks, its time.
type Message = (Vec<String>, bool, i64);
/// Messages by thread and number.
type Threads = BTreeMap<(u8, u64), Message>;

/// The boosts of the tests.
fn boosts() -> Vec<Boost> {
    let boost = |name: &str, score, applies| Boost { name: name.into(), score, applies };
    vec![
        boost("asks", -2.0, Applies::In("asks".into())),
        boost("answers", 2.0, Applies::After("asks".into())),
        boost("then", 3.0, Applies::Between(2, 4)),
    ]
}

/// A count as a floating-point number.
fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The two nearest messages of a thread in one direction, at most twelve numbers away.
fn nearest(threads: &Threads, (thread, at): (u8, u64), step: i64) -> Vec<(u8, u64)> {
    let places = (1..=12).filter_map(|distance| at.checked_add_signed(step * distance)).map(|number| (thread, number));
    places.filter(|place| threads.contains_key(place)).take(2).collect()
}

/// Score a message by the definition: alone, with its window, and with boosts; None if no word is in its window.
fn score(threads: &Threads, place: (u8, u64), query: &[&str]) -> Option<f64> {
    let all = number(threads.len());
    let average = (number(threads.values().map(|(words, ..)| words.len()).sum()) / all).max(1.0);
    let before = nearest(threads, place, -1);
    let mut window = vec![place];
    let said = |place: &(u8, u64)| threads[place].2 != TOOL_AT;
    window.extend(before.iter().copied().chain(nearest(threads, place, 1)).filter(said));
    let factor = if said(&place) { 1.0 } else { TOOL_FACTOR };
    let words = |place: &(u8, u64)| &threads[place].0;
    let count = |place: &(u8, u64), term: &str| words(place).iter().filter(|word| *word == term).count();
    let mut sum = 0.0;
    let mut matched = false;
    for term in query {
        let frequency = number(threads.values().filter(|(words, ..)| words.iter().any(|word| word == term)).count());
        let idf = (1.0 + (all - frequency + 0.5) / (frequency + 0.5)).ln();
        let part = |mentions: usize, lengths: f64| {
            let mentions = number(mentions);
            idf * mentions * 1.6 / (mentions + 0.6 * (0.7 + 0.3 * lengths))
        };
        let around: usize = window.iter().map(|member| count(member, term)).sum();
        let length: usize = window.iter().map(|member| words(member).len()).sum();
        // What a tool printed is no answer by what is said around it alone.
        matched |= if said(&place) { around } else { count(&place, term) } > 0;
        let alone = part(count(&place, term), number(words(&place).len()) / average);
        let leans = (60.0 / number(words(&place).len().max(1))).min(1.0);
        sum += factor * (1.0 + WEIGHT * (1.0 - leans)) * alone;
        sum += factor * WEIGHT * leans * part(around, number(length) / average / 5.0);
    }
    let (_, asks, at) = &threads[&place];
    sum += if *asks { -2.0 } else { 0.0 };
    sum += if before.first().is_some_and(|before| threads[before].1 && said(before)) { 2.0 } else { 0.0 };
    sum += if (2..4).contains(at) { 3.0 } else { 0.0 };
    matched.then_some(sum)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// The best messages, with gaps in their numbers, from segments and memory, are those of the definition.
    #[test]
    fn ranking_equals_its_definition(
        messages in prop::collection::btree_map((0_u8..3, 1_u64..40), (vec("[k-p]x", 0..90), any::<bool>(), 0_i64..6), 1..40),
        flush_at in 0_usize..40,
        query in vec("[k-q]x", 1..4),
    ) {
        let folder = std::env::temp_dir().join(format!("around-{}-{}", std::process::id(), rand_name(&messages)));
        let _ = std::fs::remove_file(&folder);
        let mut index = Index::default().with_saturation(SATURATION);
        for (position, ((thread, number), (words, asks, at))) in messages.iter().enumerate() {
            if position == flush_at {
                index.flush(&folder).unwrap();
            }
            let (id, text) = (format!("t{thread}/{number}"), words.join(" "));
            let mut groups = if *asks { vec!["asks"] } else { Vec::new() };
            groups.extend((*at == TOOL_AT).then_some("tool"));
            index.insert(&Entry { id: &id, text: &text, groups, at: Some(*at), ..Entry::default() });
        }
        let mut terms: Vec<&str> = query.iter().map(String::as_str).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.retain(|term| messages.values().any(|(words, ..)| words.iter().any(|word| word == term)));
        let how = Surroundings { candidates: 100, weight: WEIGHT, factors: vec![("tool".into(), TOOL_FACTOR)], outside: Some("tool".into()), boosts: boosts() };
        let hits = index.search_around(&terms.join(" "), 100, &Filter::default(), &how).unwrap();
        let _ = std::fs::remove_file(&folder);
        let expected = messages.keys().filter_map(|&(thread, number)| {
            Some((format!("t{thread}/{number}"), score(&messages, (thread, number), &terms)?))
        });
        let mut expected: Vec<(String, f64)> = if terms.is_empty() { Vec::new() } else { expected.collect() };
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        prop_assert_eq!(hits.len(), expected.len());
        for (hit, (_, score)) in hits.iter().zip(&expected) {
            let own = expected.iter().find(|(id, _)| *id == hit.id).map(|(_, score)| *score).unwrap();
            prop_assert!((hit.score - score).abs() < 1e-6 && (hit.score - own).abs() < 1e-6, "{:?} {:?}", hits, expected);
            let sum: f64 = hit.terms.iter().map(|(_, share)| share).sum();
            prop_assert!((hit.score - sum).abs() < 1e-9);
        }
    }
}

/// A name for a file that other cases of the same run do not have.
fn rand_name(messages: &Threads) -> usize {
    messages.values().map(|(words, ..)| words.len()).sum::<usize>() * 1000 + messages.len()
}

/// A filter leaves other threads out, but what they say still counts for the frequency of words.
#[test]
fn a_filter_keeps_other_threads_out() {
    let mut index = Index::default();
    for (id, text, group) in [("a/1", "oslo ferry", "a"), ("a/2", "rain", "a"), ("b/1", "oslo", "b")] {
        index.insert(&Entry { id, text, groups: vec![group], ..Entry::default() });
    }
    let filter = Filter { any_of: vec![vec!["a".into()]], ..Filter::default() };
    let how = Surroundings { candidates: 10, weight: 1.0, ..Surroundings::default() };
    let hits = index.search_around("oslo", 10, &filter, &how).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["a/1", "a/2"]);
    assert_eq!(index.search_around("oslo", 1, &filter, &how).unwrap().len(), 1);
}

/// Messages that were replaced or removed after their segment was written have the neighbours of a fresh index.
#[test]
fn later_changes_do_not_show() {
    let message = |number: u64, text: &'static str| (format!("t/{number}"), text);
    let mut messages: Vec<(String, &str)> = (1..15).map(|number| message(number, "rain")).collect();
    messages[8].1 = "oslo ferry";
    let insert = |index: &mut Index, (id, text): &(String, &str)| {
        index.insert(&Entry { id, text, ..Entry::default() });
    };
    let path = std::env::temp_dir().join(format!("around-later-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut index = Index::default();
    for message in &messages {
        insert(&mut index, message);
    }
    index.flush(&path).unwrap();
    messages.remove(9);
    index.remove("t/10");
    messages[6].1 = "ferry in the rain";
    insert(&mut index, &messages[6]);
    let mut fresh = Index::default();
    for message in &messages {
        insert(&mut fresh, message);
    }
    let how = Surroundings { candidates: 10, weight: 1.0, ..Surroundings::default() };
    for query in ["oslo", "ferry", "rain oslo"] {
        let hits = index.search_around(query, 20, &Filter::default(), &how).unwrap();
        assert_eq!(hits, fresh.search_around(query, 20, &Filter::default(), &how).unwrap(), "{query}");
        assert!(hits.iter().any(|hit| hit.id == "t/11"), "{query}");
    }
    let _ = std::fs::remove_file(&path);
}
