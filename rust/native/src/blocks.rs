//! Python binding of the block parser.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use reverie_core::blocks::{self, Block, Sections};

use crate::try_call;

/// A block: kind, start, end, level, text, tags, fields.
///
/// Tags and fields, mostly empty, are tuples: Python has a single empty tuple, so that they cost no memory.
type BlockTuple<'py> = (&'static str, usize, usize, usize, String, Bound<'py, PyTuple>, Bound<'py, PyTuple>);

/// Convert the `sections` argument: true for all, false for none, None for those with fields.
pub(crate) fn sections_of(sections: Option<bool>) -> Sections {
    match sections {
        Some(true) => Sections::Always,
        Some(false) => Sections::Never,
        None => Sections::ByFields,
    }
}

/// Convert blocks for Python.
fn tuples(py: Python<'_>, blocks: Vec<Block>) -> PyResult<Vec<BlockTuple<'_>>> {
    let tuple = |block: Block| {
        let (tags, fields) = (PyTuple::new(py, block.tags)?, PyTuple::new(py, block.fields)?);
        Ok((block.kind.name(), block.start, block.end, block.level, block.text, tags, fields))
    };
    blocks.into_iter().map(tuple).collect()
}

#[pyfunction]
#[pyo3(signature = (data, sections = None))]
pub(crate) fn parse_blocks<'py>(
    py: Python<'py>,
    data: &[u8],
    sections: Option<bool>,
) -> PyResult<Vec<BlockTuple<'py>>> {
    tuples(py, try_call("parse_blocks", py, data.len(), || blocks::parse(data, sections_of(sections)))?)
}

#[pyfunction]
#[pyo3(signature = (before, data, sections = None))]
pub(crate) fn parse_blocks_beside<'py>(
    py: Python<'py>,
    before: &[u8],
    data: &[u8],
    sections: Option<bool>,
) -> PyResult<(usize, usize, Vec<BlockTuple<'py>>)> {
    let work = || blocks::parse_beside(before, data, sections_of(sections));
    let found = try_call("parse_blocks_beside", py, data.len(), work)?;
    Ok((found.first, found.last, tuples(py, found.between)?))
}
