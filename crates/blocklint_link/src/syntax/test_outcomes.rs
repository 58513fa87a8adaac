//! Outcomes of the operands of a test (`and`, `or`, `not`) that follow from the outcome of the test.

use blocklint_facts::{AltKind, FileFacts, Form, FormId};

/// The maximal nesting of operands.
const DEPTH: u32 = 4;

/// Calls `each` with every operand of a test whose outcome follows from the `outcome` of the test. If `a and b`
/// holds, both operands hold; if `a or b` fails, both fail; `not a` has the opposite outcome of `a`.
pub fn each_decided_part(facts: &FileFacts, test: FormId, outcome: bool, each: &mut dyn FnMut(FormId, bool)) {
    each_within(facts, test, outcome, each, DEPTH);
}

fn each_within(facts: &FileFacts, test: FormId, outcome: bool, each: &mut dyn FnMut(FormId, bool), depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match facts.form(test) {
        Form::Not(inner) => each_within(facts, inner, !outcome, each, depth),
        Form::Alt(AltKind::And, list) if outcome => {
            facts.list(list).iter().for_each(|&part| each_within(facts, part, true, each, depth));
        }
        Form::Alt(AltKind::Or, list) if !outcome => {
            facts.list(list).iter().for_each(|&part| each_within(facts, part, false, each, depth));
        }
        _ => each(test, outcome),
    }
}
