//! `blocklint server`: the language server over standard input and output.

use blocklint_server::{Ended, Hooks, serve_stdio};

use crate::messages::Failure;
use crate::{CLEAN, FAILED, console};

pub(crate) fn server() -> Result<u8, Failure> {
    Ok(match serve_stdio(Hooks { containment: console::containment(), ..Hooks::default() })? {
        Ended::Shutdown => CLEAN,
        Ended::Abruptly => FAILED,
    })
}
