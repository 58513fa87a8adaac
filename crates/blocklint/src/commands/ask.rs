//! `blocklint ask`: questions on standard input, answers on standard output, one JSON object a line.

use std::io::{self, Write};

use blocklint_engine::ask;

use super::check::{analysis_options, prepare};
use crate::CLEAN;
use crate::arguments::Ask;
use crate::messages::Failure;

pub(crate) fn ask_command(arguments: &Ask) -> Result<u8, Failure> {
    let check = &*arguments.check;
    let prepared = prepare(check)?;
    let analysis_options = analysis_options(check, &prepared)?;
    // An error while reading the input is treated as its end.
    let mut read_question = || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        read.is_ok_and(|length| length > 0).then_some(line)
    };
    let mut write_result: io::Result<()> = Ok(());
    let mut write_answer = |answer: &serde_json::Value| {
        let mut out = io::stdout().lock();
        let line = writeln!(out, "{answer}").and_then(|()| out.flush());
        if write_result.is_ok() {
            write_result = line;
        }
    };
    ask(&prepared.project, &prepared.models, analysis_options, &mut read_question, &mut write_answer)?;
    super::ignore_closed_pipe(write_result)?;
    Ok(CLEAN)
}
