//! `blocklint server`.

use blocklint_server::{Ended, serve_stdio};

use crate::messages::Failure;
use crate::{CLEAN, FAILED};

pub(crate) fn server() -> Result<u8, Failure> {
    Ok(match serve_stdio()? {
        Ended::Shutdown => CLEAN,
        Ended::Abruptly => FAILED,
    })
}
