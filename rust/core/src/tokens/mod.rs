//! Exact token counts of ordinary text (byte-pair encoding); the names of special tokens are text like any other.

mod ascii_masks;
mod ascii_splitter;
mod bpe;
mod char_classes;
mod char_tokens;
mod count_cache;
mod counter;
mod heap_merge;
mod merge_table;
mod parallel;
mod piece_batch;
mod piece_key;
mod pre_tokenizer;
#[cfg(target_arch = "x86_64")]
mod simd;
mod vocabulary;
mod window_merge;

use std::sync::LazyLock;

use crate::error::Error;
use crate::pool::Pool;
use count_cache::CountCache;
use counter::{Counter, LimitExceeded};
use parallel::THREADS_MAX;
use pre_tokenizer::Pattern;
#[cfg(target_arch = "x86_64")]
use simd::prefetch;
use vocabulary::Vocabulary;

/// Do nothing: this architecture has no stable prefetch instruction in Rust.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch<T>(_target: &T) {}

/// The names of the built-in encodings; no vocabulary is ever downloaded.
pub const ENCODINGS: [&str; 2] = ["o200k_base", "cl100k_base"];

/// The length in bytes of the longest token of the built-in encodings.
pub const TOKEN_BYTES_MAX: usize = 128;

static O200K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::unpack(include_bytes!("../../data/o200k_base.merges")));
static CL100K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::unpack(include_bytes!("../../data/cl100k_base.merges")));

static O200K_CACHES: Pool<CountCache> = Pool::new(THREADS_MAX);
static CL100K_CACHES: Pool<CountCache> = Pool::new(THREADS_MAX);

/// A built-in encoding, unpacked on first use and then shared.
#[derive(Clone, Copy)]
pub struct Encoding {
    vocabulary: &'static Vocabulary,
    pattern: Pattern,
    caches: &'static Pool<CountCache>,
}

/// Drop the caches that are kept for later calls.
pub(crate) fn clear_caches() {
    O200K_CACHES.clear();
    CL100K_CACHES.clear();
}

impl Encoding {
    /// Return the encoding of that name.
    ///
    /// # Errors
    /// The name is not in [`ENCODINGS`].
    pub fn named(name: &str) -> Result<Self, Error> {
        match name {
            "o200k_base" => Ok(Self { vocabulary: &O200K, pattern: Pattern::O200k, caches: &O200K_CACHES }),
            "cl100k_base" => Ok(Self { vocabulary: &CL100K, pattern: Pattern::Cl100k, caches: &CL100K_CACHES }),
            _ => Err(Error::UnknownEncoding { name: name.to_owned() }),
        }
    }

    /// Count the tokens of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.caches.with(CountCache::new, |cache| self.count_with(text, cache))
    }

    /// Count the tokens of each text, in order; large batches use all processors.
    #[must_use]
    pub fn count_many<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Vec<usize> {
        parallel::count(texts, self)
    }

    /// Return true if a text has at most `limit` tokens; counting stops where it has more.
    ///
    /// A token has 1 to [`TOKEN_BYTES_MAX`] bytes, so that very short and very long texts are decided without counting.
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        if text.len() <= limit || text.len() > limit.saturating_mul(TOKEN_BYTES_MAX) {
            return text.len() <= limit;
        }
        self.count_up_to(text, limit).is_ok()
    }

    /// Count the tokens of the list item `- body\n` for each body.
    ///
    /// Sums of these counts are exact for any list of single-line bodies that do not begin with white space or `/`, as
    /// no piece of the pre-tokenizer crosses a newline before such a line.
    #[must_use]
    pub fn count_items<T: AsRef<str>>(&self, bodies: &[T]) -> Vec<usize> {
        let mut line = String::new();
        bodies
            .iter()
            .map(|body| {
                line.clear();
                line.push_str("- ");
                line.push_str(body.as_ref());
                line.push('\n');
                self.count(&line)
            })
            .collect()
    }

    /// Return the text, or a prefix cut between characters that has at most `limit` tokens.
    ///
    /// The prefix is cut after the tokens that fit, then back to a character boundary. It is then counted again, as a
    /// shorter text may have more tokens than a longer one; the cut moves back by doubling steps until it fits, so that
    /// no text is counted often.
    #[must_use]
    pub fn truncate<'t>(&self, text: &'t str, limit: usize) -> &'t str {
        let Err(LimitExceeded { start, end, before }) = self.count_up_to(text, limit) else { return text };
        let mut lengths = heap_merge::token_lengths(&text.as_bytes()[start..end], self.vocabulary);
        lengths.truncate(limit - before);
        let mut cut = text.floor_char_boundary(start + lengths.iter().sum::<usize>());
        let mut step = 1;
        while !self.fits(&text[..cut], limit) {
            cut = text.floor_char_boundary(cut.saturating_sub(step));
            step *= 2;
        }
        &text[..cut]
    }

    /// Return the vocabulary in tiktoken's file format.
    ///
    /// For every token: base64 of its bytes, a space, its rank, a newline.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<u8> {
        let spellings = self.vocabulary.spellings();
        let mut file = Vec::with_capacity(4_000_000);
        for rank in 0..spellings.len() {
            base64(spellings.token(rank), &mut file);
            file.push(b' ');
            file.extend_from_slice(rank.to_string().as_bytes());
            file.push(b'\n');
        }
        file
    }

    /// Count the tokens of a text with a cache of the caller.
    fn count_with(&self, text: &str, cache: &mut CountCache) -> usize {
        let counter = Counter { text, pattern: self.pattern, vocabulary: self.vocabulary, limit: usize::MAX };
        counter.count_tokens(cache).unwrap_or_else(|exceeded| exceeded.before)
    }

    /// Count the tokens of a text, or return where it exceeds `limit`.
    fn count_up_to(&self, text: &str, limit: usize) -> Result<usize, LimitExceeded> {
        self.caches.with(CountCache::new, |cache| {
            Counter { text, pattern: self.pattern, vocabulary: self.vocabulary, limit }.count_tokens(cache)
        })
    }
}

/// Append the base64 form of bytes.
fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let triple = chunk.iter().fold(0_u32, |triple, byte| triple << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit_index in 0..4 {
            let digit = (triple >> (18 - 6 * digit_index) & 63) as usize;
            out.push(if digit_index <= chunk.len() { ALPHABET[digit] } else { b'=' });
        }
    }
}
