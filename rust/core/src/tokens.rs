//! Exact token counts of ordinary text: special-token strings are text like any other.

use tiktoken::CoreBpe;

use crate::error::Error;

/// The encodings that are built in; no vocabulary is ever fetched.
pub const ENCODINGS: [&str; 2] = ["o200k_base", "cl100k_base"];

/// No token of the built-in encodings stands for more bytes than this.
pub const TOKEN_BYTES_MAX: usize = 128;

/// One built-in encoding, loaded on first use and then shared.
#[derive(Clone, Copy)]
pub struct Encoding {
    bpe: &'static CoreBpe,
    ordinary: u32,
}

impl Encoding {
    /// The encoding of that name.
    ///
    /// # Errors
    /// The name is not in [`ENCODINGS`].
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownEncoding { name: name.to_owned() };
        let ordinary = match name {
            "o200k_base" => 199_998,
            "cl100k_base" => 100_256,
            _ => return Err(unknown()),
        };
        let bpe = tiktoken::get_encoding(name).ok_or_else(unknown)?;
        Ok(Self { bpe, ordinary })
    }

    /// Tokens of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.bpe.count(text)
    }

    /// Whether a text has at most `limit` tokens. Every token stands for 1 to [`TOKEN_BYTES_MAX`] bytes, so that very
    /// short and very long texts need no counting.
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        text.len() <= limit || text.len() <= limit.saturating_mul(TOKEN_BYTES_MAX) && self.count(text) <= limit
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
    /// The first `limit` tokens decode to a beginning of the text. The cut falls back to the last whole character
    /// and is then counted again, since a shorter text may have more tokens than a longer one; what is given up
    /// doubles each time, so that no text is counted often.
    #[must_use]
    pub fn truncate<'t>(&self, text: &'t str, limit: usize) -> &'t str {
        if self.fits(text, limit) {
            return text;
        }
        let reach = limit.saturating_add(1).saturating_mul(TOKEN_BYTES_MAX);
        let tokens = self.bpe.encode(&text[..text.floor_char_boundary(reach)]);
        let mut kept = limit.min(tokens.len());
        let mut given_up = 1;
        loop {
            let cut = &text[..text.floor_char_boundary(self.bpe.decode(&tokens[..kept]).len())];
            if self.fits(cut, limit) {
                return cut;
            }
            kept = kept.saturating_sub(given_up);
            given_up *= 2;
        }
    }

    /// The vocabulary as tiktoken writes it: for every ordinary token, base64 of its bytes, a space, its rank, a newline.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(4_000_000);
        for rank in 0..self.ordinary {
            base64(&self.bpe.decode(&[rank]), &mut file);
            file.push(b' ');
            file.extend_from_slice(rank.to_string().as_bytes());
            file.push(b'\n');
        }
        file
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
