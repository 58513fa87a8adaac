//! `blocklint version`.

use std::io::Write;

use super::ignore_closed_pipe;
use crate::CLEAN;
use crate::messages::Failure;

pub(crate) fn version() -> Result<u8, Failure> {
    ignore_closed_pipe(writeln!(std::io::stdout(), "blocklint {}", env!("CARGO_PKG_VERSION")))?;
    Ok(CLEAN)
}
