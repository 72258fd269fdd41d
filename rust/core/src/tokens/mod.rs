//! Exact token counts of ordinary text: special-token strings are text like any other.

mod ahead;
mod ascii;
mod batch;
mod chars;
mod classes;
mod counter;
mod heap;
mod key;
mod many;
mod masks;
mod memo;
mod merge;
mod split;
mod starts;
mod table;
#[cfg(target_arch = "x86_64")]
mod vectors;
mod vocabulary;
mod window;

use std::cell::RefCell;
use std::sync::LazyLock;
use std::thread::LocalKey;

use crate::error::Error;
use counter::{Counter, Passed};
use many::Spare;
use memo::Memo;
use split::Pattern;
use vocabulary::Vocabulary;

/// The encodings that are built in; no vocabulary is ever fetched.
pub const ENCODINGS: [&str; 2] = ["o200k_base", "cl100k_base"];

/// No token of the built-in encodings stands for more bytes than this.
pub const TOKEN_BYTES_MAX: usize = 128;

static O200K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::unpack(include_bytes!("../../data/o200k_base.merges")));
static CL100K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::unpack(include_bytes!("../../data/cl100k_base.merges")));

static O200K_SPARE: Spare = Spare::new();
static CL100K_SPARE: Spare = Spare::new();

thread_local! {
    static O200K_MEMO: RefCell<Option<Memo>> = const { RefCell::new(None) };
    static CL100K_MEMO: RefCell<Option<Memo>> = const { RefCell::new(None) };
}

/// One built-in encoding, unpacked on first use and then shared.
#[derive(Clone, Copy)]
pub struct Encoding {
    vocabulary: &'static Vocabulary,
    pattern: Pattern,
    memo: &'static LocalKey<RefCell<Option<Memo>>>,
    spare: &'static Spare,
}

impl Encoding {
    /// The encoding of that name.
    ///
    /// # Errors
    /// The name is not in [`ENCODINGS`].
    pub fn named(name: &str) -> Result<Self, Error> {
        match name {
            "o200k_base" => {
                Ok(Self { vocabulary: &O200K, pattern: Pattern::O200k, memo: &O200K_MEMO, spare: &O200K_SPARE })
            }
            "cl100k_base" => {
                Ok(Self { vocabulary: &CL100K, pattern: Pattern::Cl100k, memo: &CL100K_MEMO, spare: &CL100K_SPARE })
            }
            _ => Err(Error::UnknownEncoding { name: name.to_owned() }),
        }
    }

    /// Tokens of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.memo.with_borrow_mut(|memo| self.count_with(text, memo.get_or_insert_with(Memo::new)))
    }

    /// Tokens of each text, in order; large batches are counted on all processors.
    #[must_use]
    pub fn count_many<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Vec<usize> {
        many::count(texts, self, self.spare)
    }

    /// Whether a text has at most `limit` tokens; stops counting where it has more. Every token stands for 1 to
    /// [`TOKEN_BYTES_MAX`] bytes, so that very short and very long texts need no counting.
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        if text.len() <= limit || text.len() > limit.saturating_mul(TOKEN_BYTES_MAX) {
            return text.len() <= limit;
        }
        self.pass(text, limit).is_ok()
    }

    /// The tokens of `- body\n` for each body: sums of them are exact for any packing of single-line bodies that
    /// do not begin with white space or `/`, since no piece crosses a newline that such a line follows.
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

    /// A beginning of a text, cut between characters, with at most `limit` tokens; the text itself if it fits.
    ///
    /// The tokens that the text begins with are kept as far as they fit. The cut falls back to the last whole
    /// character and is then counted again, since a shorter text may have more tokens than a longer one; what is
    /// given up doubles each time, so that no text is counted often.
    #[must_use]
    pub fn truncate<'t>(&self, text: &'t str, limit: usize) -> &'t str {
        let Err(Passed { start, end, before }) = self.pass(text, limit) else { return text };
        let mut lengths = merge::lengths(&text.as_bytes()[start..end], self.vocabulary);
        lengths.truncate(limit - before);
        let mut cut = text.floor_char_boundary(start + lengths.iter().sum::<usize>());
        let mut given_up = 1;
        while !self.fits(&text[..cut], limit) {
            cut = text.floor_char_boundary(cut.saturating_sub(given_up));
            given_up *= 2;
        }
        &text[..cut]
    }

    /// The vocabulary as tiktoken writes it: for every token, base64 of its bytes, a space, its rank, a newline.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<u8> {
        let spelled = self.vocabulary.spelled();
        let mut file = Vec::with_capacity(4_000_000);
        for rank in 0..spelled.len() {
            base64(spelled.token(rank), &mut file);
            file.push(b' ');
            file.extend_from_slice(rank.to_string().as_bytes());
            file.push(b'\n');
        }
        file
    }

    /// Tokens of a text, by a memo of the caller's.
    fn count_with(&self, text: &str, memo: &mut Memo) -> usize {
        let counter = Counter { text, pattern: self.pattern, vocabulary: self.vocabulary, limit: usize::MAX };
        counter.pass(memo).unwrap_or_else(|passed| passed.before)
    }

    /// The tokens of a text, or where it comes to have more than `limit`.
    fn pass(&self, text: &str, limit: usize) -> Result<usize, Passed> {
        self.memo.with_borrow_mut(|memo| {
            let memo = memo.get_or_insert_with(Memo::new);
            Counter { text, pattern: self.pattern, vocabulary: self.vocabulary, limit }.pass(memo)
        })
    }
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let triple = chunk.iter().fold(0_u32, |triple, byte| triple << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (triple >> (18 - 6 * place) & 63) as usize;
            out.push(if place <= chunk.len() { ALPHABET[digit] } else { b'=' });
        }
    }
}
