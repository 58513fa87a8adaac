//! `blocklint ask`: questions on standard input, answers on standard output, one JSON object a line.

use std::io::{self, Write};

use blocklint_engine::ask;

use super::check::{options, prepare};
use crate::CLEAN;
use crate::arguments::Ask;
use crate::messages::Failure;

pub(crate) fn ask_command(asked: &Ask) -> Result<u8, Failure> {
    let check = &*asked.check;
    let prepared = prepare(check)?;
    let options = options(check, &prepared)?;
    // Input that cannot be read ends the questions.
    let mut next = || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        read.is_ok_and(|length| length > 0).then_some(line)
    };
    let mut written: io::Result<()> = Ok(());
    let mut tell = |answer: &serde_json::Value| {
        let mut out = io::stdout().lock();
        let line = writeln!(out, "{answer}").and_then(|()| out.flush());
        if written.is_ok() {
            written = line;
        }
    };
    ask(&prepared.project, &prepared.models, options, &mut next, &mut tell)?;
    super::unless_closed(written)?;
    Ok(CLEAN)
}
