//! Memory documents as blocks.

use pyo3::prelude::*;
use reverie_core::blocks::{self, Sections};

use crate::error::Refused;
use crate::unlocked::unlocked;

/// Kind, start, end, level, text, tags and fields of a block.
type BlockTuple = (&'static str, usize, usize, usize, String, Vec<String>, Vec<(String, String)>);

pub(crate) fn sections_of(sections: Option<bool>) -> Sections {
    match sections {
        Some(true) => Sections::Always,
        Some(false) => Sections::Never,
        None => Sections::ByFields,
    }
}

#[pyfunction]
#[pyo3(signature = (data, sections = None))]
pub(crate) fn parse_blocks(py: Python<'_>, data: &[u8], sections: Option<bool>) -> PyResult<Vec<BlockTuple>> {
    let blocks = unlocked(py, data.len(), || blocks::parse(data, sections_of(sections))).map_err(Refused::from)?;
    let tuple = |block: blocks::Block| {
        (block.kind.word(), block.start, block.end, block.level, block.text, block.tags, block.fields)
    };
    Ok(blocks.into_iter().map(tuple).collect())
}
