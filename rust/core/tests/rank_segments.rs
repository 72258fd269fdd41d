//! Tests of saved indexes: flushed, merged, reopened and damaged, against an index in memory.

#![expect(clippy::unwrap_used, reason = "a test stops where something unexpected fails")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::rank::{Entry, Filter, Index, merge};

/// A folder for the files of one test, removed when dropped.
struct Folder(PathBuf, AtomicU32);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("rank-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path, AtomicU32::new(0))
    }

    /// A path that no file has yet.
    fn path(&self) -> PathBuf {
        self.0.join(self.1.fetch_add(1, Ordering::Relaxed).to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of an index with their removed documents.
fn files(index: &Index) -> Vec<(PathBuf, Vec<u8>)> {
    index.segments().into_iter().map(|segment| (segment.path, segment.removed)).collect()
}

/// Open an index again; what is in memory only is flushed first.
fn reopened(index: &mut Index, folder: &Folder) -> Index {
    index.flush(&folder.path()).unwrap();
    Index::open(&files(index)).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, Vec<String>, Vec<String>, Option<i64>),
    Remove(u8),
    Flush,
    Reopen,
    /// Merge the segments from this one on, the removal of a document coming in between.
    Merge(usize, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = vec("[k-m]x|pre[a-d]{2,9}fix|über|数据库", 0..12);
    let insert = (0_u8..20, words, vec("[ab]", 0..2), prop::option::of(-2_i64..3));
    vec(
        prop_oneof![
            8 => insert.prop_map(|(id, words, groups, at)| Step::Insert(id, words, groups, at)),
            3 => (0_u8..20).prop_map(Step::Remove),
            2 => Just(Step::Flush),
            1 => Just(Step::Reopen),
            1 => (0_usize..3, 0_u8..20).prop_map(|(from, id)| Step::Merge(from, id)),
        ],
        0..40,
    )
}

fn insert(index: &mut Index, id: u8, words: &[String], groups: &[String], at: Option<i64>) {
    let (id, text) = (format!("m{id:02}"), words.join(" "));
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    index.insert(&Entry { id: &id, text: &text, tags: groups.clone(), groups, at });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any history of changes, flushes, merges and restarts an index answers as one that was never saved.
    #[test]
    fn a_saved_index_answers_like_one_in_memory(
        steps in steps(),
        queries in vec(vec("[k-n]x|pre[a-d]{1,4}|who|are|über|数据", 1..4), 1..4),
        group in "[abc]",
        since in prop::option::of(-2_i64..3),
        after in 0_u8..20,
    ) {
        let folder = Folder::new();
        let (mut saved, mut fresh) = (Index::default(), Index::default());
        for step in steps {
            match step {
                Step::Insert(id, words, groups, at) => {
                    insert(&mut saved, id, &words, &groups, at);
                    insert(&mut fresh, id, &words, &groups, at);
                }
                Step::Remove(id) => {
                    let id = format!("m{id:02}");
                    prop_assert_eq!(saved.remove(&id), fresh.remove(&id));
                }
                Step::Flush => saved.flush(&folder.path()).unwrap(),
                Step::Reopen => saved = reopened(&mut saved, &folder),
                Step::Merge(from, id) => {
                    let inputs: Vec<_> = files(&saved).into_iter().skip(from).collect();
                    let (path, id) = (folder.path(), format!("m{id:02}"));
                    merge(&inputs, &path).unwrap();
                    prop_assert_eq!(saved.remove(&id), fresh.remove(&id));
                    saved.replace(&inputs, &path).unwrap();
                }
            }
            prop_assert_eq!(saved.len(), fresh.len());
        }
        let filter = Filter { any_of: vec![vec![group]], since, ..Filter::default() };
        for query in queries {
            for limit in [1, 3, 100] {
                prop_assert_eq!(saved.search(&query.join(" "), limit), fresh.search(&query.join(" "), limit));
                let within = fresh.search_within(&query.join(" "), limit, &filter);
                prop_assert_eq!(saved.search_within(&query.join(" "), limit, &filter), within);
            }
        }
        let after = format!("m{after:02}");
        for limit in [0, 1, 5, 100] {
            prop_assert_eq!(saved.ids(&filter, &after, limit), fresh.ids(&filter, &after, limit));
            prop_assert_eq!(saved.ids(&Filter::default(), "", limit), fresh.ids(&Filter::default(), "", limit));
        }
    }
}

/// An index of 300 documents in two segments, with a removed document in the first.
fn example(folder: &Folder) -> Index {
    let mut index = Index::default();
    for number in 0..300 {
        let text = format!("word{} common deploy{} {}", number % 7, number % 50, "again ".repeat(number % 4));
        let id = format!("m{number:03}");
        index.insert(&Entry { id: &id, text: &text, groups: vec!["all"], at: Some(7), ..Entry::default() });
        if number == 200 {
            index.flush(&folder.path()).unwrap();
        }
    }
    index.flush(&folder.path()).unwrap();
    index.remove("m007");
    index
}

/// A file with any byte changed is refused, or answers as if nothing had happened: never anything else.
#[test]
fn a_damaged_file_gives_no_wrong_answer() {
    let folder = Folder::new();
    let index = example(&folder);
    let queries = ["word3 deploy4", "common again", "deplo", "word"];
    let right: Vec<_> = queries.iter().map(|query| index.search(query, 20).unwrap()).collect();
    let files = files(&index);
    let path = &files[0].0;
    let bytes = fs::read(path).unwrap();
    let (mut refused, mut unreadable) = (0, 0);
    for position in (0..bytes.len()).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[position] ^= 1 << (position % 8);
        fs::write(path, &damaged).unwrap();
        let Ok(mut opened) = Index::open(&files) else {
            refused += 1;
            continue;
        };
        opened.remove("m100");
        opened.insert(&Entry { id: "m100", text: "word2 common deploy0 ", at: Some(7), ..Entry::default() });
        for (query, right) in queries.iter().zip(&right) {
            match opened.search(query, 20) {
                Ok(hits) => assert_eq!(&hits, right, "byte {position}"),
                Err(_) => unreadable += 1,
            }
        }
    }
    assert!(refused > 100 && unreadable > 100, "{refused} refused, {unreadable} unreadable");
    for length in [0, 7, bytes.len() / 2, bytes.len() - 1] {
        fs::write(path, &bytes[..length]).unwrap();
        assert!(Index::open(&files).is_err());
    }
}

/// A file that loses its end while it is open is an error, and not a signal.
#[test]
fn a_file_that_is_truncated_while_open_is_an_error() {
    let folder = Folder::new();
    let index = example(&folder);
    let path = &index.segments()[0].path;
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(8).unwrap();
    assert!(index.search("common", 5).is_err());
}

/// Merging leaves out removed documents and the terms that only they had.
#[test]
fn a_merge_forgets_removed_words() {
    let folder = Folder::new();
    let mut index = example(&folder);
    index.add("secret", "xylophone", &[] as &[&str]);
    index.flush(&folder.path()).unwrap();
    index.remove("secret");
    let path = folder.path();
    merge(&files(&index), &path).unwrap();
    index.replace(&files(&index), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"xylophone"));
    assert!(!bytes.windows(4).any(|window| window == b"m007"));
    assert_eq!(index.segments().len(), 1);
    assert_eq!(index.len(), 299);
}
