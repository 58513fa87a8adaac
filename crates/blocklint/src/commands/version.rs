//! `blocklint version`.

use std::io::Write;

use super::unless_closed;
use crate::CLEAN;
use crate::messages::Failure;

pub(crate) fn version() -> Result<u8, Failure> {
    unless_closed(writeln!(std::io::stdout(), "blocklint {}", env!("CARGO_PKG_VERSION")))?;
    Ok(CLEAN)
}
