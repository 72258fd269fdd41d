//! The compute-heavy parts of Reverie, free of Python: pure functions without clock or randomness in results, and
//! without I/O but for the files of a search index.
//!
//! * [`tokens`]: exact token counts of ordinary text under `o200k_base` and `cl100k_base`
//! * [`canonical`]: canonical JSON (RFC 8785) and its SHA-256; strict validation of JSON text
//! * [`blocks`]: markdown documents as blocks that join to the document byte for byte
//! * [`align`]: matching of a document's new blocks to its old ones, so that edited blocks keep their ids
//! * [`apply`]: changes of blocks as minimal text edits of their document
//! * [`pack`]: records packed with zstd, and edits that make one text of another
//! * [`record`]: stored records, verified and unpacked
//! * [`patch`]: exact-text patches, applied all or none
//! * [`diff`]: line diff of two texts
//! * [`merge`]: three-way merge of texts, with conflicts as values
//! * [`redact`]: replacement of secrets by `[REDACTED:<kind>]` in one linear pass
//! * [`rank`]: full-text search: BM25 over an index in files and in memory
//! * [`zstd_decoder`]: a stream of zstd frames of other programs
//! * [`error`]: the error type, with positions

pub mod align;
pub mod apply;
pub mod blocks;
pub mod canonical;
pub mod diff;
pub mod error;
mod id_table;
mod keyed_hash;
mod lines;
pub mod merge;
pub mod pack;
pub mod patch;
pub mod pool;
pub mod rank;
pub mod record;
pub mod redact;
mod text_interner;
pub mod tokens;
pub mod zstd_decoder;

pub use error::Error;
