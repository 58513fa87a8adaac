//! The parts of a condition whose outcome follows from the outcome of the whole.

use blocklint_facts::{AltKind, FileFacts, Form, FormId};

/// How deep a test is read.
const DEPTH: u32 = 4;

/// Calls `each` with every part of a condition whose outcome follows from the whole having the outcome `holds`: all of `a and b` hold, none of `a or b`
/// does, and `not a` is the opposite of `a`.
pub fn each_decided_part(facts: &FileFacts, test: FormId, holds: bool, each: &mut dyn FnMut(FormId, bool)) {
    each_within(facts, test, holds, each, DEPTH);
}

fn each_within(facts: &FileFacts, test: FormId, holds: bool, each: &mut dyn FnMut(FormId, bool), depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match facts.form(test) {
        Form::Not(inner) => each_within(facts, inner, !holds, each, depth),
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().for_each(|&part| each_within(facts, part, true, each, depth));
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().for_each(|&part| each_within(facts, part, false, each, depth));
        }
        _ => each(test, holds),
    }
}
